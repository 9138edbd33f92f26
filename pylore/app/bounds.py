"""Answers within the setting ``max_bytes``: whole results go, from the end.

Sizes are bytes of UTF-8 of the JSON that a command prints.
"""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.json import dumps
from ..core.text import counted
from .find import context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context.build import Context
    from .engine import Engine

    Rows = list[dict[str, Any]]

_ROW = 2
"""Bytes between two rows of a list, and around it: a comma and the end of a line."""
_LEAST_BUDGET = 64
"""Least budget of a context, in tokens: in less, nothing has room."""


def size(value: object) -> int:
    """Return the bytes of a value as JSON."""
    return len(dumps(value).encode())


def first_rows(rows: Rows, most: int) -> tuple[Rows, list[str]]:
    """Return as many rows as a list of ``most`` bytes holds (0: all), and notes.

    Of a first node that has no room, the edges go, and then the end of its body; of another first
    row LoreError says that.
    """
    if not most:
        return rows, []
    kept: Rows = []
    notes, left = list[str](), most - 2 * _ROW
    for row in rows:
        left -= size(row) + _ROW
        if left < 0:
            break
        kept.append(row)
    if rows and not kept:
        if "body" not in rows[0]:
            raise LoreError(f"not even the first result has room: max_bytes is {most}")
        kept, notes = _shortened(rows[0], most)
    if gone := len(rows) - len(kept):
        notes.insert(0, f"{counted(gone, 'result')} left out: max_bytes is {most}")
    return kept, notes


def _shortened(node: dict[str, Any], most: int) -> tuple[Rows, list[str]]:
    edges, node = node.get("edges", []), {**node, "edges": []}
    notes = [f"{len(edges)} edges of {node['id']} left out: max_bytes is {most}"] if edges else []
    over, body = size(node) + 3 * _ROW - most, node["body"].encode()
    if over > 0:
        kept = max(0, 2 * len(body) - over - size(node["body"]))
        node["body"] = body[:kept].decode(errors="ignore")
        notes.append(f"the body of {node['id']} ends after {kept} of {len(body)} bytes: "
                     f"max_bytes is {most}")  # fmt: skip
    return [node], notes


def context_within(engine: Engine, question: str, text_bytes: int = 0, **options: Any) -> Context:
    """Return a context whose text has at most ``text_bytes``, or whose JSON ``max_bytes``.

    First the names of what was withheld go, then the budget is lowered; notes say so.

    Args:
        options: those of ``app.find.context``.
    """
    most, notes = text_bytes or engine.settings.max_bytes, list[str]()
    while True:
        found = context(engine, question, **options)
        found.notes += notes
        if most and not text_bytes and size(found.to_row()) > most and found.withheld:
            found.notes.append(f"{len(found.withheld)} of what was withheld are not named: "
                               f"max_bytes is {most}")  # fmt: skip
            found.withheld = []
        taken = len(found.text.encode()) if text_bytes else size(found.to_row())
        if not most or taken <= most:
            return found
        budget = found.tokens_used * most // taken * 9 // 10
        if budget < _LEAST_BUDGET:
            raise LoreError(f"nothing that was found has room: max_bytes is {most}")
        engine = engine.changed([("budget", str(budget))], "max_bytes")
        note = f"the budget was lowered to {budget} tokens: max_bytes is {most}"
        notes = [] if text_bytes else [note]
