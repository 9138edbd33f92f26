"""Results of the SDK: dictionaries whose fields are attributes too."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from ..core.json import dumps


class SdkResult(dict[str, Any]):
    """One result as the commands print it: ``row["id"]`` is ``row.id``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field '{name}'") from None

    def to_json(self) -> str:
        """Return the result as JSON on one line."""
        return dumps(self)


class AnchorResult(SdkResult):
    """An anchor with its verdict; ``state`` only where it was made just now, ``claim`` (in words),
    ``new`` (against it) and ``places`` only of a rule."""

    anchor_id: str
    id: str
    title: str
    kind: str
    path: str
    detail: str | None
    verdict: str
    reason: str | None
    similarity: float | None
    verified_at: str
    state: str
    claim: str
    new: bool
    places: list[dict[str, Any]]


def anchor_result(row: dict[str, Any]) -> AnchorResult:
    """Return a row of ``lore verify`` with the anchor's id."""
    key = (row["id"], row["kind"], row["path"], row["detail"] or "")
    return AnchorResult(anchor_id=anchor_id(*key), **row)


def anchor_id(node_id: str, kind: str, path: str, detail: str) -> str:
    """Return the id of an anchor, by what it ties to which place.

    >>> anchor_id("decision-a", "file", "a.py", "")
    'anchor-30d0d964'
    """
    return "anchor-" + sha256("\0".join((node_id, kind, path, detail)).encode()).hexdigest()[:8]
