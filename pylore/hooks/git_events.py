"""Answer git around a commit: warnings about its files, and its lessons as staged records."""

from __future__ import annotations

import os

from ..app.find import related
from ..core.errors import LoreError
from ..core.ids import own, record_id
from ..core.text import counted, one_line, printable
from ..core.vocabulary import BROKEN, RECORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..app.engine import Engine
    from ..core.model import Hit

KINDS = ("lesson", "decision", "failure", "pattern")
"""Types of records that a line of a message may begin with."""

_LINES, _FILES, _LEARNED = 5, 100, 50
"""Maximum number of warnings, of files that are looked up, and of lessons."""

_TITLE = 100
_HASH = 12
_OURS = ".lore/"


class HookedCommit:
    """A commit as a hook sends it; before it is made, name and message are empty."""

    __slots__ = ("files", "message", "name", "others")

    def __init__(self, data: bytes, *, made: bool) -> None:
        prefix, *rest = data.decode("utf-8", "replace").removesuffix("\0").split("\0")
        head = rest.pop(0) if made and rest else ""
        self.name, _, self.message = head.partition("\n")
        self.files = [path.removeprefix(prefix) for path in rest
                      if path.startswith(prefix) and path != prefix]  # fmt: skip
        self.others = len([path for path in rest if path]) - len(self.files)


def warnings(engine: Engine, files: Sequence[str], here: str) -> list[str]:
    """Return lines on records that are tied to files, stale ones first."""
    found: dict[str, tuple[Hit, str]] = {}
    for path in files[:_FILES]:
        try:
            with engine.store.faults:
                hits = related(engine, [path], types=(RECORDS,), here=here)
        except LoreError:
            continue  # file not in the store
        for hit in hits:
            found.setdefault(hit.id, (hit, path))
    ranked = sorted(found.values(), key=_order)
    shown = ranked if len(ranked) <= _LINES else ranked[: _LINES - 1]
    lines = [_line(hit, path) for hit, path in shown]
    if len(ranked) > len(shown):
        lines.append(f"{counted(len(ranked) - len(shown), 'more record')}: 'lore related FILE'")
    return lines


def learned(message: str) -> list[tuple[str, str]]:
    """Return the ``(type, text)`` of lines that begin with a type and a colon, in any case.

    Lines that begin with white space go on with the one before, as in a trailer of git.

    >>> learned("Fix it\\n\\nlesson: Look\\n  twice\\nSee: x")
    [('lesson', 'Look twice')]
    """
    found: dict[tuple[str, str], None] = {}
    kind, parts = "", [""]
    for line in [*message.split("\n"), "."]:
        if kind and line[:1] in (" ", "\t") and line.strip():
            parts.append(line.strip())
            continue
        text = " ".join(filter(None, parts))
        if kind and text:
            found[kind, text] = None
        name, colon, rest = line.partition(":")
        kind = name.rstrip().lower() if colon and name.rstrip().lower() in KINDS else ""
        parts = [rest.strip()]
    return [*found][:_LEARNED]


def keep_learned(engine: Engine, commit: HookedCommit) -> list[str]:
    """Stage what the message of a commit teaches and is not known; return the new ids."""
    lessons = [
        (type, text, own(record_id(type, text), engine.settings.scope))
        for type, text in learned(commit.message)
    ]
    new = [one for one in lessons if engine.store.nodes.get(one[2]) is None]
    if not new:
        return []
    files = [path for path in commit.files if not path.startswith(_OURS)]
    alone = len(files) == 1 and not commit.others
    file = files[0] if alone and os.path.isfile(os.path.join(engine.root, files[0])) else ""
    subject = one_line(commit.message.partition("\n")[0])[:_TITLE]
    why = f"said by commit {commit.name[:_HASH]}: {subject}"
    records = engine.records()
    return [
        records.add(type, text, why=why, tags=("commit",), file=file,
                    status="staged", source="conversation").id
        for type, text, _ in new
    ]  # fmt: skip


def lines_of(texts: Iterable[str]) -> str:
    """Return the lines as a terminal gets them."""
    return "".join(f"lore: {printable(one_line(text))}\n" for text in texts)


def _order(found: tuple[Hit, str]) -> tuple[bool, float, str]:
    hit = found[0]
    return hit.verdict not in BROKEN, -hit.score, hit.id


def _line(hit: Hit, path: str) -> str:
    verdict = f" [{hit.verdict}]" if hit.verdict in BROKEN else ""
    return f"{hit.id}{verdict} {one_line(hit.title)[:_TITLE]} ({path})"
