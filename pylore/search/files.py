"""Ranks of files: p of each, from texts, path, symbols and commits (docs/decisions/0018).

p is a sum of legs, each divided by the maximum: BM25 of the whole text with weight 1; the first
line of a long query, the words of the path, the passages, the nearest passage by meaning, and
the definitions of names in the query with a half each. Tests and data are lowered.

Unless the query is a question, H is added. Of the most similar commits that touch a file, with
similarity s relative to the best commit:

    H = √ Σ s² / (10 + n)^¼,  n = the commits that ever changed the file
"""

from __future__ import annotations

from math import log, sqrt

from ..core.errors import GraphUnavailable
from ..core.query import (
    asked_names,
    asks_for_changes,
    asks_for_tests,
    head_of,
    is_question,
    named_in,
)
from ..core.scoring import relative, rounded
from ..core.text import camel_parts, fold, inflections, joined, parse_query, phrase_of, words
from ..core.vocabulary import (
    CODE,
    CODE_LIST,
    DOCUMENT_IDS,
    FILE_IDS,
    PROSE,
    SYMBOL_IDS,
    file_id,
    file_of,
    is_auxiliary,
    is_changelog,
    is_source,
    is_test,
    list_of,
    path_of,
    qualified_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from ..core.scoring import Leg
    from ..core.text import Query
    from ..store import Store
    from ..store.filter import Scope
    from . import ParsedQuery

WHOLE, HALF = "file", 0.5
"""The leg that counts 1, and the share of the others. A change of any leg to 0.25 or 1 changes
hit@3 of 189 questions about code, 45 about pages, or recall@5 of 141 commits by less than two
points, but for "meaning", which pages need (84 % in the first three with 0.25, 91 with 0.5)."""

WHOLE_WEIGHTS = (4.0, 1.0, 1.0)
"""BM25 weights of path, text, and the parts of names in the text."""

MOST = 500
"""Most files of a leg over whole texts, and symbols that are compared with names in a query."""

OF_TESTS = 0.4
"""Factor on tests, benchmarks, examples, migrations and generated files. Recall@5 on pytest-commits
without a type is 58.0 with 0.5, 59.4 with 0.4."""

OF_DATA = 0.2
"""Factor on files that are neither source nor prose, and on prose in a search for files. Hit@1 of
questions is 78.9 with 0.3, 80.4 with 0.2."""

OF_CHANGELOGS = 0.5
"""Factor on changelogs, which have every word, unless the query asks for changes. Without it, a
question of 45 about pages is not answered in the first three."""

ALIKE, HEAD = 200, 0.5
"""Maximum similar commits, and the share of commits similar to the first line of the query."""

OFTEN, POWER = 10, 0.25
"""H is divided by (``OFTEN`` + n) to this power. Recall@5 on pytest-commits by files only: 56.4
without H, 63.7 without the division, 64.1 with it, 62.2 with 0.5."""


class FileRanks:
    """p of files, with the ``legs`` and factors of ``kind``, and symbols ``asked`` for by name."""

    def __init__(self, legs: dict[str, dict[str, float]], asked: dict[str, float]) -> None:
        self.legs = legs
        self.asked = asked
        self.plain: dict[str, float] = {}
        self.unknown: Set[str] = frozenset()  # files of documents, not in the index
        self.kind: dict[str, float] = {}
        for name, leg in legs.items():
            for id, score in leg.items():
                self.plain[id] = self.plain.get(id, 0.0) + (1 if name == WHOLE else HALF) * score
        self.plain = relative(self.plain)

    def scores(self) -> dict[str, float]:
        """Return p of each file × the factor of the kind."""
        return {id: score * self.kind.get(id, 1.0) for id, score in self.plain.items()}

    def explained(self, id: str) -> dict[str, object]:
        """Return the score of a file in each leg, p, and the factor of the kind."""
        scores = {name: rounded(leg[id]) for name, leg in self.legs.items() if id in leg}
        return {**scores, "p": rounded(self.plain.get(id)), "kind": self.kind.get(id, 1.0)}


def rank_files(
    query: ParsedQuery, scope: Scope, matched: Mapping[str, Leg], made: Mapping[str, str]
) -> FileRanks:
    """Return p of the files within ``scope`` that any leg finds.

    ``matched`` are the legs over passages, by name; ``made`` has the files of documents.
    """
    store, words, least = query.store, query.words, query.settings.vector_min
    vector = _lifted(matched.get("vector", {}), made)
    passages = relative(_lifted(matched.get("fulltext", {}), made))
    legs = {
        **whole_texts(store, words),
        "passage": passages,
        "meaning": {id: cosine - least for id, cosine in vector.items()},
    }
    # A document from elsewhere has passages in place of the whole text.
    legs[WHOLE] |= {id: passages[id] for id in passages if id.startswith(DOCUMENT_IDS)}
    names = asked_names(words.text)
    asked = definitions(store, names)
    named = dict.fromkeys(map(file_of, asked), 1.0)
    if names and not named:  # no symbol has a name: files that have it as a word
        named = _found(store, map(phrase_of, named_in(words.text)))
        legs["defined"] = named if {*map(list_of, named)} == {CODE_LIST} else {}
    files = scope.but(types=("file",))
    known = store.nodes.match(files, sorted({id for leg in legs.values() for id in leg}))
    within = known.union(map(file_id, made.values()), *matched.values())
    ranks = FileRanks({name: relative(leg, within) for name, leg in legs.items()}, asked)
    ranks.unknown, plain = within - known, ranks.plain
    for file in store.nodes.match(files, sorted(named)):
        plain[file] = plain.get(file, 0.0) + named[file]
    if not is_question(words.text) and store.commits.is_there():
        try:
            support = history(store, words, files.excluded)
        except GraphUnavailable as error:
            query.notes.append(f"{error}; files without their commits")
            support = {}
        new = store.nodes.match(files, [id for id in support if id not in plain])
        for id in [*plain, *sorted(new)]:
            plain[id] = plain.get(id, 0.0) + support.get(id, 0.0)
        ranks.legs["commits"] = support
    ranks.plain = relative(plain)
    paths = {**{id: path_of(id) for id in plain}, **made}
    ranks.kind = _kinds(words.text, paths, alone=scope.types == ("file",))
    return ranks


def _lifted(leg: Mapping[str, float], made: Mapping[str, str]) -> dict[str, float]:
    """Return the best scores of files, by symbols and documents ``made``, and other documents."""
    files: dict[str, float] = {}
    for id, score in leg.items():
        if id.startswith(SYMBOL_IDS):
            id = file_of(id)
        elif id in made:
            id = file_id(made[id])
        elif not id.startswith((FILE_IDS, DOCUMENT_IDS)):
            continue
        if score > files.get(id, 0.0):
            files[id] = score
    return files


def whole_texts(store: Store, query: Query) -> dict[str, dict[str, float]]:
    """Return the legs over whole texts, paths and definitions, within any scope."""
    forms = (form for word in query.single_words() for form in inflections(word))
    head = head_of(query.text)
    return {
        WHOLE: _found(store, [*query.phrases(), *forms, *joined(query.text)]),
        "head": _found(store, parse_query(head).phrases() if head else []),
        "path": _paths(store, query),
        "defined": defining(store, query.text),
    }


def _found(store: Store, phrases: Iterable[str]) -> dict[str, float]:
    asked = [*dict.fromkeys(phrases)]
    rows = store.whole_files.search(asked, MOST, WHOLE_WEIGHTS) if asked else []
    return relative({file_id(path): score for path, score in rows})


def definitions(store: Store, names: Iterable[str]) -> dict[str, float]:
    """Return the symbols that define these names of code; each of n symbols of a name has 1/n.

    Names with capitals match exactly: ``SELECT`` is no function ``select``. For
    ``Blueprint.register``, other methods ``register`` match only without such a method.
    """
    wanted = {name.rpartition(".")[2]: name for name in names}
    asked = [" ".join(split) for name in sorted(wanted) if (split := words(fold(name)))]
    found: dict[str, list[str]] = {}
    for id in store.fulltext.titled(CODE, asked, MOST) if asked else ():
        name = qualified_of(id).rpartition(".")[2]
        name = name if name in wanted else fold(name)
        if name in wanted:
            found.setdefault(name, []).append(id)
    shares: dict[str, float] = {}
    for name, ids in found.items():
        whole = [id for id in ids if f".{qualified_of(id)}".endswith(f".{wanted[name]}")] or ids
        shares.update((id, 1 / len(whole)) for id in whole)
    return shares


def defining(store: Store, text: str) -> dict[str, float]:
    """Return the files that define the names of code in a text, with the sums of their shares."""
    files: dict[str, float] = {}
    for id, share in definitions(store, named_in(text)).items():
        file = file_of(id)
        files[file] = files.get(file, 0.0) + share
    return files


def _paths(store: Store, query: Query) -> dict[str, float]:
    """Return Σ idf of the words in each path, twice for words of the file name."""
    asked = frozenset((*query.single_words(), *joined(query.text)))
    having: dict[str, int] = {}
    found = []
    known: dict[str, frozenset[str]] = {}
    for path in store.whole_files.named([*asked]):
        folders, _, name = path.rpartition("/")
        if folders not in known:
            known[folders] = asked.intersection(_words_of(folders))
        own = asked.intersection(_words_of(name))
        above = known[folders] - own
        for word in own | above:
            having[word] = having.get(word, 0) + 1
        found.append((path, own, above))
    count = store.whole_files.stored() if found else 0
    idf = {word: log(1 + count / number) for word, number in having.items()}
    return {
        file_id(path): sum(2 * idf[word] for word in own) + sum(idf[word] for word in above)
        for path, own, above in found
    }


def _words_of(path: str) -> list[str]:
    found = words(path)
    return [*map(fold, found), *(part for word in found for part in camel_parts(word))]


def _kinds(text: str, paths: Mapping[str, str], *, alone: bool) -> dict[str, float]:
    """Return the factors below 1 of kinds of files; of prose only in a search for files ``alone``,
    since prose has a separate list otherwise."""
    tests = 1.0 if asks_for_tests(text) else OF_TESTS
    logs = 1.0 if asks_for_changes(text) else OF_CHANGELOGS
    factors = {}
    for id, path in paths.items():
        prose = path.lower().endswith(PROSE)
        if is_test(path) if prose else is_auxiliary(path):
            factor = tests
        else:
            is_data = alone if prose else not is_source(path)
            factor = OF_DATA if is_data else 1.0
        if prose and is_changelog(path):
            factor *= logs
        if factor != 1:
            factors[id] = factor
    return factors


def history(store: Store, query: Query, excluded: Set[str]) -> dict[str, float]:
    """Return H of files, relative to the best file.

    Raises:
        GraphUnavailable: the table of commits is missing or damaged.
    """
    scores: dict[str, float] = {}
    head = head_of(query.text)
    for asked, share in ((query, 1.0), (parse_query(head) if head else None, HEAD)):
        rows = store.commits.search(asked.phrases(), ALIKE) if asked is not None else []
        best = rows[0][1] if rows else 0.0
        for id, score in rows if best > 0 else ():
            if id not in excluded:
                scores[id] = scores.get(id, 0.0) + share * score / best
    alike = relative(scores, sorted(scores, key=lambda id: (-scores[id], id))[:ALIKE])
    squares: dict[str, float] = {}
    for id, paths in store.commits.changed([*alike]).items() if alike else ():
        for path in paths:
            squares[path] = squares.get(path, 0.0) + alike[id] ** 2
    changes = store.commits.changes([*squares]) if squares else {}
    support = {
        file_id(path): sqrt(squares[path]) / (OFTEN + number) ** POWER
        for path, number in changes.items()
    }
    return {id: value for id, value in relative(support).items() if list_of(id) == CODE_LIST}
