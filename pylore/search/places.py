"""The details of results: one per file, the place shown (a symbol, a passage, a fact or lines), and
the ``explain`` object with legs, factors and ranks behind the score.
"""

from __future__ import annotations

from math import prod

from ..core.query import version_of
from ..core.scoring import rounded
from ..core.text import stem
from ..core.vocabulary import CODE_IDS, file_id, file_of, is_changelog, path_of
from .legs import coverage, explained_relevance, in_order, set_standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store import Store
    from . import ParsedQuery
    from .legs import Matches

AS_GOOD = 0.5
"""Share of the best passage's BM25 from which passages of a document are compared by words."""

STRETCH, PLACES_OF_A_WORD = 1200, 50
"""Maximum characters of a place, about thirty lines, and compared places of a word."""

COSINE_OF_FACT = 0.25
"""Share of the cosine in how near a fact is, where having all words of the query counts 1."""


def once(store: Store, files: Collection[str], hits: list[Hit]) -> list[Hit]:
    """Return the hits without ``files`` of documents in the hits; these get the better score."""
    documents = [hit.id for hit in hits if hit.file and not hit.id.startswith(CODE_IDS)]
    paths = store.documents.paths(documents) if documents else {}
    made = {id: file_id(path) for id, path in paths.items() if file_id(path) in files}
    by_id = {hit.id: hit for hit in hits}
    for id, file in made.items():
        if 0 < by_id[id].score < by_id[file].score:
            by_id[id].times("same_file", by_id[file].score / by_id[id].score)
    gone = {*made.values()}
    return in_order(hit for hit in hits if hit.id not in gone) if gone else hits


def add_lines(query: ParsedQuery, hits: list[Hit], found: Matches) -> dict[str, str]:
    """Give files and imported documents the lines of their best match; with ``snippets``, return
    the lines of files that no symbol found, and the passages of documents, by id."""
    store = query.store
    documents = [hit for hit in hits if hit.line_start is not None and hit.id in found.passage]
    documents = [hit for hit in documents if not hit.id.startswith(CODE_IDS)]
    for hit in documents:
        found.passage[hit.id] = _best_passage(query, hit, found)
    files = [hit for hit in hits if hit.type == "file" and hit.line_start is None]
    keys = {hit.id: found.passage.get(hit.id, -1) for hit in (*documents, *files)}
    lines = store.documents.lines([*keys.values()])
    for hit in (*documents, *files):
        if keys[hit.id] in lines:
            hit.line_start, hit.line_end = lines[keys[hit.id]]
    if not query.snippets:
        return {}
    there = [hit.id for hit in documents if keys[hit.id] in lines]
    texts = {id: store.fulltext.shown(keys[id])[1] for id in there}
    shown = [hit for hit in files if hit.line_start is None and found.files is not None]
    return texts | {hit.id: show_stretch(store, hit, query.words) for hit in shown}


def _best_passage(query: ParsedQuery, hit: Hit, found: Matches) -> int:
    """Return the passage of a document with most of the query's words. Only passages that match
    nearly as well as the best are compared. A changelog's entries with equal shares are compared by
    the version in the query, or else the newest wins."""
    asked, best = version_of(query.words.text), found.passage[hit.id]
    scores = {key: score for rows in found.rows.values() for key, id, score in rows if id == hit.id}
    worth = {}
    for key, score in scores.items():
        if score >= AS_GOOD * scores.get(best, 0.0) > 0:
            everything = query.store.fulltext.texts([key])[key]
            text = query.store.fulltext.shown(key)[1]
            version = version_of(entry_of(query.store, hit, key))
            version = version if version[: len(asked)] == asked else ()
            shares = coverage(query.words, everything), coverage(query.words, text)
            worth[key] = (shares[0], version, shares[1], score)
    return max(worth, key=worth.__getitem__, default=best)


def entry_of(store: Store, hit: Hit, key: int) -> str:
    """Return the heading of the changelog entry that has a passage; "" for other passages."""
    title = store.fulltext.shown(key)[0] if is_changelog(hit.file or "") else ""
    heading = title[len(hit.title) :].strip() if title.startswith(hit.title) else ""
    return heading if version_of(heading) else ""


def stretch_of(text: str, query: Query) -> tuple[int, int, str]:
    """Return the first and last line, from 1, and the text around the rarest of the query's words
    with most of the other words; 0, 0 and all of the text without any of them."""
    lowered = text.lower()
    counts = {one: lowered.count(one) for one in map(stem, query.single_words())}
    there = [one for one, count in counts.items() if count]
    if not there or len(lowered) != len(text):
        return 0, 0, text
    rarest = min(there, key=lambda one: counts[one])
    windows = []
    at = lowered.find(rarest)
    for _ in range(min(counts[rarest], PLACES_OF_A_WORD)):
        windows.append([place for one in there if (place := _nearest(lowered, one, at)) >= 0])
        at = lowered.find(rarest, at + 1)
    best = max(windows, key=lambda window: (len(window), min(window) - max(window)))
    start = text.rfind("\n", 0, min(best)) + 1
    end = text.find("\n", max(best))
    end = len(text) if end < 0 else end
    line = text.count("\n", 0, start) + 1
    return line, line + text.count("\n", start, end), text[start:end]


def _nearest(text: str, word: str, at: int) -> int:
    """Return the place of a word that is nearest to ``at``, within half a ``STRETCH``; or -1."""
    before = text.rfind(word, max(0, at - STRETCH // 2), at + len(word))
    after = text.find(word, at, at + STRETCH // 2)
    return before if after < 0 or (before >= 0 and at - before <= after - at) else after


def show_stretch(store: Store, hit: Hit, query: Query) -> str:
    """Give a file the lines with most of the query's words; return their text."""
    first, last, text = stretch_of(store.whole_files.text(path_of(hit.id)), query)
    if first:
        hit.line_start, hit.line_end = first, last
    return text


def show_facts(query: ParsedQuery, hits: Iterable[Hit], found: Matches) -> None:
    """Let entities and concepts show the fact nearest to the query, unless their text is nearer.

    Nearness is the share of the query's words in the sentence, and a share of the cosine, × the
    factors of the fact. Age, confidence, source, status and accesses are then those of the fact.
    """
    store, words = query.store, query.words
    hits = [hit for hit in hits if hit.id in found.of_things]
    facts = store.facts.shown([key for hit in hits for key in found.of_things[hit.id]])
    if not facts:
        return
    for hit in hits:
        shown, cosines = found.passage[hit.id], found.of_things[hit.id]
        stands = hit.recency_score, hit.credibility, hit.standing
        most = 0.0
        if shown not in facts:
            text = store.fulltext.texts([shown])[shown]
            most = _nearness(words, text, cosines.get(shown, 0.0))
        for key in filter(facts.__contains__, cosines):
            sentence, sure, source, status, accesses, age = facts[key]
            set_standing(hit, query.settings, age, (sure, source, status, accesses))
            near = _nearness(words, sentence, cosines[key]) * prod(hit.standing.values())
            if near > most:
                most, found.passage[hit.id] = near, key
                stands = hit.recency_score, hit.credibility, hit.standing
        hit.recency_score, hit.credibility, hit.standing = stands


def _nearness(query: Query, text: str, cosine: float) -> float:
    return coverage(query, text) + COSINE_OF_FACT * max(0.0, cosine)


# --- explanations


def explain(hits: Sequence[Hit], found: Matches, settings: Settings) -> None:
    """Set ``explain`` of each hit."""
    explain_ways(hits, settings)
    for hit in hits:
        explained: dict[str, object] = {
            "legs": {
                name: {"rank": [*leg].index(hit.id) + 1, "score": round(leg[hit.id], 6)}
                for name, leg in found.legs.items()
                if hit.id in leg
            },
            "fused": rounded(found.fused.get(hit.id)),
            "confidence": rounded(found.confidence),
            "evidence": {name: rounded(value) for name, value in found.evidence.items()},
            "relevance": explained_relevance(hit, settings),
        }
        if found.support is not None:
            explained["support"] = rounded(found.support.get(hit.id, 0.0))
        if found.near:
            explained["files"] = rounded(found.near.get(hit.id))
        if found.files is not None and hit.id.startswith(CODE_IDS):
            explained["file"] = found.files.explained(file_of(hit.id))
        if hit.id in found.stands_for:
            explained["stands_for"] = found.stands_for[hit.id]
        hit.explain = {**explained, **(hit.explain or {})}


def explain_ways(hits: Sequence[Hit], settings: Settings) -> None:
    """Put the factors of each score, with nine digits, and the walk to the hit into ``explain``."""
    for hit in hits:
        factors = {name: round(number, 9) for name, number in hit.factors.items()}
        hit.explain = {"factors": factors}
        if hit.way is None:
            continue
        chain = hit.way.steps()
        hops = [
            {
                "from": before.id,
                "to": step.id,
                "relation": step.relation,
                "direction": "out" if step.outgoing else "in",
                "edge_weight": step.edge_weight,
                "relation_weight": step.relation_weight,
                "decay": settings.hop_decay,
                **({"through": step.through[0]} if step.through else {}),
            }
            for before, step in zip(chain, chain[1:], strict=False)
        ]
        seed, score = chain[0].id, round(chain[0].score, 6)
        hit.explain["walk"] = {"seed": seed, "seed_score": score, "hops": hops}
