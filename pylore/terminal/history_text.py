"""The states of a record as differences, for a person."""

from __future__ import annotations

from difflib import unified_diff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Style = Callable[[str], str]

_KEPT = ("number", "change", "made_at", "changed_at")
_CONTEXT = 2
"""Lines of a text that are shown around what has changed in it."""


def history_lines(row: dict[str, Any], bold: Style, dim: Style) -> list[str]:
    """What each change of a record made of it, the first one first.

    ``row`` has the fields of today, and in ``history`` those of earlier states that were others.
    """
    after, found = row, []
    for state in reversed(row["history"]):
        found.append([_head(state, bold), *_differences(state, after, dim)])
        after = {**after, **state}
    return [line for lines in reversed(found) for line in lines]


def _head(state: dict[str, Any], bold: Style) -> str:
    left = f"{bold(state['change'])} on {state['changed_at']}"
    return f"  state {state['number']}, of {state['made_at']}: {left}"


def _differences(before: dict[str, Any], after: dict[str, Any], dim: Style) -> Iterator[str]:
    for name, value in before.items():
        if name == "body":
            yield from _of_text(value, after[name], dim)
        elif name not in _KEPT:
            yield f"       {name.replace('_', ' ')}: {_told(value)} -> {_told(after[name])}"


def _of_text(before: str, after: str, dim: Style) -> Iterator[str]:
    lines = unified_diff(before.splitlines(), after.splitlines(), n=_CONTEXT, lineterm="")
    for number, line in enumerate(lines):
        if number > 1:  # the first two name files
            yield f"       {line if line[:1] in '+-' else dim(line)}"


def _told(value: Any) -> str:
    if value is None or value in ("", []):
        return "-"
    return " ".join(value) if isinstance(value, list) else str(value)
