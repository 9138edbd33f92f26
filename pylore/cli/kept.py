"""Answers of ``search`` and ``context`` that are kept, as command lines ask for them.

Who has no ``cache_seconds`` does not load this module; who has them loads no store for what
is kept.
"""

from __future__ import annotations

import os

from ..app.query_cache import Keepable, KeptAnswer, question_of, words_of
from ..core.json import loads
from ..core.text import counted
from ..system.json_encode import Raw, dumps
from ..terminal.forms import form_named
from ..terminal.output import flush
from .runtime import data_folder, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..core.settings import Settings


class Keeping:
    """The answer to one command line, all of which is the key to it; a ``with`` around its making.

    Where it may not be kept there is no question, and all of this does nothing.
    """

    def __init__(
        self, command: str, asked: Sequence[str], given: Mapping[str, Any], settings: Settings
    ) -> None:
        self._question: Keepable | None = None
        files = given["files"]
        if files and (command == "search" or any("@" in one for one in files)):
            return  # git or the log of events is asked what is at hand
        folder = data_folder()
        line = sorted({**given, "settings": sorted(given["settings"].items())}.items())
        variables = [(name, os.environ[name]) for name in sorted(os.environ) if name[:5] == "LORE_"]
        self._question = question_of(
            [command, *map(words_of, asked), line, os.getcwd(), variables], settings, folder,
            project_root(), counts_reads=command != "context",
        )  # fmt: skip

    def answer(self) -> KeptAnswer | None:
        """Return what is kept, if it is what would be answered now."""
        return self._question.answer() if self._question else None

    def __enter__(self) -> None:
        if self._question:
            self._question.__enter__()

    def __exit__(self, *_: object) -> None:
        if self._question:
            self._question.__exit__()

    def keep(self, rows: Iterable[object], notes: list[str], own: Sequence[str] = ()) -> None:
        """Keeps the answer that was made; call it when the store is closed. ``own`` is what counts
        as read by it."""
        if self._question:
            flush()
            self._question.keep(map(dumps, rows), notes, own)


def rows_of(kept: KeptAnswer, form: str, *, explain: bool) -> list[Any]:
    """Return the results that are kept, as far as they must be read for what is printed of them."""
    if explain:
        kept.notes.append(said(kept))
    elif form_named(form).is_json:
        return [Raw(row) for row in kept.rows]
    rows = [loads(row) for row in kept.rows]
    for row in rows:
        if explain:
            row["explain"]["kept"] = kept.seconds
    return rows


def said(kept: KeptAnswer) -> str:
    """Return that an answer is kept, for the person who asked."""
    return f"kept {counted(kept.seconds, 'second')} ago"
