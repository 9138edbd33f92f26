"""One result per file, and the place in it that is shown: a symbol, a passage, or some lines.

A document that was imported and the node of the file it was made from are one result. Of a
document, the passage is shown that has most of the query's words, headings included; of a
changelog, the entry of the version that the query names, or else the newest of those. Of a file
that no symbol stands for, the lines are shown that have most of the rare words.
"""

from __future__ import annotations

from math import prod

from ..core.paths import is_changelog
from ..core.query import version_of
from ..core.text import stem
from ..core.vocabulary import CODE_IDS, file_id, path_of
from .legs import coverage
from .score import best_first, stand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ..core.model import Hit
    from ..core.text import Query
    from ..store import Store
    from .legs import Matches
    from .query import ParsedQuery


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
    paths = store.documents.paths(documents) if documents else {}
    made = {id: file_id(path) for id, path in paths.items() if file_id(path) in files}
    by_id = {hit.id: hit for hit in hits}
    for id, file in made.items():
        if 0 < by_id[id].score < by_id[file].score:
            by_id[id].times("same_file", by_id[file].score / by_id[id].score)
    gone = {*made.values()}
    return best_first(hit for hit in hits if hit.id not in gone) if gone else hits


# --- which place is shown


def add_lines(
    query: ParsedQuery, hits: list[Hit], found: Matches
) -> tuple[list[Hit], dict[str, str]]:
    """Give files and imported documents the lines of what matched best in them.

    Return these documents and, with ``snippets``, the lines of files that no symbol found, by id.
    """
    store, words = query.store, query.words
    documents = [
        hit for hit in hits
        if hit.line_start is not None and hit.id in found.passage
        and not hit.id.startswith(CODE_IDS)
    ]  # fmt: skip
    choose_passages(store, words, documents, found)
    files = [hit for hit in hits if hit.type == "file" and hit.line_start is None]
    keys = {hit.id: found.passage.get(hit.id, -1) for hit in (*documents, *files)}
    lines = store.nodes.symbol_lines([*keys.values()])
    begins = store.documents.lines([*keys.values()])
    lines |= {key: (line, None) for key, line in begins.items()}
    for hit in (*documents, *files):
        if keys[hit.id] in lines:
            hit.line_start, hit.line_end = lines[keys[hit.id]]
    if not query.snippets or found.files is None:
        return documents, {}
    files = [hit for hit in files if hit.line_start is None]
    return documents, {hit.id: show_stretch(store, hit, words) for hit in files}


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
        is_log = is_changelog(hit.file or "")
        worth = {}
        for key in (key for key, score in scores.items() if score >= enough > 0):
            title, everything = store.fulltext.indexed(key)
            version = version_of(heading_of(hit, title)) if is_log else ()
            if version[: len(asked)] != asked:
                version = ()
            worth[key] = (coverage(query, everything), version, scores[key])
        found.passage[hit.id] = max(worth, key=worth.__getitem__, default=found.passage[hit.id])


def heading_of(hit: Hit, title: str) -> str:
    """Return what a passage has in its title beside its document's."""
    return title[len(hit.title) :].strip() if title.startswith(hit.title) else ""


def stretch_of(text: str, query: Query) -> tuple[int, int, str]:
    """Return the lines around the rarest of the query's words that have most of the others too: the
    numbers of the first and the last line, from 1 on, and their text; 0, 0 and the whole text if
    it has none of the words.

    >>> from pylore.core.text import parse_query
    >>> stretch_of("# Keys\\n\\nThey rotate\\nat night.\\n", parse_query("rotates at night"))
    (3, 4, 'They rotate\\nat night.')
    """
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
    """Let each entity or concept show its fact that is nearest to the query, if its name and text
    are not nearer.

    How near is what the sentence has of the query's words, and a share of its cosine, × how
    the fact stands (``scoring.standing``). Age, confidence, source, status and accesses are
    those of the fact from then on.
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
            most = _nearness(words, store.fulltext.indexed(shown)[1], cosines.get(shown, 0.0))
        for key in filter(facts.__contains__, cosines):
            sentence, sure, source, status, accesses, age = facts[key]
            stand(hit, query.settings, age, (sure, source, status, accesses))
            near = _nearness(words, sentence, cosines[key]) * prod(hit.standing.values())
            if near > most:
                most, found.passage[hit.id] = near, key
                stands = hit.recency_score, hit.credibility, hit.standing
        hit.recency_score, hit.credibility, hit.standing = stands


def _nearness(query: Query, text: str, cosine: float) -> float:
    return coverage(query, text) + COSINE_OF_FACT * max(0.0, cosine)
