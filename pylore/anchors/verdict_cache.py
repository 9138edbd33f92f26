"""Attach verdicts to results that are tied to code."""

from __future__ import annotations

import os

from ..core.vocabulary import WORST_FIRST
from ..system.files import GONE, stamp_of
from ..system.project_files import leads_down
from ..system.projects import is_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import Anchor, Hit
    from ..store import Store


_SIMILARITY = ", similarity "


def worst(verdicts: Sequence[str]) -> str | None:
    """Return the verdict on a node: that of its anchor that holds least; None without one."""
    return min(verdicts, key=WORST_FIRST.index, default=None)


def told(anchor: Anchor) -> dict[str, str | float | None]:
    """Return an anchor as results have it: where it leads, and whether it holds.

    ``similarity``, 0 to 1, is how like what was anchored the code is that the anchor went to;
    None where that is not compared.
    """
    return {
        "kind": anchor.kind,
        "path": anchor.path,
        "detail": anchor.detail or None,
        "verdict": anchor.verdict,
        "reason": anchor.reason or None,
        "similarity": _similarity(anchor),
        "verified_at": anchor.verified_at,
        **(_of_rule(anchor) if anchor.kind == "rule" else {}),
    }


def _of_rule(anchor: Anchor) -> dict[str, str | float | None]:
    from .claims import claim_text

    return {"claim": claim_text(anchor), "new": anchor.is_broken}


def similarity_said(similarity: float) -> str:
    """Return how a reason ends where a body is like the anchored one: a change of place keeps it
    there."""
    return f"{_SIMILARITY}{similarity:.2f}"


def _similarity(anchor: Anchor) -> float | None:
    if anchor.verdict not in ("relocated", "drifted") or anchor.kind in ("file", "glob"):
        return None
    before, _, said = anchor.reason.rpartition(_SIMILARITY)
    if before and _is_figure(said):
        return float(said)
    return 1.0 if anchor.verdict == "relocated" else None


def _is_figure(text: str) -> bool:
    return len(text) == 4 and text[1] == "." and (text[0] + text[2:]).isdecimal()


def add_verdicts(
    store: Store,
    hits: Sequence[Hit],
    anchors: Sequence[tuple[str, str, str, str, str, str]],
    notes: list[str],
    *,
    explain: bool = False,
) -> None:
    """Write the kept verdict into each hit; ``anchors`` are ``store.nodes.anchored``. To
    ``explain``, what was found of its rules too.

    The files are examined with a ``stat`` each, but not read: where one has changed
    since its anchor was judged, that is said, and the kept verdict stands.
    """
    by_node: dict[str, list[str]] = {}
    changed = set()
    for node_id, verdict, kind, root, path, stamp in anchors:
        by_node.setdefault(node_id, []).append(verdict)
        ours = leads_down(path) and (not root or is_known(root))
        if ours and _has_changed(root or store.project, kind, path, stamp, verdict):
            changed.add(node_id)
    for hit in hits:
        hit.verdict = worst(by_node.get(hit.id, ()))
        if explain and any(one[0] == hit.id and one[2] == "rule" for one in anchors):
            from .claims import claim_text

            said = {claim_text(one): one.reason for one in store.anchors.of(hit.id)
                    if one.kind == "rule"}  # fmt: skip
            hit.explain = {**(hit.explain or {}), "rules": said}
    if changed:
        notes.append(
            f"the code behind {len(changed)} of these results has changed since it was looked at: "
            "run 'lore verify'"
        )


def _has_changed(root: str, kind: str, path: str, stamp: str, verdict: str) -> bool:
    if kind in ("glob", "rule"):
        return False  # to know costs more than a stat
    try:
        found = stamp_of(os.path.join(root, path))
    except (OSError, ValueError):
        return False
    if found == GONE or kind == "file":
        return (found == GONE) != (verdict == "invalid") and found != stamp
    return found != stamp
