"""Write results to stdout, in a form of ``FORMS``: JSON in a pipe, text on a terminal.

A new form is a function from rows to text and a row in ``FORMS``, which has options and help, too.
This module is on the path of every search.
"""

from __future__ import annotations

import os
import sys
from itertools import islice

from ..core.errors import LoreError, UsageError
from ..core.json import dumps
from ..core.text import counted, one_line, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..core.settings import Settings

    Row = dict[str, Any]

_PORTION = 100
"""Items of a stream that are rendered and written at once."""

_ROW = 2
"""Bytes between two rows of a list, and around it: a comma and the end of a line."""

LONGEST_NOTE = 2000
"""Maximum number of characters of a line on stderr."""


class OutputForm:
    """A form of output: the option ``--name``, the help, and the text of a list of rows.

    Without ``rows``, the command provides the text. If ``is_json``, a single thing is an object,
    and jq reads the form.
    """

    __slots__ = ("is_json", "name", "rows", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        rows: Callable[[Sequence[Row]], str] | None = None,
        *,
        is_json: bool = False,
    ) -> None:
        self.name = name
        self.summary = summary
        self.rows = rows
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
    """Return a value as a line of JSON."""
    return dumps(item) + "\n"


def id_line(row: Row) -> str:
    """Return the id of a row as a line; an empty text without an id."""
    # The id of another program's store may hold any character.
    return printable(row["id"]).replace("\n", "?") + "\n" if "id" in row else ""


FORMS: tuple[OutputForm, ...] = (
    OutputForm("json", "JSON array", json_list, is_json=True),
    OutputForm("jsonl", "JSON lines", lambda rows: "".join(map(json_object, rows)), is_json=True),
    OutputForm("text", "text"),
    OutputForm("ids", "ids alone", lambda rows: "".join(map(id_line, rows))),
)


class Output:
    """The output of a command."""

    def __init__(self, form: str, jq: str | None = None) -> None:
        self.form = form
        self.jq = jq
        self._form = next(one for one in FORMS if one.name == form)

    @classmethod
    def choose(
        cls, switches: Mapping[str, str], jq: str | None = None, settings: Settings | None = None
    ) -> Output:
        """Return the output in the form of an option, else of the setting, else of stdout.

        Args:
            switches: forms, each with the option that asks for it.

        Raises:
            UsageError: two of them exclude each other.
        """
        chosen = [form for form in FORMS if form.name in switches]
        given = [f"--{switches[form.name]}" for form in chosen]
        if jq is not None and not all(form.is_json for form in chosen):
            given.insert(0, "--jq")
        if len(given) > 1:
            raise UsageError(f"{given[0]} and {given[1]} exclude each other: give one")
        form = chosen[0].name if chosen else "json" if jq is not None else _usual_form(settings)
        return cls(form, jq)

    def list(self, items: Iterable[Row], text: Callable[[Sequence[Row]], str]) -> None:
        """Print a list; ``text`` renders it for a person."""
        self._show([self._listed(items if isinstance(items, list) else [*items], text)])

    def stream(self, items: Iterable[Row], text: Callable[[Sequence[Row]], str]) -> None:
        """Print a list as ``list`` does, while the rows are computed; ``text`` renders some at a
        time.
        """
        if self.form in ("json", "jsonl", "text", "ids"):
            self._show(self._portions(iter(items), text))
        else:  # another form may have a head
            self.list(items, text)

    def one(self, item: Row, text: Callable[[Row], str], ids: Iterable[str] | None = None) -> None:
        """Print a single thing; the form of ids prints ``ids`` if given, else the item's id."""
        if ids is not None and self.form == "ids":
            self.list([{"id": id} for id in ids], str)
        elif self._form.is_json:
            self._show([json_object(item)])
        else:
            self._show([self._listed([item], lambda rows: text(rows[0]))])

    def _listed(self, rows: Sequence[Row], text: Callable[[Sequence[Row]], str]) -> str:
        return self._form.rows(rows) if self._form.rows else text([*map(printable_value, rows)])

    def _portions(
        self, items: Iterator[Row], text: Callable[[Sequence[Row]], str]
    ) -> Iterator[str]:
        rows = [*islice(items, _PORTION)]
        piece = self._listed(rows, text)
        while rows := [*islice(items, _PORTION)]:
            if self.form == "json":
                yield piece.removesuffix("\n]\n")
                piece = ",\n" + json_list(rows).removeprefix("[\n")
            else:
                yield piece
                piece = self._listed(rows, text)
        yield piece

    def _show(self, pieces: Iterable[str]) -> None:
        """Write text; on a terminal through a pager if it is long."""
        on_terminal = sys.stdout.isatty()
        if self.jq is not None:
            found = _through_jq(self.jq, "".join(pieces))
            pieces = [printable(found) if on_terminal else found]
        if on_terminal:
            from .screen import page

            page(pieces, write)
            return
        for piece in pieces:
            write(piece)


def text_by(name: str) -> Callable[[Sequence[Row]], str]:
    """Return the function ``name`` of the module ``text``, which only output as text loads."""

    def render(rows: Sequence[Row]) -> str:
        from . import text

        rendered: str = getattr(text, name)(rows)
        return rendered

    return render


def _usual_form(settings: Settings | None) -> str:
    """Return the form of the setting, or the form that suits stdout."""
    # A program of the user's own that lore calls relies on JSON.
    if settings is not None and settings.output != "auto" and not os.environ.get("LORE_API"):
        return settings.output
    return "text" if sys.stdout.isatty() else "json"


def printable_value(value: Any) -> Any:
    """Return ``value`` with every text in it fit for a terminal; styles are added later."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable_value(key): printable_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable_value(item) for item in value]
    return value


def write(text: str) -> None:
    """Write text to stdout; raise LoreError if it takes no more, as a file on a full disk."""
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise _unwritable(error) from None


def flush() -> None:
    """Write the buffer of ``write``, and raise the same errors."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _unwritable(error) from None


def _unwritable(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error
    return LoreError(f"stdout cannot be written ({error.strerror}): check where it leads")


def _through_jq(expression: str, text: str) -> str:
    from subprocess import run

    from ..system.programs import find_program

    jq = find_program("jq")
    if jq is None:
        raise LoreError("--jq: jq is not installed: install jq, or pipe the JSON yourself")
    done = run([jq, "-r", expression], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        raise (UsageError if done.returncode in (2, 3) else LoreError)(
            f"--jq: {one_line(said) or 'jq failed'}: mend the expression"
        )
    return done.stdout.decode(errors="replace")


def note(message: str) -> None:
    """Write a line to stderr, without the middle of a very long line."""
    line = one_line(printable(message))
    if len(line) > LONGEST_NOTE:
        half = LONGEST_NOTE // 2
        line = f"{line[:half]} … {line[-half:]}"
    try:
        sys.stderr.write(f"lore: {line}\n")
        sys.stderr.flush()
    except OSError:
        return  # stderr has no reader


def size(value: object) -> int:
    """Return the bytes of UTF-8 of a value as JSON."""
    return len(dumps(value).encode())


def first_rows(rows: Sequence[Row], most: int) -> tuple[list[Row], list[str]]:
    """Return the rows that fit in a list of ``most`` bytes (0: all), and notes.

    A first node that does not fit loses edges and the end of the body.

    Raises:
        LoreError: the first row does not fit and has no body.
    """
    kept: list[Row] = []
    notes, left = list[str](), most - 2 * _ROW
    for row in rows:
        left -= size(row) + _ROW
        if most and left < 0:
            break
        kept.append(row)
    if rows and not kept:
        if "body" not in rows[0]:
            raise LoreError(f"the first result does not fit: max_bytes is {most}")
        node = {**rows[0], "edges": []}
        over, body = size(node) + 3 * _ROW - most, node["body"].encode()
        if over > 0:  # an escape takes several bytes of JSON
            rest = max(0, 2 * len(body) - over - size(node["body"]))
            node["body"] = body[:rest].decode(errors="ignore")
        kept = [node]
        notes = [f"edges, or the end, of {node['id']} left out: max_bytes is {most}"]
    if gone := len(rows) - len(kept):
        notes.insert(0, f"{counted(gone, 'result')} left out: max_bytes is {most}")
    return kept, notes
