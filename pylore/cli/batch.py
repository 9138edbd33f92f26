"""``lore search --batch``: many queries in one process, a line in, a line out.

Programs start this hundreds of times: it imports no numpy or json.
"""

from __future__ import annotations

import gc

from ..core.errors import LoreError, UsageError
from ..core.json import decoded, dumps, parse_object
from ..core.lines import QUESTION_LINE
from ..core.settings import setting_of_option
from ..evaluate.queries import question_of, read_lines
from ..terminal.output import FORMS, Output, flush, note, write
from .command import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from ..core.model import Hits
    from ..evaluate.queries import Question
    from .command import Command, Line

    Ask = Callable[[Question], Hits]

_OF_ALL_LINES = ("batch", *(form.name for form in FORMS), "tree", "jq", "quiet")
"""Options that no line has for itself."""


def answer_all(ask: Ask, output: Output, path: str, *, quiet: bool) -> None:
    """Answer every line of a file (``-``: stdin), each at once, as JSON lines.

    Raises:
        LoreError: the file cannot be read, or lines were answered with an error.
    """
    gc.enable()  # a hot command does without: it has one query to live for
    wrong: list[str] = []
    found = _answers(ask, path, wrong, quiet=quiet)
    if output.form == "ids":
        found = map(_with_ids, found)
    if output.jq is not None:
        Output("jsonl", output.jq).list(found, str)
    else:
        for row in found:
            write(dumps(row) + "\n")
            flush()
    if wrong:
        more = f", and {len(wrong) - 1} more lines" if len(wrong) > 1 else ""
        name = "stdin" if path == "-" else path
        raise LoreError(f"{name}: {wrong[0]}{more}: their answers have an 'error'")


def _answers(ask: Ask, path: str, wrong: list[str], *, quiet: bool) -> Iterator[dict[str, Any]]:
    """Yield ``{"id", "results"}`` or ``{"id", "error"}`` of each line; an empty one finds nothing.

    A line that begins with ``{`` is an object, any other a query, its number the id. ``wrong``
    gets the errors, each with its line.
    """
    for number, line in enumerate(read_lines(path), start=1):
        id = str(number)
        try:
            line = line.removeprefix(b"\xef\xbb\xbf").strip()
            if not line:
                yield {"id": id, "results": []}
                continue
            fields = _fields(line)
            id = fields.setdefault("id", id)
            question = question_of(fields)
            found = ask(question)
            for text in () if quiet else found.notes:
                note(f"{id}: {text}")
            row = {"id": id, "results": found.rows()}
        except LoreError as error:
            wrong.append(f"line {number}: {error}")
            row = {"id": id if isinstance(id, str) and id else str(number), "error": str(error)}
        yield row


def _fields(line: bytes) -> dict[str, Any]:
    if line.startswith(b"{"):
        return parse_object(line, QUESTION_LINE)
    return {"query": decoded(line, QUESTION_LINE)}


def _with_ids(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "results": [hit["id"] for hit in row["results"]]} if "results" in row else row


def line_of(options: Mapping[str, Any], command: Command) -> Line:
    """Return the options of one line of a batch as a command line gives them.

    Raises:
        UsageError: there is no such option, it is for all lines, or its value is wrong.
    """
    for name in options:
        if name.replace("_", "-") in _OF_ALL_LINES:
            raise UsageError(f"--{name.replace('_', '-')} is for all lines: give it to the batch")
    words = [word for name, value in options.items() for word in _spelled(name, value)]
    line = read(words, command)
    if line is None:
        from .click_app import read as read_by_click

        read_by_click([command.name, *words])
        raise UsageError("options are not plain: see 'lore search --help'")
    del line.given["words"]
    if line.given.pop("expand", False):
        line.settings.setdefault("graph_depth", "2")
    return line


def _spelled(name: str, value: object) -> list[str]:
    """Return an option of a line as a command line has it: ``"limit": 5`` as ``--limit=5``."""
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return []
    if isinstance(value, bool):
        if setting_of_option(option) is not None:
            return [f"{option}={int(value)}"]
        return [option] if value else []
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, (str, int, float)) for item in items):
        raise UsageError(f"'{name}' of options is no text, number or list of texts")
    return [f"{option}={','.join(map(str, items))}"]
