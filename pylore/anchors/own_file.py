"""The anchors that come with a record's own file.

They are made in a command that is called in loops: this imports nothing heavy.
"""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.model import Anchor
from ..core.times import now
from ..system.projects import trust_root
from .fingerprint import take
from .project import Project, root_to_keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from .definitions import Definition

OF_A_FILE = ("file", "lines")
"""The kinds of anchor that ``--file`` makes."""


def anchor_file(store: Store, root: str, node_id: str, path: str, lines: str) -> str:
    """Anchor a node to its file, or to lines of it; one that is there stays as it is.

    A file outside the project has no anchor. One that is not there (yet) has an invalid
    one, and where the lines are not there the whole file is anchored: then what is said
    of the lines comes back.
    """
    if path.startswith(("/", "../")) or path in (".", "..") or not root:
        return ""
    if any(anchor.key[1:] in (("file", path, ""), ("lines", path, lines))
           for anchor in store.anchors.of(node_id)):  # fmt: skip
        return ""
    project = Project(root)
    kept = root_to_keep(store, root)
    trust_root(kept)
    reason = ""
    for kind, detail in (("lines", lines), ("file", "")) if lines else (("file", ""),):
        anchor = Anchor(node_id, kind, path, detail, kept)
        try:
            store.anchors.put(take(project, anchor, _no_symbols))
            return reason if reason and kind == "file" else ""
        except LoreError as error:
            reason = str(error).removeprefix(f"{path}: ").partition(": ")[0]
    anchor.verdict, anchor.reason = "invalid", reason.removeprefix("there is ")
    anchor.commit_id = project.head
    anchor.created_at = anchor.verified_at = now()
    store.anchors.put(anchor)
    return ""


def drop_file_anchors(store: Store, node_id: str, path: str, lines: str) -> None:
    """Take away the anchors that a record had because of its file."""
    for anchor in store.anchors.of(node_id):
        if anchor.path == path and anchor.kind in OF_A_FILE and anchor.detail in ("", lines):
            store.anchors.delete(anchor.key)


def _no_symbols(path: str, text: str, name: str) -> list[Definition]:
    return []  # the anchors of a file name none
