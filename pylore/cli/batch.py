"""``lore search --batch``: many queries in one process, a line in, a line out.

Programs start this hundreds of times: it imports no numpy or json.
"""

from __future__ import annotations

import gc

from ..core.errors import LoreError, UsageError
from ..core.json import decoded, parse_object
from ..core.lines import QUESTION_LINE
from ..core.settings import BY_NAME
from ..evaluate.queries import question_of, read_lines
from ..terminal.output import Output, flush, note
from .command import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..core.model import Hits
    from ..evaluate.queries import Question
    from .command import Command


def answer_all(ask: Callable[[Question], Hits], output: Output, path: str, *, quiet: bool) -> None:
    """Answer every line of a file (``-``: stdin), each at once, as JSON lines.

    A line that begins with ``{`` is an object, any other a query, its number the id. An answer is
    ``{"id", "results"}`` or ``{"id", "error"}``; an empty line finds nothing.

    Raises:
        LoreError: the file cannot be read, or lines were answered with an error.
    """
    gc.enable()  # a hot command does without: it has one query to live for
    answers = Output("jsonl", output.jq)
    wrong: list[str] = []
    for number, line in enumerate(read_lines(path), start=1):
        row: dict[str, Any] = {"id": str(number), "results": []}
        try:
            line = line.removeprefix(b"\xef\xbb\xbf").strip()
            if line:
                is_object = line.startswith(b"{")
                fields = (parse_object(line, QUESTION_LINE) if is_object
                          else {"query": decoded(line, QUESTION_LINE)})  # fmt: skip
                row["id"] = fields.setdefault("id", row["id"]) or row["id"]
                found = ask(question_of(fields))
                for text in () if quiet else found.notes:
                    note(f"{row['id']}: {text}")
                row["results"] = found.ids if output.form == "ids" else found.rows()
        except LoreError as error:
            wrong.append(f"line {number}: {error}")
            row = {"id": str(row["id"]), "error": str(error)}
        answers.one(row, str)
        flush()
    if wrong:
        more = f", and {len(wrong) - 1} more lines" if len(wrong) > 1 else ""
        name = "stdin" if path == "-" else path
        raise LoreError(f"{name}: {wrong[0]}{more}: their answers have an 'error'")


def options_of_line(
    options: Mapping[str, Any], command: Command
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the parameters that the options of one line change, and its settings.

    Raises:
        UsageError: there is no such option, it is for all lines, or its value is wrong.
    """
    words = []
    for name, value in options.items():
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, (str, int, float, type(None))) for item in items):
            raise UsageError(f"'{name}' of options is no text, number or list of texts")
        if value is not None and value is not False:
            text = "" if value is True else f"={','.join(map(str, items))}"
            words.append(f"--{name.replace('_', '-')}{text}")
    values, settings = read(words, command)
    for name in settings:
        if name not in BY_NAME:
            raise UsageError(f"--{name} is for all lines: give it to the batch")
    changed = {one.name: values[one.name] for one in command.parameters
               if values[one.name] != one.default}  # fmt: skip
    return changed, settings
