"""Files of questions, for ``lore search --batch`` and ``lore eval``.

Each line is an object: ``{"id", "query"[, "exclude": [ids]][, "relevant": [ids]]}``. Other fields
are ignored.
"""

from __future__ import annotations

import sys

from ..core.errors import LoreError
from ..core.json import decoded, lines_of, parse_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

QUESTION_LINE = 10_000_000
"""Maximum bytes of a line with a query."""


class Question:
    """A query with a name, relevant nodes, and nodes to exclude."""

    def __init__(
        self, id: str, query: str, relevant: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> None:
        self.id = id
        self.query = query
        self.relevant = tuple(relevant)
        self.exclude = tuple(exclude)


def read_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a file or, for ``-``, of stdin, without delay.

    Raise LoreError for an unreadable file.
    """
    try:
        if path == "-":
            yield from lines_of(sys.stdin.buffer, QUESTION_LINE)
        else:
            with open(path, "rb") as file:
                yield from lines_of(file, QUESTION_LINE)
    except OSError as error:
        raise LoreError(f"{path}: {error.strerror}: check its name") from None


def fields_of(line: bytes) -> dict[str, Any] | None:
    """Return the object in a line, or the query that it is; None for an empty line."""
    text = decoded(line, QUESTION_LINE).strip()
    if text.startswith("{"):
        return parse_object(line, QUESTION_LINE)
    return {"query": text} if text else None


def read_questions(lines: Iterable[bytes], name: str) -> Iterator[Question]:
    """Yield a question for each non-empty line; raise LoreError for a broken line."""
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                yield question_of(parse_object(line, QUESTION_LINE))
        except LoreError as error:
            raise LoreError(f"{name}: line {number}: {error}: mend it") from None


def question_of(fields: Mapping[str, Any]) -> Question:
    """Return the question with these fields; raise LoreError for a missing or invalid field."""
    id, query = fields.get("id"), fields.get("query")
    if not isinstance(id, str) or not id:
        raise LoreError("id is not a string")
    if not isinstance(query, str):
        raise LoreError("query is not a string")
    relevant, exclude = fields.get("relevant") or [], fields.get("exclude") or []
    for name, ids in (("relevant", relevant), ("exclude", exclude)):
        if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
            raise LoreError(f"{name} is not a list of ids")
    return Question(id, query, relevant, exclude)
