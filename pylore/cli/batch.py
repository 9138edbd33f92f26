"""``lore search --batch``: many queries in one process, a line in, a line out."""

from __future__ import annotations

import gc

from ..evaluate.queries import read_lines, read_questions
from ..system.json_encode import dumps
from ..terminal.output import Output, flush, note, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..core.model import Hits
    from ..evaluate.queries import Question

    Ask = Callable[[Question], Hits]


def answer_all(ask: Ask, output: Output, path: str, *, skip_bad: bool, quiet: bool) -> None:
    """Answers every line of a file (``-``: stdin), and writes each answer at once.

    The form is JSON lines; ``--ids`` has ids for results, ``--jq`` waits for them all.

    Raises:
        LoreError: a line is broken (its number is named) and ``skip_bad`` is not
            set; the answers to the lines before it have been written.
    """
    gc.enable()  # a hot command does without: it has one query to live for
    name = "stdin" if path == "-" else path
    say = (lambda text: None) if quiet else note
    found = answers(ask, read_lines(path), name=name, say=say, skip_bad=skip_bad)
    if output.form == "ids":
        found = ({**row, "results": [hit["id"] for hit in row["results"]]} for row in found)
    if output.jq is not None:
        Output("jsonl", output.jq).list(found, str)
        return
    for row in found:
        write(dumps(row) + "\n")
        flush()


def answers(
    ask: Ask,
    lines: Iterable[bytes],
    *,
    name: str,
    say: Callable[[str], None],
    skip_bad: bool = False,
) -> Iterator[dict[str, Any]]:
    """``{"id", "results"}`` for each line, made when it is asked for.

    ``say`` hears the notes, each with its query's id before it.

    Raises:
        LoreError: a line is broken, and ``skip_bad`` is not set.
    """
    for question in read_questions(lines, name, bad=say if skip_bad else None):
        found = ask(question)
        for text in found.notes:
            say(f"{question.id}: {text}")
        yield {"id": question.id, "results": [hit.to_dict() for hit in found]}
