"""One ranking of code, pages and records, for whatever was typed.

Three lists, each in an order of its own:

code      files and symbols by p of their file (``files``), × what its kind leaves; the best
          symbol of a file stands for it
pages     documents, and files of prose: by p of their file, or by the fused legs without one
records   what people wrote: by the fused legs

What a list has on the query is its evidence: of its best passage a third of the share that it has
of the query's words, each counting its idf, and two thirds of its cosine. The lists take turns in
the order of their evidence: two places for the first one, one for the next; a sure record is first
or second. A list that is not sure waits until the others had their first three places.
"""

from __future__ import annotations

from math import log

from ..core.query import MOST_WORDS, is_question, is_personal
from ..core.scoring import best_first
from ..core.text import fold, in_test_module, stem, words
from ..core.vocabulary import CODE_IDS, DOCUMENT_IDS, SYMBOL_IDS, file_id, path_of, qualified_of
from . import tuning
from .files import is_prose, rank_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .files import FileRanks
    from .legs import Matches

CODE, PAGES, RECORDS = "code", "pages", "records"


def list_of(id: str) -> str:
    """Return the list that a result is in."""
    if id.startswith(CODE_IDS):
        return PAGES if is_prose(path_of(id)) else CODE
    return PAGES if id.startswith(DOCUMENT_IDS) else RECORDS


def rank(
    store: Store,
    settings: Settings,
    query: Query,
    scope: Scope,
    found: Matches,
    files: FileRanks | None = None,
) -> None:
    """Score what comes from files anew, by whole files, and say what evidence there is."""
    own = found.fused
    documents = [id for id in own if id.startswith(DOCUMENT_IDS)]
    made = store.documents.paths(documents) if documents else {}
    found.evidence = evidence(store, query, found)
    if settings.file_ranking and "fulltext" in found.legs:
        found.files = files or rank_files(store, settings, query, scope, found.legs, made)
    if found.files is None:
        return
    for id in own:
        if "::test" in id and in_test_module(path_of(id), qualified_of(id)):
            own[id] *= settings.test_weight
    scores = found.files.scores()
    found.files_alone = scope.types == ("file",)
    ranked = {id: score for id, score in own.items() if not id.startswith(CODE_IDS)}
    ranked |= {id: scores.get(file_id(path), ranked[id]) for id, path in made.items()}
    with_files = not scope.types or "file" in scope.types
    if with_files:
        ranked |= scores
        for id in scores:
            found.how.setdefault(id, "some")
    ranked |= _symbols_by_files(own, scores, found, tuning.SAME_FILE if with_files else 1.0)
    found.fused = best_first(ranked)


def _symbols_by_files(
    own: Mapping[str, float], files: Mapping[str, float], found: Matches, further: float
) -> dict[str, float]:
    """Return the scores of symbols: the best one of a file stands for it; ``further`` is what the
    others keep."""
    of_files: dict[str, list[str]] = {}
    for id in own:
        if id.startswith(SYMBOL_IDS):
            of_files.setdefault(file_id(path_of(id)), []).append(id)
    scores = {}
    for file, ids in of_files.items():
        best, *others = sorted(ids, key=lambda id: (-own[id], id))
        found.stands_for[best] = file
        scores[best] = files.get(file, 0.0)
        for id in others:
            share = further * own[id] / (own[best] or 1.0)
            scores[id] = files.get(file, 0.0) * share
            found.rules[id] = {"same_file": share}
    return scores


def evidence(store: Store, query: Query, found: Matches) -> dict[str, float]:
    """Return what the best passage of each list says of the query, 0..1: comparable between lists,
    queries and stores, which neither BM25 nor a rank is."""
    asked = query.single_words()[: tuning.ASKED]
    size = store.fulltext.size()
    idf = {word: log((size + 1) / (store.fulltext.count(word) + 0.5)) for word in asked}
    whole = sum(idf.values()) or 1.0
    cosine = {key: score for key, _, score in found.nearest}
    rows = [row for rows in found.rows.values() for row in rows[: tuning.PROOFS]]
    said: dict[str, float] = {}
    for key, id, _ in {row[0]: row for row in [*rows, *found.nearest[: tuning.PROOFS]]}.values():
        has = f" {' '.join(words(fold(store.fulltext.indexed(key)[1])))} "
        share = 0.0
        for word, worth in idf.items():
            if f" {word} " in has:
                share += worth
            elif f" {stem(word)}" in has:
                share += tuning.OTHER_FORM * worth
        value = tuning.BY_WORDS * share / whole + (1 - tuning.BY_WORDS) * cosine.get(key, 0.0)
        said[list_of(id)] = max(said.get(list_of(id), 0.0), value)
    return said


def in_turn(hits: list[Hit], query: Query, found: Matches) -> list[Hit]:
    """Return the same hits, the lists taking turns."""
    lists: dict[str, list[Hit]] = {}
    for hit in hits:
        lists.setdefault(list_of(hit.id), []).append(hit)
    if len(lists) < 2:
        return hits
    worth = {name: found.evidence.get(name, 0.0) for name in lists}
    sure = {name for name, value in worth.items() if value >= tuning.WEAK}
    leans = leaning(query.text)
    if leans == CODE and CODE in worth:
        sure = {CODE, *sure.intersection((RECORDS,))}
        worth[PAGES] = 0.0
    elif leans == PAGES and PAGES in worth:
        worth[PAGES] += tuning.LEAN
    if RECORDS in sure:
        worth[RECORDS] += tuning.LEAN
    order = sorted(lists, key=lambda name: (-worth[name], name))
    first = [name for name in order if name in sure] or order[:1]
    if RECORDS in first:
        first.remove(RECORDS)
        first.insert(0 if order[0] == RECORDS else 1, RECORDS)
        turns = (first * 3)[:3]
    else:
        turns = [first[0], first[0], first[-1]]
    ordered: list[Hit] = []
    while any(lists.values()):
        for name in turns:
            if lists[name]:
                ordered.append(lists[name].pop(0))
        turns = [order[0], *order]
    return _falling(ordered, found)


def leaning(text: str) -> str:
    """Return the list that the way something is asked speaks for, if any.

    A person's own question is about what to do, and pages say it. One about how something is done,
    and a long text, which no person typed, are about code.
    """
    asks, personal = is_question(text), is_personal(text)
    is_long = len(text.split(None, MOST_WORDS)) > MOST_WORDS
    if personal and (asks or not is_long):
        return PAGES
    open_to_all = text.lower().startswith(("why ", "what is ", "what are "))
    return CODE if is_long or (asks and not open_to_all) else ""


def _falling(hits: list[Hit], found: Matches) -> list[Hit]:
    """Give hits the share that their list's evidence has of the best, and no more than the one
    before."""
    best = max(found.evidence.values(), default=0.0) or 1.0
    least = 1.0
    for hit in hits:
        hit.times("evidence", found.evidence.get(list_of(hit.id), 0.0) / best)
        if hit.score > least:
            hit.times("turn", least / hit.score)
        least = hit.score
    return hits
