"""Show candidates to a person: as a list, or one by one, with keys as of ``git add -p``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..core.text import counted, one_line, printable
from ..store.curation import OPEN
from ..terminal.output import write
from ..terminal.text import bold, dim
from . import promotion
from .curation import candidate_of, told
from .promotion import Beside, Promoted, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..store.curation import KeptCandidate

HELP = """\
y - promote it: you have found it right
n - refuse it: it never comes again
e - edit its title and text, then promote it
m - merge it into a known record: 'm', 'm 2' (of those shown) or 'm ID'
s - leave it for later
q - leave this one and all that come after it
? - this help
"""
_KEYS = "y,n,e,m,s,q,?"
_MOST_QUOTES = 10
_BEGINNING = 300
"""Characters of a known record that are shown beside a candidate."""


class Dialog:
    """Asks about each open candidate; what is decided is written at once, one by one.

    ``ask`` lets event plugins refuse one; ``promoted`` has what became records.
    """

    def __init__(
        self,
        engine: Engine,
        run_of: Callable[[str], str],
        ask: Callable[[Wanted], None],
    ) -> None:
        self._engine = engine
        self._run_of = run_of
        self._ask = ask
        self.promoted: list[Promoted] = []
        self._counts = {"refused": 0, "left": 0}

    def run(self) -> None:
        """Until all were asked about, or the person ends it."""
        with self._engine.store.faults:
            rows = self._engine.store.candidates.all((OPEN,))
        if not rows:
            write("no open candidates: 'lore capture candidates' looks for them\n")
            return
        for number, row in enumerate(rows, 1):
            near = self._show(row, f"({number}/{len(rows)})")
            if not self._decided(row, near):
                self._counts["left"] += len(rows) - number + 1
                break
        self._sum_up()

    def _show(self, row: KeptCandidate, place: str) -> list[Beside]:
        fields = told(row)
        near = promotion.beside(self._engine, candidate_of(row))
        text = f"{place} {row.score:.2f}  {row.type}  {bold(_plain(row.title))}\n"
        if one_line(row.body) != one_line(row.title):
            text += f"{_plain(row.body)}\n"
        text += evidence_text(_printable_row(fields), _MOST_QUOTES)
        for count, one in enumerate(near, 1):
            text += _beside_text(count, one)
        write(text)
        return near

    def _decided(self, row: KeptCandidate, near: Sequence[Beside]) -> bool:
        """Asks until one is decided; False where the person ends it."""
        while True:
            key, _, rest = _asked().partition(" ")
            key = key.lower()
            if key == "q":
                return False
            try:
                if self._does(key, rest.strip(), row, near):
                    return True
            except LoreError as error:
                write(f"{_plain(str(error))}\n")

    def _does(self, key: str, rest: str, row: KeptCandidate, near: Sequence[Beside]) -> bool:
        """Does what a key says; whether the candidate is decided with it."""
        if key == "y":
            self._promote(Wanted(row.id))
        elif key == "n":
            promotion.refuse(self._engine, [row.id])
            self._counts["refused"] += 1
        elif key == "s":
            promotion.skip(self._engine, [row.id])
            self._counts["left"] += 1
        elif key == "e":
            self._promote(_edited(row))
        elif key == "m":
            self._promote(Wanted(row.id, into=_chosen(rest, near)))
        else:
            write(HELP)
            return False
        return True

    def _promote(self, wanted: Wanted) -> None:
        self._ask(wanted)
        (done,) = promotion.promote(self._engine, [wanted], confirm=True, run_of=self._run_of)
        self.promoted.append(done)
        notes = "".join(f"  {_plain(note)}\n" for note in done.notes)
        write(f"{done.state}  {bold(done.id)}\n{dim(notes) if notes else ''}")

    def _sum_up(self) -> None:
        write(f"{len(self.promoted)} promoted, {self._counts['refused']} refused,"
              f" {self._counts['left']} left\n")  # fmt: skip


def _asked() -> str:
    write(bold(f"Promote this [{_KEYS}]? "))
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        write("\n")
        return "q"
    return line.strip() or "?"


def _chosen(text: str, near: Sequence[Beside]) -> str:
    """Return the record that is meant: by its number among those shown, by its id, or the
    nearest."""
    if not text and near:
        return near[0].id
    if text.isdecimal():
        if not 0 < int(text) <= len(near):
            raise LoreError(f"there is no {text}: 'm ID', or 'm NUMBER' of the {len(near)} shown")
        return near[int(text) - 1].id
    if "-" not in text:
        raise LoreError("merge into which record? 'm ID', or 'm NUMBER' of those shown")
    return text


def _edited(row: KeptCandidate) -> Wanted:
    """Return what the person has made of it: the first line is the title, the rest the text."""
    from ..cli.editor import edited

    before = f"{row.title}\n\n{row.body}"
    with edited(before) as text:
        title, _, body = text.strip().partition("\n")
    if text == before or not title:
        raise LoreError("nothing was changed: save another text, or say y")
    return Wanted(row.id, title=title.strip(), body=body.strip() or title.strip())


def _beside_text(number: int, one: Beside) -> str:
    says = "says otherwise?" if one.otherwise else "known"
    head = f"  {number}. {says} {one.cosine:.2f}  {one.id} [{one.status}]  {one_line(one.title)}\n"
    if one.otherwise:
        head += f"     {one_line(one.text)[:_BEGINNING]}\n"
    return _plain(head)


def _plain(text: str) -> str:
    return printable(text)


def _printable_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return what is shown of the evidence, fit for a terminal before styles are put around it."""
    signals = [
        {name: _plain(value) if isinstance(value, str) else value for name, value in one.items()}
        for one in row["signals"]
    ]
    return {**row, "signals": signals, "files": [*map(_plain, row["files"])]}


_LISTED_QUOTES = 3
_MOST_FILES = 5
_SESSION = 12


def candidates_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return a list of them, each with its strongest signals."""
    return "\n".join(map(_line, rows)) or "no candidates\n"


def _line(row: Mapping[str, Any]) -> str:
    status = "" if row["status"] == "open" else f"  [{_standing(row)}]"
    head = (
        f"{row['score']:.2f}  {bold(row['id'])}  {row['type']}  {one_line(row['title'])}{status}\n"
    )
    return head + evidence_text(row, _LISTED_QUOTES)


def _standing(row: Mapping[str, Any]) -> str:
    known = row["promoted_as"]
    return f"{row['status']}: {known}" if known else str(row["status"])


def evidence_text(row: Mapping[str, Any], most: int) -> str:
    """Return the quotes with what speaks for each, the strongest first, and the files."""
    signals = sorted(row["signals"], key=lambda one: (-one["weight"], one["t"]))
    quotes: dict[tuple[str, str, str], list[str]] = {}
    for one in signals:
        said = quotes.setdefault((one_line(one["quote"]), one["session"], one["t"]), [])
        said.append(f"{one['weight']:.2f} {one['name']}")
    lines = [
        f'      {", ".join(names)}: "{quote}"' + dim(f"  ({session[:_SESSION]} {t[:10]})")
        for (quote, session, t), names in [*quotes.items()][:most]
    ]
    if len(quotes) > most:
        lines.append(dim(f"      and {counted(len(quotes) - most, 'more quote')}"))
    if row["files"]:
        more = ", …" if len(row["files"]) > _MOST_FILES else ""
        lines.append(dim(f"      files: {', '.join(row['files'][:_MOST_FILES])}{more}"))
    return "".join(f"{line}\n" for line in lines)
