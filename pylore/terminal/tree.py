"""Search results as trees: each direct match with what the walk reached from it."""

from __future__ import annotations

from .lines import cut
from .text import bold, dim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any


class Branch:
    """A node of a tree, under the node that the walk came from."""

    __slots__ = ("below", "id", "way")

    def __init__(self, id: str, way: str = "") -> None:
        self.id = id
        self.way = way
        """The relation walked to here, with an arrow the way its edge leads."""
        self.below: dict[tuple[str, str], Branch] = {}

    def child(self, id: str, way: str) -> Branch:
        """Return the branch of ``id`` below this one, made where it is not there."""
        return self.below.setdefault((id, way), Branch(id, way))


def tree_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return results with their ``explain`` as lines: score, branch, relation, id, title.

    A node that the walk went through and that is not a result itself has no score. The
    order is that of the results, best first, among those below one node too.
    """
    known = {row["id"]: row for row in rows}
    lines = [line for tree in _trees(rows) for line in _lines(tree, known)]
    return "\n".join(lines) + "\n" if lines else "nothing found\n"


def _trees(rows: Sequence[dict[str, Any]]) -> Iterator[Branch]:
    roots = Branch("")
    for row in rows:
        branch = roots.child(row["path"][0], "")
        for hop in row["explain"].get("walk", {"hops": ()})["hops"]:
            arrow = "→" if hop["direction"] == "out" else "←"
            branch = branch.child(hop["to"], f"{hop['relation']} {arrow} ")
    yield from roots.below.values()


def _lines(
    branch: Branch, known: dict[str, dict[str, Any]], fork: str = "", stem: str = ""
) -> Iterator[str]:
    """Yield a branch and all below it; ``fork`` begins its own line, ``stem`` those below."""
    row = known.get(branch.id)
    start = dim(fork + branch.way)
    if row is None:
        yield f"      {start}{dim(branch.id)}"
    else:
        yield f"{row['score']:.2f}  {start}{bold(branch.id)}  {cut(row['title'])}".rstrip()
    below = [*branch.below.values()]
    for child in below[:-1]:
        yield from _lines(child, known, stem + "├─ ", stem + "│  ")
    for child in below[-1:]:
        yield from _lines(child, known, stem + "└─ ", stem + "   ")
