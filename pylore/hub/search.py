"""Index and search a hub.

Clients cut passages and compute vectors, as for search.db. PostgreSQL finds passages and edges, and
the local pipeline fuses and ranks. Full text, vectors and each hop of a walk are one query.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.json import dumps
from ..core.text import fold, identifier_parts, inflections, words
from ..core.times import days_since
from ..core.vocabulary import CODE, COLLECTIONS, NAMES, TEXTS, THING_IDS, alternatives
from ..indexing.passages import passage_rows
from ..store import Store
from ..store.filter import Scope
from ..store.nodes import Nodes
from ..store.opening import scratch_store
from ..store.vectors import quantise
from .connection import ahead, connect, remote_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..cli.session import Session
    from ..core.text import Query
    from ..embed import Embedder
    from ..store.edges import Bundle
    from ..store.nodes import Brief
    from .connection import Hub

    Row = tuple[int, str, float]

BATCH = 1000  # nodes that are indexed in one transaction
_SHOWN = "shown(%s::text[], %s::bigint[])"
AS_REGEX = str.maketrans({**{sign: f"\\{sign}" for sign in r"\.+()[]{}|^$"}, "*": ".*", "?": "."})


def index_hub(hub: Hub, embedder_of: Callable[[], Embedder | None], notes: list[str]) -> None:
    """Index the nodes that are due at a hub.

    A hub with vectors of a different embedder is skipped, with a note in ``notes``.

    Raises:
        LoreError: the hub or the embedder failed; finished batches remain.
    """
    done = False
    while rows := hub.ask("SELECT * FROM lore.lacking(%s)", [4 * BATCH]):
        embedder = embedder_of()
        name, dimension = (embedder.name, embedder.dimension) if embedder else (None, 0)
        if (own := hub.hello().get("embedder", name)) != name:
            what = f"{hub.name} has vectors of {own}, not of {name or 'no embedder'}"
            notes.append(f"{what}: another client indexes what was sent")
            break
        for batch in ahead(_batches(rows, embedder)):
            values = (dumps(batch), name, dimension)
            if hub.ask("SELECT lore.put(%s, %s, %s)", values) == [(0,)]:
                return  # indexed by other clients, or changed
            done = True
    if done:
        hub.ask("SET LOCAL statement_timeout = '1h'; SELECT lore.settle()")


def _batches(
    rows: Sequence[tuple[Any, ...]], embedder: Embedder | None
) -> Iterator[list[dict[str, Any]]]:
    """Yield batches for ``lore.put`` from rows of ``lore.lacking``."""
    for start in range(0, len(rows), BATCH):
        nodes: list[dict[str, Any]] = []
        texts: list[str] = []
        for node, order_key, type, title, text, tags, file in rows[start : start + BATCH]:
            passages: list[dict[str, Any]] = []
            nodes.append({"node": node, "order_key": order_key, "passages": passages})
            at, prose = 1, COLLECTIONS.get(type, TEXTS) == TEXTS
            cut = passage_rows(title, text, tags, file, prose=prose) if type else ()
            for name, part, tagged, _, parts, _ in cut:
                made = {"title": split(name), "body": split(part), "tags": split(tagged)}
                passages.append({**made, "parts": parts, "first": at, "length": len(part)})
                texts.append(f"{name} {part}")
                at += len(part)
        vectors = iter(embedder.embed(texts) if embedder is not None and texts else ())
        for passage in (passage for one in nodes for passage in one["passages"]):
            passage["embedding"] = vector_text(next(vectors, None))
        yield nodes


def split(text: str) -> str:
    """Return the folded words of a text."""
    return " ".join(words(fold(text)))


def vector_text(vector: bytes | None) -> str | None:
    """Return a float32 vector as pgvector text, rounded as in search.db; None for zero."""
    rounded = None if vector is None else quantise(vector)
    return str([*memoryview(rounded).cast("b")]) if rounded and any(rounded) else None


class SearchedHub(Store):
    """A store with nodes, full text, vectors and edges of a hub. Files, commits, facts, places of
    links and ratings are empty."""

    def __init__(self, hub: Hub, scope: str = "") -> None:
        super().__init__(scratch_store().connection, hub.name)
        self.hub = hub
        self.meta: Any = hub.hello()
        for kind, name, weight, back in self.meta["declared"]:
            if kind == "declare_type":
                self.types.declare(name, "")
            else:
                self.relations.declare(name, weight, back, "")
        self.keep_to(scope)
        answers: Any = Answers(self)
        self.nodes = self.fulltext = self.edges = answers
        self.vectors: Any = SimpleNamespace(search=answers.near, cosines=answers.cosines)

    def close(self) -> None:
        """End the connection."""
        super().close()
        self.hub.connection.close()


class Answers(Nodes):
    """Nodes, full text, vectors and edges of a hub, with the methods of a store's parts."""

    def __init__(self, store: SearchedHub) -> None:
        super().__init__(store.connection)
        self._store, self._ask = store, store.hub.ask
        self._owners: dict[int, str] = {}  # key of a passage to id, the best first
        self._briefs: dict[str, list[Any]] = {}  # id to lore.brief
        self._texts: dict[int, Sequence[str]] = {}  # text of a passage, and all that is indexed
        self._found: dict[tuple[object, ...], list[Row]] = {}  # of the last query
        self._passable = Scope()  # the nodes that walks enter

    def _leg(self, sql: str, *values: object) -> list[Row]:
        """Return rows ``(key of a passage, id, score)``; cache the last column, ``lore.brief``."""
        found = self._ask(f"SELECT * FROM lore.{sql}", values)
        for key, id, *_, row in found:
            self._owners.setdefault(key, id)
            if row:
                *self._briefs[id], body = row
                text = f"{row[1]} {body}"
                self._texts[key] = body, f"{text} {row[8]} {identifier_parts(text)}"
        return [row[:3] for row in found]

    def _filter(self, scope: Scope) -> str:
        """Return the filter of ``lore.admits`` for a scope, with a regular expression for files."""
        given = {name: getattr(scope, name) for name in scope.FIELDS}
        given["excluded"] = sorted(scope.excluded)
        paths = (path.rstrip("/").replace("**/", "{**/,}") for path in scope.files)
        globs = (one.translate(AS_REGEX) for path in paths for one in alternatives(path))
        given["files"] = "|".join(f"^{glob}(/.*)?$" for glob in globs)  # a file or a folder
        given["names"] = ["", self._store.scope] if self._store.scope else ""
        return dumps({name: value for name, value in given.items() if value})

    # --- nodes

    def briefs(self, ids: Sequence[str]) -> dict[str, Brief]:
        best = {id: key for key, id in reversed(self._owners.items())}
        known = {None, *self._briefs, *self._texts}
        if lacking := [id for id in ids if not known.issuperset((id, best.get(id)))]:
            self._leg(_SHOWN, lacking, [best.get(id) for id in lacking])
        return {
            id: (*row[:3], None, None, days_since(row[3]), *row[4:7], 0)
            for id in ids
            if (row := self._briefs.get(id))
        }

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        sql = "SELECT id FROM lore.nodes n WHERE id = ANY (%s::text[]) AND lore.admits(n, %s)"
        return {id for (id,) in self._ask(sql, ([*ids], self._filter(scope)))}

    def hidden(self, statuses: Sequence[str], most: int) -> list[str]:
        self._passable = Scope(hides=(*statuses,))
        return []  # ``bundles`` leaves them out

    def categories(self, ids: Sequence[str], tags: Sequence[str] = ()) -> dict[str, str]:
        found = {
            id: row[7] or next((tag for tag in tags if tag in row[8].split()), "")
            for id in ids
            if (row := self._briefs.get(id))
        }
        return {id: category for id, category in found.items() if category}

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        return {}  # unknown except for matches

    def beginning(self, id: str, length: int = 800) -> str:
        return str(self._briefs[id][9][:length]) if id in self._briefs else ""

    def count_by_type(self) -> dict[str, int]:
        return {"": self.frequencies([])[0]}

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        return []

    # --- words

    def collections(self, scope: Scope | None = None) -> list[str]:
        types = scope.types if scope else ()
        wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or {TEXTS, NAMES}
        return sorted(wanted - {CODE}, reverse=True)

    def search(
        self, collection: str, query: Query, how: str, scope: Scope, weights: object, limit: int
    ) -> list[Row]:
        asked = [*query.single_words(), identifier_parts(query.text)]
        if how != "some":
            asked = [form for word in asked[:-1] for form in inflections(word)]
        given = split(" ".join(asked)), self._filter(scope), limit
        if given not in self._found:
            self._found = {given: self._leg("find(%s, %s, %s)", *given)}
        is_name = collection == NAMES
        return [row for row in self._found[given] if row[1].startswith(THING_IDS) == is_name]

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        if lacking := [key for key in keys if key not in self._texts]:
            self._leg(_SHOWN, [self._owners[key] for key in lacking], lacking)
        return {key: self._texts.get(key, ("", ""))[1] for key in keys}

    def shown(self, key: int) -> tuple[str, str]:
        return "", self._texts[key][0] if any(self.texts([key]).values()) else ""

    def frequencies(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        found = dict(self._ask("SELECT * FROM lore.counts(%s::text[])", [[*words]]))
        return int(found.pop("")), {word: int(many) for word, many in found.items() if many}

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        return {id for (id,) in self._ask("SELECT lore.having(%s, %s)", (phrase, titled))}

    # --- vectors

    def near(self, vector: bytes, scope: Scope, limit: int) -> list[Row]:
        text = vector_text(vector) if "embedder" in self._store.meta else None
        return self._leg("near(%s, %s, %s)", text, self._filter(scope), limit) if text else []

    def cosines(self, keys: Sequence[int]) -> dict[tuple[int, int], float]:
        rows = self._ask("SELECT * FROM lore.cosines(%s::bigint[])", [[*keys]])
        return {(one, other): cosine for one, other, cosine in rows}

    # --- the graph

    def bundles(self, ids: Sequence[str], relations: Sequence[str], limit: int) -> list[Bundle]:
        sql = "SELECT * FROM lore.neighbours(%s::text[], %s::text[], %s, %s)"
        return self._ask(sql, ([*ids], [*relations], self._filter(self._passable), limit))


def open_for_search(session: Session, files: Sequence[str]) -> Store:
    """Connect to the hub of the setting ``on``; searches there are not recorded in a run.

    Raises:
        UsageError: unknown remote, or files at hand.
        LoreError: no connection.
    """
    if files:
        raise UsageError("--files is for files of this project: leave --on out")
    settings = session.settings
    session.use(settings.changed([("run", "")], "flag:--on"))
    url, *_ = remote_named(settings, settings.on)
    return SearchedHub(connect(url, settings.on, writes=False), settings.scope)
