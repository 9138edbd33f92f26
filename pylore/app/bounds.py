"""Answers within the setting ``max_bytes``: whole results go, from the end.

Sizes are bytes of UTF-8 of the JSON that a command prints.
"""

from __future__ import annotations

from ..core.errors import LoreError, UsageError
from ..core.json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context.build import Context
    from .engine import Engine

    Rows = list[dict[str, Any]]

LEAST = 1000
"""Least ``max_bytes``: in less, hardly a result has room."""

_ROW = 2
"""Bytes between two rows of a list, and around it: a comma and the end of a line."""

_LEAST_BUDGET = 64
"""Least budget of a context, in tokens: in less, nothing has room."""

_TRIES = 8
"""How often a context is made smaller."""


def size(value: object) -> int:
    """Return the bytes of a value as JSON."""
    return len(dumps(value).encode())


def first_rows(rows: Rows, most: int) -> tuple[Rows, list[str]]:
    """Return as many rows as a list of ``most`` bytes holds (0: all), and notes; LoreError if not
    even the first one has room."""
    count = _fitting(rows, most)
    if rows and not count:
        raise LoreError(f"not even the first result has room: max_bytes is {most}")
    return rows[:count], _left_out(len(rows) - count, most)


def first_nodes(rows: Rows, most: int) -> tuple[Rows, list[str]]:
    """Return the same for whole nodes; of the first one, edges and then the body are cut to fit."""
    count = _fitting(rows, most)
    if count or not rows:
        return rows[:count], _left_out(len(rows) - count, most)
    node, notes = _shortened(dict(rows[0]), most)
    return [node], _left_out(len(rows) - 1, most) + notes


def _fitting(rows: Rows, most: int) -> int:
    """Return how many of the first rows a list of ``most`` bytes holds; all where that is 0."""
    if not require_room(most):
        return len(rows)
    left = most - 2 * _ROW
    for place, row in enumerate(rows):
        left -= size(row) + _ROW
        if left < 0:
            return place
    return len(rows)


def require_room(most: int) -> int:
    """Return ``max_bytes``; UsageError if it is below ``LEAST`` and not 0."""
    if 0 < most < LEAST:
        raise UsageError(f"max_bytes is '{most}': give 0, or {LEAST} and more")
    return most


def _left_out(count: int, most: int) -> list[str]:
    things = "result" if count == 1 else "results"
    return [f"{count} {things} left out: max_bytes is {most}"] if count else []


def _shortened(node: dict[str, Any], most: int) -> tuple[dict[str, Any], list[str]]:
    over = size(node) + 3 * _ROW - most
    edges, notes = [*node.get("edges", ())], []
    while edges and over > 0:
        over -= size(edges.pop()) + 1
    if gone := len(node.get("edges", ())) - len(edges):
        notes.append(f"{gone} edges of {node['id']} left out: max_bytes is {most}")
    node["edges"] = edges
    if over > 0 and node.get("body"):
        body = node["body"].encode()
        kept = max(0, 2 * len(body) - over - size(node["body"]))
        node["body"] = body[:kept].decode(errors="ignore")
        notes.append(f"the body of {node['id']} ends after {kept} of {len(body)} bytes: "
                     f"max_bytes is {most}")  # fmt: skip
    return node, notes


def context_within(engine: Engine, question: str, text_bytes: int = 0, **options: Any) -> Context:
    """Return a context whose text has at most ``text_bytes``, or whose JSON ``max_bytes``.

    First the names of what was withheld go, then the budget is lowered; notes say so.

    Args:
        options: those of ``app.find.context``.
    """
    from .find import context

    found = context(engine, question, **options)
    most = text_bytes or require_room(engine.settings.max_bytes)
    for tries_left in range(_TRIES, -1, -1):
        taken = len(found.text.encode()) if text_bytes else size(found.to_row())
        if not most or taken <= most:
            return found
        if not tries_left:
            break
        if found.withheld and not text_bytes:
            found.notes.append(f"{len(found.withheld)} of what was withheld are not named: "
                               f"max_bytes is {most}")  # fmt: skip
            found.withheld = []
            continue
        budget = max(_LEAST_BUDGET, found.tokens_used * most // taken * 9 // 10)
        found = context(engine.changed([("budget", str(budget))], "max_bytes"), question, **options)
        if not text_bytes:
            found.notes.append(f"the budget was lowered to {budget} tokens: max_bytes is {most}")
    found.text, found.tokens_used, found.included = "", 0, []
    found.notes = [f"nothing that was found has room: max_bytes is {most}"]
    found.question = found.question.encode()[: most // 3].decode(errors="ignore")
    return found
