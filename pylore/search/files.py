"""Ranks of files: p of each file, from its whole text, its path, its passages and its symbols.

p is a sum of legs, each divided by its own maximum: the BM25 of the whole text counts 1; that of
the first line of a long query, the words of the path, the passages, the nearest passage by
meaning, and the definitions of names in the query count a half each. Where the query is no
question, commits with messages like it add what ``history`` says. Tests and data files count less.
See docs/decisions/0018.
"""

from __future__ import annotations

from math import log

from ..core.errors import GraphUnavailable
from ..core.paths import is_aside, is_changelog, is_source, is_test
from ..core.query import (
    asked_names,
    asks_for_changes,
    asks_for_tests,
    head_of,
    is_question,
    named_in,
)
from ..core.scoring import relative, rounded
from ..core.text import (
    camel_parts,
    fold,
    inflections,
    joined,
    parse_query,
    words,
)
from ..core.vocabulary import (
    CODE,
    CODE_LIST,
    FILE_IDS,
    PROSE,
    SYMBOL_IDS,
    file_id,
    file_of,
    list_of,
    path_of,
    qualified_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.scoring import Leg
    from ..core.text import Query
    from ..store import Store
    from ..store.filter import Scope
    from .query import ParsedQuery

WHOLE, HALF = "file", 0.5
"""The leg that counts 1, and what the others count. Each alone with 0.25 or 1 changes hit@3 of 189
questions about code, 45 about pages, or recall@5 of 141 commits by less than two points, but for
"meaning", which pages need (84 % of them in the first three with 0.25, 91 with 0.5)."""

WHOLE_WEIGHTS = (4.0, 1.0, 1.0)
"""BM25 weights of a file's path, its text, and the parts of the names in it."""

MOST = 500
"""Most files of a leg over whole texts, and symbols that are looked at for names in a query."""

OF_TESTS = 0.4
"""Factor on tests, benchmarks, examples, migrations and generated files. Recall@5 on pytest-commits
without a type is 58.0 with 0.5, 59.4 with 0.4."""

OF_DATA = 0.2
"""Factor on files that are neither source nor prose, and on prose where files are asked for. Hit@1
of questions is 78.9 with 0.3, 80.4 with 0.2."""

OF_CHANGELOGS = 0.5
"""Factor on changelogs, unless the query asks for changes: they have all words. One of 45 questions
about pages is answered in the first three with it only."""


class FileRanks:
    """p of files, and what it is made of: ``legs`` by name, and ``kind`` as factors.

    ``scores`` is p × the factor of the file's kind.
    """

    __slots__ = ("asked", "kind", "legs", "plain")

    def __init__(self, legs: dict[str, dict[str, float]], plain: dict[str, float]) -> None:
        self.legs = legs
        self.plain = plain
        self.asked: dict[str, float] = {}
        self.kind: dict[str, float] = {}

    def scores(self) -> dict[str, float]:
        """Return p of each file × the factor of its kind."""
        return {id: score * self.kind.get(id, 1.0) for id, score in self.plain.items()}

    def explained(self, id: str) -> dict[str, object]:
        """Return what each leg says of a file, p, and the factor of its kind."""
        said = {name: rounded(leg[id]) for name, leg in self.legs.items() if id in leg}
        return {**said, "p": rounded(self.plain.get(id)), "kind": self.kind.get(id, 1.0)}


def rank_files(
    query: ParsedQuery, scope: Scope, matched: Mapping[str, Leg], made: Mapping[str, str]
) -> FileRanks:
    """Return p of the files within ``scope`` that any leg finds.

    ``matched`` are the legs over passages, ``fulltext`` and ``vector``; ``made`` has the paths of
    documents that were made from files.
    """
    store, words, least = query.store, query.words, query.settings.vector_min
    vector = _lifted(matched.get("vector", {}), made)
    legs = {
        **whole_texts(store, words),
        "passage": _lifted(matched.get("fulltext", {}), made),
        "meaning": {id: cosine - least for id, cosine in vector.items()},
    }
    files = scope.but(types=("file",))
    within = store.nodes.match(files, sorted({id for leg in legs.values() for id in leg}))
    legs = {name: relative(leg, within) for name, leg in legs.items()}
    plain: dict[str, float] = {}
    for name, leg in legs.items():
        for id, score in leg.items():
            plain[id] = plain.get(id, 0.0) + (score if name == WHOLE else HALF * score)
    ranks = FileRanks(legs, relative(plain))
    ranks.asked = definitions(store, asked_names(words.text))
    defining_files = {*map(file_of, ranks.asked)}
    for file in store.nodes.match(files, sorted(defining_files)):
        ranks.plain[file] = ranks.plain.get(file, 0.0) + 1
    if not is_question(words.text):
        _add_history(query, files, ranks)
    ranks.plain = relative(ranks.plain)
    ranks.kind = dict(kinds(words, ranks.plain, alone=scope.types == ("file",)))
    return ranks


def _add_history(query: ParsedQuery, files: Scope, ranks: FileRanks) -> None:
    """Add what commits say. Recall@5 on pytest-commits by files alone: 56.4 without, 64.1 with."""
    store = query.store
    if not store.commits.is_there():
        return
    from .history import history_of

    try:
        support = history_of(store, query.words, files.excluded)
    except GraphUnavailable as error:
        query.notes.append(f"{error}; files without their commits")
        return
    support = {id: value for id, value in support.items() if list_of(id) == CODE_LIST}
    new = store.nodes.match(files, [id for id in support if id not in ranks.plain])
    for id in [*ranks.plain, *sorted(new)]:
        ranks.plain[id] = ranks.plain.get(id, 0.0) + support.get(id, 0.0)
    ranks.legs["commits"] = support


def whole_texts(store: Store, query: Query) -> dict[str, dict[str, float]]:
    """Return the legs that are the same within any scope."""
    return {
        WHOLE: _found(store, _with_forms(query)),
        "head": _head(store, query),
        "path": _paths(store, query),
        "defined": defining(store, query.text),
    }


def _lifted(leg: Mapping[str, float], made: Mapping[str, str]) -> dict[str, float]:
    """Return the best score of each file: its own, its symbols' or its document's."""
    files: dict[str, float] = {}
    for id, score in leg.items():
        if id.startswith(SYMBOL_IDS):
            id = file_of(id)
        elif id in made:
            id = file_id(made[id])
        elif not id.startswith(FILE_IDS):
            continue
        if score > files.get(id, 0.0):
            files[id] = score
    return files


def _head(store: Store, query: Query) -> dict[str, float]:
    """Return files by the first line of a long query, which says what it is about."""
    head = head_of(query.text)
    return _found(store, parse_query(head).phrases() if head else [])


def _found(store: Store, phrases: list[str]) -> dict[str, float]:
    rows = store.whole_files.search(phrases, MOST, WHOLE_WEIGHTS) if phrases else []
    return relative({file_id(path): score for path, score in rows})


def _with_forms(query: Query) -> list[str]:
    """Return the words of a query in all their forms, its phrases, and words that may be joined."""
    forms = (form for word in query.single_words() for form in inflections(word))
    return list(dict.fromkeys([*query.phrases(), *forms, *joined(query.text)]))


def definitions(store: Store, names: Iterable[str]) -> dict[str, float]:
    """Return the symbols that these names of code are defined by; of n for one name, each has 1/n.

    A name with capitals is compared as it is written: ``SELECT`` is no function ``select``. Of
    ``Blueprint.register``, other methods ``register`` are found only where there is no such one.
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
    """Return Σ idf of the words in each path, twice where the file's own name has them."""
    asked = [*query.single_words(), *joined(query.text)]
    paths = store.whole_files.named(asked)
    if not paths:
        return {}
    wanted = frozenset(asked)
    count = store.whole_files.stored()
    having: dict[str, int] = {}
    found = []
    known: dict[str, frozenset[str]] = {}
    for path in paths:
        folders, _, name = path.rpartition("/")
        if folders not in known:
            known[folders] = _words_of(folders) & wanted
        own, above = _words_of(name) & wanted, known[folders]
        for word in own | above:
            having[word] = having.get(word, 0) + 1
        found.append((path, own, above - own))
    idf = {word: log(1 + count / number) for word, number in having.items()}
    return {
        file_id(path): sum(2 * idf[word] for word in own) + sum(idf[word] for word in above)
        for path, own, above in found
    }


def _words_of(path: str) -> frozenset[str]:
    found = set()
    for word in words(path):
        found.add(fold(word))
        if not word.islower():
            found.update(camel_parts(word))
    return frozenset(found)


def kinds(query: Query, ids: Iterable[str], *, alone: bool) -> Iterator[tuple[str, float]]:
    """Yield the factor of each file whose kind counts less.

    Prose counts less where files ``alone`` are asked for: else it has a list of its own.
    """
    tests = 1.0 if asks_for_tests(query.text) else OF_TESTS
    logs = 1.0 if asks_for_changes(query.text) else OF_CHANGELOGS
    for id in ids:
        path = path_of(id)
        prose = path.lower().endswith(PROSE)
        if is_test(path) if prose else is_aside(path):
            factor = tests
        else:
            is_data = alone if prose else not is_source(path)
            factor = OF_DATA if is_data else 1.0
        if prose and is_changelog(path):
            factor *= logs
        if factor != 1:
            yield id, factor
