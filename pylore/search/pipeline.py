"""The pipeline of a search, top to bottom.

legs (full text, vectors) → fusion → three lists (``rank``) → expansion along the graph → age,
credibility, ratings → one result a file → diversity → turns of the lists → results. At depth 0 no
graph table is read.
"""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.model import Hit, Hits
from ..core.text import (
    beyond_signature,
    counted,
    fold,
    is_changelog,
    one_line,
    parse_query,
    snippet,
    stem,
)
from ..core.vocabulary import FILE_IDS
from ..store import ALL
from ..store.filter import Scope
from .legs import BUILT_IN, Matches, add_leg_scores, embed_query, run_legs
from .query import ParsedQuery
from .query import Request as Request
from .rank import WEAK, in_turn, list_of, rank
from .score import assemble, attach_verdicts, describe, in_order, rated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.scoring import Factors
    from ..core.settings import Settings
    from ..core.text import Query
    from ..embed import Embedder
    from ..graph.walk import Step
    from ..store.protocols import SearchStore as Store
    from .expand import WaysFrom
    from .external import Retrievers
    from .file_context import Ways
    from .files import FileRanks
    from .legs import FurtherLegs

POOL = 50
"""Least number of direct matches that are ranked: up to it, a limit cuts one and the same list."""

OF_EACH = 10
"""Best matches of each list that a pool has at least."""

LEAST_CONFIDENCE = 0.01
"""Confidence if no passage has a word of the query: results found by whole files, their paths or
commits alone keep their order."""

MOST_NAMED = 3
"""Words of a query that no result shows and that are looked up, to be named in a note."""


class _Ranking:
    """``hits`` in their order, and ``plain``: the ids of those that match without the graph;
    ``found``: the matches that may be returned, ``starts``: those that the walk begins at;
    ``reached``: the ways to what the graph leads to."""

    def __init__(self, found: Matches) -> None:
        self.found = found
        self.starts = found
        self.hits: list[Hit] = []
        self.plain: list[str] = []
        self.matches: list[str] = []
        """Ids of what the words match, if files are at hand too."""
        self.reached: Mapping[str, Step] = {}
        self.ways_from: WaysFrom | None = None


def search(store: Store, settings: Settings, request: Request, embedder: Embedder | None) -> Hits:
    """Return the results of a request, best first, with notes for the person who asked.

    Raises:
        StoreError: the store cannot be read. With a missing or damaged graph, the direct matches
            come back, with a note.
    """
    query = ParsedQuery(store, request)
    if BUILT_IN.issuperset(settings.retrievers):
        return _Search(store, settings, query, embedder, None).run()
    from .external import Retrievers

    hidden = query.hidden and store.nodes.hidden(query.hidden, ALL)
    excluded = query.excluded.union(hidden or ())
    with Retrievers(settings, query.text, query.scope, excluded) as further:
        found = _Search(store, settings, query, embedder, further).run()
        found.notes[:0] = further.notes
        return found


class _Search:
    """One search: its legs, in one scope or another, and the steps from them to results."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        query: ParsedQuery,
        embedder: Embedder | None,
        further: Retrievers | None,
    ) -> None:
        self._store, self._settings, self._query = store, settings, query
        self._notes = query.notes
        self._further = further
        self._room = max(POOL, settings.limit)
        self._ways: Ways | None = None
        self._ranks: FileRanks | None = None
        self._vector: bytes | None = None
        if query.words:
            self._vector = embed_query(query.words, store, settings, embedder, query.notes)

    def run(self) -> Hits:
        """Return the results."""
        store, settings, query = self._store, self._settings, self._query
        if not query.words and query.near is None:
            return Hits([], ["the query has no words: nothing to search for"])
        if store.expect is not None:  # a hub answers all parts of a search in one go
            self._vector = store.expect(query.words, self._vector, settings, query, self._room)
        ranking = self._ranked()
        hits = self._cut(ranking)
        if query.scope.tags and not hits:
            self._notes += store.nodes.unknown_tags(query.scope.tags)
        hits = self._worth_showing(hits, ranking.found)
        hits = self._with_paths(hits, ranking)
        self._fill_rows(hits, ranking)
        return Hits(hits, self._notes, {**ranking.starts.passage, **ranking.found.passage})

    def _ranked(self) -> _Ranking:
        """Rank the best direct matches, and the nodes that the graph adds to them."""
        settings, query = self._settings, self._query
        if settings.graph_depth and not settings.graph_max_depth:
            self._notes.append("graph_max_depth is 0: the graph is switched off")
        ranking = _Ranking(self._matches(query.scope))
        direct = self._direct(ranking.found)
        if query.near is not None:
            ranking.matches = [hit.id for hit in direct]
            direct = self._with_files(ranking.found, query.scope, direct)
        matched = {hit.id: ranking.found.factors(hit.id) for hit in direct}
        ranking.hits = self._in_their_order(direct, matched, ranking, self._notes)
        ranking.plain = [hit.id for hit in ranking.hits]
        if settings.depth:
            if query.scope.types and not query.filter_expanded:
                anything = query.scope.with_types(())
                ranking.starts = self._matches(anything)
                self._with_files(ranking.starts, anything, [])
            try:
                hits, matched = self._expanded(ranking, direct)
                ranking.hits = self._in_their_order(hits, matched, ranking, [])
            except GraphUnavailable as error:
                self._notes.append(f"{error}; plain results only")
        return ranking

    def _matches(self, scope: Scope) -> Matches:
        """Return the matches of the words."""
        query = self._query
        if not query.words:
            return Matches()
        found = find_matches(
            self._store, self._settings, query.words, self._vector, scope, query.excluded,
            self._further, self._ranks, self._room,
        )  # fmt: skip
        self._ranks = found.files
        if self._ranks is not None and self._ranks.problem:
            self._notes.append(self._ranks.problem)
            self._ranks.problem = ""
        if query.operators is not None:
            query.operators.keep(found)
        return found

    def _direct(self, found: Matches) -> list[Hit]:
        """Return the best matches as results, best first."""
        hits = []
        for id in _pool(found, self._room):
            hit = Hit(id)
            hit.match = found.how[id]
            add_leg_scores(hit, found)
            hits.append(hit)
        hits = describe(self._store, self._settings, hits)
        if found.of_things:
            from .places import show_facts

            show_facts(self._store, self._settings, self._query.words, hits, found)
        return in_order(hits, {hit.id: found.factors(hit.id) for hit in hits})

    def _with_files(self, found: Matches, scope: Scope, direct: list[Hit]) -> list[Hit]:
        """Add the matches of the files at hand to ``found``; return ``direct`` with theirs."""
        query = self._query
        if query.near is None:
            return direct
        from ..store import Store as LocalStore
        from .file_context import add_matches, seeds

        store = self._store
        assert isinstance(store, LocalStore)  # at a hub no files are at hand
        if self._ways is None:
            self._ways = seeds(store, self._settings, query.near, self._notes)
        scope = scope.without(query.excluded)
        return add_matches(store, self._settings, found, self._ways, scope, direct, self._room)

    def _expanded(
        self, ranking: _Ranking, direct: list[Hit]
    ) -> tuple[list[Hit], dict[str, Factors]]:
        """Return the direct hits and what the graph brings beside them, and their factors."""
        from .expand import expanded
        from .rules import DirectMatches

        query = self._query
        returned = Scope(types=query.scope.types, statuses=query.scope.statuses)
        hits, matched, ranking.reached, ranking.ways_from = expanded(
            self._store, self._settings, DirectMatches(ranking.starts, ranking.found, direct),
            query.scope if query.filter_expanded else returned, self._notes,
            excluded=query.excluded, hides=query.scope.hides, explain=query.explain,
        )  # fmt: skip
        return hits, matched

    def _in_their_order(
        self, hits: list[Hit], matched: dict[str, Factors], ranking: _Ranking, notes: list[str]
    ) -> list[Hit]:
        """Return the hits by what they match and their ratings, each file once, repeats further
        down, the lists taking turns; files alone are in the order of their scores."""
        store, settings, query, found = self._store, self._settings, self._query, ranking.found
        hits = rated(store, settings, assemble(hits, matched), notes)
        if found.files_alone:
            return hits
        files = {hit.id for hit in hits if hit.id.startswith(FILE_IDS)}
        if files:
            from .places import once

            hits = once(store, files, hits)
        if settings.mmr_lambda < 1 and len(hits) > 1:
            from .diversity import diversify

            hits = diversify(store, settings, hits, found, explain=query.explain)
        return in_turn(hits, query.words, found) if query.near is None else hits

    def _cut(self, ranking: _Ranking) -> list[Hit]:
        """Return the first ``limit`` matches, as a search without the graph returns them, and
        besides the best ``graph_limit`` nodes that the graph leads to.

        With files at hand, ``limit`` of the matches of the words, and of what is near to them.
        """
        limit = self._settings.limit
        found = ranking.found
        wanted = {*ranking.plain[:limit], *ranking.matches[:limit]}
        if found.near:
            near = [id for id in found.fused if id in found.near and id not in wanted]
            wanted.update(near[:limit])
        shown, others = [], 0
        for hit in ranking.hits:
            if hit.id not in wanted:
                if hit.id not in ranking.reached or others >= self._settings.graph_limit:
                    continue
                others += 1
                step = ranking.reached[hit.id]
                if not hit.hops and step.before is not None:
                    from .expand import led

                    led(hit, step)
            shown.append(hit)
        return shown

    def _worth_showing(self, hits: list[Hit], found: Matches) -> list[Hit]:
        """Mark weak results, and leave out those that score less than ``min_score``."""
        for hit in hits:
            hit.weak = found.weak and hit.path[0] not in found.near
        if any(hit.weak for hit in hits):
            self._notes.append("these results are weak: the store may have nothing on this")
        least = self._settings.min_score
        worth = [hit for hit in hits if hit.score >= least]
        if len(worth) < len(hits):
            less = counted(len(hits) - len(worth), "result")
            self._notes.append(f"{less} below min_score left out")
        return worth

    def _with_paths(self, hits: list[Hit], ranking: _Ranking) -> list[Hit]:
        """Return the hits, each path beginning at a direct match among them or a file at hand."""
        settings, found = self._settings, ranking.found
        if ranking.ways_from is not None:
            from .expand import begin_at_results

            hits = begin_at_results(
                hits, settings.limit, ranking.ways_from, found.fused, found.near,
                settings.hop_decay, explain=self._query.explain,
            )  # fmt: skip
        if self._ways:
            from .file_context import attach_paths

            how = {**ranking.starts.how, **found.how}  # a match of the words needs no file
            ways = {id: way for id, way in self._ways.items() if how.get(id) == "files"}
            attach_paths(hits, ways, settings.hop_decay, explain=self._query.explain)
        return hits

    # --- what is shown of a result

    def _fill_rows(self, hits: list[Hit], ranking: _Ranking) -> None:
        """Add snippets, lines, verdicts and explanations to the results, and notes on the words."""
        store, query, found = self._store, self._query, ranking.found
        documents: list[Hit] = []
        texts: dict[str, str] = {}
        if any(hit.line_start is not None or hit.type == "file" for hit in hits):
            from .places import add_lines

            documents, texts = add_lines(store, query.words, hits, found, texts=query.snippets)
        if query.snippets:
            self._add_snippets(hits, found, documents, texts)
        if query.words and not (found.weak and hits):
            self._notes[:0] = self._say_how_it_matched(hits)
        attach_verdicts(store, hits, self._notes, explain=query.explain)
        if query.explain:
            from .explain import explain

            explain(hits, found, self._settings)

    def _add_snippets(
        self, hits: list[Hit], found: Matches, documents: list[Hit], texts: Mapping[str, str]
    ) -> None:
        """Show the passage that matched, or else the beginning of the node; ``texts`` are lines of
        files by id."""
        store, words = self._store, self._query.words
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

                key = found.passage[hit.id]
                heading = heading_of(store, hit, key, store.fulltext.body(key))
                hit.snippet = f"{heading}: {hit.snippet}" if heading else hit.snippet

    def _say_how_it_matched(self, hits: list[Hit]) -> list[str]:
        """Return a note if nothing was found, or the store lacks words of the query."""
        if not hits:
            return [self._why_nothing()]
        ways = {hit.match for hit in hits}
        if ways.isdisjoint(("some", "prefix", "meaning")) or not ways.isdisjoint(
            ("all", "retriever")
        ):
            return []
        if "some" not in ways:
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
        if self._store.expect is not None:
            return "the hub has indexed nothing that you may read: 'lore sync' sends it what is " \
                   "here, and indexes it"  # fmt: skip
        return "the store is empty: run 'lore add', 'lore import' or 'lore index'"

    def _is_there(self, word: str) -> bool:
        """Return whether anything has this word."""
        fulltext, weights = self._store.fulltext, self._settings.field_weights
        query = parse_query(word)
        return any(
            fulltext.search(collection, query, "some", Scope(), weights, 1)
            for collection in fulltext.collections(())
        )


def find_matches(
    store: Store,
    settings: Settings,
    query: Query,
    vector: bytes | None,
    scope: Scope,
    excluded: frozenset[str],
    further: FurtherLegs | None = None,
    files: FileRanks | None = None,
    room: int = POOL,
) -> Matches:
    """Return what every leg finds within ``scope``, fused and ranked, without ``excluded`` nodes.

    ``room`` is the number of matches that the legs look for; ``files`` are the ranks of files, if
    they are known from another scope.
    """
    scope = scope.without(excluded)
    found = run_legs(store, settings, query, vector, scope, further, room)
    rank(store, settings, query, scope, found, files)
    found.confidence = max([LEAST_CONFIDENCE, *found.evidence.values()])
    found.weak = found.confidence < WEAK
    if found.legs.keys() - BUILT_IN:  # nothing here speaks against what a retriever found
        found.confidence, found.weak = max(found.confidence, WEAK), False
    return found


def _pool(found: Matches, room: int) -> list[str]:
    """Return the best ``room`` matches and the best ``OF_EACH`` of each list, without the files
    that a symbol stands for."""
    answered = {*found.stands_for.values()}
    ids = [id for id in found.fused if id not in answered]
    pool = ids[:room]
    taken: dict[str, int] = {}
    for place, id in enumerate(ids):
        name = list_of(id)
        taken[name] = taken.get(name, 0) + 1
        if place >= room and taken[name] <= OF_EACH:
            pool.append(id)
    return pool
