"""A record with anchors to a project."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from repositories import Repository

from pylore import code as reader
from pylore.anchors.attach import place_anchor
from pylore.anchors.project import Project, root_to_keep
from pylore.anchors.show import anchor_row
from pylore.anchors.verify import Verified, verify
from pylore.core.model import Anchor
from pylore.indexing.indexer import write_nodes
from pylore.store import Store


class Anchored:
    """The anchors of ``decision-a`` to a project: a folder or a repository."""

    def __init__(self, store: Store, project: Path | Repository) -> None:
        self.store = store
        self.root = project if isinstance(project, Path) else project.root
        if isinstance(project, Repository):
            self.git, self.commit = project.git, project.commit

    def place(self, kind: str, path: str = "src/auth.py", detail: str = "") -> Anchor:
        store, root = self.store, str(self.root)
        wanted = Anchor("decision-a", kind, path, detail, root_to_keep(store, root))
        with store.transaction():
            write = partial(write_nodes, store)
            return place_anchor(store, write, Project(root), wanted, reader)[0]

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def verify(self) -> Verified:
        return verify(self.store, lambda: None, reader)

    def rows(self) -> list[dict[str, Any]]:
        """Verify; return the anchors as rows."""
        self.verify()
        return [anchor_row(anchor) for anchor in self.store.anchors.of("decision-a")]

    def now(self) -> tuple[object, object, object]:
        """Verify; return verdict, path and detail of the only anchor."""
        (row,) = self.rows()
        return row["verdict"], row["path"], row["detail"] or ""

    def links(self, relation: str) -> list[str]:
        edges = self.store.edges.of("decision-a")
        return [edge.to_id for edge in edges if edge.relation == relation]
