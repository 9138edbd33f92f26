"""The ranking of code, pages and records in three lists.

code      files and symbols, by p of their file (``files``); the best symbol replaces a file
pages     documents, and files of prose, by p of their file, or of the passages without a file
records   all else, by the fused legs

The evidence of a list is comparable between lists and stores: of the best passage, 1/3 of the
query's words in it, weighted by their idf, and 2/3 of the cosine. Lists take turns by their
evidence: two places for the best list, the third for the next.
"""

from __future__ import annotations

from math import log

from ..core.query import asks_about_code, asks_what_to_do
from ..core.scoring import best_first
from ..core.text import spaced, stem
from ..core.vocabulary import CODE_IDS, DOCUMENT_IDS, SYMBOL_IDS, file_id, file_of, list_of
from ..core.vocabulary import CODE_LIST as CODE
from ..core.vocabulary import PAGES_LIST as PAGES
from ..core.vocabulary import RECORDS_LIST as RECORDS
from .legs import weighted_coverage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store import Store
    from ..store.filter import Scope
    from . import ParsedQuery
    from .files import FileRanks
    from .legs import Matches

    Pair = tuple[int, int]

WEAK = 0.29
"""Evidence below which results are weak: of queries without an answer in three stores 87 % of 60
are flagged, of others 0.9 % of 234."""

BY_WORDS = 1 / 3
"""Share of words in evidence, beside the cosine. If 1 % of good queries are flagged, 88 % of bad
queries are with 1/4, 86 % with 1/3, 73 % with 1/2."""

NEARLY = 0.6
"""Share of the best evidence from which a list is shown in the first three. Of 30 questions for
records in different words, 20 have the record in the first two with 0.8, 22 with 0.7, 23 with
0.6, 24 with 0.5; with 0.5, 20 of 48 questions about code get a useless record, with 0.6 six."""

LEAST_CONFIDENCE = 0.01
"""Confidence if no passage has a word of the query: results by files or commits keep order."""

PROOFS, PROOF_ROWS = 5, 100
"""Maximum passages of a list, in the first rows of a leg, that are read for evidence. With 3 or 8
proofs results are the same."""

READ_WORDS = 40  # maximum words of the query that are read for evidence

LEAN = 0.2
"""Added to the evidence of records that are not weak, and taken from code if a person asks for
advice; a quarter of it otherwise, because a short passage of code is nearer to any words: of 49
questions about pages, 65 % have the page first with a quarter, 49 % without, 69 % with a half."""

SAME_FILE = 0.3
"""Factor on further symbols of a file. Recall@5 of 189 questions: 69.2 with 1, 74.2 with 0.3."""

FAINT = 0.1
"""Share of a list's best score below which hits come after all others; 0 and 0.2 are alike."""

WINDOW = 20  # first results that may change places

SIMILAR = 0.8
"""Cosine from which texts count as similar, up to 1 for the same text. Recall@5 of hotpot, musique
and PEPs at depth 0 is 78.5, 57.5 and 68.1 with 0.8, 80.0, 57.5 and 67.0 with 0.7; with 0, PEPs lose
six points. With ``mmr_lambda`` 1 it is 78.0, 57.5 and 68.1."""

TOP, SAME_CATEGORY = 5, 2
"""Maximum results of a category in the first ``TOP``, if there is a third category to show."""


def rank(query: ParsedQuery, scope: Scope, found: Matches, files: FileRanks | None) -> None:
    """Score files, symbols and pages by p of their files, and set the evidence of each list.

    ``files`` are the ranks from another scope, if any.
    """
    store = query.store
    found.files_alone = scope.types == ("file",)
    if "fulltext" in found.legs and store.whole_files.is_there():
        from .files import rank_files

        documents = [id for id in found.fused if id.startswith(DOCUMENT_IDS)]
        made = store.documents.paths(documents, listed=True) if documents else {}
        found.files = files or rank_files(query, scope, found.legs, made)
        named = [*found.files.asked]
        asked = store.nodes.match(scope, named) if named else frozenset[str]()
        found.fused = best_first(_by_files(found, found.files, scope, made, asked))
    proven = evidence(store, query.words, found)
    found.evidence = {name: value for (name, _), value in sorted(proven.items())}
    found.confidence = max([LEAST_CONFIDENCE, *proven.values()])
    if scope.types and "symbol" not in scope.types:
        _lift_symbols(found)


def _by_files(
    found: Matches, files: FileRanks, scope: Scope, made: Mapping[str, str], asked: Set[str]
) -> dict[str, float]:
    """Return the scores of files, of symbols, of documents ``made`` from files, and of the rest."""
    from .files import OF_TESTS

    own, scores = found.fused, files.scores()
    for id in own:
        if ".rs::test." in id or ".rs::tests." in id:  # in the file that they test
            own[id] *= OF_TESTS
    ranked = {id: scores.get(id, own[id]) for id in own if not id.startswith(CODE_IDS)}
    ranked |= {id: scores.get(file_id(path), ranked[id]) for id, path in made.items()}
    with_files = not scope.types or "file" in scope.types
    if with_files:
        ranked |= {id: score for id, score in scores.items() if id not in files.unknown}
        found.how = {**dict.fromkeys(scores, "words"), **found.how}
    return ranked | _symbols(own, scores, found, asked, SAME_FILE if with_files else 1.0)


def _lift_symbols(found: Matches) -> None:
    """Replace symbols by their files, each with the best symbol's score and passage."""
    lifted: dict[str, float] = {}
    shown: dict[str, int] = {}
    for id, score in found.fused.items():  # best first
        file = file_of(id)
        lifted[file] = max(score, lifted.get(file, 0.0))
        if file != id:
            found.how.setdefault(file, found.how[id])
            if id in found.passage:
                shown.setdefault(file, found.passage[id])
    found.passage.update(shown)
    found.fused, found.stands_for = best_first(lifted), {}


def _symbols(
    own: Mapping[str, float],
    files: Mapping[str, float],
    found: Matches,
    asked: Set[str],
    further: float,
) -> dict[str, float]:
    """Return the scores of symbols: the best symbol has p of the file and replaces it, the others
    the share ``further`` of that, relative to the best. Symbols ``asked`` for by name come first.
    """
    of_files: dict[str, list[str]] = {}
    for id in {**own, **dict.fromkeys(sorted(asked))}:
        if id.startswith(SYMBOL_IDS):
            of_files.setdefault(file_of(id), []).append(id)
    scores = {}
    for file, ids in of_files.items():
        best, *others = sorted(ids, key=lambda id: (id not in asked, -own.get(id, 0.0), id))
        found.how.setdefault(best, "words")
        found.stands_for[best] = file
        scores[best] = whole = files.get(file, 0.0)
        for id in others:  # without a score beyond the limit of a leg
            share = min(1.0, own.get(id, 0.0) / (own.get(best) or 1.0))
            scores[id] = whole * further * share
    return scores


def evidence(store: Store, query: Query, found: Matches) -> dict[tuple[str, bool], float]:
    """Return how well the best passage answers the query, 0 to 1, by list, and False for passages
    of files that do not match, or are lowered, like tests, and not the first file of code.

    Words that no passage of the store has, in no form, lower it by up to a third more.
    """
    asked = query.single_words()[:READ_WORDS]
    total, having = store.fulltext.frequencies(asked)
    idf = {word: log((total + 1) / (having.get(word, 0) + 0.5)) for word in asked}
    cosine = {key: score for key, _, score in found.nearest}
    by_words = BY_WORDS if cosine else 1.0
    first = next((file_of(id) for id in found.fused if list_of(id) == CODE), "")
    lowered = found.files.kind.keys() - {first} if found.files else ()
    proofs: dict[int, tuple[str, bool]] = {}
    for rows in (*found.rows.values(), found.nearest):
        taken: dict[tuple[str, bool], int] = {}
        for key, id, _ in rows[:PROOF_ROWS]:
            group = list_of(id), id in found.fused and file_of(id) not in lowered
            taken[group] = taken.get(group, 0) + 1
            if taken[group] <= PROOFS:
                proofs[key] = group
    texts = {key: spaced(text) for key, text in store.fulltext.texts([*proofs]).items()}
    lacking = sum(
        idf[word]
        for word in asked
        if total
        and not having.get(word)
        and not any(f" {stem(word)}" in has for has in texts.values())
    )
    known = 1 - BY_WORDS * lacking / (sum(idf.values()) or 1.0)
    best: dict[tuple[str, bool], float] = {}
    for key, group in proofs.items():
        share = weighted_coverage(idf, texts.get(key, ""))
        value = known * (by_words * share + (1 - by_words) * max(0.0, cosine.get(key, 0.0)))
        best[group] = max(best.get(group, 0.0), value)
    return best


def in_turn(hits: list[Hit], query: Query, found: Matches) -> list[Hit]:
    """Return the hits with the lists taking turns, each list in order, faint hits last."""
    lists: dict[str, list[Hit]] = {}
    for hit in hits:
        lists.setdefault(list_of(hit.id), []).append(hit)
    if len(lists) < 2:
        return hits
    turns = _turns(lists, preferred_list(query.text, found), found.evidence)
    least = {name: FAINT * some[0].score for name, some in lists.items()}
    ordered: list[Hit] = []
    while any(lists.values()):
        ordered += [lists[name].pop(0) for name in next(turns) if lists[name]]
    return sorted(ordered, key=lambda hit: hit.score < least[list_of(hit.id)])


def _turns(lists: Iterable[str], leans: str, evidence: Mapping[str, float]) -> Iterator[list[str]]:
    """Yield the lists of the first three places, then of each round."""
    worth = {name: evidence.get(name, 0.0) for name in lists}
    best = max(worth.values())
    sure = {name for name, value in worth.items() if value >= min(WEAK, best * NEARLY)}
    if leans == CODE and CODE in sure:
        sure = {CODE, *sure.intersection((RECORDS,))}
        worth[PAGES] = 0.0
    elif CODE in worth:
        worth[CODE] -= LEAN if leans == PAGES else LEAN / 4
    if RECORDS in sure:
        worth[RECORDS] += LEAN
    order = sorted((name for name in worth if name in lists), key=lambda name: (-worth[name], name))
    first = [name for name in order if name in sure] or order[:1]
    yield (first * 3)[:3] if RECORDS in first else [first[0], first[0], first[-1]]
    while True:
        yield [order[0], *order]


def preferred_list(text: str, found: Matches) -> str:
    """Return the list that the wording of a query prefers, or "".

    Advice is in pages; places, mechanisms, changes, long texts and defined names are about code.
    """
    if asks_what_to_do(text):
        return PAGES
    named = found.files is not None and bool(found.files.legs["defined"])
    return CODE if named or asks_about_code(text) else ""


def weigh(hits: list[Hit], evidence: Mapping[str, float]) -> None:
    """Multiply each score by the evidence of the list, relative to the best, of a reached hit the
    list of the first node of the path; no score exceeds the score before."""
    best, least = max(evidence.values(), default=0.0) or 1.0, 1.0
    for hit in hits:
        if len(evidence) > 1:
            other = min(evidence.values())
            hit.times("evidence", evidence.get(list_of(hit.path[0]), other) / best)
        if hit.score > least:
            hit.times("turn", least / hit.score)
        least = min(least, hit.score)


# --- diversity of the first results


def diversify(store: Store, settings: Settings, hits: list[Hit], found: Matches) -> list[Hit]:
    """Return the hits in the order of maximal marginal relevance; the first hit stays.

    With three categories or more, no category comes more than ``SAME_CATEGORY`` times in the first
    ``TOP`` while there are others. Code stays in order: a question about code means all places.
    """
    head = hits[:WINDOW]
    known = store.nodes.categories([hit.id for hit in head], settings.category_tags)
    categories = [known.get(hit.id) for hit in head] if known else []
    if len(set(known.values())) + categories.count(None) < SAME_CATEGORY + 1:
        categories = []
    similar = _similarities(store, head, found) if found.legs.get("vector") else {}
    if not similar and not categories:
        return hits
    order = mmr([hit.score for hit in head], similar, settings.mmr_lambda, categories)
    return [head[place] for place in order] + hits[WINDOW:]


def mmr(
    scores: Sequence[float],
    similar: Mapping[Pair, float],
    weight: float,
    categories: Sequence[str | None] = (),
) -> list[int]:
    """Return the places of a ranked list in the order of maximal marginal relevance.

    Next comes the place with the largest ``weight · score / best score − (1 − weight) · largest
    similarity to a place before`` (Carbonell and Goldstein, SIGIR 1998). Ties keep their order;
    place 0 comes first.

    Args:
        scores: of each place, falling.
        similar: similarity of places ``(i, j)``, i < j, 0 to 1.
        weight: 1 for scores only, 0 for similarities only.
        categories: of each place, None for a distinct category.
    """
    worth = [score / (scores[0] or 1.0) for score in scores]
    nearest = [0.0] * len(worth)
    rest = [*range(len(worth))]
    order: list[int] = []
    while rest:
        allowed = rest
        if categories and len(order) < TOP:
            taken = [categories[i] for i in order if categories[i]]
            allowed = [i for i in rest if taken.count(categories[i]) < SAME_CATEGORY] or rest
        place = max(allowed, key=lambda i: weight * worth[i] - (1 - weight) * nearest[i])
        rest.remove(place)
        order.append(place)
        for i in rest:
            nearest[i] = max(nearest[i], similar.get((min(i, place), max(i, place)), 0.0))
    return order


def _similarities(store: Store, hits: Sequence[Hit], found: Matches) -> dict[Pair, float]:
    """Return the similarities of the shown passages, by pairs of places."""
    texts = [hit.id for hit in hits if not hit.id.startswith(CODE_IDS)]
    keys = {**store.fulltext.first_passages(texts), **found.passage}
    where = {keys[hit.id]: at for at, hit in enumerate(hits) if hit.id in texts and hit.id in keys}
    return {
        (min(where[one], where[other]), max(where[one], where[other])): (cosine - SIMILAR)
        / (1 - SIMILAR)
        for (one, other), cosine in store.vectors.cosines([*where]).items()
        if cosine > SIMILAR
    }
