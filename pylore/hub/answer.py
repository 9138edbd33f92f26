"""The answer of a hub to a search, as the parts of a store that the pipeline asks.

One call has brought all that a search looks at: what the legs found, the walk, rows of nodes,
passages and their vectors. The pipeline then runs over it as over search.db. What it asks for
beyond that (the text of a result far down, say) is asked of the hub when it is needed.
"""

from __future__ import annotations

import base64
import math
import struct
from datetime import datetime, timezone
from math import sqrt

from ..core.errors import UsageError, nearest
from ..core.vocabulary import (
    CODE,
    COLLECTIONS,
    LEARNING,
    NAMES,
    RECORDS,
    RELATIONS,
    TEXTS,
    TYPES,
    types_named,
)
from ..graph.relations import relation_weights
from ..graph.walk import Step, Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..core.text import Query
    from ..store.facts import Standing
    from ..store.filter import Scope
    from ..store.nodes import Brief
    from .connection import Hub

    Row = tuple[int, str, float]
    from ..core.settings import Settings

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
        """Return what the legs found within the types that were asked for, or within all."""
        which = "found" if types == self.types or self.said["starts"] is None else "starts"
        rows: list[Any] = self.said[which]
        return rows

    def passage(self, key: int) -> list[Any]:
        """``[node, number, words, text, beginning of its node's]`` of a passage."""
        if key not in self._texts or self._texts[key][3] is None:
            self.fetch([key])
        return self._texts.get(key) or [0, 0, "", "", ""]

    def words(self, key: int) -> list[str]:
        """Return the words of a passage, a field each."""
        self.fetch_words([key])
        said = self._texts.get(key)
        return str((said and said[2]) or "").split("|")

    def fetch_words(self, keys: Iterable[int]) -> None:
        """Ask at once for the words of those passages that have not been sent."""
        unseen = [key for key in keys if key not in self._texts or self._texts[key][2] is None]
        if unseen:
            self.fetch(unseen)

    def vectors(self, keys: Iterable[int]) -> dict[int, tuple[float, ...]]:
        """Return those of these passages."""
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
    """Return a halfvec as pgvector sends it: its dimension, a zero, and half floats, big-endian."""
    raw = base64.b64decode(text)
    return struct.unpack_from(f">{int.from_bytes(raw[:2], 'big')}e", raw, 4)


class Unanswered:
    """What is asked of nodes and words before a search is: each is a round trip."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def hidden(self, statuses: Sequence[str], most: int) -> list[str] | None:
        return None

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        return []

    def collections(self, scope: Scope | None = None) -> list[str]:
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

    def ids_titled(self, title: str, limit: int) -> list[str]:
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
        """Return those that the hub has said to be within what may be returned."""
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

    def collections(self, scope: Scope | None = None) -> list[str]:
        types = scope.types if scope else ()
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
        number, ids = ORDER.index(collection), self._answer.ids
        return [
            (key, ids[node], score)
            for of, way, key, node, score, _ in self._answer.rows(scope.types)
            if of == number and way == how
        ]

    def body(self, key: int) -> str:
        fact = self._answer.said["facts"].get(str(key))
        return str(fact[0] if fact else self._answer.passage(key)[3] or "")

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        return []  # asked of code alone, and a hub has none

    def indexed(self, key: int) -> tuple[str, str]:
        fields = self._answer.words(key)
        return fields[0], " ".join(fields)

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        self._answer.fetch_words(keys)
        return {key: " ".join(self._answer.words(key)) for key in keys}

    def frequencies(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        return int(self._answer.said["passages_held"]), self._answer.said["there"]


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

    def cosines(self, keys: Sequence[int]) -> dict[tuple[int, int], float]:
        held = self._answer.vectors(keys)
        ordered = sorted(key for key in set(keys) if key in held)
        return {
            (one, other): _cosine(held[one], held[other])
            for at, one in enumerate(ordered) for other in ordered[at + 1 :]
        }  # fmt: skip


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


def walked(store: Any, said: Mapping[str, Any], ids: Mapping[int, str], settings: Settings) -> Walk:
    """Return the walk that a hub has said, as ``graph.accumulate`` and ``best_path`` say it.

    Raises:
        UsageError: a relation that was asked for is not known.
    """
    relation_weights(store, settings)
    adds_up = bool(said["adds_up"])
    seeds = {int(key): score for key, score in (said["seeds"] or {}).items()}
    rows = {row[0]: row for row in said["reached"]}
    steps: dict[int, Step] = {key: Step(ids[key], score) for key, score in seeds.items()}
    walk = Walk()
    walk.hubs = {str(number) for number in range(said["hubs"])}
    walk.edges_seen = said["seen"]
    walk.left_out = said["left_out"] or 0
    for key, row in rows.items():
        step = _step(key, rows, steps, ids, adds_up=adds_up)
        score = sqrt(row[2]) if adds_up else row[2]
        if key in seeds:  # it is where a way begins: here, one that leads to it
            step = _way(row, rows, steps, ids, adds_up=adds_up)
        step.score = score
        walk.reached[ids[key]] = step
        if adds_up:
            walk.support[ids[key]] = score
            if row[1] and key not in seeds:
                walk.roots[ids[key]] = ids[row[1]]
    return walk


def _step(
    key: int,
    rows: Mapping[int, Any],
    steps: dict[int, Step],
    ids: Mapping[int, str],
    *,
    adds_up: bool,
) -> Step:
    """Return the step to a node, and those before it, each made once."""
    if key not in steps:
        steps[key] = _way(rows[key], rows, steps, ids, adds_up=adds_up)
    return steps[key]


def _way(
    row: Any, rows: Mapping[int, Any], steps: dict[int, Step], ids: Mapping[int, str], *,
    adds_up: bool,
) -> Step:  # fmt: skip
    key, _, square, start, bridge, name, weight, strength, relation, own, worth, out, _ = row
    before = _step(start, rows, steps, ids, adds_up=adds_up)
    if bridge is not None:
        through = Step(ids[bridge], before.score, before, name, weight, strength, True)
        through.hop = before.hop
        before = through
    return Step(ids[key], sqrt(square) if adds_up else square, before, relation, own, worth, out)
