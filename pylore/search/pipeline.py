"""The pipeline of a search, top to bottom.

legs (full text, vectors) → fusion → seeds → walk over the graph → recency →
merge → feedback → diversity → results. With depth 0 no graph table is touched.
"""

from __future__ import annotations

from itertools import islice

from ..core.errors import GraphUnavailable
from ..core.model import Hit, Hits
from ..core.scoring import feedback, feedback_factor, rounded
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
from ..core.vocabulary import CODE_IDS, FILE_IDS, file_id, path_of
from ..store import ALL
from ..store.filter import Scope
from . import tuning
from .legs import (
    BUILT_IN,
    Matches,
    add_leg_scores,
    embed_query,
    fuse,
    run_legs,
)
from .query import ParsedQuery
from .query import Request as Request
from .score import (
    assemble,
    attach_verdicts,
    describe,
    explain_factors,
    explained_relevance,
    in_order,
    rated,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

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


class Ranking:
    """``hits`` in their order; ``plain``: the ids of what a search without the graph has, in its
    order; ``matches``: what the words alone match, in theirs, where files are at hand too;
    ``reached``: the ways to what the graph leads to, matches among it; ``twins``: documents and
    the files they were made from, each to the other, where both were found."""

    __slots__ = ("found", "hits", "matches", "plain", "reached", "starts", "twins", "ways_from")

    def __init__(self, found: Matches) -> None:
        self.found = found
        self.starts = found
        self.plain: list[str] = []
        self.matches: list[str] = []
        self.hits: list[Hit] = []
        self.reached: Mapping[str, Step] = {}
        self.ways_from: WaysFrom | None = None
        self.twins: dict[str, str] = {}

    def append(self, further: Ranking) -> None:
        """Puts what a larger pool has besides below what is here."""
        known = {hit.id for hit in self.hits}
        least = self.hits[-1].score if self.hits else 1.0
        for hit in further.hits:
            if hit.id not in known and further.twins.get(hit.id) not in known:
                if hit.score > least:
                    hit.times("further", least / hit.score)
                self.hits.append(hit)
        self.plain += [id for id in further.plain if id not in known]
        self.matches += [id for id in further.matches if id not in known]
        self.reached = {**further.reached, **self.reached}
        here, more = self.found, further.found
        for name in ("passage", "how", "fused", "rrf", "near"):
            setattr(here, name, _joined(getattr(more, name), getattr(here, name)))
        here.legs = {name: _joined(leg, here.legs.get(name, {})) for name, leg in more.legs.items()}
        here.more = more.more

    def cut(self, limit: int, graph_limit: int) -> list[Hit]:
        """Return the first ``limit`` results, all that a search without the graph returns, and of
        what the graph leads to besides the best ``graph_limit``.

        With files at hand, of what is near to them and of what matches ``limit`` each.

        Whatever ``limit`` is, so many results are the first ones of those with a larger one.
        """
        if len(self.hits) <= limit:
            return self.hits
        wanted = {*self.matches[:limit]}
        if self.found.near:
            near = [id for id in self.found.fused if id in self.found.near and id not in wanted]
            wanted.update(near[:limit])
        wanted.update(self.plain[:limit])
        symbols = {file: symbol for symbol, file in self.found.stands_for.items()}
        for hit in self.hits[:limit]:  # a match, or one that leads there
            wanted.add(symbols.get(hit.path[0], hit.path[0]))
        shown, others = [], 0
        for place, hit in enumerate(self.hits):
            if hit.id not in wanted and hit.id in self.reached and others < graph_limit:
                others += 1
                if not hit.hops:
                    from .expand import led

                    led(hit, self.reached[hit.id])
            elif place >= limit and hit.id not in wanted:
                continue
            shown.append(hit)
        return shown


def _joined(further: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Both, in the order of what is here first."""
    return {**here, **{key: value for key, value in further.items() if key not in here}}


MOST_NAMED = 3
"""Words of a query that no result shows and that are looked for, whether they are nowhere."""


def search(store: Store, settings: Settings, request: Request, embedder: Embedder | None) -> Hits:
    """Return the results of a request, best first, with notes for the person who asked.

    Raises:
        StoreError: the store cannot be read. A missing or damaged graph is no
            error: the direct matches come back, with a note.
    """
    query = ParsedQuery(store, settings, request)
    if BUILT_IN.issuperset(settings.retrievers):
        return _answer(store, settings, query, embedder, None)
    from .external import Retrievers

    hidden = query.hidden and store.nodes.hidden(query.hidden, ALL)
    excluded = query.excluded.union(hidden or ())
    with Retrievers(settings, query.text, query.scope, excluded) as further:
        found = _answer(store, settings, query, embedder, further)
        found.notes[:0] = further.notes
        return found


def _answer(
    store: Store,
    settings: Settings,
    query: ParsedQuery,
    embedder: Embedder | None,
    further: Retrievers | None,
) -> Hits:
    """Return the first results, from as many pools as they need.

    The content and the order of a pool do not depend on ``limit``: the first results of a
    longer list are the shorter list.
    """
    if not query.words and query.near is None:
        return Hits([], ["the query has no words: nothing to search for"])
    legs = _Legs(store, settings, query, embedder, further)
    room = tuning.POOL
    pool = _ranking(legs, room, query.notes)
    while len(pool.plain) < settings.limit and pool.found.more:
        room *= tuning.LARGER
        pool.append(_ranking(legs, room, []))
    hits = pool.cut(settings.limit, settings.graph_limit)
    if query.scope.tags and not hits:
        query.notes += store.nodes.unknown_tags(query.scope.tags)
    hits = _worth_showing(hits, settings, pool.found, query.notes)
    if pool.ways_from is not None:
        from .expand import begin_at_results

        hits = begin_at_results(
            hits, settings.limit, pool.ways_from, pool.found.fused, pool.found.near,
            settings.hop_decay, explain=query.explain,
        )  # fmt: skip
    if legs.ways:
        from .file_context import attach_paths

        how = {**pool.starts.how, **pool.found.how}  # a match of the words needs no file
        ways = {id: way for id, way in legs.ways.items() if how.get(id) == "files"}
        attach_paths(hits, ways, settings.hop_decay, explain=query.explain)
    _fill_rows(store, settings, query, hits, pool.found)
    return Hits(hits, query.notes, {**pool.starts.passage, **pool.found.passage})


def _ranking(legs: _Legs, room: int, notes: list[str]) -> Ranking:
    """Rank the best ``room`` direct matches and the nodes that the graph adds to them."""
    store, settings, query = legs.store, legs.settings, legs.query
    if store.expect is not None:
        legs.announce(room)
    found = legs.fused(query.scope, room)
    if settings.graph_depth and not settings.graph_max_depth:
        notes.append("graph_max_depth is 0: the graph is switched off")
    answered = set(found.stands_for.values())
    ids = _pool([id for id in found.fused if id not in answered], room)
    pool = Ranking(found)
    direct = _direct_hits(store, settings, found, query.words, ids)
    if query.near is not None:
        pool.matches = [hit.id for hit in direct]
        direct = legs.with_files(found, query.scope, direct, room)
    matched = _matched(found, direct)
    pool.hits = _in_their_order(store, settings, query, direct, matched, pool, notes)
    pool.plain = [hit.id for hit in pool.hits]
    if settings.depth:
        if query.scope.types and not query.filter_expanded:
            anything = query.scope.with_types(())
            pool.starts = legs.fused(anything, room)
            legs.with_files(pool.starts, anything, [], room)
        hits, matched = _expanded(store, settings, query, pool, direct, notes)
        pool.hits = _in_their_order(store, settings, query, hits, matched, pool, [])
    return pool


def _pool(ids: list[str], room: int) -> list[str]:
    """Return the best ``room`` matches, and the best ``OF_EACH`` of each list."""
    from .rank import list_of

    taken: dict[str, int] = {}
    pool = ids[:room]
    for id in ids:
        name = list_of(id)
        taken[name] = taken.get(name, 0) + 1
    few = {name: OF_EACH for name in taken}
    for id in pool:
        few[list_of(id)] -= 1
    for id in ids[room:]:
        name = list_of(id)
        if few[name] > 0:
            few[name] -= 1
            pool.append(id)
    return pool


OF_EACH = 10


class _Legs:
    """The legs of one query and their fusion, within one scope or another."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        query: ParsedQuery,
        embedder: Embedder | None,
        further: Retrievers | None,
    ) -> None:
        self.store, self.settings, self.query = store, settings, query
        self.ways: Ways | None = None
        self._further = further
        self._vector: bytes | None = None
        self._ranks: FileRanks | None = None
        if query.words:
            self._vector = embed_query(query.words, store, settings, embedder, query.notes)

    def announce(self, room: int) -> None:
        """Send the query to a store that answers all of its parts in one go."""
        assert self.store.expect is not None
        self._vector = self.store.expect(
            self.query.words, self._vector, self.settings, self.query, room
        )

    def fused(self, scope: Scope, room: int) -> Matches:
        """Return the fused matches of the words."""
        query = self.query
        if not query.words:
            return Matches()
        found = find_matches(
            self.store, self.settings, query.words, self._vector, scope, query.excluded,
            self._further, self._ranks, room,
        )  # fmt: skip
        self._ranks = found.files
        if query.operators is not None:
            query.operators.keep(found)
        return found

    def with_files(self, found: Matches, scope: Scope, direct: list[Hit], room: int) -> list[Hit]:
        """Add the matches of the files at hand to ``found``; return ``direct`` with theirs."""
        query = self.query
        if query.near is None:
            return direct
        from ..store import Store as LocalStore
        from .file_context import add_matches, seeds

        store = self.store
        assert isinstance(store, LocalStore)  # at a hub no files are at hand
        if self.ways is None:
            self.ways = seeds(store, self.settings, query.near, query.notes)
        scope = scope.without(query.excluded)
        return add_matches(store, self.settings, found, self.ways, scope, direct, room)


def find_matches(
    store: Store,
    settings: Settings,
    query: Query,
    vector: bytes | None,
    scope: Scope,
    excluded: frozenset[str],
    further: FurtherLegs | None = None,
    files: FileRanks | None = None,
    room: int = tuning.POOL,
) -> Matches:
    """Return what every leg finds within ``scope``, fused and ranked; ``excluded`` nodes are left
    out.

    ``room`` says for how many matches the legs look, and ``files`` how files rank, where that
    is known from another scope.
    """
    scope = scope.without(excluded)
    found = run_legs(store, settings, query, vector, scope, further, room)
    fuse(settings, found)
    from .rank import WEAK, rank

    rank(store, settings, query, scope, found, files)
    found.confidence = max(found.evidence.values(), default=0.0)
    found.weak = found.confidence < WEAK
    if found.legs.keys() - BUILT_IN:  # nothing here speaks against what a retriever found
        found.confidence, found.weak = max(found.confidence, WEAK), False
    return found


# --- results


def _direct_hits(
    store: Store, settings: Settings, found: Matches, query: Query, ids: list[str]
) -> list[Hit]:
    """These matches as results, best first."""
    hits = []
    for id in ids:
        hit = Hit(id)
        hit.match = found.how[id]
        add_leg_scores(hit, found)
        hits.append(hit)
    hits = describe(store, settings, hits)
    if found.of_things:
        from .places import show_facts

        show_facts(store, settings, query, hits, found)
    return in_order(hits, _matched(found, hits))


def _matched(found: Matches, hits: list[Hit]) -> dict[str, Factors]:
    return {hit.id: found.factors(hit.id) for hit in hits}


def _expanded(
    store: Store,
    settings: Settings,
    query: ParsedQuery,
    pool: Ranking,
    direct: list[Hit],
    notes: list[str],
) -> tuple[list[Hit], dict[str, Factors]]:
    """Return the direct hits and what the graph brings beside them, and what each matches."""
    from .expand import expanded
    from .rules import DirectMatches

    returned = Scope(types=query.scope.types, statuses=query.scope.statuses)
    scope = query.scope if query.filter_expanded else returned
    try:
        hits, matched, pool.reached, pool.ways_from = expanded(
            store, settings, DirectMatches(pool.starts, pool.found, direct), scope, notes,
            excluded=query.excluded, hides=query.scope.hides, explain=query.explain,
        )  # fmt: skip
        return hits, matched
    except GraphUnavailable as error:
        notes.append(f"{error}; plain results only")
        return direct, _matched(pool.found, direct)


def _spreads(settings: Settings, found: Matches, hits: list[Hit]) -> bool:
    """Return whether repeats are spread: who asks for files wants all that are meant, also those
    that say the same.
    """
    return settings.diversify and len(hits) > 1 and not found.files_alone


def _files_of(query: ParsedQuery, hits: list[Hit]) -> set[str]:
    """Return the files among results, which a document may stand for; none where files are asked
    for.
    """
    if query.scope.types == ("file",):
        return set()
    return {hit.id for hit in hits if hit.id.startswith(FILE_IDS)}


def _in_their_order(
    store: Store,
    settings: Settings,
    query: ParsedQuery,
    hits: list[Hit],
    matched: dict[str, Factors],
    pool: Ranking,
    notes: list[str],
) -> list[Hit]:
    """By what they match and their ratings, each file once, with repeats further down, unless
    they are files."""
    found = pool.found
    hits = rated(store, settings, assemble(hits, matched), notes)
    files = _files_of(query, hits)
    if files:
        from .places import once, twins_of

        pairs = twins_of(store, files, hits)
        if pairs:
            pool.twins.update(pairs)
            hits = once(hits, pairs, pool.plain)
    if _spreads(settings, found, hits):
        from .score import diversify

        hits = diversify(
            store, settings, hits, found.passage,
            has_vectors="vector" in found.legs, explain=query.explain,
        )  # fmt: skip
    if query.near is None and not found.files_alone:
        from .rank import in_turn

        hits = in_turn(hits, query.words, found)
    return hits


def _worth_showing(
    hits: list[Hit], settings: Settings, found: Matches, notes: list[str]
) -> list[Hit]:
    """Marks a list that is only noise, and cuts what scores less than ``min_score``."""
    for hit in hits:
        hit.weak = found.weak and hit.path[0] not in found.near
    if any(hit.weak for hit in hits):
        notes.append("these results are weak: the store may have nothing on this")
    if settings.min_score:
        worth = [hit for hit in hits if hit.score >= settings.min_score]
        if len(worth) < len(hits):
            notes.append(f"{counted(len(hits) - len(worth), 'result')} below min_score left out")
        return worth
    return hits


def _fill_rows(
    store: Store, settings: Settings, query: ParsedQuery, hits: list[Hit], found: Matches
) -> None:
    """Add snippets, lines, verdicts and explanations to the results, and notes on the words."""
    documents: list[Hit] = []
    texts: dict[str, str] = {}
    if any(hit.line_start is not None or hit.type == "file" for hit in hits):
        from .places import add_lines

        documents, texts = add_lines(store, query.words, hits, found, texts=query.snippets)
    if query.snippets:
        _add_texts(store, hits, found, query.words, documents, texts)
    if query.words and not (found.weak and hits):
        query.notes[:0] = _say_how_it_matched(
            store, settings, query.words, hits, filtered=bool(query.scope)
        )
    attach_verdicts(store, hits, query.notes, explain=query.explain)
    if query.explain:
        _explain(hits, found, settings)


def _add_texts(
    store: Store,
    hits: list[Hit],
    found: Matches,
    query: Query,
    documents: list[Hit],
    texts: Mapping[str, str],
) -> None:
    """Snippets: of the passage that matched, else of the node's beginning; ``texts`` has those of
    files by id."""
    for hit in hits:
        key = found.passage.get(hit.id)
        if hit.id in texts:
            text = texts[hit.id]
        else:
            text = store.nodes.beginning(hit.id) if key is None else store.fulltext.body(key)
        if hit.type == "symbol":
            text = beyond_signature(text, hit.title)
        hit.snippet = one_line(snippet(text, query))
    for hit in documents:
        if hit.file and is_changelog(hit.file):
            from .places import heading_of

            key = found.passage[hit.id]
            heading = heading_of(store, hit, key, store.fulltext.body(key))
            hit.snippet = f"{heading}: {hit.snippet}" if heading else hit.snippet


# --- what is said beside the results


def _say_how_it_matched(
    store: Store, settings: Settings, query: Query, hits: list[Hit], *, filtered: bool
) -> list[str]:
    """Return a note where nothing was found, or a word of the query is nowhere: it names the
    word."""
    if not hits:
        if not any(store.nodes.count_by_type().values()):
            if store.expect is not None:
                return ["the hub has indexed nothing that you may read: 'lore sync' sends it what "
                        "is here, and indexes it"]  # fmt: skip
            return ["the store is empty: run 'lore add', 'lore import' or 'lore index'"]
        return [f"nothing matches these words{' within these filters' if filtered else ''}"]
    ways = {hit.match for hit in hits}
    if ways.isdisjoint(("some", "prefix", "meaning")) or not ways.isdisjoint(("all", "retriever")):
        return []
    if "some" not in ways:
        begin = "with words that begin so" if "prefix" in ways else "nearest in meaning"
        return [f"no record has these words; showing those {begin}"]
    shown = fold(" ".join([f"{hit.title} {hit.snippet}" for hit in hits]))
    whole = [word for word in query.single_words() if word not in query.beginnings]
    asked = [word for word in whole if stem(word) not in shown][:MOST_NAMED]
    missing = [word for word in asked if not _is_there(store, settings, word)]
    if not missing:
        return []
    named = ", ".join(f"'{word}'" for word in missing)
    return [f"no match for {named}; showing results for the other words"]


def _is_there(store: Store, settings: Settings, word: str) -> bool:
    """Return whether anything has this word."""
    query, weights = parse_query(word), settings.field_weights
    return any(
        store.fulltext.search(collection, query, "some", Scope(), weights, 1)
        for collection in store.fulltext.collections(())
    )


def _explain(hits: list[Hit], found: Matches, settings: Settings) -> None:
    ranks = {
        name: {id: rank for rank, id in enumerate(leg, start=1)} for name, leg in found.legs.items()
    }
    for hit in hits:
        explained = hit.explain or {}
        hit.explain = {
            "fusion": settings.fusion,
            "legs": {
                name: {"rank": ranks[name][hit.id], "score": round(leg[hit.id], 6)}
                for name, leg in found.legs.items()
                if hit.id in leg
            },
            "fused": rounded(found.fused.get(hit.id)),
            "confidence": rounded(found.confidence),
            **({"files": rounded(found.near.get(hit.id))} if found.near else {}),
            **({"whole": found.files.explained(hit.id)} if found.files else {}),
            **_rules(hit, found),
            "recency": {"score": hit.recency_score, "weight": settings.recency_weight},
            "relevance": explained_relevance(hit, settings),
            "feedback": {"score": hit.feedback_score, "weight": settings.feedback_weight},
            **explained,
        }
    explain_factors(hits)


def _rules(hit: Hit, found: Matches) -> dict[str, object]:
    """Return what rules of ranking did to a result, where one did something."""
    rules: dict[str, object] = {**found.rules.get(hit.id, {})}
    if hit.id in found.stands_for:
        rules["stands_for"] = found.stands_for[hit.id]
    if found.files is not None and hit.id.startswith(CODE_IDS):
        kind = found.files.kind.get(file_id(path_of(hit.id)), 1.0)
        rules |= {"kind": kind} if kind != 1 else {}
    return {"rules": rules} if rules else {}
