"""Results within the setting ``max_bytes``: results at the end are dropped.

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
"""Tokens; no record fits in less."""


def size(value: object) -> int:
    """Return the bytes of a value as JSON."""
    return len(dumps(value).encode())


def first_rows(rows: Rows, most: int) -> tuple[Rows, list[str]]:
    """Return the rows that fit in a list of ``most`` bytes (0: all), and notes.

    A first node that does not fit loses edges and the end of the body.

    Raises:
        LoreError: the first row does not fit and has no body.
    """
    kept: Rows = []
    notes, left = list[str](), most - 2 * _ROW
    for row in rows:
        left -= size(row) + _ROW
        if most and left < 0:
            break
        kept.append(row)
    if rows and not kept:
        if "body" not in rows[0]:
            raise LoreError(f"the first result does not fit: max_bytes is {most}")
        node = {**rows[0], "edges": []}
        over, body = size(node) + 3 * _ROW - most, node["body"].encode()
        if over > 0:  # an escape takes several bytes of JSON
            rest = max(0, 2 * len(body) - over - size(node["body"]))
            node["body"] = body[:rest].decode(errors="ignore")
        kept = [node]
        notes = [f"edges, or the end, of {node['id']} left out: max_bytes is {most}"]
    if gone := len(rows) - len(kept):
        notes.insert(0, f"{counted(gone, 'result')} left out: max_bytes is {most}")
    return kept, notes


def context_within(engine: Engine, question: str, text_bytes: int = 0, **options: Any) -> Context:
    """Return a context whose text has at most ``text_bytes``, or whose JSON ``max_bytes``.

    ``options`` are those of ``app.find.context``. First the names of withheld nodes are dropped,
    then the budget is lowered, with a note.
    """
    most, notes = text_bytes or engine.settings.max_bytes, list[str]()
    while True:
        found = context(engine, question, **options)
        found.notes += notes
        if most and not text_bytes and size(found.to_row()) > most:
            found.withheld = []
        taken = len(found.text.encode()) if text_bytes else size(found.to_row())
        if not most or taken <= most:
            return found
        budget = found.tokens_used * most // taken * 9 // 10
        if budget < _LEAST_BUDGET:
            raise LoreError(f"no result fits: max_bytes is {most}")
        engine = engine.changed([("budget", str(budget))], "max_bytes")
        notes = [f"the budget is {budget} tokens: max_bytes is {most}"][bool(text_bytes) :]
