"""The forms of output: a row of ``FORMS`` each.

Options, help, completion, ``--jq`` and what excludes what come from this table: a new form is a
function from rows to text and a row here. This module is on the path of every search.
"""

from __future__ import annotations

from ..core.text import printable
from ..system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Row = dict[str, Any]


class OutputForm:
    """Describe one form: the option ``--name``, a few words, and how rows are printed."""

    __slots__ = ("in_parts", "is_json", "name", "needs_ids", "one", "rows", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        rows: Callable[[Sequence[Row]], str] | None,
        *,
        one: Callable[[Row], str] | None = None,
        is_json: bool = False,
        needs_ids: bool = False,
        in_parts: bool = False,
    ) -> None:
        self.name = name
        self.summary = summary
        self.rows = rows
        """A list as text; None: each command has a text of its own for persons."""
        self.one = one
        """One thing as text, where that is not a list of one."""
        self.is_json = is_json
        """Whether jq can read it."""
        self.needs_ids = needs_ids
        """Whether it says nothing of counts."""
        self.in_parts = in_parts
        """Whether a long list may be printed some rows at a time."""


def json_list(rows: Sequence[Row]) -> str:
    """Return a list as JSON, an element a line.

    >>> print(json_list([{"id": "note-1"}]), end="")
    [
    {"id":"note-1"}
    ]
    """
    return "[\n" + ",\n".join(map(dumps, rows)) + "\n]\n" if rows else "[]\n"


def json_object(item: Row) -> str:
    """Return one thing as JSON, on a line."""
    return dumps(item) + "\n"


def _json_lines(rows: Sequence[Row]) -> str:
    return "".join(map(json_object, rows))


def id_line(row: Row) -> str:
    """Return the id of a row as a line."""
    # Ids can be printed; those of a store that another program wrote may not be.
    return printable(row["id"]).replace("\n", "?") + "\n"


def _id_lines(rows: Sequence[Row]) -> str:
    return "".join(map(id_line, rows))


def _id_if_any(row: Row) -> str:
    return id_line(row) if "id" in row else ""


FORMS: tuple[OutputForm, ...] = (
    OutputForm("json", "JSON array", json_list, one=json_object, is_json=True, in_parts=True),
    OutputForm("jsonl", "JSON lines", _json_lines, is_json=True, in_parts=True),
    OutputForm("text", "text", None, in_parts=True),
    OutputForm("ids", "ids alone", _id_lines, one=_id_if_any, needs_ids=True, in_parts=True),
)


def form_named(name: str) -> OutputForm:
    """Return the form of this name, which is one of ``FORMS``."""
    return next(form for form in FORMS if form.name == name)


def other_forms(*names: str) -> list[str]:
    """Return the names of all forms but these."""
    return [form.name for form in FORMS if form.name not in names]
