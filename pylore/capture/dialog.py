"""Show candidates as a list, or in a dialog with keys as of ``git add -p``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..cli.write import in_editor
from ..core.errors import LoreError
from ..core.text import counted, one_line, printable
from ..store.curation import OPEN, REFUSED, SKIPPED
from ..terminal import printable_value, write
from ..terminal.text import bold, dim
from .candidates import Candidate
from .gate import Wanted, beside, decide, printed, promote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..app import Engine
    from ..records.records import Change
    from ..store.curation import KeptCandidate

HELP = """\
y - promote it: you have found it right
n - refuse it forever
e - edit its title and text, then promote it
m - merge it into a known record: 'm', 'm 2' (of the records shown) or 'm ID'
s - leave it for later
q - quit
? - this help
"""
_KEYS = "y,n,e,m,s,q,?"
_MOST_QUOTES, _LISTED_QUOTES, _MOST_FILES, _SESSION = 10, 3, 5, 12


class Dialog:
    """A dialog about each open candidate; each decision is written immediately.

    ``ask`` lets event plugins refuse a record; ``promoted`` has the new records.
    """

    def __init__(self, engine: Engine, ask: Callable[[Wanted], None]) -> None:
        self._engine = engine
        self._ask = ask
        self.promoted: list[tuple[str, Change]] = []

    def run(self) -> None:
        """Ask about all candidates, or until the person quits."""
        with self._engine.store.faults:
            rows = self._engine.store.candidates.all((OPEN,))
        if not rows:
            write("no open candidates: 'lore capture candidates' looks for them\n")
            return
        done = {"promoted": 0, "refused": 0, "left": 0}
        for number, row in enumerate(rows, 1):
            near = [node.id for node, _ in self._show(row, f"({number}/{len(rows)}) ")]
            state = self._decide(row, near)
            if not state:
                done["left"] += len(rows) - number + 1
                break
            done[state] += 1
        write(", ".join(f"{count} {name}" for name, count in done.items()) + "\n")

    def _show(self, row: KeptCandidate, place: str) -> Sequence[tuple[Any, float]]:
        near = beside(self._engine, Candidate.from_row(row))
        text = place + _candidate_text(printable_value(printed(row)), _MOST_QUOTES)
        for count, (node, cosine) in enumerate(near, 1):
            title = printable(one_line(node.title))
            text += f"  {count}. known {cosine:.2f}  {node.id} [{node.status}]  {title}\n"
        write(text)
        return near

    def _decide(self, row: KeptCandidate, near: Sequence[str]) -> str:
        """Ask until a key decides; return the new state, empty if the person quits."""
        while True:
            write(bold(f"Promote this [{_KEYS}]? "))
            sys.stdout.flush()
            line = sys.stdin.readline()
            key, _, rest = line.strip().partition(" ")
            key = key.lower()
            if not line or key == "q":
                write("" if line else "\n")
                return ""
            try:
                if key in ("y", "e", "m"):
                    self._promote(row, key, rest.strip(), near)
                    return "promoted"
                if key in ("n", "s"):
                    decide(self._engine, [row.id], REFUSED if key == "n" else SKIPPED)
                    return "refused" if key == "n" else "left"
                write(HELP)
            except LoreError as error:
                write(f"{printable(str(error))}\n")

    def _promote(self, row: KeptCandidate, key: str, rest: str, near: Sequence[str]) -> None:
        if key == "e":
            self._edit(row)
        else:
            self._put(Wanted(row.id, into=_chosen(rest, near) if key == "m" else ""))

    def _edit(self, row: KeptCandidate) -> None:
        """Promote the text after an editor: the first line is the title, the rest the body."""
        before = f"{row.title}\n\n{row.body}"

        def keep(text: str) -> bool:
            title, _, body = text.strip().partition("\n")
            if text != before and title:
                self._put(Wanted(row.id, title=title.strip(), body=body.strip() or title.strip()))
            return text != before and bool(title)

        if not in_editor(before, keep):
            raise LoreError("the text is unchanged: edit again, or type y")

    def _put(self, wanted: Wanted) -> None:
        self._ask(wanted)
        (done,) = promote(self._engine, [wanted], confirm=True)
        self.promoted.append((wanted.id, done))
        notes = "".join(f"  {printable(note)}\n" for note in done.notes)
        write(f"{done.state}  {bold(done.id)}\n{dim(notes) if notes else ''}")


def _chosen(text: str, near: Sequence[str]) -> str:
    """Return the id of a shown record by number; the nearest by default."""
    if not text and near:
        return near[0]
    if text.isdecimal() and 0 < int(text) <= len(near):
        return near[int(text) - 1]
    if "-" not in text:
        raise LoreError("unknown record: give 'm ID', or 'm NUMBER' of the records shown")
    return text


def candidates_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a list of candidates with their strongest signals."""
    return "\n".join(_candidate_text(row, _LISTED_QUOTES) for row in rows) or "no candidates\n"


def _candidate_text(row: Mapping[str, Any], most: int) -> str:
    """Return a candidate with quotes, strongest signals first, and files."""
    known = f": {row['promoted_as']}" if row["promoted_as"] else ""
    status = "" if row["status"] == OPEN else f"  [{row['status']}{known}]"
    title = one_line(row["title"])
    lines = [f"{row['score']:.2f}  {bold(row['id'])}  {row['type']}  {title}{status}"]
    if most > _LISTED_QUOTES and one_line(row["body"]) != title:
        lines.append(row["body"])
    quotes: dict[tuple[str, str, str], list[str]] = {}
    for one in sorted(row["signals"], key=lambda one: (-one["weight"], one["t"])):
        said = quotes.setdefault((one_line(one["quote"]), one["session"], one["t"]), [])
        said.append(f"{one['weight']:.2f} {one['name']}")
    lines += [
        f'      {", ".join(names)}: "{quote}"' + dim(f"  ({session[:_SESSION]} {t[:10]})")
        for (quote, session, t), names in [*quotes.items()][:most]
    ]
    if len(quotes) > most:
        lines.append(dim(f"      and {counted(len(quotes) - most, 'more quote')}"))
    if row["files"]:
        more = ", …" if len(row["files"]) > _MOST_FILES else ""
        lines.append(dim(f"      files: {', '.join(row['files'][:_MOST_FILES])}{more}"))
    return "".join(f"{line}\n" for line in lines)
