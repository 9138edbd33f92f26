"""Anchors as JSON lines: part of what ``formats/jsonl.py`` reads and writes.

``{"anchor_of": ID, "kind", "path", …}`` is an anchor, ``{"anchor_history_of": ID, …}``
a place or a verdict that one has left. Stamps stay behind: they are of one machine.
"""

from __future__ import annotations

from ..anchors.project_paths import fault_of
from ..core.errors import LoreError
from ..core.ids import check_id
from ..store.anchor import ANCHOR_HISTORY, Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..store import Store

KINDS = ("file", "glob", "hash", "symbol", "lines")
VERDICTS = ("valid", "drifted", "relocated", "invalid")
CHANGES = ("moved", "judged", "removed")
_OPTIONAL = ("detail", "root", "hash", "commit_id", "reason")


def anchor_lines(store: Store) -> Iterator[dict[str, Any]]:
    """Every anchor, then the history of all, as fields of a line."""
    for anchor in store.anchors.all():
        fields = anchor.to_dict()
        del fields["stamp"]
        for name in _OPTIONAL:
            if not fields[name]:
                del fields[name]
        yield {"anchor_of": fields.pop("node_id"), **fields}
    for state in store.anchors.history():
        yield {"anchor_history_of": state.pop("node_id"), **state}


def take_anchor(store: Store, fields: dict[str, Any], at: str) -> str:
    """Writes the anchor of one line: ``added``, ``updated``, or ``unchanged``.

    Raises:
        LoreError: a field is missing, or is not what it should be.
    """
    anchor = Anchor(check_id(_text(fields, "anchor_of")), _one_of(fields, "kind", KINDS),
                    _text(fields, "path"))  # fmt: skip
    for name in _OPTIONAL:
        setattr(anchor, name, _text(fields, name, required=False))
    anchor.verdict = _one_of({"verdict": "valid", **fields}, "verdict", VERDICTS)
    anchor.created_at = _text(fields, "created_at", required=False) or at
    anchor.verified_at = _text(fields, "verified_at", required=False) or anchor.created_at
    fault = fault_of(anchor)
    if fault:
        raise LoreError(fault)
    old = {other.key: other for other in store.anchors.of(anchor.node_id)}.get(anchor.key)
    anchor.stamp = old.stamp if old and old.hash == anchor.hash else ""
    return store.anchors.put(anchor)


def take_anchor_history(store: Store, fields: dict[str, Any], copies: int) -> None:
    """Writes one line of history, until it is there ``copies`` times; raises as ``take_anchor``."""
    state = {"node_id": check_id(_text(fields, "anchor_history_of"))}
    for name in ANCHOR_HISTORY[1:]:
        state[name] = _text(fields, name, required=name not in ("detail", "reason"))
    _one_of(state, "kind", KINDS)
    _one_of(state, "verdict", VERDICTS)
    _one_of(state, "change", CHANGES)
    store.anchors.add_history(state, copies)


def _text(fields: dict[str, Any], name: str, *, required: bool = True) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise LoreError(f"{name} is not a string")
    if required and not value:
        raise LoreError(f"an anchor lacks its {name}")
    return value


def _one_of(fields: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
    value = _text(fields, name)
    if value not in choices:
        raise LoreError(f"{name} '{value}' is not one of {', '.join(choices)}")
    return value
