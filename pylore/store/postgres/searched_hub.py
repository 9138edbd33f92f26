"""A hub as the store of one search: what the pipeline asks, answered in one round trip."""

from __future__ import annotations

from contextlib import nullcontext

from ...core.errors import GraphUnavailable
from ...system.json_encode import dumps
from .answer import (
    AnsweredFacts,
    AnsweredFullText,
    AnsweredNodes,
    AnsweredPlaced,
    AnsweredVectors,
    HubAnswer,
    HubRelations,
    HubTypes,
    Unanswered,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from ...core.text import Query
    from .connection import Hub

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
        self.placed: Any = self.nodes
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
        """An answer is of one moment by itself."""
        return nullcontext()

    def keep_to(self, scope: str) -> None:
        self.scope = scope

    def cache_reads(self) -> None:
        """Nothing is kept between searches but the connection."""

    def __enter__(self) -> SearchedHub:
        return self

    def __exit__(self, *_: object) -> None:
        self.hub.close()

    def expect(self, *asked: Any) -> bytes | None:
        """Asks the hub; the query's vector, where the hub has some that it can be held against."""
        return self._expect(self, *asked)

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
