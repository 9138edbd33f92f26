"""Show anchors and verdicts with results."""

from __future__ import annotations

import os

from ..core.vocabulary import WORST_FIRST
from ..system.files import GONE, is_known, leads_down, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import Anchor, Hit


def worst(verdicts: Sequence[str]) -> str | None:
    """Return the worst verdict, which is the node's; None without anchors."""
    return min(verdicts, key=WORST_FIRST.index, default=None)


def anchor_row(anchor: Anchor) -> dict[str, str | bool | None]:
    """Return an anchor as results have it: place and verdict."""
    row: dict[str, str | bool | None] = {
        "kind": anchor.kind,
        "path": anchor.path,
        "detail": anchor.detail or None,
        "verdict": anchor.verdict,
        "reason": ((anchor.kind == "rule" or anchor.verdict != "valid") and anchor.reason) or None,
        "verified_at": anchor.verified_at,
    }
    if anchor.kind == "rule":
        from .claims import claim_text

        row |= {"claim": claim_text(anchor), "new": anchor.is_broken}
    return row


def add_verdicts(
    hits: Sequence[Hit],
    anchors: Sequence[tuple[str, str, str, str, str, str]],
    project: str,
    notes: list[str],
) -> None:
    """Write the stored verdict into each hit; ``anchors`` are ``store.nodes.anchored``.

    The files are examined with a ``stat`` each, but not read: a note has the number of changes
    since the anchors were judged.
    """
    by_node: dict[str, list[str]] = {}
    changed = set()
    for node_id, verdict, kind, root, path, stamp in anchors:
        by_node.setdefault(node_id, []).append(verdict)
        ours = leads_down(path) and (not root or is_known(root))
        if ours and _has_changed(root or project, kind, path, stamp, verdict):
            changed.add(node_id)
    for hit in hits:
        hit.verdict = worst(by_node.get(hit.id, ()))
    if changed:
        what = f"the code behind {len(changed)} of these results may have changed"
        notes.append(f"{what}: run 'lore verify'")


def _has_changed(root: str, kind: str, path: str, stamp: str, verdict: str) -> bool:
    if kind in ("glob", "rule"):
        return False  # to know costs more than a stat
    try:
        found = stamp_of(os.path.join(root, path))
    except (OSError, ValueError):
        return False
    as_judged = (found == GONE) == (verdict == "invalid")
    return found != stamp and not (as_judged and (found == GONE or kind == "file"))
