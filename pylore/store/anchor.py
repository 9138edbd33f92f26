"""An anchor: what ties a node to code, and whether it still holds."""

from __future__ import annotations

from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    AnchorKey = tuple[str, str, str, str]
    """(node, kind, path, detail)"""

ANCHOR_HISTORY = (
    "node_id", "kind", "path", "detail", "verdict", "reason", "change", "changed_at",
)  # fmt: skip
"""What is kept of a place or a verdict that an anchor has left."""


class Anchor(Record):
    """One tie of a node to code. ``path`` starts from ``root``, that from the project if empty."""

    __slots__ = (
        "node_id", "kind", "path", "detail", "root", "hash", "stamp", "commit_id", "verdict",
        "reason", "created_at", "verified_at",
    )  # fmt: skip

    def __init__(
        self,
        node_id: str,
        kind: str,
        path: str,
        detail: str = "",
        root: str = "",
        hash: str = "",
        stamp: str = "",
        commit_id: str = "",
        verdict: str = "valid",
        reason: str = "",
        created_at: str = "",
        verified_at: str = "",
    ) -> None:
        self.node_id = node_id
        self.kind = kind
        self.path = path
        self.detail = detail
        self.root = root
        self.hash = hash
        self.stamp = stamp
        self.commit_id = commit_id
        self.verdict = verdict
        self.reason = reason
        self.created_at = created_at
        self.verified_at = verified_at

    @property
    def key(self) -> AnchorKey:
        """Return what makes an anchor one anchor: node, kind, path, detail."""
        return (self.node_id, self.kind, self.path, self.detail)

    def copy(self) -> Anchor:
        """Return another one with the same fields."""
        return Anchor(*self.to_dict().values())
