"""The forms of output: a row of ``FORMS`` each.

Options, help, completion, ``--jq`` and which options exclude each other come from this table. A new
form is a function from rows to text and a row here. This module is on the path of every search.
"""

from __future__ import annotations

from ..core.json import dumps
from ..core.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Row = dict[str, Any]


class OutputForm:
    """A form: the option ``--name``, a few words of help, and functions that print rows.

    ``row`` makes text of one row, ``rows`` of a list if that is not the text of each row in turn.
    With neither, each command has a text of its own. jq reads the form if ``is_json``.
    """

    __slots__ = ("is_json", "name", "row", "rows", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        rows: Callable[[Sequence[Row]], str] | None = None,
        *,
        row: Callable[[Row], str] | None = None,
        is_json: bool = False,
    ) -> None:
        self.name = name
        self.summary = summary
        self.rows = rows
        self.row = row
        self.is_json = is_json


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


def id_line(row: Row) -> str:
    """Return the id of a row as a line; nothing for counts, which have no id."""
    # The id of another program's store may hold any character.
    return printable(row["id"]).replace("\n", "?") + "\n" if "id" in row else ""


FORMS: tuple[OutputForm, ...] = (
    OutputForm("json", "JSON array", json_list, row=json_object, is_json=True),
    OutputForm("jsonl", "JSON lines", row=json_object, is_json=True),
    OutputForm("text", "text"),
    OutputForm("ids", "ids alone", row=id_line),
)


def form_named(name: str) -> OutputForm:
    """Return the form of this name, which is one of ``FORMS``."""
    return next(form for form in FORMS if form.name == name)


def other_forms(*names: str) -> list[str]:
    """Return the names of all forms but these."""
    return [form.name for form in FORMS if form.name not in names]
