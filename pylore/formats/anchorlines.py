"""Anchors as JSON lines: part of what ``formats/jsonl.py`` reads and writes.

``{"anchor_of": ID, "kind", "path", …}`` is an anchor, ``{"anchor_history_of": ID, …}``
a place or a verdict that one has left. Stamps stay behind: they are of one machine.
"""

from __future__ import annotations

from ..anchors.project_paths import fault_of
from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.line_grammar import CHANGES, KINDS, VERDICTS
from ..records.exchange import told_anchor, told_anchors, told_past_anchors, when_gone
from ..store.anchor import ANCHOR_HISTORY, Anchor
from .linefields import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..store import Store

_OPTIONAL = ("detail", "root", "hash", "commit_id", "reason")


def anchor_lines(store: Store, *, history: bool = True) -> Iterator[dict[str, Any]]:
    """Every anchor, then what all of them have left, as fields of a line."""
    for anchor in told_anchors(store):
        fields = anchor.to_dict()
        del fields["stamp"]
        for name in _OPTIONAL:
            if not fields[name]:
                del fields[name]
        yield {"anchor_of": fields.pop("node_id"), **fields}
    if history:
        for state in told_past_anchors(store):
            yield {"anchor_history_of": state.pop("node_id"), **state}


def anchor_from(store: Store, fields: dict[str, Any], at: str) -> Anchor:
    """The anchor of one line; one that does not say when it was made is made at ``at``.

    Raises:
        LoreError: a field is missing, or is not what it should be.
    """
    anchor = Anchor(check_id(_text(fields, "anchor_of")), _one_of(fields, "kind", KINDS),
                    _text(fields, "path"))  # fmt: skip
    for name in _OPTIONAL:
        setattr(anchor, name, _text(fields, name, required=False))
    anchor.verdict = _one_of({"verdict": "valid", **fields}, "verdict", VERDICTS)
    anchor.created_at = moment(fields, "created_at")
    anchor.verified_at = moment(fields, "verified_at") or anchor.created_at
    fault = fault_of(anchor)
    if fault:
        raise LoreError(fault)
    if not anchor.created_at:
        _made_now(store, anchor, at)
    return anchor


def _made_now(store: Store, anchor: Anchor, at: str) -> None:
    """Fills in the times of an anchor that was written by hand: of one that is there, its own."""
    old = next((one for one in store.anchors.of(anchor.node_id) if one.key == anchor.key), None)
    said = (*_OPTIONAL, "verdict")
    same = old is not None and all(getattr(old, name) == getattr(anchor, name) for name in said)
    gone = when_gone(store.anchors.history(anchor.node_id)).get(anchor.key, "")
    anchor.created_at = old.created_at if old else at
    told_anchor(anchor, gone)
    anchor.verified_at = anchor.verified_at or (old.verified_at if old and same else at)


def past_anchor_from(fields: dict[str, Any]) -> dict[str, str]:
    """What one line says that an anchor has left; raises as ``anchor_from``."""
    state = {"node_id": check_id(_text(fields, "anchor_history_of"))}
    for name in ANCHOR_HISTORY[1:]:
        state[name] = _text(fields, name, required=name not in ("detail", "reason"))
    _one_of(state, "kind", KINDS)
    _one_of(state, "verdict", VERDICTS)
    _one_of(state, "change", CHANGES)
    moment(state, "changed_at")
    return state


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
