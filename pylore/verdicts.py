"""What a result says of the code that it is about, and when what is known is old.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os

import apsw

from .stamps import GONE, stamp_of
from .times import now, parse_since
from .vocabulary import CO_CHANGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .model import Hit
    from .settings import Settings
    from .store import Store
    from .store.anchors import Anchor

_HOLDING_LEAST = ("invalid", "drifted", "relocated", "valid")


def worst(verdicts: Sequence[str]) -> str | None:
    """The verdict on a node: that of its anchor that holds least; None without one."""
    return min(verdicts, key=_HOLDING_LEAST.index, default=None)


def told(anchor: Anchor) -> dict[str, str | None]:
    """An anchor as results have it: where it leads, and whether it holds."""
    return {
        "kind": anchor.kind,
        "path": anchor.path,
        "detail": anchor.detail or None,
        "verdict": anchor.verdict,
        "reason": anchor.reason or None,
        "verified_at": anchor.verified_at,
    }


def say_verdicts(store: Store, hits: Sequence[Hit], notes: list[str]) -> None:
    """Writes into each hit whether what it is about still holds, as far as that is known."""
    try:
        anchors = store.nodes.anchored([hit.id for hit in hits])
    except apsw.SQLError as error:
        notes.append(f"the verdicts cannot be read ({error}): run 'lore doctor'")
        return
    if anchors:
        add_verdicts(store, hits, anchors, notes)


def add_verdicts(
    store: Store,
    hits: Sequence[Hit],
    anchors: Sequence[tuple[str, str, str, str, str, str]],
    notes: list[str],
) -> None:
    """Writes the kept verdict into each hit; ``anchors`` are ``store.nodes.anchored``.

    The files are looked at with a ``stat`` each, but not read: where one has changed
    since its anchor was judged, that is said, and the kept verdict stands.
    """
    by_node: dict[str, list[str]] = {}
    changed = set()
    project = os.path.dirname(os.path.dirname(os.path.abspath(store.path)))
    for node_id, verdict, kind, root, path, stamp in anchors:
        by_node.setdefault(node_id, []).append(verdict)
        if _has_changed(root or project, kind, path, stamp, verdict):
            changed.add(node_id)
    for hit in hits:
        hit.verdict = worst(by_node.get(hit.id, ()))
    if changed:
        notes.append(
            f"the code behind {len(changed)} of these results has changed since it was looked at: "
            "run 'lore verify'"
        )


def _has_changed(root: str, kind: str, path: str, stamp: str, verdict: str) -> bool:
    if kind == "glob":
        return False  # to know costs more than a stat
    try:
        found = stamp_of(os.path.join(root, path))
    except (OSError, ValueError):
        return False
    if found == GONE or kind == "file":
        return (found == GONE) != (verdict == "invalid") and found != stamp
    return found != stamp


def cochanges_note(store: Store, settings: Settings, hits: Iterable[Hit]) -> str:
    """What to say where hits were reached by co-changes of too long ago; nothing otherwise.

    It is said once a day: a store that can be written keeps when.
    """
    analysed = store.meta.get("cochanges_analyzed_at") or ""
    days = settings.cochange_days
    if not days or not analysed or analysed > parse_since(f"{days}d"):
        return ""
    if (store.meta.get("cochanges_said_at") or "") > parse_since("1d"):
        return ""
    if not any(_by_cochange(store, hit) for hit in hits):
        return ""
    _remember(store, "cochanges_said_at", now())
    return (
        f"the co-changes are of {analysed[:10]}: "
        "'lore graph analyze-cochanges' brings them up to date"
    )


def cochanges_are_due(store: Store) -> bool:
    """Whether the history has not been looked at for a day."""
    return (store.meta.get("cochanges_analyzed_at") or "") < parse_since("1d")


def _by_cochange(store: Store, hit: Hit) -> bool:
    """Whether an edge of the way to a hit is a co-change."""
    if hit.edge == CO_CHANGES:
        return True
    between = zip(hit.path[:-2], hit.path[1:-1], strict=True)
    return any(store.edges.get(min(ends), max(ends), CO_CHANGES) is not None for ends in between)


def _remember(store: Store, key: str, value: str) -> None:
    """Keeps a fact about the store, unless it is busy or cannot be written."""
    from .errors import StoreError

    if not store.writable:
        return
    try:
        with store.waiting(0), store.transaction():
            store.meta.set(key, value)
    except (apsw.Error, StoreError):
        return
