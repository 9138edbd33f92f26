"""What came of copying a store: into a backup, or from one."""

from __future__ import annotations

from ..core.model import Record

RESTORE_BACKUP = "restore-backup"
"""What the history calls it: only the file that it keeps can take it back."""


class Copied(Record):
    """A store that was copied to ``file``, and what it holds. ``kept`` is the path of what
    was there before; None where that was replaced, or there was nothing."""

    __slots__ = ("bytes", "edges", "file", "kept", "nodes")

    def __init__(self, file: str, bytes: int, nodes: int, edges: int, kept: str | None) -> None:
        self.file = file
        self.bytes = bytes
        self.nodes = nodes
        self.edges = edges
        self.kept = kept
