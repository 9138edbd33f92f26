"""Fields of records and edges: their checks, and values made of others."""

from __future__ import annotations

from ..core.errors import LoreError
from ..core.json_plain import dumps, loads
from ..core.vocabulary import SOURCES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TITLE_LENGTH = 80


def require_known(status: str, source: str, fraction: float) -> None:
    """Raise LoreError where one of the three is not valid; ``fraction`` is 0 to 1."""
    for what, word, known in (("status", status, STATUSES), ("source", source, SOURCES)):
        if word not in known:
            raise LoreError(f"unknown {what} '{word}': one of {', '.join(known)}")
    if not 0 <= fraction <= 1:
        raise LoreError(f"{fraction} is not a weight or a confidence: give a number from 0 to 1")


def title_of(text: str) -> str:
    """Return the first line of a text, without Markdown's heading marks, at most 80 characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = line.lstrip("#").strip() or line
    if len(line) <= TITLE_LENGTH:
        return line
    return line[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def require_text(text: str, most: int) -> str:
    """Return the text of a record without blank lines around it.

    Raises:
        LoreError: it is empty, no text, or has more than ``most`` bytes.
    """
    if not text.strip():
        raise LoreError("the text is empty: say what is to be kept")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise LoreError("the text is not valid Unicode: convert it first") from None
    if size > most:
        raise LoreError(
            f"the text has {size} bytes, max_text is {most}: "
            "keep it in a file and link to that, or raise the setting"
        )
    if "\0" in text:
        raise LoreError("the text has a NUL byte: give text")
    return text.strip("\n")


def with_why(data: str, why: str) -> str:
    """Return a node's data with this reason; an empty one takes the reason away."""
    fields = {key: value for key, value in loads(data).items() if key != "why"}
    return dumps({**fields, "why": why} if why else fields)


def with_fields(metadata: str, fields: Mapping[str, Any]) -> str:
    """Return an edge's metadata with these fields set; None takes one away."""
    kept = {**loads(metadata), "superseded_by": None, **fields}
    return dumps({name: one for name, one in kept.items() if one is not None})


def is_literal(text: str) -> bool:
    return len(text.split()) > 4 or not any(letter.isalpha() for letter in text)
