"""Single nodes, and the counting of what is read. Every ``show`` imports this."""

from __future__ import annotations

from ..records.show import count_accesses, shown
from ..store.resolve_id import complete_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .engine import Engine


def show(engine: Engine, ids: Sequence[str], *, history: bool = False) -> list[dict[str, Any]]:
    """Each node with all its fields and its live edges; with ``history``, their past too.

    Raises:
        LoreError: there is no such node.
    """
    with engine.store.snapshot():
        return [shown(engine.store, id, history=history) for id in complete_ids(engine.store, ids)]


def record_accesses(engine: Engine, ids: Sequence[str]) -> list[str]:
    """Counts that these nodes were read; notes on what that has confirmed.

    Call it when the output is out. It never fails.
    """
    return count_accesses(engine.store, engine.settings, ids)
