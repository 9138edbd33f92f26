"""The file that a document was made from, as it was when it was last read."""

from __future__ import annotations

from ..core.model import Record


class DocumentFile(Record):
    """One document of a root (``""``: the project; else a folder, where paths start from it).

    ``read_as`` is what a reading depends on beside the file; ``hash`` is that of its text,
    ``state`` that of what it says as the node has it, ``stamp`` the file's, empty where it
    has to be read again. ``title`` is the file's. ``edges`` counts what its links have
    become, ``unresolved`` is a JSON list of those that lead to nothing, ``linked`` says among
    which names they were looked up. ``gone_at`` is when its node was forgotten because the
    file was gone.
    """

    __slots__ = (
        "node_id", "path", "read_as", "stamp", "hash", "state", "title", "edges", "unresolved",
        "linked", "gone_at",
    )  # fmt: skip

    def __init__(
        self,
        node_id: str,
        path: str,
        read_as: str = "",
        stamp: str = "",
        hash: str = "",
        state: str = "",
        title: str = "",
        edges: int = 0,
        unresolved: str = "[]",
        linked: str = "",
        gone_at: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.path = path
        self.read_as = read_as
        self.stamp = stamp
        self.hash = hash
        self.state = state
        self.title = title
        self.edges = edges
        self.unresolved = unresolved
        self.linked = linked
        self.gone_at = gone_at
