"""The pipeline of a search, top to bottom.

legs (full text, vectors) → fusion → three lists (``rank``) → expansion along the graph → age,
credibility, ratings → a result per file → diversity → turns of the lists → results. At depth 0
no graph table is read.
"""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.model import Hit, Hits
from ..core.scoring import rounded
from ..core.settings import BUILT_IN_RETRIEVERS
from ..core.text import counted, fold, is_spaceless, one_line, parse_query, snippet, stem
from ..core.vocabulary import FILE_IDS, list_of
from ..store import ALL
from ..store.filter import Scope
from . import ParsedQuery
from . import Request as Request
from .legs import (
    FIELD_WEIGHTS,
    OF_EACH,
    Matches,
    assemble,
    attach_verdicts,
    beyond_signature,
    describe,
    embed_query,
    led,
    rated,
    run_legs,
)
from .places import add_lines, entry_of, explain, once, show_facts
from .rank import WEAK, diversify, in_turn, rank, weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..graph.walk import Step
    from ..store import Store
    from .files import FileRanks

POOL = 25
"""Minimum of ranked direct matches: up to it, every limit cuts the same list."""

MOST_NAMED = 3
"""Words of a query that no result shows and that are looked up, to be named in a note."""


def search(store: Store, settings: Settings, request: Request, embedder: Embedder | None) -> Hits:
    """Return the results of a request, best first, with notes for the user.

    Raises:
        StoreError: the store cannot be read. With a missing or damaged graph, the direct matches
            come back, with a note.
    """
    query = ParsedQuery(store, settings, request)
    if {*BUILT_IN_RETRIEVERS}.issuperset(settings.retrievers):
        return _run(query, embedder)
    from contextlib import ExitStack

    from .external import Retrievers

    hidden = query.hidden and store.nodes.hidden(query.hidden, ALL)
    excluded = query.excluded.union(hidden or ())
    with ExitStack() as block:
        query.further = Retrievers(settings, query.text, query.scope, excluded, block)
        found = _run(query, embedder)
        found.notes[:0] = query.further.notes
        return found


def _run(query: ParsedQuery, embedder: Embedder | None) -> Hits:
    """Return the results of a parsed query."""
    store, settings, notes = query.store, query.settings, query.notes
    if not query.words and query.near is None:
        return Hits([], ["the query has no words: nothing to search for"])
    query.vector = embed_query(query, embedder)
    if query.near is not None:
        from .file_context import add_matches, attach_paths, seeds

        query.at_hand = seeds(store, settings, query.near, notes)
    if settings.graph_depth and not settings.graph_max_depth:
        notes.append("graph_max_depth is 0: the graph is switched off")
    found = starts = find_matches(query, query.scope, None)
    direct = _direct(query, found)
    wanted = {hit.id for hit in direct[: settings.limit]} if query.at_hand else set()
    if query.at_hand:
        direct = add_matches(query, found, query.scope, direct)
    hits = _ordered(query, found, direct, notes)
    plain = [hit.id for hit in hits]
    wanted.update(plain[: settings.limit])
    reached: Mapping[str, Step] = {}
    if settings.depth:
        from .expand import expanded, start_at_hits

        if query.scope.types and not query.filter_expanded:
            anything = query.scope.but(types=())
            starts = find_matches(query, anything, found.files)
            if query.at_hand:
                add_matches(query, starts, anything, [])
        try:
            hits, reached, links = expanded(query, starts, found, direct)
            hits = _ordered(query, found, hits, [])
        except GraphUnavailable as error:
            notes.append(f"{error}; plain results only")
    hits = _cut(query, found, hits, wanted, reached)
    for hit in hits:
        _add_leg_scores(hit, found if hit.id in found.rrf else starts)
    if reached:
        hits = start_at_hits(hits, links, found, settings)
    if query.at_hand:
        attach_paths(hits, query.at_hand)
    weigh(hits, {} if query.at_hand or found.files_alone else found.evidence)
    hits = _worth_showing(query, found, hits)
    if query.scope.tags and not hits:
        notes += store.nodes.unknown_tags(query.scope.tags)
    _fill_rows(query, found, hits)
    results = Hits(hits, notes)
    results.passages = {**starts.passage, **found.passage}
    results.plain = plain
    return results


def find_matches(query: ParsedQuery, scope: Scope, files: FileRanks | None) -> Matches:
    """Return the matches of every leg within ``scope``, fused and ranked, without excluded nodes.

    ``files`` are the ranks of files from another scope, if any.
    """
    if not query.words:
        return Matches()
    scope = scope.but(excluded=frozenset(query.excluded))
    found = run_legs(query, scope)
    rank(query, scope, found, files)
    found.weak = found.confidence < WEAK
    if found.legs.keys() - BUILT_IN_RETRIEVERS:  # results of a retriever have no evidence here
        found.confidence, found.weak = max(found.confidence, WEAK), False
    if (among := query.among) is not None:
        found.fused = {id: score for id, score in found.fused.items() if id in among}
        found.stands_for = {one: file for one, file in found.stands_for.items() if one in among}
    return found


def _direct(query: ParsedQuery, found: Matches) -> list[Hit]:
    """Return the best matches as results, best first, at least ``OF_EACH`` of each list; a file
    with a symbol in its place is left out."""
    room = max(POOL, query.settings.limit)
    answered = {*found.stands_for.values()}
    taken: dict[str, int] = {}
    hits = []
    for place, id in enumerate([id for id in found.fused if id not in answered]):
        name = list_of(id)
        taken[name] = taken.get(name, 0) + 1
        if place < room or taken[name] <= OF_EACH:
            hits.append(Hit(id, match=found.how[id]))
    hits = describe(query.store, query.settings, hits)
    if found.of_things:
        show_facts(query, hits, found)
    return assemble(hits, {hit.id: found.factors(hit.id) for hit in hits})


def _ordered(query: ParsedQuery, found: Matches, hits: list[Hit], notes: list[str]) -> list[Hit]:
    """Return the hits by scores and ratings, each file once, similar hits further down, the lists
    taking turns; in a search for files, by scores."""
    store, settings = query.store, query.settings
    hits = rated(store, settings, hits, notes)
    if found.files_alone:
        return hits
    files = {hit.id for hit in hits if hit.id.startswith(FILE_IDS)}
    hits = once(store, files, hits) if files else hits
    if settings.mmr_lambda < 1 and len(hits) > 1:
        hits = diversify(store, settings, hits, found)
    return hits if query.at_hand else in_turn(hits, query.words, found)


def _cut(
    query: ParsedQuery,
    found: Matches,
    hits: list[Hit],
    wanted: set[str],
    reached: Mapping[str, Step],
) -> list[Hit]:
    """Return the hits that are ``wanted``, and the best ``graph_limit`` others of the graph; with
    files at hand, ``limit`` near hits as well; and the matches behind the first ``limit``."""
    limit, others = query.settings.limit, query.settings.graph_limit
    near = [id for id in found.fused if id in found.near and id not in wanted]
    symbols = {file: symbol for symbol, file in found.stands_for.items()}
    starts = [symbols.get(hit.path[0], hit.path[0]) for hit in hits[:limit]]
    wanted = wanted.union(near[:limit], starts)
    shown = []
    for place, hit in enumerate(hits):
        if hit.id not in wanted and place >= limit:
            if hit.id not in reached or not others:
                continue
            others -= 1
            step = reached[hit.id]
            if not hit.hops and step.before is not None:
                led(hit, step)
        shown.append(hit)
    return shown


def _worth_showing(query: ParsedQuery, found: Matches, hits: list[Hit]) -> list[Hit]:
    """Mark weak results, and leave out scores below ``min_score``."""
    for hit in hits:
        hit.weak = found.weak and hit.path[0] not in found.near
    if any(hit.weak for hit in hits):
        query.notes.append("these results are weak: the store may have nothing on this")
    worth = [hit for hit in hits if hit.score >= query.min_score]
    if len(worth) < len(hits):
        less = counted(len(hits) - len(worth), "result")
        query.notes.append(f"{less} below min_score left out")
    return worth


# --- fields of a result


def _add_leg_scores(hit: Hit, found: Matches) -> None:
    """Set the scores of a hit by leg and by reciprocal ranks; None without a match there."""
    hit.rrf_score = rounded(found.rrf.get(hit.id))
    hit.bm25_score = rounded(found.legs.get("fulltext", {}).get(hit.id))
    hit.vector_score = rounded(found.legs.get("vector", {}).get(hit.id))


def _fill_rows(query: ParsedQuery, found: Matches, hits: list[Hit]) -> None:
    """Add snippets, lines, verdicts and explanations to the results, and notes on the words."""
    lines = {}
    if any(hit.line_start is not None or hit.type == "file" for hit in hits):
        lines = add_lines(query, hits, found)
    for hit in hits if query.snippets else ():
        hit.snippet = _snippet(query, found, hit, lines.get(hit.id))
    if query.words and not (found.weak if hits else found.fused):
        query.notes[:0] = _say_how_it_matched(query, hits)
    attach_verdicts(query.store, hits, query.notes)
    if query.explain:
        explain(hits, found, query.settings)


def _snippet(query: ParsedQuery, found: Matches, hit: Hit, lines: str | None) -> str:
    """Return the part of a hit's ``lines``, passage or text that has the query's words. A document
    gets the line where the part begins."""
    store, key = query.store, found.passage.get(hit.id)
    if lines is not None:
        text = lines
    else:
        text = store.nodes.beginning(hit.id) if key is None else store.fulltext.shown(key)[1]
    heading = "" if key is None or hit.line_start is None else entry_of(store, hit, key)
    if hit.type == "symbol":
        text = beyond_signature(text, hit.title)
    elif lines:
        kept = "\n".join("" if _is_markup(line) else line for line in text.split("\n"))
        text = kept if kept.strip() else text
    shown = one_line(snippet(text, query.words))
    if lines and shown and hit.line_start and not hit.line_end:  # the first line of a passage
        flat = one_line(text)
        before = flat.count(" ", 0, max(0, flat.find(shown.strip("… "))))
        hit.line_start += text.count("\n") - text.split(None, before)[-1].count("\n")
    return shown if heading in shown else f"{heading}: {shown}"


def _is_markup(line: str) -> bool:
    """Return True for an underline, fence, comment, bare directive, label, attribute or URL."""
    bare = line.strip()
    name, *rest = bare.split(None, 3) or [""]
    is_field = len(name) > 2 and name[0] + name[-1] in ("::", "[:")
    is_rule = len(bare) > 2 and not bare.strip(bare[0])
    is_text = len(rest) == 3 and rest[0].endswith("::")  # the signature of a function, a warning
    return is_field or is_rule or (bare.startswith(("<!--", ".. ", "```")) and not is_text)


def _say_how_it_matched(query: ParsedQuery, hits: list[Hit]) -> list[str]:
    """Return a note if there are no results, or the store lacks words of the query."""
    store, words = query.store, query.words
    if not hits:
        if not any(store.nodes.count_by_type().values()):
            return ["the store is empty: run 'lore add', 'lore import' or 'lore index'"]
        return [f"nothing matches these words{' within these filters' if query.scope else ''}"]
    ways = {hit.match for hit in hits}
    if "retriever" in ways or ways.isdisjoint(("words", "prefix", "meaning")):
        return []
    if "words" not in ways:
        begin = "with words that begin so" if "prefix" in ways else "nearest in meaning"
        return [f"no record has these words; showing those {begin}"]
    shown = fold(" ".join([f"{one.title} {one.snippet}" for one in hits]).replace("…", ""))
    whole = [word for word in words.single_words() if word not in words.beginnings]
    asked = [word for word in whole if not (is_spaceless(word[0]) or stem(word) in shown)]
    search = store.fulltext.search  # within the scope
    missing = [
        f"'{word}'"
        for word in asked[:MOST_NAMED]
        if not any(
            search(name, parse_query(word), "some", Scope(), FIELD_WEIGHTS, 1)
            for name in store.fulltext.collections()
        )
    ]
    if not missing:
        return []
    return [f"no match for {', '.join(missing)}; showing results for the other words"]
