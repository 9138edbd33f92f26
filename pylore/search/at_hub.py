"""A search at a hub: one question, and the pipeline over its answer.

The hub runs what needs the whole store: the legs, their fusion as far as the seeds of the walk,
and the walk. What comes after is the pipeline's own, over the rows that the hub has sent.
"""

from __future__ import annotations

from ..core.text import stem
from ..core.tuning import PREFIX_LENGTH, SHORT_QUERY
from ..core.vocabulary import COLLECTIONS, RELATIONS, TEXTS
from ..embed import open_embedder
from ..store.filter import Scope
from ..store.postgres.answer import ORDER
from ..store.postgres.connection import connect
from ..store.postgres.indexing import vector_text
from ..store.postgres.phrases import COLUMNS, LONGEST_WORD, phrases_of
from ..store.postgres.searched_hub import SearchedHub
from . import tuning
from .expansion import rule_of
from .fulltext import searched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..store.postgres.connection import Hub
    from .query import Request

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
