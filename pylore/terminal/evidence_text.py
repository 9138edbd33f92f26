"""The quotes that a link has as evidence, for a person."""

from __future__ import annotations

from ..core.json_plain import loads
from ..core.text import one_line, printable


def evidence_lines(metadata: str) -> list[str]:
    """Each quote with when it was said and where; nothing of what has another form.

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
