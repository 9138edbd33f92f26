"""One answer a file, and the place in it that is shown: a symbol, a passage, or a stretch of lines.

A document that was imported and the node of the file it was made from are one result. Of a
document, the passage is shown that has most of the query's words, headings included; of a
changelog, the entry of the version that the query names, or else the newest of those. Of a file
that no symbol stands for, the lines are shown that have most of the rare words.
"""

from __future__ import annotations

from math import log

from ..core import scoring
from ..core.query import version_of
from ..core.text import is_changelog, stem
from ..core.vocabulary import CODE_IDS, file_id, path_of
from .legs import coverage
from .score import best_first, plain, stand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..core.model import Hit
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store.protocols import SearchStore as Store
    from .legs import Matches


AS_GOOD = 0.5
"""Share of the best entry's BM25 from which entries of a changelog are compared by words and
version. 0.6 finds as many of the tuned half of tests/bench/changelogs.py, 0.75 two fewer of the
other half."""

STRETCH = 1200
"""Characters of a file, about thirty lines, that are shown as one place."""

PLACES_OF_A_WORD = 50
"""Most places of a word that are compared: a bound on the work."""

COSINE_OF_FACT = 0.25
"""Share of the cosine in how near a fact is, where having all words of the query counts 1."""


# --- one result a file


def once(store: Store, files: Collection[str], hits: list[Hit]) -> list[Hit]:
    """Return the hits without the ``files`` among them whose documents are there too; a document
    gets the better score of the two."""
    documents = [hit.id for hit in hits if hit.file and not hit.id.startswith(CODE_IDS)]
    made = store.documents.paths(documents) if documents else {}
    by_id = {hit.id: hit for hit in hits}
    gone = set()
    for id, path in made.items():
        file = file_id(path)
        if file in files:
            gone.add(file)
            if 0 < by_id[id].score < by_id[file].score:
                by_id[id].times("same_file", by_id[file].score / by_id[id].score)
    return best_first(hit for hit in hits if hit.id not in gone) if gone else hits


# --- which place is shown


def add_lines(
    store: Store, query: Query, hits: list[Hit], found: Matches, *, texts: bool
) -> tuple[list[Hit], dict[str, str]]:
    """Give files and imported documents the lines of what matched best in them.

    Returned are these documents, and by id what the lines of files say that no symbol found.
    Without ``texts``, these files have the query in ``asked``, for ``show_stretches``.
    """
    documents = [
        hit for hit in hits
        if hit.line_start is not None and hit.id in found.passage
        and not hit.id.startswith(CODE_IDS)
    ]  # fmt: skip
    choose_passages(store, query, documents, found)
    add_document_lines(store, documents, found)
    add_symbol_lines(store, hits, found)
    if found.files is None:
        return documents, {}
    files = [hit for hit in hits if hit.type == "file" and hit.line_start is None]
    for hit in files:
        hit.asked = query
    return documents, show_stretches(store, files) if texts else {}


def choose_passages(store: Store, query: Query, documents: list[Hit], found: Matches) -> None:
    """Make the passage of each document that has most of the query's words the one that is shown.

    Only those count that match nearly as well as the best one. Of a changelog's entries with
    equally many words, it is the one of the version that the query names, or else the newest.
    """
    asked = version_of(query.text)
    for hit in documents:
        scores = {
            key: score for rows in found.rows.values() for key, id, score in rows if id == hit.id
        }
        enough = AS_GOOD * scores.get(found.passage[hit.id], 0.0)
        near = [key for key, score in scores.items() if score >= enough > 0]
        if len(near) < 2:
            continue
        is_log = bool(hit.file) and is_changelog(hit.file or "")
        worth = {}
        for key in near:
            title, everything = store.fulltext.indexed(key)
            version = version_of(_heading(hit, title)) if is_log else ()
            if asked:
                version = version[: len(asked)] if version[: len(asked)] == asked else ()
            worth[key] = (coverage(query, everything), version, scores[key])
        found.passage[hit.id] = max(worth, key=lambda key: worth[key])


def heading_of(store: Store, hit: Hit, key: int, text: str) -> str:
    """Return the heading of the entry that a passage is of, with its line; nothing where the
    passage begins with it.
    """
    title = store.fulltext.indexed(key)[0]
    heading = _heading(hit, title)
    if heading in text[: len(heading) + len(".. changelog::\n    :version: ")]:
        return ""
    first = key
    while store.fulltext.indexed(first - 1)[0] == title:
        first -= 1
    line = store.documents.lines([first]).get(first)
    return f"{heading} (line {line})" if line and first < key else heading


def _heading(hit: Hit, title: str) -> str:
    """Return what a passage has in its title beside its document's."""
    return title[len(hit.title) :].strip() if title.startswith(hit.title) else ""


def add_symbol_lines(store: Store, hits: Iterable[Hit], found: Matches) -> None:
    """Gives a file that was found by one of its symbols the lines of that symbol."""
    by_key = {
        found.passage[hit.id]: hit for hit in hits
        if hit.type == "file" and hit.line_start is None and hit.id in found.passage
    }  # fmt: skip
    if by_key:
        for key, (first, last) in store.nodes.symbol_lines([*by_key]).items():
            by_key[key].line_start, by_key[key].line_end = first, last


def add_document_lines(store: Store, documents: list[Hit], found: Matches) -> None:
    """Gives an imported document the line of its file in which the passage that matched begins."""
    if documents:
        by_key = {found.passage[hit.id]: hit for hit in documents}
        for key, line in store.documents.lines([*by_key]).items():
            by_key[key].line_start, by_key[key].line_end = line, None


def stretch_of(text: str, query: Query) -> tuple[int, int, str]:
    """Return the lines of a text with most of the query's words, the rarer the more: the number of
    the first and of the last one, from 1 on, and what they say; 0, 0 and the text where it has
    none of them.

    >>> from pylore.core.text import parse_query
    >>> stretch_of("# Keys\\n\\nThey rotate\\nat night.\\n", parse_query("rotates at night"))
    (3, 4, 'They rotate\\nat night.')
    """
    lowered = text.lower()
    places: list[tuple[int, str]] = []
    worth = {}
    for one in dict.fromkeys(map(stem, query.single_words())):
        own = _places(lowered, one)
        places += [(at, one) for at in own]
        worth[one] = 1 / log(2 + len(own))
    if not places or len(lowered) != len(text):
        return 0, 0, text
    places.sort()
    first, last = _best_window(places, worth)
    start = text.rfind("\n", 0, first) + 1
    end = text.find("\n", last)
    end = len(text) if end < 0 else end
    line = text.count("\n", 0, start) + 1
    return line, line + text.count("\n", start, end), text[start:end]


def _places(text: str, word: str) -> list[int]:
    """Return where a text has a word, as often as tells it apart."""
    found: list[int] = []
    at = text.find(word)
    while at >= 0 and len(found) < PLACES_OF_A_WORD:
        found.append(at)
        at = text.find(word, at + len(word))
    return found


def _best_window(places: Sequence[tuple[int, str]], worth: Mapping[str, float]) -> tuple[int, int]:
    """Return the first and the last place of the words that are worth most together, each word
    once, no further apart than ``STRETCH``; of equal ones the first and shortest."""
    within: dict[str, int] = {}
    value, most, best, left = 0.0, 0.0, (places[0][0], places[0][0]), 0
    for at, word in places:
        within[word] = within.get(word, 0) + 1
        value += worth[word] if within[word] == 1 else 0.0
        while at - places[left][0] > STRETCH or within[places[left][1]] > 1:
            gone = places[left][1]
            within[gone] -= 1
            value -= 0.0 if within[gone] else worth[gone]
            left += 1
        if value > most + 1e-9:
            most, best = value, (places[left][0], at)
    return best


def show_stretches(store: Store, hits: Iterable[Hit]) -> dict[str, str]:
    """Give each file the lines with most of the words that are ``asked``; return what they say, by
    id."""
    texts = {}
    for hit in hits:
        text, query, hit.asked = store.whole_files.text(path_of(hit.id)), hit.asked, None
        if query is None:
            continue
        first, last, texts[hit.id] = stretch_of(text, query)
        if first:
            hit.line_start, hit.line_end = first, last
    return texts


def show_facts(
    store: Store, settings: Settings, query: Query, hits: Iterable[Hit], found: Matches
) -> None:
    """Lets each thing that has a fact nearer to the query than its name and text show that.

    How near is what the sentence has of the query's words, and a share of its cosine, × how
    the fact stands (``scoring.standing``). Age, confidence, source, status and accesses are
    those of the fact from then on.
    """
    hits = [hit for hit in hits if hit.id in found.of_things]
    facts = store.facts.shown([key for hit in hits for key in found.of_things[hit.id]])
    if not facts:
        return
    best = plain(settings)
    for hit in hits:
        shown, cosines = found.passage[hit.id], found.of_things[hit.id]
        most = 0.0
        if shown not in facts:
            most = _nearness(query, store.fulltext.indexed(shown)[1], cosines.get(shown, 0.0))
        for key, cosine in cosines.items():
            if key not in facts:
                continue
            sentence, sure, source, status, accesses, age = facts[key]
            near = _nearness(query, sentence, cosine)
            before = hit.recency_score, hit.credibility, hit.standing
            stand(hit, settings, best, age, (sure, source, status, accesses))
            if scoring.facts is not None:
                scoring.facts.append((hit.id, [("", sure, accesses, hit.recency_score or 0.0)]))
            near *= hit.standing["age"] * hit.standing["relevance"]
            if near > most:
                most, found.passage[hit.id] = near, key
            else:
                hit.recency_score, hit.credibility, hit.standing = before


def _nearness(query: Query, text: str, cosine: float) -> float:
    return coverage(query, text) + COSINE_OF_FACT * max(0.0, cosine)
