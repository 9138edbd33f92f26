"""Candidates for a person: what they say, and what speaks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.text import counted, one_line
from ...terminal.text import bold, dim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_QUOTES = 3
_MOST_FILES = 5
_SESSION = 12


def candidates_text(rows: Sequence[dict[str, Any]]) -> str:
    """A list of them, each with its strongest signals."""
    return "\n".join(map(_line, rows)) or "no candidates\n"


def _line(row: Mapping[str, Any]) -> str:
    status = "" if row["status"] == "open" else f"  [{_standing(row)}]"
    head = (
        f"{row['score']:.2f}  {bold(row['id'])}  {row['type']}  {one_line(row['title'])}{status}\n"
    )
    return head + evidence_text(row, _MOST_QUOTES)


def _standing(row: Mapping[str, Any]) -> str:
    known = row["promoted_as"]
    return f"{row['status']}: {known}" if known else str(row["status"])


def evidence_text(row: Mapping[str, Any], most: int) -> str:
    """The quotes with what speaks for each, the strongest first, and the files."""
    signals = sorted(row["signals"], key=lambda one: (-one["weight"], one["t"]))
    quotes: dict[tuple[str, str, str], list[str]] = {}
    for one in signals:
        said = quotes.setdefault((one_line(one["quote"]), one["session"], one["t"]), [])
        said.append(f"{one['weight']:.2f} {one['name']}")
    lines = [
        f'      {", ".join(names)}: "{quote}"' + dim(f"  ({session[:_SESSION]} {t[:10]})")
        for (quote, session, t), names in [*quotes.items()][:most]
    ]
    if len(quotes) > most:
        lines.append(dim(f"      and {counted(len(quotes) - most, 'more quote')}"))
    if row["files"]:
        more = ", …" if len(row["files"]) > _MOST_FILES else ""
        lines.append(dim(f"      files: {', '.join(row['files'][:_MOST_FILES])}{more}"))
    return "".join(f"{line}\n" for line in lines)
