"""Search at a hub: the parts of a store that the pipeline asks, answered by PostgreSQL.

The pipeline fuses, walks and ranks here. Full text, vectors and each hop of a walk are one query;
rows and texts of the best matches come with them, others when they are asked for.
"""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import nullcontext
from datetime import datetime, timezone

from ..core.errors import LoreError, UsageError, nearest
from ..core.ids import whose
from ..core.json import dumps
from ..core.scoring import PREFIX_LENGTH
from ..core.settings import BUILT_IN_RETRIEVERS
from ..core.text import identifier_parts
from ..core.vocabulary import CODE_TYPES, LEARNING, RECORDS, RELATIONS, TYPES, types_named
from ..embed import open_embedder
from ..search.query import Request
from ..store.filter import Scope
from ..system.plugin_process import late
from ..system.programs import Refused
from .connection import connect
from .indexing import LONGEST_WORD, split, vector_text
from .lines import DECLARED
from .sync import remote_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..store import Store
    from ..store.edges import Bundle
    from ..store.nodes import Brief
    from .connection import Hub

    Row = tuple[int, str, float]

SHOWN = 60
"""Matches whose rows and texts come with a leg: a pool, and some that may be left out."""

_OF_ROWS = frozenset(("tags", "files", "since", "until"))
"""Filters that ids and statuses do not answer."""

_FIND = "SELECT * FROM lore.find(%s, %s, %s, %s, %s)"
_NEAR = "SELECT * FROM lore.near(%s, %s, %s, %s)"
_PASSAGES = "SELECT * FROM lore.passages_of(%s::bigint[])"
_ROWS = "SELECT * FROM lore.rows(%s::text[], %s)"
_EDGES = "SELECT * FROM lore.neighbours(%s::text[], %s::text[], %s)"


class SearchedHub:
    """The parts of a store that a search asks (``store.Store``)."""

    cache = None
    faults: AbstractContextManager[None] = nullcontext()
    graph_faults = faults

    def __init__(self, hub: Hub, scope: str = "") -> None:
        self.hub, self.scope = hub, scope
        self.briefs: dict[str, list[Any]] = {}
        self.texts: dict[int, tuple[str, str, str]] = {}
        """Key of a passage to title, text and tags."""
        self.described: Sequence[str] = ()
        self.statuses: dict[str, str] = {}
        """Of the nodes that a walk met."""
        rows = hub.ask("SELECT 'meta', name, value FROM lore.meta UNION ALL " + DECLARED)
        self.meta = {name: value for kind, name, value in rows if kind == "meta"}
        self.relations, self.types = _Relations(rows), _Types(rows)
        self.nodes: Any = _Nodes(self)
        self.fulltext: Any = _FullText(self)
        self.vectors: Any = _Vectors(self)
        self.edges: Any = _Edges(self)
        self.facts = self.positional_edges = self.whole_files = self.commits = _Nothing()
        self.documents = self.ratings = self.facts

    def snapshot(self) -> AbstractContextManager[None]:
        """Do nothing: each query sees what stands then."""
        return nullcontext()

    def keep_to(self, scope: str) -> None:
        self.scope = scope

    def __enter__(self) -> SearchedHub:
        return self

    def __exit__(self, *_: object) -> None:
        self.hub.close()

    def leg(self, sql: str, values: Sequence[object]) -> list[Row]:
        """Return the matches of a leg, and keep the rows and texts that come with them."""
        found = self.hub.ask(sql, values)
        for key, id, _, brief, text in found:
            if brief is not None:
                self.briefs[id], self.texts[key] = brief, (brief[1], text, brief[8])
        return [(key, id, score) for key, id, score, _, _ in found]

    def fetch_rows(self, ids: Sequence[str], filter: Mapping[str, Any]) -> set[str]:
        """Keep the rows of those of these nodes that a filter admits, and return their ids."""
        found = dict(self.hub.ask(_ROWS, (list(ids), dumps(filter)))) if ids else {}
        self.briefs.update(found)
        return {*found}

    def fetch_texts(self, keys: Iterable[int]) -> None:
        """Keep the texts of passages; with one that lacks, those of the nodes described last."""
        lacking = [key for key in keys if key not in self.texts]
        if lacking:
            firsts = (self.briefs[id][9] for id in self.described if id in self.briefs)
            lacking += [key for key in firsts if key is not None and key not in self.texts]
        for key, *text in self.hub.ask(_PASSAGES, (lacking,)) if lacking else ():
            self.texts[key] = tuple(text)

    def filter(self, scope: Scope) -> dict[str, Any]:
        """Return a scope as ``lore.admits`` takes it; patterns of files as regular expressions."""
        found: dict[str, Any] = {
            "types": [*scope.types], "statuses": [*scope.statuses], "tags": [*scope.tags],
            "files": [*map(expression, scope.files)], "since": scope.since,
            "until": scope.until, "hides": [*scope.hides], "excluded": sorted(scope.excluded),
            "names": ["", self.scope] if self.scope else None,
        }  # fmt: skip
        return {name: value for name, value in found.items() if value}


class _Part:
    def __init__(self, store: SearchedHub) -> None:
        self._store = store


class _Nothing:
    """Files, commits, facts, places of links and ratings: a hub has none."""

    def any(self) -> bool:
        return False

    is_there = any

    def shown(self, keys: Sequence[int]) -> dict[Any, Any]:
        return {}

    of = lines = paths = shown


class _Nodes(_Part):
    """Rows of nodes."""

    def briefs(self, ids: Sequence[str]) -> dict[str, Brief]:
        held, self._store.described = self._store.briefs, ids
        self._store.fetch_rows([id for id in ids if id not in held], {})
        rows = ((id, held[id]) for id in ids if id in held)
        return {
            id: (row[0], row[1], row[2], None, None, _age(row[3]), row[4], row[5], row[6], 0)
            for id, row in rows
        }

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        filter, met = self._store.filter(scope), self._store.statuses
        if not _OF_ROWS.isdisjoint(filter):
            return self._store.fetch_rows(ids, filter)
        statuses = scope.statuses or {*met.values()}
        found = self._store.fetch_rows([id for id in ids if id not in met], filter)
        for id in met.keys() & ids:
            if (
                met[id] in statuses
                and met[id] not in scope.hides
                and id not in scope.excluded
                and (not scope.types or id.partition("-")[0] in scope.types)
                and (not self._store.scope or whose(id) in ("", self._store.scope))
            ):
                found.add(id)
        return found

    def get(self, id: str) -> str | None:
        return id if self.briefs([id]) else None

    def hidden(self, statuses: Sequence[str], most: int) -> list[str] | None:
        return None  # each hop brings the statuses of the nodes that it leads to

    def hidden_among(self, ids: Sequence[str], statuses: Sequence[str]) -> set[str]:
        return {id for id in ids if self._store.statuses.get(id) in statuses}

    def categories(self, ids: Sequence[str], tags: Sequence[str] = ()) -> dict[str, str]:
        rows = [(id, self._store.briefs[id]) for id in ids if id in self._store.briefs]
        found = {
            id: row[7] or next((tag for tag in tags if tag in row[8].split()), "")
            for id, row in rows
        }
        return {id: category for id, category in found.items() if category}

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        rows = [(id, self._store.briefs[id]) for id in ids if id in self._store.briefs]
        return {id: row[9] for id, row in rows if row[9] is not None}

    def beginning(self, id: str, length: int = 800) -> str:
        key = self.first_passages([id]).get(id)
        return "" if key is None else str(self._store.fulltext.body(key))[:length]

    def count_by_type(self) -> dict[str, int]:
        return {"": self._store.fulltext.frequencies([])[0]}

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        return []

    def anchored(self, *_: object) -> list[Any]:
        return []

    ids_at = ids_titled = anchored

    def symbol_lines(self, keys: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        return {}


class _FullText(_Part):
    """The words of passages; stems stand for other forms of words."""

    def collections(self, scope: Scope | None = None) -> list[str]:
        return [] if scope and scope.types and {*scope.types} <= {*CODE_TYPES} else [""]

    def search(
        self, collection: str, query: Query, how: str, scope: Scope, weights: Mapping[str, float],
        limit: int,
    ) -> list[Row]:  # fmt: skip
        if limit == 1:  # the pipeline looks whether a word is anywhere
            found = self.frequencies(query.single_words())[1]
            return [(0, "", 0.0)] if any(found.values()) else []
        asked, prefixes = "", [*query.beginnings]
        if how == "prefix":
            prefixes = [word for word in query.single_words() if len(word) >= PREFIX_LENGTH]
        elif how != "inflected":
            asked = split(f"{' '.join(query.single_words())} {identifier_parts(query.text)}")
        else:
            return []
        filter = dumps(self._store.filter(scope))
        return self._store.leg(_FIND, (asked, prefixes, filter, limit, SHOWN))

    def body(self, key: int) -> str:
        self._store.fetch_texts([key])
        return self._store.texts.get(key, ("", "", ""))[1]

    def indexed(self, key: int) -> tuple[str, str]:
        everything = self.texts([key]).get(key, "")
        return self._store.texts.get(key, ("",))[0], everything

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        self._store.fetch_texts(keys)
        found = {key: self._store.texts[key] for key in keys if key in self._store.texts}
        return {
            key: f"{title} {text} {tags} {identifier_parts(f'{title} {text}')}"
            for key, (title, text, tags) in found.items()
        }

    def frequencies(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        asked = ([word[:LONGEST_WORD] for word in words],)
        found = dict(self._store.hub.ask("SELECT * FROM lore.counts(%s::text[])", asked))
        return int(found.pop("")), {word: int(many) for word, many in found.items() if many}

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        rows = self._store.hub.ask("SELECT lore.having(%s, %s)", (phrase, titled))
        return {id for (id,) in rows}

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        return []


class _Vectors(_Part):
    """The vectors of passages."""

    def search(self, vector: bytes, scope: Scope, limit: int) -> list[Row]:
        text = vector_text(vector)
        filter = dumps(self._store.filter(scope))
        return self._store.leg(_NEAR, (text, filter, limit, SHOWN)) if text else []

    def cosines(self, keys: Sequence[int]) -> dict[tuple[int, int], float]:
        rows = self._store.hub.ask("SELECT * FROM lore.cosines(%s::bigint[])", ([*keys],))
        return {(one, other): cosine for one, other, cosine in rows}


class _Edges(_Part):
    """What a walk asks: a query for a hop, and one for the things met."""

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:  # fmt: skip
        found: dict[tuple[str, bool], tuple[list[str], list[str], list[float]]] = {}
        asked = ([*frontier], [*relations], limit)
        for id, outgoing, relation, other, weight, status in self._store.hub.ask(_EDGES, asked):
            self._store.statuses[other] = status
            names, others, weights = found.setdefault((id, outgoing), ([], [], []))
            names.append(relation)
            others.append(other)
            weights.append(weight)
        return [(id, outgoing, *lists) for (id, outgoing), lists in found.items()]


class _Types:
    """The types that lore knows, and those that the hub's lines declare."""

    def __init__(self, declared: Iterable[tuple[str, str, str]]) -> None:
        self._known = {**TYPES, **{name: "" for kind, name, _ in declared if kind == "type"}}

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        """As ``Types.require`` of a store."""
        wanted = types_named([*names], self._known)
        for name in wanted:
            if name not in self._known:
                known = [RECORDS, LEARNING, *self._known]
                raise UsageError(f"unknown type '{name}'{nearest(name, known)}: "
                                 f"one of {', '.join(known)}")  # fmt: skip
        return tuple(wanted)


class _Relations:
    """The relations that lore knows, under those that the hub's lines declare."""

    def __init__(self, declared: Iterable[tuple[str, str, str]]) -> None:
        self._known = dict(RELATIONS)
        for kind, name, line in declared:
            said = json.loads(line) if kind == "relation" else {}
            weight = said.get("weight")
            if isinstance(weight, (int, float)):
                back = said.get("backward_weight")
                back = back if isinstance(back, (int, float)) else weight
                self._known[name] = (float(weight), float(back), "")

    def all(self) -> dict[str, tuple[float, float, str]]:
        """Name to weight, weight walked backwards, description."""
        return self._known


def _age(time: str) -> float:
    """Return the days since then; 0 for what is no time."""
    try:
        then = datetime.fromisoformat(time.replace("Z", "+00:00"))
    except ValueError:
        return 0.0
    then = then.replace(tzinfo=then.tzinfo or timezone.utc)
    return (datetime.now(timezone.utc) - then).total_seconds() / 86_400


def expression(glob: str) -> str:
    """Return a pattern of files as a regular expression: ``*`` and ``?`` match a slash too, and all
    else itself.

    >>> expression("src/*.p?")
    '^src/.*\\\\.p.$'
    """
    return f"^{''.join({'*': '.*', '?': '.'}.get(one) or re.escape(one) for one in glob)}$"


# --- who searches

NAME = "hub"
FEW = 50
"""Results of a hub as a leg of a local search."""


def open_remote(name: str, url: str, settings: Settings) -> tuple[SearchedHub, Embedder | None]:
    """Return the hub at this URL as a store that can be searched, which the caller closes, and the
    embedder of the settings.

    Raises:
        HubUnavailable: nobody answers.
        LoreError: it lets nobody in so.
    """
    store = SearchedHub(connect(url, name, writes=False), settings.scope)
    return store, open_embedder(settings.embedder, store, settings)  # type: ignore[arg-type]


def open_for_search(settings: Settings) -> Store:
    """Return the hub that ``on`` names; the caller closes it.

    Raises:
        UsageError: there is no such remote.
        HubUnavailable: nobody answers.
    """
    remote = remote_named(settings, settings.on)
    return open_remote(remote.name, remote.url, settings)[0]  # type: ignore[return-value]


def settled(files: Sequence[str], settings: Settings) -> Settings:
    """Return the settings of a search at a hub: runs are those of a store.

    Raises:
        UsageError: files at hand were named, or no leg that a hub has.
    """
    if files:
        raise UsageError("--files names files of this project, which a hub does not know: leave "
                         "--on out")  # fmt: skip
    legs = [name for name in settings.retrievers if name in BUILT_IN_RETRIEVERS]
    if not legs:
        raise UsageError("a hub runs no retriever of your own: name fulltext or vector beside "
                         f"{' '.join(settings.retrievers)}")  # fmt: skip
    return settings.changed([("run", ""), ("retrievers", " ".join(legs))], "flag:--on")


class HubLeg:
    """A search at a hub in a thread, as a leg of a local one; it ends with this process.

    Raises:
        Refused: no remote is meant.
    """

    def __init__(
        self, name: str, settings: Settings, asked: Mapping[str, Any], seconds: float
    ) -> None:
        remotes = settings.remotes
        remote = name.removeprefix(NAME).removeprefix("-") or (
            next(iter(remotes)) if len(remotes) == 1 else ""
        )
        if remote not in remotes:
            raise Refused(f"no remote '{remote}' in your config" if remote else
                          "name it as hub-NAME: your config has "
                          f"{len(remotes) or 'no'} remotes")  # fmt: skip
        self._found: bytes | None = None
        self._why, self._deadline = late(seconds), time.monotonic() + seconds
        few = [("graph_depth", "0"), ("limit", str(FEW)), ("retrievers", "fulltext vector")]
        given = (settings.changed(few, ""), remote, asked)
        self._thread = threading.Thread(target=self._run, args=given, daemon=True)
        self._thread.start()

    def read(self) -> bytes:
        """Return ``[{"id", "score"}]`` as JSON.

        Raises:
            Refused: the hub could not, or not in time.
        """
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        if self._found is None:
            raise Refused(self._why)
        return self._found

    def _run(self, settings: Settings, name: str, asked: Mapping[str, Any]) -> None:
        from ..search.pipeline import search

        try:
            remote = remote_named(settings, name)
            scope = Scope(
                tuple(asked["types"]), tuple(asked["tags"]), tuple(asked["files"]), asked["since"]
            )
            request = Request(asked["query"], scope, excluded=asked["exclude"], snippets=False)
            store, embedder = open_remote(remote.name, remote.url, settings)
            with store:
                hits = search(store, settings, request, embedder)  # type: ignore[arg-type]
            self._found = dumps([{"id": hit.id, "score": hit.score} for hit in hits]).encode()
        except LoreError as error:
            self._why = str(error)
