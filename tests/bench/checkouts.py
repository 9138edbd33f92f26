"""Work trees of commits in a temporary folder."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from places import ROOT, BenchmarkError
from scale_material import PREDICATES, Material, Text

from pylore.core.model import Edge, Node

WORK_TREE = "."
"""In place of a commit: this checkout as it is, committed or not."""

_NOT_TOLD = ("access_count", "data", "metadata")


class Checkout:
    """Lore at a commit, with a data folder."""

    def __init__(self, name: str, root: Path, place: Path) -> None:
        self.name = name
        self.root = root
        self.store = place / "store"
        self.environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(place),
            "LORE_DIR": str(self.store),
            "LC_ALL": "C.UTF-8",
        }

    def command(self, *words: str) -> list[str]:
        """A command line of this lore."""
        return [str(self.root / "lore.sh"), *words]

    def call(self, *words: str) -> str:
        """What a command prints.

        Raises:
            BenchmarkError: it failed.
        """
        done = subprocess.run(
            self.command(*words), env=self.environ, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise BenchmarkError(f"{self.name}: lore {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def fill(self, data: Path) -> None:
        """Create the store from nodes.jsonl and edges.jsonl: schemas differ by commit."""
        self.call("init")
        self.call("import", str(data / "nodes.jsonl"))
        self.call("import", str(data / "edges.jsonl"))


@contextmanager
def checkouts(*commits: str) -> Iterator[list[Checkout]]:
    """These commits, each in a work tree of its own, with this checkout's environment.

    Raises:
        BenchmarkError: git has no such commit here.
    """
    with TemporaryDirectory(prefix="lore-bench-") as folder:
        made: list[Path] = []
        try:
            found = []
            for number, commit in enumerate(commits):
                place = Path(folder) / "ab"[number]  # of the same length
                place.mkdir()
                root = ROOT
                if commit != WORK_TREE:
                    root = place / "lore"
                    _git("worktree", "add", "--quiet", "--detach", str(root), commit)
                    made.append(root)
                    (root / ".venv").symlink_to(ROOT / ".venv")
                found.append(Checkout(_described(commit), root, place))
            yield found
        finally:
            for root in made:
                _git("worktree", "remove", "--force", str(root))


def write_data(folder: Path, text: Text, size: int, edges_each: int = 10) -> list[str]:
    """nodes.jsonl and edges.jsonl of ``size`` nodes; ids of some that have a text."""
    material = Material(text, size, edges_each)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "nodes.jsonl").open("w", encoding="utf-8") as out:
        ids = []
        for name in PREDICATES:
            weights = {"weight": 0.7, "backward_weight": 0.7}
            out.write(json.dumps({"declare_relation": name, **weights}) + "\n")
        for node in material.nodes():
            out.write(json.dumps(_told(node)) + "\n")
            if node.type in ("decision", "lesson", "note") and node.status == "confirmed":
                ids.append(node.id)
    with (folder / "edges.jsonl").open("w", encoding="utf-8") as out:
        for edge in material.edges():
            out.write(json.dumps(_told(edge)) + "\n")
    return list(islice(ids, 100))


def _told(what: Node | Edge) -> dict[str, object]:
    """The fields of an export's line."""
    fields = {key: value for key, value in what.to_dict().items() if value not in (None, "")}
    return {key: value for key, value in fields.items() if key not in _NOT_TOLD}


def _described(commit: str) -> str:
    if commit == WORK_TREE:
        return "the work tree"
    return f"{commit} ({_git('rev-parse', '--short=9', commit)})"


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()
