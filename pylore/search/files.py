"""Which files are meant, where code is asked for: their whole texts, names, symbols, vectors.

For each file ``p`` is a sum of what four legs say, each divided by its own maximum: the BM25
of its whole text and of the names of code in the query; the words of its path; what its symbols
match; and its nearest passage. What is a test or no source stands back, unless the query asks
for such. See docs/decisions/0018.

What the history says of files: commits with messages like the query changed these.

Of the most similar commits that touch a file, similarity s relative to the best one, the file has

    H = √ Σ s² / (10 + n)^¼,  n = the commits that ever changed it

so that what changes with everything is not first everywhere. H' = (n·H + 3·0.7·p) / (n + 3):
of a young file nothing is known yet, and it has of H what it has of the match p. See
docs/decisions/0019.
"""

from __future__ import annotations

from math import log, sqrt

from ..core.query import head_of, is_question, named_in
from ..core.scoring import best_first, rounded
from ..core.text import (
    aside,
    camel_parts,
    fold,
    inflections,
    is_changelog,
    parse_query,
    stem,
    words,
)
from ..core.vocabulary import CHANGES, CODE, FILE_IDS, SYMBOL_IDS, file_id, path_of, qualified_of
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from ..core.scoring import Leg
    from ..core.settings import Settings
    from ..core.text import Query
    from ..graph.walk import Step
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store


class FileRanks:
    """What the legs say of files: ``plain`` has p of each, ``legs`` its parts by name,
    ``stand`` what its kind leaves of that; ``by_history`` what alike commits count."""

    __slots__ = ("by_history", "legs", "plain", "query", "stand")

    def __init__(
        self, query: Query, legs: dict[str, dict[str, float]], plain: dict[str, float]
    ) -> None:
        self.query = query
        self.legs = legs
        self.plain = plain
        self.stand: dict[str, float] = {}
        self.by_history = 1.0

    def scores(self) -> dict[str, float]:
        """Return p of each file with what its kind leaves of that."""
        return {id: score * self.stand.get(id, 1.0) for id, score in self.plain.items()}

    def explained(self, id: str) -> dict[str, float | None]:
        """Return what each leg says of a file, p, and what its kind leaves of that."""
        said = {name: rounded(leg[id]) for name, leg in self.legs.items() if id in leg}
        return {**said, "p": rounded(self.plain.get(id)), "kind": self.stand.get(id, 1.0)}


def rank_files(
    store: Store,
    settings: Settings,
    query: Query,
    scope: Scope,
    matched: Mapping[str, Leg],
    made: Mapping[str, str],
) -> FileRanks | None:
    """p of the files within ``scope`` that any leg finds; None where no whole files are kept.

    ``matched`` are the legs over passages, ``fulltext`` and ``vector``; ``made`` the documents that
    were made from files, with the paths.
    """
    whole = store.whole_files
    if not whole.is_there():
        return None
    vector = matched.get("vector", {})
    legs = {
        **_of_all_files(store, query),
        "passage": _lifted(matched.get("fulltext", {}), made),
        "meaning": {
            id: cosine - settings.vector_min for id, cosine in _lifted(vector, made).items()
        },
    }
    ids = {id for leg in legs.values() for id in leg}
    within = store.nodes.match(scope.with_types(("file",)), sorted(ids))
    legs = {name: relative(leg, within) for name, leg in legs.items()}
    plain: dict[str, float] = {}
    for name, leg in legs.items():
        for id, score in leg.items():
            plain[id] = plain.get(id, 0.0) + tuning.FILE_SHARES[name] * score
    ranks = FileRanks(query, legs, relative(plain))
    if is_question(query.text):
        ranks.by_history = tuning.HISTORY_OF_QUESTIONS
    ranks.stand = dict(kinds(settings, query, plain, alone=scope.types == ("file",)))
    return ranks


def _of_all_files(store: Store, query: Query) -> dict[str, dict[str, float]]:
    """Return the legs that are the same within any scope: a context ranks files within two."""
    kept, asked = store.whole_files.legs, f"{query.text}\0{query.terms}"
    if asked not in kept:
        kept.clear()
        kept[asked] = {
            "file": _whole_texts(store, query),
            "path": _paths(store, query),
            "defined": defining(store, query.text),
        }
    return kept[asked]


def relative(scores: Mapping[str, float], within: Iterable[str] | None = None) -> dict[str, float]:
    """Return the scores, of those ids alone, divided by the highest of them."""
    kept = dict(scores) if within is None else {id: scores[id] for id in within if id in scores}
    most = max(kept.values(), default=0.0)
    return {id: score / most for id, score in kept.items()} if most > 0 else {}


def _lifted(leg: Mapping[str, float], made: Mapping[str, str]) -> dict[str, float]:
    """Of files, of symbols, and of documents made from files, as their files': the best of each."""
    files: dict[str, float] = {}
    for id, score in leg.items():
        if id.startswith(SYMBOL_IDS):
            id = file_id(path_of(id))
        elif id in made:
            id = file_id(made[id])
        elif not id.startswith(FILE_IDS):
            continue
        if score > files.get(id, 0.0):
            files[id] = score
    return files


def _whole_texts(store: Store, query: Query) -> dict[str, float]:
    search = store.whole_files.search
    weights = tuning.WHOLE_WEIGHTS
    every = search(_with_forms(query), weights, tuning.WHOLE_FILES)
    names = _names(query)
    named = search(names, weights, tuning.WHOLE_FILES) if names else []
    scores: dict[str, float] = {}
    for rows in (every, named):
        most = rows[0][1] if rows else 0.0
        for path, score in rows if most > 0 else ():
            scores[file_id(path)] = scores.get(file_id(path), 0.0) + score / most
    return scores


def _with_forms(query: Query) -> list[str]:
    """Return the words of a query in all their forms, and those that stand together in it."""
    asked = phrases_of(query)
    forms = (form for word in query.single_words() for form in inflections(word))
    return list(dict.fromkeys([*asked, *forms]))


def defining(store: Store, text: str) -> dict[str, float]:
    """Return the files that define what a text names: of each name, the fewer the more each.

    A name with capitals is meant as it is written: ``SELECT`` is no function ``select``.
    """
    wanted = {qualified.rpartition(".")[2] for qualified in named_in(text)}
    asked = [" ".join(split) for name in sorted(wanted) if (split := words(fold(name)))]
    files: dict[str, set[str]] = {}
    for id in store.fulltext.titled(CODE, asked, tuning.MOST_DEFINED) if asked else ():
        name = qualified_of(id).rpartition(".")[2]
        name = name if name in wanted else fold(name)
        if name in wanted:
            files.setdefault(name, set()).add(file_id(path_of(id)))
    scores: dict[str, float] = {}
    for own in files.values():
        for id in own:
            scores[id] = scores.get(id, 0.0) + 1 / len(own)
    return scores


def phrases_of(query: Query) -> list[str]:
    """Return the words of a query, and those that stand together in it."""
    phrases = [" ".join(phrase) for term in query.terms for phrase in term if len(phrase) > 1]
    return [*query.single_words(), *phrases]


def _names(query: Query) -> list[str]:
    """Return the names of code in the query as phrases: what has dots as a whole, and its last
    part.
    """
    found: dict[str, None] = {}
    for name in named_in(query.text):
        written = [fold(word) for word in words(name)]
        if written:
            found[" ".join(written)] = None
            last = words(name.rpartition(".")[2])
            if last and len(written) > len(last):
                found[" ".join(map(fold, last))] = None
    return list(found)


def _paths(store: Store, query: Query) -> dict[str, float]:
    """Σ idf · (2 in the file's own name, else 1) / (1 + 0.1 · folders)."""
    asked = query.single_words()
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
        found.append((path, own, above - own, path.count("/")))
    idf = {word: log(1 + count / number) for word, number in having.items()}
    return {
        file_id(path): (sum(2 * idf[word] for word in own) + sum(idf[word] for word in above))
        / (1 + tuning.A_FOLDER * depth)
        for path, own, above, depth in found
    }


def _words_of(path: str) -> frozenset[str]:
    found = set()
    for word in words(path):
        found.add(fold(word))
        if not word.islower():
            found.update(camel_parts(word))
    return frozenset(found)


# --- tests, and what is no source


def kinds(
    settings: Settings, query: Query, ids: Iterable[str], *, alone: bool = False
) -> Iterator[tuple[str, float]]:
    """Yield what the kind of each file leaves of its score, where it is not all of it: tests stand
    back unless they are asked for, and so does data; prose does where files ``alone`` are."""
    tests = settings.test_weight
    if not tuning.OF_TESTS.isdisjoint(query.text.lower().split(None, 2)[:2]):
        tests = 1.0
    for id in ids:
        path = path_of(id)
        if aside(path):
            weight = tests
        elif is_source(path) or (is_prose(path) and not alone):
            weight = 1.0
        else:
            weight = settings.other_weight
        if weight != 1:
            yield id, weight


PROSE = (".md", ".rst", ".txt", ".adoc", ".mdx", ".markdown", ".org")


def is_prose(path: str) -> bool:
    return path.lower().endswith(PROSE)


def is_source(path: str) -> bool:
    """Return whether the name of a file is one that code has.

    >>> is_source("a/b.py"), is_source("README.md"), is_source("setup.cfg"), is_source("a/run")
    (True, False, False, True)
    """
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem:
        return not name.isupper() and not name.startswith(".")
    return ending.lower() not in tuning.NO_SOURCE


# --- the history


class FileHistory:
    """``support``: id of a file to what its history adds, in units of the best p; ``ways``: to
    the step from the commit that says most for it; ``commits``: to how many were alike."""

    __slots__ = ("commits", "support", "ways")

    def __init__(self) -> None:
        self.support: dict[str, float] = {}
        self.ways: dict[str, Step] = {}
        self.commits: dict[str, int] = {}

    def explained(self, id: str) -> dict[str, object]:
        """Return what it says of one file: the commits that are alike, the best of them, and what
        they add.
        """
        way = self.ways.get(id)
        return {
            "support": rounded(self.support.get(id, 0.0)),
            "commits": self.commits.get(id, 0),
            "best": way.before.id if way and way.before else None,
        }


def history_of(
    store: Store, settings: Settings, ranks: FileRanks, excluded: Set[str]
) -> FileHistory | None:
    """Return what the history says; None where none is kept, or nothing in it is alike.

    Raises:
        GraphUnavailable: what is kept of commits is missing or damaged.
    """
    if not settings.history_weight or not store.commits.is_there():
        return None
    from ..graph.walk import Step  # which depth 0 does without

    alike = _alike(store, ranks, excluded)
    if not alike:
        return None
    found = FileHistory()
    changed = store.commits.changed([*alike])
    squares: dict[str, float] = {}
    for id, score in alike.items():  # best first: the first one to touch a file says most for it
        for path in changed.get(id, ()):
            file = file_id(path)
            squares[file] = squares.get(file, 0.0) + score * score
            found.commits[file] = found.commits.get(file, 0) + 1
            if file not in found.ways:
                found.ways[file] = Step(file, score, Step(id, score), CHANGES, 1.0, 1.0, True)
    _add_support(store, settings, ranks, squares, found)
    return found


def _add_support(
    store: Store,
    settings: Settings,
    ranks: FileRanks,
    squares: dict[str, float],
    found: FileHistory,
) -> None:
    """Fills in what the history adds to each file: ``squares`` are sums of s²."""
    files = [*dict.fromkeys((*squares, *ranks.plain))]
    changes = store.commits.changes([path_of(id) for id in files])
    ever = {file_id(path): number for path, number in changes.items()}
    own = relative({
        id: sqrt(square) / (tuning.EVER + ever[id]) ** tuning.OFTEN_CHANGED
        for id, square in squares.items() if id in ever
    })  # fmt: skip
    new = [id for id in squares if id not in ranks.plain]
    stand = {**dict(kinds(settings, ranks.query, new)), **ranks.stand}
    young = tuning.YOUNG
    for id in files:
        number = ever.get(id, 0)
        known = number * own.get(id, 0.0) + young * tuning.YOUNG_HAS * ranks.plain.get(id, 0.0)
        share = settings.history_weight * ranks.by_history * stand.get(id, 1.0)
        found.support[id] = share * known / (number + young)


def _alike(store: Store, ranks: FileRanks, excluded: Set[str]) -> dict[str, float]:
    """Return the most similar commits, best first, relative to the best: by all of the query, and
    by how it begins.
    """
    most = tuning.ALIKE
    whole = store.commits.search(phrases_of(ranks.query), most)
    head = head_of(ranks.query.text)
    beginning = store.commits.search(phrases_of(parse_query(head)), most) if head else []
    scores: dict[str, float] = {}
    for rows, share in ((whole, 1.0), (beginning, tuning.HEAD_OF_HISTORY)):
        best = rows[0][1] if rows else 0.0
        for id, score in rows if best > 0 else ():
            if id not in excluded:
                scores[id] = scores.get(id, 0.0) + share * score / best
    ranked = sorted(scores, key=lambda id: (-scores[id], id))[:most]
    return {id: scores[id] / scores[ranked[0]] for id in ranked}
