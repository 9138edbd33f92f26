"""Search at a hub: one question, and the pipeline over its answer.

The hub runs what needs the whole store: the legs, their fusion as far as the seeds of the walk,
and the walk. The pipeline does the rest, over the rows that the hub has sent.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import nullcontext

from ..core.errors import GraphUnavailable, LoreError, UsageError
from ..core.json import dumps
from ..core.scoring import PREFIX_LENGTH
from ..core.settings import BUILT_IN_RETRIEVERS
from ..core.text import stem
from ..core.vocabulary import (
    COLLECTIONS,
    RELATIONS,
    TEXTS,
)
from ..embed import open_embedder
from ..search.expand import GRAPH_WEIGHT
from ..search.legs import ENOUGH, FIELD_WEIGHTS, NEIGHBOURS, OF_EACH, PASSAGES, searched
from ..search.query import Request
from ..search.rank import PROOFS
from ..store.filter import Scope
from ..system.plugin_process import late
from ..system.programs import Refused
from .answer import (
    ORDER,
    AnsweredFacts,
    AnsweredFullText,
    AnsweredNodes,
    AnsweredPlaced,
    AnsweredVectors,
    HubAnswer,
    HubRelations,
    HubTypes,
    Unanswered,
    walked,
)
from .connection import connect
from .indexing import COLUMNS, LONGEST_WORD, phrases_of, vector_text
from .sync import remote_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..graph.walk import Walk
    from ..search.query import Request
    from ..store import Store
    from .connection import Hub


if TYPE_CHECKING:
    Row = tuple[int, str, float]
    Brief = tuple[str, str, str | None, int | None, int | None, float, float, str, str, int]
    Standing = tuple[str, float, str, str, int, float]
    """As ``protocols`` has them."""


if TYPE_CHECKING:
    Expect = Callable[..., bytes | None]


class SearchedHub:
    """The parts of a store that a search asks (``protocols.SearchStore``).

    Before the pipeline ranks, it tells what it is going to ask (``expect``): then the hub is
    asked, once, and the parts answer from that.
    """

    cache = None

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
        self.vectors: Any = self.nodes
        self.facts: Any = self.nodes
        self.positional_edges: Any = self.nodes
        self.whole_files: Any = _Nothing()
        self.commits: Any = self.whole_files
        self.documents: Any = self.whole_files
        self.ratings = _Ratings()

    @property
    def faults(self) -> AbstractContextManager[None]:
        return nullcontext()

    graph_faults = faults

    @property
    def edges(self) -> Any:
        """Raise: the hub has walked, and sends no edges beside its answer."""
        raise GraphUnavailable("edges are read where they are kept, not at a hub")

    def snapshot(self) -> AbstractContextManager[None]:
        """Do nothing: an answer is of one moment by itself."""
        return nullcontext()

    def keep_to(self, scope: str) -> None:
        self.scope = scope

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
        self.positional_edges = AnsweredPlaced(answer)


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


_SPARE = 10
"""Rows of nodes that are sent beyond a pool, and texts beyond the results: some may be left out."""


def open_hub(hub: Hub, settings: Settings, embedder: Embedder | None = None) -> SearchedHub:
    """Return a hub as a store that can be searched; it is taken to hold this embedder's vectors
    until it says whose.
    """
    name = None if embedder is None else embedder.name
    return SearchedHub(hub, _expect, name, settings.scope)


def open_remote(name: str, url: str, settings: Settings) -> tuple[SearchedHub, Embedder | None]:
    """Return the hub at this URL as a store that can be searched, which the caller closes, and the
    embedder of the settings, whose vectors it is taken to hold.

    Raises:
        HubUnavailable: nobody answers.
        LoreError: it lets nobody in so.
    """
    store = open_hub(connect(url, name, writes=False), settings)
    embedder = open_embedder(settings.embedder, store, settings)
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
    """Return what ``lore.search`` takes: words, filters, what fuses the legs, and the walk."""
    scope = request.scope.without(request.excluded)
    types = searched(scope).types
    further = bool(settings.depth and request.scope.types and not request.filter_expanded)
    results = Scope(types=request.scope.types, statuses=request.scope.statuses)
    return {
        **_words(query, settings),
        "wanted": PASSAGES * room,
        "near": NEIGHBOURS * room,
        "enough": room // ENOUGH,
        "pool": room + _SPARE,
        "each": OF_EACH,
        "proofs": PROOFS,
        "texts": settings.limit + settings.graph_limit + _SPARE,
        "limit": settings.limit,
        "weights": [FIELD_WEIGHTS.get(name, 1.0) for name in COLUMNS],
        "share": settings.fulltext_share,
        "vector_min": settings.vector_min,
        "fusion": settings.fusion,
        "rrf_k": settings.rrf_k,
        "vector": vector_text(vector),
        "collections": _collections(types) if "fulltext" in settings.retrievers else [],
        "scope": _scope(scope.but(types=types), settings),
        "anything": _scope(scope.but(types=()), settings) if further else None,
        "walked": _scope(Scope(excluded=scope.excluded, hides=scope.hides), settings),
        "returned": _scope(request.scope if request.filter_expanded else results, settings),
        "walk": _walk(settings) if settings.depth else None,
    }


def _collections(types: Iterable[str]) -> list[int]:
    wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or {*ORDER}
    return [number for number, name in enumerate(ORDER) if name in wanted]


def _words(query: Query, settings: Settings) -> dict[str, Any]:
    """Return the phrases to look for: ``[phrase, 1, 0]``, as any of them may match."""
    single = query.single_words()
    return {
        "words": [[cut(word), stem(word)[:LONGEST_WORD]] for word in single],
        "terms": len(query.terms),
        "some": [[cut(phrase), 1, 0] for phrase in phrases_of(query, "some")],
        "groups": 0,
        "inflected": [[cut(phrase), 1, 0] for phrase in phrases_of(query, "inflected")],
        "prefix": [cut(word) for word in single if len(word) >= PREFIX_LENGTH],
        "begins": [word[:LONGEST_WORD] for word in query.beginnings],
    }


def cut(phrase: str) -> str:
    """Words, none of them longer than a hub keeps."""
    if len(phrase) <= LONGEST_WORD:
        return phrase
    return " ".join(word[:LONGEST_WORD] for word in phrase.split(" "))


def _scope(scope: Scope, settings: Settings) -> dict[str, Any]:
    """Filters; paths and patterns of files as regular expressions."""
    paths = [f"^{''.join(map(_plain, path))}$" for path in scope.files if "[" in path]
    found: dict[str, Any] = {
        "types": [*scope.types], "statuses": [*scope.statuses], "tags": [*scope.tags],
        "files": [*map(expression, scope.files), *paths], "since": scope.since,
        "until": scope.until, "hides": [*scope.hides], "excluded": sorted(scope.excluded),
        "names": ["", settings.scope] if settings.scope else None,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}


def expression(glob: str) -> str:
    """Return a pattern of files as a regular expression: ``*``, ``?`` and ``[…]`` match a slash
    too.

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
    """Return a walk's caps and weights; what the hub says of relations comes before what lore
    knows.
    """
    weights = settings.edge_weights.items()
    return {
        "rule": settings.expansion,
        "weight": GRAPH_WEIGHT,
        "depth": settings.depth,
        "decay": settings.hop_decay,
        "fanout": settings.graph_fanout,
        "max_nodes": settings.graph_max_nodes,
        "min_confidence": settings.min_confidence,
        "seeds": settings.graph_seeds,
        "looked_at": LOOKED_AT * settings.graph_max_nodes,
        "shown": settings.graph_max_nodes,
        "known": {name: row[:2] for name, row in RELATIONS.items()},
        "given": {name: forward for name, (forward, _) in weights},
        "backward": {name: back for name, (_, back) in weights if back is not None},
        "only": [*settings.graph_edges],
        "without": [*settings.graph_exclude_edges],
    }


LOOKED_AT = 20
"""Reached nodes that are looked at for one within the scope, for each that may be returned."""

NAME = "hub"
FEW = 50
_ONE_AT_A_TIME = threading.Lock()
"""The driver's waiting is set for all threads together."""


class HubLeg:
    """One search at a hub, under way; it ends with this process.

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
        self._why = late(seconds)
        self._deadline = time.monotonic() + seconds
        self._asked = asked
        self._settings = settings.changed(
            [("graph_depth", "0"), ("limit", str(FEW)), ("retrievers", "fulltext vector")], ""
        )
        self._remote = remote
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def read(self) -> bytes:
        """``[{"id", "score"}]`` as JSON.

        Raises:
            Refused: the hub could not, or not in time.
        """
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        if self._found is None:
            raise Refused(self._why)
        return self._found

    def _run(self) -> None:
        try:
            with _ONE_AT_A_TIME:
                self._found = json.dumps(self._results()).encode()
        except LoreError as error:
            self._why = str(error)

    def _results(self) -> list[dict[str, Any]]:
        from ..search.pipeline import search

        asked, settings = self._asked, self._settings
        scope = Scope(
            tuple(asked["types"]), tuple(asked["tags"]), tuple(asked["files"]), asked["since"]
        )
        request = Request(asked["query"], scope, excluded=asked["exclude"], snippets=False)
        remote = remote_named(settings, self._remote)
        store, embedder = open_remote(remote.name, remote.url, settings)
        with store:
            found = search(store, settings, request, embedder)
            return [{"id": hit.id, "score": hit.score} for hit in found]


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
    pairs = [("run", ""), ("retrievers", " ".join(legs))]
    return settings.changed(pairs, "flag:--on")
