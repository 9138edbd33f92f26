"""What a commit gets: a few lines on what is known of its files; its lessons are written down."""

from __future__ import annotations

import os

from ..app.related import related
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
"""Types whose name, before a colon, begins what a message teaches."""

_MOST_LINES = 5
_MOST_FILES = 100
_MOST_LEARNED = 50
_TITLE = 100
_HASH = 12
_OURS = ".lore/"


class HookedCommit:
    """A commit as a hook tells of it.

    ``files`` are paths from the project; of those elsewhere in the repository ``others`` is the
    number. Before a commit, ``name`` and ``message`` are empty.
    """

    __slots__ = ("files", "message", "name", "others")

    def __init__(self, data: bytes, *, made: bool) -> None:
        prefix, *rest = data.decode("utf-8", "replace").removesuffix("\0").split("\0")
        said = rest.pop(0) if made and rest else ""
        self.name, _, self.message = said.partition("\n")
        self.files = [path.removeprefix(prefix) for path in rest
                      if path.startswith(prefix) and path != prefix]  # fmt: skip
        self.others = len([path for path in rest if path]) - len(self.files)


def warnings(engine: Engine, files: Sequence[str], here: str) -> list[str]:
    """Lines on records that are tied to files: first those that may no longer hold."""
    found: dict[str, tuple[Hit, str]] = {}
    for path in files[:_MOST_FILES]:
        try:
            with engine.store.faults:
                hits = related(engine, [path], types=(RECORDS,), here=here)
        except LoreError:
            continue  # nothing is known of a file that the store has not
        for hit in hits:
            found.setdefault(hit.id, (hit, path))
    ranked = sorted(found.values(), key=_order)
    shown = ranked if len(ranked) <= _MOST_LINES else ranked[: _MOST_LINES - 1]
    lines = [_line(hit, path) for hit, path in shown]
    if len(ranked) > len(shown):
        lines.append(f"{counted(len(ranked) - len(shown), 'more record')}: 'lore related FILE'")
    return lines


def learned(message: str) -> list[tuple[str, str]]:
    """Return the ``(type, text)`` that a message teaches, in its order.

    A line that begins with a type and a colon does, as a trailer of git: in whatever case, and
    lines that begin with white space go on with it.

    >>> learned("Fix it\\n\\nlesson: Look\\n  twice\\nSee: x")
    [('lesson', 'Look twice')]
    """
    found: list[tuple[str, str]] = []
    kind, parts = "", [""]
    for line in [*message.split("\n"), "."]:
        if kind and line[:1] in (" ", "\t") and line.strip():
            parts.append(line.strip())
            continue
        text = " ".join(filter(None, parts))
        if kind and text and (kind, text) not in found:
            found.append((kind, text))
        name, colon, rest = line.partition(":")
        kind = name.rstrip().lower() if colon and name.rstrip().lower() in KINDS else ""
        parts = [rest.strip()]
    return found[:_MOST_LEARNED]


def keep_learned(engine: Engine, commit: HookedCommit) -> list[str]:
    """Stages what the message of a commit teaches; the ids that are new.

    What the store has had already stays as it is, whatever became of it: an amended commit, or
    one that is rebased, says the same again.

    Raises:
        LoreError: the store cannot be written.
    """
    store, settings = engine.store, engine.settings
    given = [
        (type, text, own(record_id(type, text), settings.scope))
        for type, text in learned(commit.message)
    ]
    new = [one for one in given if store.nodes.get(one[2]) is None]
    if not new:
        return []
    file = _only_file(commit, engine.root)
    subject = one_line(commit.message.partition("\n")[0])[:_TITLE]
    why = f"said by commit {commit.name[:_HASH]}: {subject}"
    records = engine.records()
    return [
        records.add(type, text, why=why, tags=("commit",), file=file,
                    status="staged", source="conversation").id
        for type, text, _ in new
    ]  # fmt: skip


def _only_file(commit: HookedCommit, root: str) -> str:
    """Return the one file that a commit is about; empty where it is about several, or takes it
    away.
    """
    files = [path for path in commit.files if not path.startswith(_OURS)]
    if len(files) != 1 or commit.others or not os.path.isfile(os.path.join(root, files[0])):
        return ""
    return files[0]


def lines_of(said: Iterable[str]) -> str:
    """Return what a terminal gets."""
    return "".join(f"lore: {printable(one_line(line))}\n" for line in said)


def _order(found: tuple[Hit, str]) -> tuple[bool, float, str]:
    hit = found[0]
    return hit.verdict not in BROKEN, -hit.score, hit.id


def _line(hit: Hit, path: str) -> str:
    verdict = f" [{hit.verdict}]" if hit.verdict in BROKEN else ""
    return f"{hit.id}{verdict} {one_line(hit.title)[:_TITLE]} ({path})"
