"""The pipeline of a search, top to bottom.

legs (full text, vectors) → fusion → three lists (``rank``) → expansion along the graph → age,
credibility, ratings → one result a file → diversity → turns of the lists → results. At depth 0 no
graph table is read.
"""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.model import Hit, Hits
from ..core.paths import is_changelog
from ..core.text import (
    beyond_signature,
    counted,
    fold,
    one_line,
    parse_query,
    snippet,
    stem,
)
from ..core.vocabulary import FILE_IDS, list_of
from ..store import ALL
from ..store.filter import Scope
from .legs import BUILT_IN, FIELD_WEIGHTS, OF_EACH, Matches, add_leg_scores, embed_query, run_legs
from .query import ROOM as ROOM
from .query import ParsedQuery
from .query import Request as Request
from .rank import WEAK, in_turn, rank, weigh
from .score import assemble, attach_verdicts, describe, rated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..graph.walk import Step
    from ..graph.ways import Links
    from ..store import Store
    from .file_context import Ways
    from .files import FileRanks

POOL = 25
"""Least number of direct matches that are ranked: up to it, a limit cuts one and the same list."""

LEAST_CONFIDENCE = 0.01
"""Confidence if no passage has a word of the query: results found by whole files, their paths or
commits alone keep their order."""

MOST_NAMED = 3
"""Words of a query that no result shows and that are looked up, to be named in a note."""


def search(store: Store, settings: Settings, request: Request, embedder: Embedder | None) -> Hits:
    """Return the results of a request, best first, with notes for the person who asked.

    Raises:
        StoreError: the store cannot be read. With a missing or damaged graph, the direct matches
            come back, with a note.
    """
    query = ParsedQuery(store, settings, request)
    if BUILT_IN.issuperset(settings.retrievers):
        return _Search(query, embedder).run()
    from contextlib import ExitStack

    from .external import Retrievers

    hidden = query.hidden and store.nodes.hidden(query.hidden, ALL)
    excluded = query.excluded.union(hidden or ())
    with ExitStack() as block:
        query.further = Retrievers(settings, query.text, query.scope, excluded, block)
        found = _Search(query, embedder).run()
        found.notes[:0] = query.further.notes
        return found


class _Search:
    """One search: the matches that may be returned (``_found``), those that the walk begins at
    (``_starts``), the ways to what the graph leads to (``_reached``), and the steps to results."""

    def __init__(self, query: ParsedQuery, embedder: Embedder | None) -> None:
        self._store, self._settings, self._query = query.store, query.settings, query
        self._notes = query.notes
        self._found = self._starts = Matches()
        self._ranks: FileRanks | None = None
        self._at_hand: Ways = {}
        self._reached: Mapping[str, Step] = {}
        self._links: Links | None = None
        self._plain: list[str] = []
        query.vector = embed_query(query, embedder)

    def run(self) -> Hits:
        """Return the results."""
        store, settings, query = self._store, self._settings, self._query
        if not query.words and query.near is None:
            return Hits([], ["the query has no words: nothing to search for"])
        if query.near is not None:
            from .file_context import seeds

            self._at_hand = seeds(store, settings, query.near, query.notes)
        if settings.graph_depth and not settings.graph_max_depth:
            query.notes.append("graph_max_depth is 0: the graph is switched off")
        hits = self._with_paths(self._ranked())
        weigh(hits, {} if self._at_hand or self._found.files_alone else self._found.evidence)
        hits = self._worth_showing(hits)
        if query.scope.tags and not hits:
            query.notes += store.nodes.unknown_tags(query.scope.tags)
        self._fill_rows(hits)
        found = Hits(hits, query.notes, {**self._starts.passage, **self._found.passage})
        found.plain = self._plain
        return found

    def _ranked(self) -> list[Hit]:
        """Return the first matches, as a search without the graph returns them, and the best of
        what the graph leads to."""
        settings, query = self._settings, self._query
        self._found = self._starts = self._matches(query.scope)
        direct = self._direct(self._found)
        wanted = {hit.id for hit in direct[: settings.limit]} if self._at_hand else set()
        direct = self._with_files(self._found, query.scope, direct)
        hits = self._in_their_order(direct, self._notes)
        self._plain = [hit.id for hit in hits]
        wanted.update(self._plain[: settings.limit])
        if settings.depth:
            if query.scope.types and not query.filter_expanded:
                anything = query.scope.but(types=())
                self._starts = self._matches(anything)
                self._with_files(self._starts, anything, [])
            from .expand import expanded

            try:
                hits, self._reached, self._links = expanded(
                    query, self._starts, self._found, direct
                )
                hits = self._in_their_order(hits, [])
            except GraphUnavailable as error:
                self._notes.append(f"{error}; plain results only")
        return self._cut(hits, wanted)

    def _matches(self, scope: Scope) -> Matches:
        """Return the matches of the words."""
        query = self._query
        if not query.words:
            return Matches()
        found = find_matches(query, scope, self._ranks)
        self._ranks = found.files
        if query.among is not None:
            among = query.among
            found.fused = {id: score for id, score in found.fused.items() if id in among}
        return found

    def _direct(self, found: Matches) -> list[Hit]:
        """Return the best matches as results, best first."""
        hits = [
            Hit(id, match=found.how[id]) for id in _pool(found, max(POOL, self._settings.limit))
        ]
        hits = describe(self._store, self._settings, hits)
        if found.of_things:
            from .places import show_facts

            show_facts(self._query, hits, found)
        return assemble(hits, {hit.id: found.factors(hit.id) for hit in hits})

    def _with_files(self, found: Matches, scope: Scope, direct: list[Hit]) -> list[Hit]:
        """Add the matches of the files at hand to ``found``; return ``direct`` with theirs."""
        if not self._at_hand:
            return direct
        from .file_context import add_matches

        return add_matches(self._query, found, self._at_hand, scope, direct)

    def _in_their_order(self, hits: list[Hit], notes: list[str]) -> list[Hit]:
        """Return the hits by their scores and ratings, each file once, similar ones further down,
        the lists taking turns; files alone are in the order of their scores."""
        store, settings, found = self._store, self._settings, self._found
        hits = rated(store, settings, hits, notes)
        if found.files_alone:
            return hits
        files = {hit.id for hit in hits if hit.id.startswith(FILE_IDS)}
        if files:
            from .places import once

            hits = once(store, files, hits)
        if settings.mmr_lambda < 1 and len(hits) > 1:
            from .diversity import diversify

            hits = diversify(store, settings, hits, found)
        return hits if self._at_hand else in_turn(hits, self._query.words, found)

    def _cut(self, hits: list[Hit], wanted: set[str]) -> list[Hit]:
        """Return the hits that are ``wanted``, and the best ``graph_limit`` others that the graph
        leads to; with files at hand, ``limit`` others that are near them too. The match that led to
        one of the first ``limit`` is shown as well."""
        found, limit, others = self._found, self._settings.limit, self._settings.graph_limit
        near = [id for id in found.fused if id in found.near and id not in wanted]
        symbols = {file: symbol for symbol, file in found.stands_for.items()}
        starts = [symbols.get(hit.path[0], hit.path[0]) for hit in hits[:limit]]
        wanted = wanted.union(near[:limit], starts)
        shown = []
        for place, hit in enumerate(hits):
            if hit.id not in wanted and place >= limit:
                if hit.id not in self._reached or not others:
                    continue
                others -= 1
                step = self._reached[hit.id]
                if not hit.hops and step.before is not None:
                    from .expand import led

                    led(hit, step)
            shown.append(hit)
        for hit in shown:
            add_leg_scores(hit, found if hit.id in found.rrf else self._starts)
        return shown

    def _worth_showing(self, hits: list[Hit]) -> list[Hit]:
        """Mark weak results, and leave out those that score less than ``min_score``."""
        for hit in hits:
            hit.weak = self._found.weak and hit.path[0] not in self._found.near
        if any(hit.weak for hit in hits):
            self._notes.append("these results are weak: the store may have nothing on this")
        worth = [hit for hit in hits if hit.score >= self._query.min_score]
        if len(worth) < len(hits):
            less = counted(len(hits) - len(worth), "result")
            self._notes.append(f"{less} below min_score left out")
        return worth

    def _with_paths(self, hits: list[Hit]) -> list[Hit]:
        """Return the hits, each path beginning at a direct match among them or a file at hand."""
        if self._links is not None:
            from .expand import begin_at_results

            hits = begin_at_results(hits, self._links, self._found, self._settings)
        if self._at_hand:
            from .file_context import attach_paths

            attach_paths(hits, self._at_hand)
        return hits

    # --- what is shown of a result

    def _fill_rows(self, hits: list[Hit]) -> None:
        """Add snippets, lines, verdicts and explanations to the results, and notes on the words."""
        store, query, found = self._store, self._query, self._found
        documents: list[Hit] = []
        texts: dict[str, str] = {}
        if any(hit.line_start is not None or hit.type == "file" for hit in hits):
            from .places import add_lines

            documents, texts = add_lines(query, hits, found)
        if query.snippets:
            self._add_snippets(hits, documents, texts)
        if query.words and not (found.weak and hits):
            self._notes[:0] = self._say_how_it_matched(hits)
        attach_verdicts(store, hits, self._notes)
        if query.explain:
            from .explain import explain

            explain(hits, found, self._settings)

    def _add_snippets(
        self, hits: list[Hit], documents: list[Hit], texts: Mapping[str, str]
    ) -> None:
        """Show the passage that matched, or else the beginning of the node; ``texts`` are lines of
        files by id."""
        store, words, found = self._store, self._query.words, self._found
        for hit in hits:
            key = found.passage.get(hit.id)
            if hit.id in texts:
                text = texts[hit.id]
            else:
                text = store.nodes.beginning(hit.id) if key is None else store.fulltext.body(key)
            if hit.type == "symbol":
                text = beyond_signature(text, hit.title)
            hit.snippet = one_line(snippet(text, words))
        for hit in documents:
            if hit.file and is_changelog(hit.file):
                from .places import heading_of

                title, _ = store.fulltext.indexed(found.passage[hit.id])
                heading = heading_of(hit, title)
                if heading not in hit.snippet:
                    hit.snippet = f"{heading}: {hit.snippet}"

    def _say_how_it_matched(self, hits: list[Hit]) -> list[str]:
        """Return a note if nothing was found, or the store lacks words of the query."""
        if not hits:
            return [self._why_nothing()]
        ways = {hit.match for hit in hits}
        if "retriever" in ways or ways.isdisjoint(("words", "prefix", "meaning")):
            return []
        if "words" not in ways:
            begin = "with words that begin so" if "prefix" in ways else "nearest in meaning"
            return [f"no record has these words; showing those {begin}"]
        words = self._query.words
        shown = fold(" ".join([f"{hit.title} {hit.snippet}" for hit in hits]))
        whole = [word for word in words.single_words() if word not in words.beginnings]
        asked = [word for word in whole if stem(word) not in shown][:MOST_NAMED]
        missing = [f"'{word}'" for word in asked if not self._is_there(word)]
        if not missing:
            return []
        return [f"no match for {', '.join(missing)}; showing results for the other words"]

    def _why_nothing(self) -> str:
        if any(self._store.nodes.count_by_type().values()):
            filters = " within these filters" if self._query.scope else ""
            return f"nothing matches these words{filters}"
        return "the store is empty: run 'lore add', 'lore import' or 'lore index'"

    def _is_there(self, word: str) -> bool:
        """Return whether anything that may be seen has this word."""
        fulltext, weights = self._store.fulltext, FIELD_WEIGHTS
        query = parse_query(word)
        return any(
            fulltext.search(collection, query, "some", Scope(), weights, 1)
            for collection in fulltext.collections()
        )


def find_matches(query: ParsedQuery, scope: Scope, files: FileRanks | None) -> Matches:
    """Return what every leg finds within ``scope``, fused and ranked, without excluded nodes.

    ``files`` are the ranks of files if they are known from another scope.
    """
    scope = scope.without(query.excluded)
    found = run_legs(query, scope)
    rank(query, scope, found, files)
    found.confidence = max([LEAST_CONFIDENCE, *found.evidence.values()])
    found.weak = found.confidence < WEAK
    if found.legs.keys() - BUILT_IN:  # nothing here speaks against what a retriever found
        found.confidence, found.weak = max(found.confidence, WEAK), False
    return found


def _pool(found: Matches, room: int) -> list[str]:
    """Return the best ``room`` matches and the best ``OF_EACH`` of each list, without the files
    that a symbol stands for."""
    answered = {*found.stands_for.values()}
    taken: dict[str, int] = {}
    pool: list[str] = []
    for place, id in enumerate([id for id in found.fused if id not in answered]):
        name = list_of(id)
        taken[name] = taken.get(name, 0) + 1
        if place < room or taken[name] <= OF_EACH:
            pool.append(id)
    return pool
