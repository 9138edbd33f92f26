"""Rows of commands as text for people."""

from __future__ import annotations

from ..core.json_plain import loads
from ..core.text import one_line, printable
from ..system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Style = Callable[[str], str]


def data_lines(data: str, body: str) -> list[str]:
    """Return a line a field of ``data``, a JSON object; a text of several lines is below its
    name.

    What ``body`` says too is left out, and so are the fields that lore keeps for itself.
    """
    try:
        fields = loads(data)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return [data]
    lines = []
    for name, value in fields.items():
        text = _told(value)
        if name.startswith("_") or (text and text in body):
            continue
        label = printable(name).replace("_", " ")
        if "\n" in text:
            lines += [f"{label}:", *(f"  {line}" for line in text.splitlines())]
        else:
            lines.append(f"{label}: {text}")
    return lines


def _told(value: Any) -> str:
    if isinstance(value, str):
        return printable(value).strip()
    if isinstance(value, list) and not any(isinstance(item, (list, dict)) for item in value):
        return ", ".join(map(_told, value))
    return "-" if value is None else dumps(value)


def evidence_lines(metadata: str) -> list[str]:
    """Return each quote with when it was said and where; nothing of what has another form.

    >>> evidence_lines('{"evidence": [{"quote": "Look twice", "t": "2026-01-31T12:00:00Z"}, 7]}')
    ['"Look twice"  2026-01-31']
    """
    rows = loads(metadata).get("evidence")
    if not isinstance(rows, list):
        return []
    return [_line(row) for row in rows if isinstance(row, dict)]


def _line(row: dict[str, object]) -> str:
    quote, t, ref = (one_line(str(row.get(name) or "")) for name in ("quote", "t", "ref"))
    return printable(f'"{quote}"  {t[:10]}  {ref}').rstrip()


_KEPT = ("number", "change", "made_at", "changed_at")
_CONTEXT = 2
"""Lines of a text that are shown around what has changed in it."""


def history_lines(row: dict[str, Any], bold: Style, dim: Style) -> list[str]:
    """Return what each change of a record made of it, the first one first.

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
            old, new = _history_text_told(value), _history_text_told(after[name])
            yield f"       {name.replace('_', ' ')}: {old} -> {new}"


def _of_text(before: str, after: str, dim: Style) -> Iterator[str]:
    from difflib import unified_diff

    lines = unified_diff(before.splitlines(), after.splitlines(), n=_CONTEXT, lineterm="")
    for number, line in enumerate(lines):
        if number > 1:  # the first two name files
            yield f"       {line if line[:1] in '+-' else dim(line)}"


def _history_text_told(value: Any) -> str:
    if value is None or value in ("", []):
        return "-"
    return " ".join(value) if isinstance(value, list) else str(value)
