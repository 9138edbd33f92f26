"""Answers that are kept for ``cache_seconds``, and the warming of what searches read.

What an answer was made of is all in its key (the whole command line, every setting, the folders,
lore's version), or it is noted while the answer is made and looked at again before it is given
a second time: the state of the store, what was read of it, until when ages and dates count the
same, the files looked at, which of them may be shown, lore's own files. What cannot be looked at
again (another program's word) is not kept.

Who keeps nothing does not load this module. It loads nothing heavy, and not the store.
"""

from __future__ import annotations

import sys
from time import perf_counter, time

from .. import __version__
from ..core import times
from ..core.ids import sha256
from ..core.json import dumps, loads
from ..core.model import Record
from ..core.setting_values import OWN_EMBEDDERS
from ..core.settings import BUILT_IN_RETRIEVERS, SETTINGS
from ..core.vocabulary import THING_IDS
from ..embed import files_of_queries
from ..graph.relations import relation_weights
from ..store.filter import Scope
from ..store.resolve_id import complete_id
from ..system import files as file_stamps
from ..system.files import StoreState, read_since
from ..system.user_files import forget_text, keep_text, kept_text
from .search import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ..core.settings import Settings
    from .engine import Engine


_DAY = 86_400
_MOMENT = 0.01
"""Seconds that an age may be off: what is kept ends so much earlier."""

_PLAIN = (str, int, float, bool, type(None))


class KeptAnswer:
    """An answer given before: its rows as JSON, what is said beside it, how many seconds old."""

    __slots__ = ("notes", "rows", "seconds")

    def __init__(self, rows: list[str], notes: list[str], seconds: int) -> None:
        self.rows = rows
        self.notes = notes
        self.seconds = seconds


class Keepable:
    """One question to the store in ``folder``, whose answer may be kept.

    ``asked`` is the whole of it, in plain values. ``counts_reads``: the answer may be another one
    when any record was read more often; if not, only facts are ranked by how they were read.
    ``state`` says how the store is, where this process has it open.
    """

    def __init__(
        self, asked: Iterable[object], settings: Settings, folder: str, root: str,
        *, counts_reads: bool = True, state: Callable[[], StoreState] | None = None,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._folder = folder
        self._state = state or (lambda: StoreState(folder))
        self._counts_reads = counts_reads
        self._made = time()
        self._before = self._state()
        self._noted = _Noted()
        told = (__version__, sys.version, folder, root, *asked, *_all(settings))
        self._key = sha256(repr(told).encode(errors="surrogatepass")).digest()

    def answer(self) -> KeptAnswer | None:
        """Return the answer that is kept, if it is what would be answered now."""
        text = kept_text(self._key)
        if text is None:
            return None
        head, *rows = text.split("\n")
        fields = loads(head)
        if not fields["made"] <= self._made < fields["until"]:
            forget_text(self._key)
            return None
        if not self._holds(fields):
            return None
        return KeptAnswer(rows, fields["notes"], int(self._made - fields["made"]))

    def __enter__(self) -> None:
        """Notes from here on what the answer is made of, beside the store."""
        self._noted.begin()

    def __exit__(self, *_: object) -> None:
        self._noted.end(self._state().reads)

    def keep(self, rows: Iterable[str], notes: list[str], own: Sequence[str] = ()) -> None:
        """Keeps an answer that was made since; call it when the store is closed.

        ``own`` are the ids that count as read whenever it is given.
        """
        noted, now = self._noted, self._state()
        until = min(self._made + self._settings.cache_seconds, noted.until(self._made))
        same = now.text == self._before.text and noted.reads == self._before.reads
        if not (same and self._before.settled and noted.is_sure and time() < until):
            return
        fields = {
            "made": self._made, "until": until, "state": now.text, "reads": noted.reads,
            "files": noted.files, "listed": noted.listed, "notes": notes,
            "facts": noted.any_facts, "own": noted.unmoved_by(own),
        }  # fmt: skip
        keep_text(self._key, "\n".join((dumps(fields), *rows)))

    def _holds(self, fields: dict[str, Any]) -> bool:
        return (
            fields["state"] == self._before.text
            and self._reads_change_nothing(fields)
            and all(_stamp(path) == stamp for path, stamp in fields["files"].items())
            and all(_may_be_shown(root, told) for root, told in fields["listed"].items())
        )

    def _reads_change_nothing(self, fields: dict[str, Any]) -> bool:
        now = self._before.reads
        if fields["reads"] == now:
            return True
        read = None if self._counts_reads else read_since(self._folder, fields["reads"], now)
        if read is None or not fields["facts"]:
            return read is not None
        for line in read.decode(errors="replace").split("\n"):
            ids = line.split("\t")[2:]
            if ids != fields["own"] and any(id.startswith(THING_IDS) for id in ids):
                return False
        return True


def question_of(
    asked: Sequence[object], settings: Settings, folder: str, root: str,
    *, counts_reads: bool = True, state: Callable[[], StoreState] | None = None,
) -> Keepable | None:  # fmt: skip
    """Return the question, if its answer may be kept.

    Not where another program has a part in it: an embedder or a retriever that lore asks. And not
    within a run: there each answer is written into the store, so it is another store thereafter.
    """
    own = settings.embedder in OWN_EMBEDDERS and {*settings.retrievers} <= {*BUILT_IN_RETRIEVERS}
    if settings.run or not own or not all(map(_is_plain, asked)):
        return None
    return Keepable(asked, settings, folder, root, counts_reads=counts_reads, state=state)


class _Noted:
    """What an answer is made of, beside the store."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.listed: dict[str, dict[str, str]] = {}
        self.reads: list[str] = []
        self._facts: list[tuple[str, list[tuple[str, float, int, float]]]] = []
        self._ages: list[float] = []
        self._turning: list[float] = []
        self._at = 0.0

    def begin(self) -> None:
        """Lets the modules that look at the clock and at the disk note it here."""
        from ..core import scoring
        from ..system import project_files

        scoring.ages, scoring.facts, times.turning = self._ages, self._facts, self._turning
        file_stamps.noted, project_files.listed = self.files, self.listed
        self._at = time()

    def end(self, reads: list[str]) -> None:
        """Notes no more; ``reads`` is what is noted of reads by now."""
        from ..core import scoring
        from ..system import project_files

        scoring.ages = scoring.facts = times.turning = None
        file_stamps.noted = project_files.listed = None
        self.reads = reads
        for module in [*sys.modules.values()]:
            path = getattr(module, "__file__", None)
            if path and module.__name__.startswith(f"{__package__.partition('.')[0]}."):
                self.files[path] = file_stamps.stamp_of(path)

    @property
    def is_sure(self) -> bool:
        """Whether a file that changes from now on has another stamp than the one that is noted."""
        return all(
            stamp and (stamp == file_stamps.GONE or file_stamps.settled(stamp))
            for stamp in self.files.values()
        )

    @property
    def any_facts(self) -> bool:
        """Whether facts have been ranked, so that it counts who reads what they are about."""
        return bool(self._facts)

    def unmoved_by(self, ids: Sequence[str]) -> list[str]:
        """These ids, where no ranking changes by their being read together; else none.

        A read of either end makes a fact new and counts it once more. Those of a subject that are
        as new stay in order where all of them are read, or none, and of any two the one that is
        surer was read as often or more often: its credibility × usage is higher whatever is added.
        """
        own = frozenset(ids)
        for subject, read in self._facts:
            touched = [subject in own or not other or other in own for other, *_ in read]
            ranked = [count for _, _, count in sorted((-sure, -count, count)
                                                      for _, sure, count, _ in read)]  # fmt: skip
            ages = {fresh for *_, fresh in read}
            stays = len(ages) == 1 and ranked == sorted(ranked, reverse=True)
            if any(touched) and not (all(touched) and stays and (read[0][0] or ages == {1.0})):
                return []
        return [*dict.fromkeys(ids)]

    def until(self, made: float) -> float:
        """When the first age or date counts otherwise; dates change at midnight (UTC)."""
        turning = [self._at + (1 - age % 1) * _DAY - _MOMENT for age in self._ages]
        return min((made // _DAY + 1) * _DAY, *turning, *self._turning, made + _DAY)


def words_of(text: str) -> str:
    """Return a question without the blanks that say nothing.

    Another order or case of the words is another question: the vectors know capitals, and the
    first word says what is asked for.

    >>> words_of("  how are   tokens signed ")
    'how are tokens signed'
    """
    return " ".join(filter(None, text.split(" ")))


def _all(settings: Settings) -> list[object]:
    """Every setting and where it comes from."""
    values = [(setting.name, getattr(settings, setting.name)) for setting in SETTINGS]
    plain = [(name, sorted(value.items()) if isinstance(value, dict) else value)
             for name, value in values]  # fmt: skip
    return [plain, sorted(settings.origins.items())]


def _is_plain(value: object) -> bool:
    """Return whether the text of a value says all that it is."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _stamp(path: str) -> str:
    try:
        return file_stamps.stamp_of(path)
    except OSError:
        return ""


def _may_be_shown(root: str, told: dict[str, str]) -> bool:
    """Return whether git lists the same of these files as before."""
    from ..system.project_files import Listed

    now = Listed(root, told)
    return all(now.why_not(path) == why for path, why in told.items())


_BLOCK = 1 << 20
_MOST_NODES = 10_000
"""Of a neighbourhood."""


class WarmRequest(Record):
    """Load what every search reads, and the neighbourhood of ``entity``, an id."""

    __slots__ = ("entity",)

    def __init__(self, entity: str = "") -> None:
        self.entity = entity


def warm(engine: Engine, request: WarmRequest) -> dict[str, Any]:
    """``{bytes, ms}``; with an entity ``{entity, nodes, edges, passages}`` of what is around it.

    Raises:
        LoreError: there is no such node.
        StoreError: the store cannot be read.
    """
    start = perf_counter()
    store = engine.store
    found: dict[str, Any] = {"bytes": 0, "ms": 0.0}
    around = store.nodes.require(complete_id(store, request.entity)) if request.entity else None
    found["bytes"] = store.read_ahead() + sum(map(_read, files_of_queries(engine.settings)))
    _search(engine)
    if around is not None:
        found |= {"entity": around.id, **_neighbourhood(engine, around.id)}
    found["ms"] = round(1000 * (perf_counter() - start), 1)
    return found


def _search(engine: Engine) -> None:
    """One search at depth 2, for what it loads beside all that: lore itself, and sqlite-vec."""
    own = engine.settings.embedder in OWN_EMBEDDERS  # nothing is sent to anybody for this
    pairs = [("retrievers", " ".join(BUILT_IN_RETRIEVERS if own else BUILT_IN_RETRIEVERS[:1]))]
    for node in engine.store.nodes.select(Scope(), 1):
        pairs.append(("graph_depth", "2"))
        search(engine.changed(pairs, "warm"), node.title)


def _neighbourhood(engine: Engine, id: str) -> dict[str, int]:
    """Reads what a walk from a node comes by within ``activation_hops``; how many of each."""
    store, settings = engine.store, engine.settings
    relations = list(relation_weights(store, settings))
    near, frontier, edges = {id}, [id], 0
    for _ in range(settings.activation_hops):
        ends: set[str] = set()
        bundles = store.edges.bundles(frontier, relations, settings.graph_fanout + 1)
        for _, _, _, others, _ in bundles:
            ends.update(others)
            edges += len(others)
        frontier = sorted(ends - near)[: _MOST_NODES - len(near)]
        near.update(frontier)
        if not frontier:
            break
    ids = sorted(near)
    store.nodes.get_many(ids)
    keys = [key for key, _ in store.nodes.passages(ids)]
    for key in keys:
        store.fulltext.indexed(key)
    sum(1 for _ in store.vectors.of_nodes(ids))
    return {"nodes": len(ids), "edges": edges, "passages": len(keys)}


def _read(path: str) -> int:
    """Reads a file; how many bytes it has."""
    size = 0
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                size += len(block)
    except OSError:
        return size
    return size
