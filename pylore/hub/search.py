"""The answer of a hub to a search, as the parts of a store that the pipeline asks.

One call has brought all that a search looks at: what the legs found, the walk, rows of nodes,
passages and their vectors. The pipeline then runs over it as over search.db. What it asks for
beyond that (the text of a result far down, say) is asked of the hub when it is needed.
"""

from __future__ import annotations

import base64
import math
import struct
from contextlib import nullcontext
from datetime import datetime, timezone

from ..core.errors import UsageError, nearest
from ..core.text import stem
from ..core.tuning import PREFIX_LENGTH, SHORT_QUERY
from ..core.vocabulary import (
    CODE,
    COLLECTIONS,
    HIDDEN_STATUSES,
    LEARNING,
    NAMES,
    RECORDS,
    RELATIONS,
    TEXTS,
    TYPES,
    types_named,
)
from ..embed import open_embedder
from ..search import tuning
from ..search.expansion import rule_of
from ..search.fulltext import searched
from ..store.filter import Scope
from ..system.json_encode import dumps
from .connection import connect
from .indexing import COLUMNS, LONGEST_WORD, phrases_of, vector_text
from .walk import walked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..graph.best_path import Walk
    from ..search.request import Request
    from .connection import Hub


if TYPE_CHECKING:
    Row = tuple[int, str, float]
    Brief = tuple[str, str, str | None, int | None, int | None, float, float, str, str, int]
    Standing = tuple[str, float, str, str, int, float]
    """As ``protocols`` has them."""

ORDER = (TEXTS, NAMES, CODE)
"""Collections, by their numbers at a hub."""

_DAY = 86_400


class HubAnswer:
    """What ``lore.search`` has said, and how to ask for more."""

    def __init__(self, hub: Hub, said: Mapping[str, Any], types: tuple[str, ...]) -> None:
        self.hub = hub
        self.said = said
        self.types = types
        """Those that the matches which may be returned are of: others may start a walk."""
        self.ids: dict[int, str] = {int(key): id for key, id in said["ids"].items()}
        self.keys = {id: key for key, id in self.ids.items()}
        self.now = datetime.now(timezone.utc).timestamp()
        self._texts: dict[int, list[Any]] = {}
        self._vectors: dict[int, tuple[float, ...]] = {}
        self.add_passages(said["passages"])

    def rows(self, types: tuple[str, ...]) -> list[Any]:
        """What the legs found within the types that were asked for, or within all."""
        which = "found" if types == self.types or self.said["starts"] is None else "starts"
        rows: list[Any] = self.said[which]
        return rows

    def passage(self, key: int) -> list[Any]:
        """``[node, number, words, text, beginning of its node's]`` of a passage."""
        if key not in self._texts or self._texts[key][3] is None:
            self.fetch([key])
        return self._texts.get(key) or [0, 0, "", "", ""]

    def words(self, key: int) -> list[str]:
        """The words of a passage, a field each."""
        if key not in self._texts or self._texts[key][2] is None:
            self.fetch([key])
        return str(self.passage(key)[2] or "").split("|")

    def vectors(self, keys: Iterable[int]) -> dict[int, tuple[float, ...]]:
        """Those of these passages."""
        unseen = [key for key in keys if key not in self._texts and key >= 0]
        if unseen:
            self.fetch(unseen)
        return self._vectors

    def fetch(self, keys: Sequence[int]) -> None:
        """Asks for whole passages."""
        rows = self.hub.ask("SELECT lore.passages_of(%s, %s, %s)", (keys, keys, keys))
        self.add_passages(rows[0][0])

    def add_passages(self, said: Mapping[str, Any]) -> None:
        for key, text in said["texts"].items():
            self._texts[int(key)] = text
        for key, vector in said["vectors"].items():
            self._vectors[int(key)] = _halves(vector)

    def first_passages(self) -> dict[int, int]:
        """Node to its first passage, as far as that was told."""
        return {row[0]: key for key, row in self._texts.items() if row[1] == 1}

    def age(self, time: str) -> float:
        """Days since then; 0 for what is no time."""
        try:
            then = datetime.fromisoformat(time.replace("Z", "+00:00"))
        except ValueError:
            return 0.0
        return (self.now - then.replace(tzinfo=then.tzinfo or timezone.utc).timestamp()) / _DAY


def _halves(text: str) -> tuple[float, ...]:
    """A halfvec as pgvector sends it: its dimension, a zero, and half floats, big-endian."""
    raw = base64.b64decode(text)
    return struct.unpack_from(f">{int.from_bytes(raw[:2], 'big')}e", raw, 4)


class Unanswered:
    """What is asked of nodes and words before a search is: each is a round trip."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def hidden_statuses(self, shown: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(one for one in HIDDEN_STATUSES if one not in shown)

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        return []

    def collections(self, types: Iterable[str]) -> list[str]:
        return [""]

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        """Ids of all nodes that have this phrase in a passage, or in the title of one."""
        rows = self._hub.ask("SELECT lore.having(%s, %s)", (phrase, titled))
        return {id for (id,) in rows}

    def get(self, id: str) -> str | None:
        rows = self._hub.ask("SELECT id FROM lore.nodes WHERE id = %s AND type <> ''", (id,))
        return str(rows[0][0]) if rows else None

    def ids_at(self, part: str, limit: int) -> list[str]:
        return []


class AnsweredNodes(Unanswered):
    """Rows of nodes."""

    def __init__(self, answer: HubAnswer) -> None:
        super().__init__(answer.hub)
        self._answer = answer

    def _row(self, id: str) -> list[Any] | None:
        row: list[Any] | None = self._answer.said["nodes"].get(str(self._answer.keys.get(id)))
        return row

    def briefs(self, ids: Sequence[str]) -> dict[str, Brief]:
        answer = self._answer
        lacking = [id for id in ids if self._row(id) is None and id in answer.keys]
        if lacking:
            keys = [answer.keys[id] for id in lacking]
            answer.said["nodes"].update(answer.hub.ask("SELECT lore.nodes_said(%s)", (keys,))[0][0])
        rows = ((id, self._row(id)) for id in ids)
        return {
            id: (*row[:5], answer.age(row[5]), *row[6:9], 0) for id, row in rows if row is not None
        }

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        """Those that the hub has said to be within what may be returned."""
        walk = self._answer.said["walk"] or {"reached": ()}
        within = {row[0] for row in walk["reached"] if row[12]}
        return {id for id in ids if self._answer.keys.get(id) in within}

    def hidden_among(self, ids: Sequence[str], statuses: Sequence[str]) -> set[str]:
        placed = self._answer.said["placed"] or ()
        return {row[2] for row in placed if row[4] in statuses}.intersection(ids)

    def categories(self, ids: Sequence[str], tags: Sequence[str] = ()) -> dict[str, str]:
        found = {}
        for id in ids:
            row = self._row(id)
            if row is not None:
                own = row[10].split()
                found[id] = row[9] or next((tag for tag in tags if tag in own), "")
        return {id: category for id, category in found.items() if category}

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        first = self._answer.first_passages()
        keys = ((id, first.get(self._answer.keys.get(id, 0))) for id in ids)
        return {id: key for id, key in keys if key is not None}

    def beginning(self, id: str, length: int = 800) -> str:
        key = self.first_passages([id]).get(id)
        return "" if key is None else str(self._answer.passage(key)[4] or "")[:length]

    def count_by_type(self) -> dict[str, int]:
        return {"": len(self._answer.said["collections"] or ())}

    def anchored(self, ids: Sequence[str]) -> list[tuple[str, str, str, str, str, str]]:
        return []  # whether an anchor holds is known where the code is

    def symbol_lines(self, keys: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        return {}


class AnsweredFullText(Unanswered):
    """What full text found."""

    def __init__(self, answer: HubAnswer, query: Query) -> None:
        super().__init__(answer.hub)
        self._answer = answer
        self._query = query

    def collections(self, types: Iterable[str]) -> list[str]:
        wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or {*ORDER}
        there = {ORDER[number] for number in self._answer.said["collections"] or ()}
        return [name for name in ORDER if name in wanted & there]

    def search(
        self,
        collection: str,
        query: Query,
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> list[Row]:
        if query is not self._query:  # whether a word is anywhere
            there = self._answer.said["there"]
            return [(0, "", 0.0)] if any(word in there for word in query.single_words()) else []
        return self._matches(collection, how, scope)

    def _matches(self, collection: str, how: str, scope: Scope) -> list[Row]:
        number, ids = ORDER.index(collection), self._answer.ids
        return [
            (key, ids[node], score)
            for of, way, key, node, score, _ in self._answer.rows(scope.types)
            if of == number and way == how
        ]

    def nodes_with_all(self, collection: str, query: Query, scope: Scope, limit: int) -> set[str]:
        rows = self._matches(collection, "all", scope) or self._matches(collection, "with", scope)
        return {id for _, id, _ in rows}

    def body(self, key: int) -> str:
        return str(self._answer.passage(key)[3] or "")

    def indexed(self, key: int) -> tuple[str, str]:
        fields = self._answer.words(key)
        return fields[0], " ".join(fields)


class AnsweredVectors:
    """What is near, and the vectors of what may be shown."""

    def __init__(self, answer: HubAnswer) -> None:
        self._answer = answer

    def search(self, vector: bytes, scope: Scope, limit: int) -> list[Row]:
        ids = self._answer.ids
        return [
            (key, ids[node], score)
            for _, how, key, node, score, _ in self._answer.rows(scope.types) if how == "near"
        ]  # fmt: skip

    def signs(self, keys: Sequence[int]) -> dict[int, bytes]:
        held = self._answer.vectors(keys)
        return {key: _signs(held[key]) for key in keys if key in held}

    def cosines(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        held = self._answer.vectors(key for pair in pairs for key in pair)
        return [_cosine(held[one], held[other]) for one, other in pairs]


def _signs(vector: Sequence[float]) -> bytes:
    bits = sum(1 << place for place, number in enumerate(vector) if number > 0)
    return bits.to_bytes((len(vector) + 7) // 8, "little")


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


class AnsweredFacts:
    """The facts that match."""

    def __init__(self, answer: HubAnswer) -> None:
        self._answer = answer

    def shown(self, passages: Sequence[int]) -> dict[int, Standing]:
        said, found = self._answer.said["facts"], {}
        for key in passages:
            if str(key) in said:
                sentence, weight, source, status, at = said[str(key)]
                found[key] = (sentence, weight, source, status, 0, self._answer.age(at))
        return found


class AnsweredPlaced:
    """Links that stand in passages that match."""

    def __init__(self, answer: HubAnswer) -> None:
        self._rows = answer.said["placed"] or ()

    def any(self) -> bool:
        return bool(self._rows)

    def within(self, passages: Sequence[int]) -> list[tuple[int, str, str, float]]:
        wanted = {*passages}
        return [tuple(row[:4]) for row in self._rows if row[0] in wanted]


class HubTypes:
    """The types that a hub knows."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        """As ``Types.require``; the hub is asked where lore itself does not know one."""
        asked = [*names]
        known = [*TYPES]
        if not {*asked} <= {RECORDS, LEARNING, *known}:
            known = [*{**TYPES, **dict(self._hub.ask("SELECT name, description FROM lore.types"))}]
        wanted = types_named(asked, known)
        for name in wanted:
            if name not in known:
                names = [RECORDS, LEARNING, *known]
                raise UsageError(f"unknown type '{name}'{nearest(name, names)}: "
                                 f"one of {', '.join(names)}")  # fmt: skip
        return tuple(wanted)


class HubRelations:
    """The relations that a hub has told of, over those that lore knows."""

    def __init__(self, said: Iterable[Sequence[Any]] = ()) -> None:
        self._said = said

    def all(self) -> dict[str, tuple[float, float, str]]:
        """Name to weight, weight walked backwards, description."""
        return {**RELATIONS, **{name: (one, other, "") for name, one, other in self._said}}


if TYPE_CHECKING:
    Expect = Callable[..., bytes | None]


class SearchedHub:
    """The parts of a ``Store`` that a search asks.

    Before the pipeline ranks, it tells what it is going to ask (``expect``): then the hub is
    asked, once, and the parts answer from that.
    """

    kept = None

    def __init__(self, hub: Hub, expect: Expect, embedder: str | None, scope: str = "") -> None:
        self.hub = hub
        self.scope = scope
        self.answer: HubAnswer | None = None
        self._expect = expect
        self.meta = HubMeta(embedder)
        self.types = HubTypes(hub)
        self.relations = HubRelations()
        self.nodes: Any = Unanswered(hub)
        self.fulltext: Any = self.nodes
        self.whole_files = self.commits = self.documents = _Nothing()
        self.ratings = _Ratings()

    @property
    def faults(self) -> AbstractContextManager[None]:
        return nullcontext()

    graph_faults = faults

    def snapshot(self) -> AbstractContextManager[None]:
        """An answer is of one moment by itself."""
        return nullcontext()

    def keep_to(self, scope: str) -> None:
        self.scope = scope

    def keep(self) -> None:
        """Nothing is kept between searches but the connection."""

    def __enter__(self) -> SearchedHub:
        return self

    def __exit__(self, *_: object) -> None:
        self.hub.close()

    def expect(self, *asked: Any) -> bytes | None:
        """Asks the hub; the query's vector, where the hub has some that it can be held against."""
        return self._expect(self, *asked)

    def walked(self, settings: Settings) -> Walk:
        """Return the walk of the last answer.

        Raises:
            UsageError: a relation that was asked for is not known.
        """
        assert self.answer is not None
        return walked(self, self.answer.said["walk"], self.answer.ids, settings)

    def ask(self, question: Mapping[str, Any], query: Query, types: tuple[str, ...]) -> None:
        """Asks this, and lets the parts answer from what comes."""
        said = self.hub.ask("SELECT lore.search(%s)", (dumps(question),))[0][0]
        answer = self.answer = HubAnswer(self.hub, said, types)
        self.meta.held = said["embedder"]
        self.relations = HubRelations(said["relations"] or ())
        self.nodes = AnsweredNodes(answer)
        self.fulltext = AnsweredFullText(answer, query)
        self.vectors = AnsweredVectors(answer)
        self.facts = AnsweredFacts(answer)
        self.placed = AnsweredPlaced(answer)


class HubMeta:
    """Facts about a hub: whose vectors it holds is known with its answer."""

    def __init__(self, embedder: str | None) -> None:
        self.held = embedder

    def get(self, name: str) -> str | None:
        return self.held if name == "embedder" else None


class _Nothing:
    """What no hub has: whole files, commits, the files of documents."""

    def is_there(self) -> bool:
        return False

    def lines(self, keys: Sequence[int]) -> dict[int, int]:
        return {}

    def paths(self, ids: Iterable[str]) -> dict[str, str]:
        return {}


class _Ratings:
    """Ratings belong to runs, which stay where they were made."""

    def of(self, ids: Sequence[str]) -> dict[str, tuple[float, int]]:
        return {}


_GROUPS = 62
"""So many terms at most are tried for all being in one passage: a bit each."""

_SPARE = 10
"""Rows of nodes that are sent beyond a pool, and texts beyond the results: some may be left out."""


def open_hub(hub: Hub, settings: Settings, embedder: Embedder | None = None) -> SearchedHub:
    """A hub as a store that can be searched; it is taken to hold this embedder's vectors until
    it says whose."""
    name = None if embedder is None else embedder.name
    return SearchedHub(hub, _expect, name, settings.scope)


def open_remote(name: str, url: str, settings: Settings) -> tuple[SearchedHub, Embedder | None]:
    """The hub at this URL as a store that can be searched, which the caller closes, and the
    embedder of the settings, whose vectors it is taken to hold.

    Raises:
        HubUnavailable: nobody answers.
        LoreError: it lets nobody in so.
    """
    store = open_hub(connect(url, name, writes=False), settings)
    embedder = open_embedder(settings.embedder, store, settings)  # type: ignore[arg-type]
    store.meta.held = None if embedder is None else embedder.name
    return store, embedder


def _expect(
    store: SearchedHub,
    query: Query,
    vector: bytes | None,
    settings: Settings,
    request: Request,
    room: int,
) -> bytes | None:
    before = store.meta.held
    asked = question(query, vector, settings, request, room)
    store.ask({**asked, "embedder": before}, query, searched(request.scope).types)
    return vector if store.meta.held == before else None


def question(
    query: Query, vector: bytes | None, settings: Settings, request: Request, room: int
) -> dict[str, Any]:
    """What ``lore.search`` takes: words, filters, what fuses the legs, and the walk."""
    scope = request.scope.without(request.excluded)
    types = searched(scope).types
    further = bool(settings.depth and request.scope.types and not request.filter_expanded)
    results = Scope(types=request.scope.types, statuses=request.scope.statuses)
    return {
        **_words(query, settings),
        "wanted": tuning.PASSAGES * room,
        "near": tuning.NEIGHBOURS * room,
        "enough": room // tuning.ENOUGH,
        "room": room,
        "pool": room + _SPARE,
        "texts": settings.limit + settings.graph_limit + _SPARE,
        "limit": settings.limit,
        "weights": [settings.field_weights.get(name, 1.0) for name in COLUMNS],
        "share": settings.fulltext_share,
        "code_share": settings.code_fulltext_share,
        "vector_min": settings.vector_min,
        "fusion": settings.fusion,
        "rrf_k": settings.rrf_k,
        "vector": vector_text(vector),
        "collections": _collections(types) if "fulltext" in settings.retrievers else [],
        "scope": _scope(scope.with_types(types), settings),
        "anything": _scope(scope.with_types(()), settings) if further else None,
        "walked": _scope(Scope(excluded=scope.excluded, hides=scope.hides), settings),
        "returned": _scope(request.scope if request.filter_expanded else results, settings),
        "walk": _walk(settings) if settings.depth else None,
    }


def _collections(types: Iterable[str]) -> list[int]:
    wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or {*ORDER}
    return [number for number, name in enumerate(ORDER) if name in wanted]


def _words(query: Query, settings: Settings) -> dict[str, Any]:
    """The phrases to look for: ``[phrase, whether it is one of some, bits of its groups]``."""
    begins = [word[:LONGEST_WORD] for word in query.beginnings]
    some = phrases_of(query, "some")[0]
    phrases: dict[str, list[Any]] = {phrase: [cut(phrase), 1, 0] for phrase in some}
    groups = [] if begins else phrases_of(query, "all")[:_GROUPS]
    for place, group in enumerate(groups):
        for phrase in group:
            phrases.setdefault(phrase, [cut(phrase), 0, 0])[2] |= 1 << place
    single = query.single_words()
    return {
        "words": [[cut(word), stem(word)[:LONGEST_WORD]] for word in single],
        "short": len(single) <= SHORT_QUERY,
        "terms": len(query.terms),
        "some": list(phrases.values()),
        "groups": (1 << len(groups)) - 1,
        "inflected": [[cut(phrase), 1, 0] for phrase in phrases_of(query, "inflected")[0]],
        "prefix": [cut(word) for word in single if len(word) >= PREFIX_LENGTH],
        "begins": begins,
    }


def cut(phrase: str) -> str:
    """Words, none of them longer than a hub keeps."""
    if len(phrase) <= LONGEST_WORD:
        return phrase
    return " ".join(word[:LONGEST_WORD] for word in phrase.split(" "))


def _scope(scope: Scope, settings: Settings) -> dict[str, Any]:
    """Filters; patterns of files as regular expressions."""
    found: dict[str, Any] = {
        "types": [*scope.types], "statuses": [*scope.statuses], "tags": [*scope.tags],
        "files": [expression(glob) for glob in scope.files], "since": scope.since,
        "until": scope.until, "hides": [*scope.hides], "excluded": sorted(scope.excluded),
        "names": ["", settings.scope] if settings.scope else None,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}


def expression(glob: str) -> str:
    """A pattern of files as a regular expression: ``*``, ``?`` and ``[…]`` match a slash too.

    >>> expression("src/*.p[yx]"), expression("a?[^b]")
    ('^src/.*[.]p[yx]$', '^a.[^b]$')
    """
    found, at = "", 0
    while at < len(glob):
        letter = glob[at]
        if letter == "[":
            end = glob.find("]", at + (3 if glob[at + 1 : at + 2] == "^" else 2))
            if end < 0:
                return _NOTHING
            inside = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            found += f"[{inside}]"
            at = end
        else:
            found += {"*": ".*", "?": "."}.get(letter) or _plain(letter)
        at += 1
    return f"^{found}$"


_NOTHING = "(?!)"
"""What nothing matches, as a pattern with a bracket that is not closed."""


def _plain(letter: str) -> str:
    if letter.isalnum() or ord(letter) > 127 or letter in "/_ ":
        return letter
    return "\\" + letter if letter in "\\^[]" else f"[{letter}]"


def _walk(settings: Settings) -> dict[str, Any]:
    """A walk's caps and weights; what the hub says of relations comes before what lore knows."""
    rule = rule_of(settings)
    caps = getattr(rule, "caps", None)
    capped = settings if caps is None else caps(settings)
    return {
        "rule": getattr(rule, "at_hub", "best-path"),
        "near": getattr(rule, "starts_near", False),
        "weight": capped.graph_weight,
        "depth": capped.depth,
        "decay": capped.hop_decay,
        "fanout": capped.graph_fanout,
        "max_nodes": capped.graph_max_nodes,
        "min_confidence": capped.min_confidence,
        "seeds": capped.graph_seeds,
        "looked_at": tuning.LOOKED_AT * capped.graph_max_nodes,
        "shown": capped.graph_max_nodes,
        "known": {name: row[:2] for name, row in RELATIONS.items()},
        "given": settings.edge_weights,
        "backward": settings.edge_backward_weights,
        "only": [*settings.graph_edges],
        "without": [*settings.graph_exclude_edges],
    }
