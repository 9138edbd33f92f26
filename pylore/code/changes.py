"""Changes since the last index, and what is left to do."""

from __future__ import annotations

import os

from ..core.times import now
from ..system.file_stamps import GONE, lstamp_of, size_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..system.listing import FileTree, Listing


class Changes:
    """Work to do, from a look at the tree alone."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.read: dict[str, int] = {}
        """Path → bytes."""
        self.gone: list[str] = []
        self.unchanged = 0


def changes(
    stamps: dict[str, str], tree: FileTree, root: str, below: str, since: set[str] | None,
    *, anew: bool = False,
) -> Changes:  # fmt: skip
    """Compare the tree with what was read before; ``since`` are the only ones that may differ.

    ``anew`` reads everything again, the same content too.
    """
    found = Changes(tree.files())
    prefix = f"{below}/" if below else ""
    gone = {path for path in stamps if path.startswith(prefix)} if prefix else set(stamps)
    start = root.rstrip("/") + "/"
    for path in found.listing.paths:
        old = stamps.get(path)
        if old is not None and since is not None and path not in since:
            gone.discard(path)
            continue
        stamp = lstamp_of(start + path)
        if stamp == old and not anew and stamp:
            gone.discard(path)
        elif "-" in stamp:
            gone.discard(path)
            found.read[path] = size_in(stamp)
        elif stamp != GONE:
            found.listing.skip(stamp)
    found.unchanged = len(stamps) - len(gone) - sum(path in stamps for path in found.read)
    if prefix:
        found.unchanged -= sum(not path.startswith(prefix) for path in stamps)
    found.gone = sorted(gone)
    return found


OWED = "code_owed"
RULES = "code_rules"
TOTALS = "code_totals"
INDEXED = "code_indexed_at"
"""Keys of ``meta``."""


def new_token() -> str:
    """Return what marks one run's debt, so that another run's is distinguished."""
    return f"{now()} {os.urandom(4).hex()}"


def packed_totals(totals: dict[str, Any]) -> str:
    """Pack nested counts as lines, which are read without ``json``: its import takes long."""
    lines = []
    for name, value in totals.items():
        lines.append(f"{name}\t{value}" if isinstance(value, int) else name)
        if isinstance(value, dict):
            lines += [f"\t{key}\t{count}" for key, count in value.items()]
    return "\n".join(lines)


def unpacked_totals(text: str) -> dict[str, Any]:
    """Return the counts that ``packed_totals`` packed."""
    totals: dict[str, Any] = {}
    group: dict[str, int] = {}
    for line in text.split("\n"):
        name, _, value = line.rpartition("\t")
        if name.startswith("\t"):
            group[name[1:]] = int(value)
        elif name:
            totals[name] = int(value)
        else:
            group = totals[value] = {}
    return totals
