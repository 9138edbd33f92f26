"""``lore search --batch``: many queries in one process, a line in, a line out.

A file is read as it is written, all of it objects. On stdin a program or a person asks and
waits: a line may be plain words, and each gets its answer, be it what is wrong with it.

Programs start this hundreds of times: it imports no numpy or json.
"""

from __future__ import annotations

import gc

from ..core.errors import LoreError, UsageError
from ..core.json import decoded, dumps, parse_object
from ..core.lines import QUESTION_LINE
from ..core.settings import setting_of_option
from ..evaluate.queries import question_of, read_lines, read_questions
from ..terminal.output import Output, flush, note, other_forms, write
from .command import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from ..core.model import Hits
    from ..evaluate.queries import Question
    from .command import Command, Line

    Ask = Callable[[Question], Hits]
    Say = Callable[[str], None]

_OF_ALL_LINES = ("batch", "skip-bad", *other_forms(), "tree", "jq", "quiet")
"""Options that no line has for itself."""


def answer_all(ask: Ask, output: Output, path: str, *, skip_bad: bool, quiet: bool) -> None:
    """Answers every line of a file (``-``: stdin), and writes each answer at once.

    The form is JSON lines; ``--ids`` has ids for results, ``--jq`` waits for them all.

    Raises:
        LoreError: a line of a file is broken (its number is named) and ``skip_bad`` is not
            set; the answers to the lines before it have been written. Or lines of stdin were
            answered with an error.
    """
    gc.enable()  # a hot command does without: it has one query to live for
    name = "stdin" if path == "-" else path
    say: Say = (lambda text: None) if quiet else note
    lines = read_lines(path)
    wrong: list[str] = []
    if path == "-" and not skip_bad:
        found = dialogue(ask, lines, say=say, wrong=wrong)
    else:
        found = answers(ask, lines, name=name, say=say, skip_bad=skip_bad)
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
        raise LoreError(f"stdin: {wrong[0]}{more}: their answers have an 'error'")


def answers(
    ask: Ask, lines: Iterable[bytes], *, name: str, say: Say, skip_bad: bool = False
) -> Iterator[dict[str, Any]]:
    """``{"id", "results"}`` for each line, made when it is asked for.

    ``say`` hears the notes, each with its query's id before it.

    Raises:
        LoreError: a line is broken, and ``skip_bad`` is not set.
    """
    for question in read_questions(lines, name, bad=say if skip_bad else None):
        yield _answer(ask, question, say)


def dialogue(
    ask: Ask, lines: Iterable[bytes], *, say: Say, wrong: list[str]
) -> Iterator[dict[str, Any]]:
    """``{"id", "results"}`` or ``{"id", "error"}`` for each line; an empty one finds nothing.

    A line that begins with ``{`` is an object as in a file, any other is a query. The id of
    what has none is the line's number. ``wrong`` gets what is wrong, each with its line.
    """
    for number, line in enumerate(lines, start=1):
        id = str(number)
        try:
            if not line.strip():
                yield {"id": id, "results": []}
                continue
            fields = _fields(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
            id = fields.setdefault("id", id)
            row = _answer(ask, question_of(fields), say)
        except LoreError as error:
            wrong.append(f"line {number}: {error}")
            row = {"id": id if isinstance(id, str) and id else str(number), "error": str(error)}
        yield row


def _fields(line: bytes) -> dict[str, Any]:
    if line.lstrip().startswith(b"{"):
        return parse_object(line, QUESTION_LINE)
    return {"query": decoded(line, QUESTION_LINE).strip()}


def _answer(ask: Ask, question: Question, say: Say) -> dict[str, Any]:
    found = ask(question)
    for text in found.notes:
        say(f"{question.id}: {text}")
    return {"id": question.id, "results": found.rows()}


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
        raise UsageError(f"'{name}' of options is not a text, a number, true, false or a list "
                         "of texts: see 'lore search --help'")  # fmt: skip
    return [f"{option}={','.join(map(str, items))}"]
