"""Answers within the setting ``max_bytes``: whole results go, from the end.

What is measured is the JSON that a command prints of them, in bytes of UTF-8.
"""

from __future__ import annotations

from ..core.errors import LoreError, UsageError
from ..core.json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context.build import Context
    from .engine import Engine

_ROW = 2
"""Bytes between two rows of a list, and around it: a comma and the end of a line."""

_LEAST_BUDGET = 64
"""Tokens; with fewer a context holds nothing."""

_TRIES = 6

LEAST = 1000
"""Bytes below which hardly a result has room, nor a context what says that it is one."""


def require_room(most: int) -> int:
    """``max_bytes`` as it is set; 0 is none.

    Raises:
        UsageError: hardly anything would have room in it.
    """
    if 0 < most < LEAST:
        raise UsageError(f"max_bytes is '{most}': give 0, or {LEAST} and more")
    return most


def size(value: object) -> int:
    """Bytes that a value takes as JSON."""
    return len(dumps(value).encode())


def first_rows(rows: list[dict[str, Any]], most: int) -> tuple[list[dict[str, Any]], list[str]]:
    """As many rows as a list of ``most`` bytes holds (0: all), and what is to be said of it.

    Raises:
        UsageError: hardly anything has room in so many bytes.
        LoreError: it does not even hold the first one.
    """
    count = _fitting(rows, most)
    if rows and not count:
        raise LoreError(f"not even the first result has room: max_bytes is {most}")
    return rows[:count], _left_out(len(rows) - count, most)


def first_nodes(rows: list[dict[str, Any]], most: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the same for nodes with all that is known of them; of the first one there is always
    some.

    Where it alone has no room, its edges go from the end, then its body.

    Raises:
        UsageError: hardly anything has room in so many bytes.
    """
    count = _fitting(rows, most)
    if count or not rows:
        return rows[:count], _left_out(len(rows) - count, most)
    node = dict(rows[0])
    shortened = _shortened(node, most - 3 * _ROW, most)
    return [node], _left_out(len(rows) - 1, most) + shortened


def _fitting(rows: list[dict[str, Any]], most: int) -> int:
    """Return how many of the first rows a list of ``most`` bytes holds; all where that is 0."""
    if not require_room(most):
        return len(rows)
    left = most - 2 * _ROW
    for place, row in enumerate(rows):
        left -= size(row) + _ROW
        if left < 0:
            return place
    return len(rows)


def context_within(engine: Engine, question: str, **options: Any) -> Context:
    """Return a context whose JSON has at most ``max_bytes``: with less withheld, then with a
    lower budget. Its notes say so.

    Args:
        options: as ``app.context.context`` has them.
    """
    from .context import context

    found = context(engine, question, **options)
    most = require_room(engine.settings.max_bytes)
    if not most:
        return found
    tries = 0
    while (over := size(found.to_row()) - most) > 0:
        if found.withheld:
            _withhold_less(found, over, most)
            continue
        budget = found.tokens_used * most // (most + over) * 9 // 10
        if budget < _LEAST_BUDGET or tries == _TRIES:
            return _without_text(found, most)
        tries += 1
        lower = engine.changed([("budget", str(budget))], "max_bytes")
        found = context(lower, question, **options)
        found.notes.append(f"the budget was lowered to {budget} tokens to keep within {most} bytes")
    return found


def text_within(engine: Engine, most: int, question: str, **options: Any) -> Context:
    """Return a context whose text has at most so many bytes, with a lower budget if need be."""
    from .context import context

    found = context(engine, question, **options)
    for _ in range(_TRIES):
        length = len(found.text.encode())
        if length <= most:
            return found
        budget = max(_LEAST_BUDGET, found.tokens_used * most // length * 19 // 20)
        lower = engine.changed([("budget", str(budget))], "max_bytes")
        found = context(lower, question, **options)
    return found if len(found.text.encode()) <= most else _without_text(found, most)


def _without_text(found: Context, most: int) -> Context:
    """Return the context where nothing of it has room: its question, shortened, and a note."""
    found.text, found.tokens_used, found.included = "", 0, []
    found.notes = [f"nothing that was found has room: max_bytes is {most}"]
    found.question = found.question.encode()[: most // 3].decode(errors="ignore")
    return found


def _withhold_less(found: Context, over: int, most: int) -> None:
    """Takes entries off the end of what was withheld, with a note that says how many."""
    note = "{} of what was withheld are not named: max_bytes is {}"
    over += size(note.format(len(found.withheld), most)) + _ROW
    before = len(found.withheld)
    while found.withheld and over > 0:
        over -= size(found.withheld.pop()) + 1
    found.notes.append(note.format(before - len(found.withheld), most))


def _shortened(node: dict[str, Any], room: int, most: int) -> list[str]:
    notes = []
    edges = [*node.get("edges", ())]
    over = size(node) - room
    before = len(edges)
    while edges and over > 0:
        over -= size(edges.pop()) + 1
    node["edges"] = edges
    if len(edges) < before:
        notes.append(f"{before - len(edges)} edges of {node['id']} left out: max_bytes is {most}")
    if over > 0 and node.get("body"):
        body = node["body"].encode()
        kept = max(0, len(body) - over - (size(node["body"]) - len(body)))
        node["body"] = body[:kept].decode(errors="ignore")
        notes.append(f"the body of {node['id']} ends after {kept} of {len(body)} bytes: "
                     f"max_bytes is {most}")  # fmt: skip
    return notes


def _left_out(count: int, most: int) -> list[str]:
    """Return what to say of so many results that have no room; nothing where there are none."""
    things = "result" if count == 1 else "results"
    return [f"{count} {things} left out: max_bytes is {most}"] if count else []
