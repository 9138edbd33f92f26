"""Where code may be found: fused matches ranked anew, by whole files and by what the query is for.

A file has what ``files.rank_files`` says of it, in units of the best code that the legs found, and
its best symbol stands for it. What kind of file it is counts, by what the query is for:

where, how   source first; what has the very name that is asked for before all
why          documents and changelogs before source, where the question is about a change
changes      what depends on the best match, and what changes together with it
"""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.query import CHANGES as CHANGE_QUESTION
from ..core.query import asked_names
from ..core.scoring import best_first
from ..core.text import fold, in_test_module, is_changelog, is_test, words
from ..core.vocabulary import (
    CALLS,
    CO_CHANGES,
    CODE,
    CODE_IDS,
    DOCUMENT_IDS,
    IMPORTS,
    SYMBOL_IDS,
    file_id,
    path_of,
    qualified_of,
)
from ..store import ALL
from . import tuning
from .files import kinds, rank_files, wants_tests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.query import Intent
    from ..core.settings import Settings
    from ..core.text import Query
    from ..store.filter import Scope
    from ..store.protocols import SearchStore as Store
    from .files import FileRanks
    from .legs import Matches


def rank(
    store: Store,
    settings: Settings,
    query: Query,
    scope: Scope,
    found: Matches,
    intent: Intent | None = None,
    files: FileRanks | None = None,
) -> None:
    """Rank what was found anew, by whole files and by what the query is for.

    ``files`` are the ranks of files where they are known from another scope. What a rule did to a
    result is in ``found.rules``.
    """
    if settings.file_ranking and "fulltext" in found.legs:
        found.files = files or rank_files(store, settings, query, scope, found.legs, intent)
    fused = _code_by_files(store, settings, query, scope, found, intent)
    if intent is not None or found.files is not None:
        _weigh_documents(store, settings, query, intent, fused, found)
    if found.files is not None or intent is not None:
        _put_named_first(store, settings, query, scope, fused, found, intent)
    if intent is not None and intent.kind == CHANGE_QUESTION:
        _add_dependents(store, settings, query, scope, fused, found, intent)
    most = max(fused.values(), default=0.0)
    highest = max(found.fused.values(), default=most) or 1.0
    scale = highest / most if most > highest else 1.0
    found.fused = best_first({id: scale * score for id, score in fused.items()})


def _code_by_files(
    store: Store,
    settings: Settings,
    query: Query,
    scope: Scope,
    found: Matches,
    intent: Intent | None,
) -> dict[str, float]:
    """Return the fused scores, those of files and symbols by how their files rank."""
    fused = {id: score for id, score in found.fused.items() if not id.startswith(CODE_IDS)}
    own = {id: score for id, score in found.fused.items() if id.startswith(CODE_IDS)}
    for id in own:
        if "::test" in id and in_test_module(path_of(id), qualified_of(id)):
            own[id] *= settings.test_weight
    ranks = found.files
    if ranks is None or not ranks.plain:
        weights = dict(kinds(settings, query, own, intent))
        return fused | {id: score * weights.get(id, 1.0) for id, score in own.items()}
    scores = ranks.scores()
    if scope.types == ("file",):
        found.files_alone = True
        for name in ("file", "path"):
            found.legs[name] = best_first(ranks.legs[name])
    else:
        found.unit = max(own.values(), default=1.0)
    files = {id: found.unit * score for id, score in scores.items()}
    if not scope.types or "file" in scope.types:
        fused |= files
        for id in files:
            found.how.setdefault(id, "some")
    further = tuning.SAME_FILE if not scope.types or "file" in scope.types else 1.0
    return fused | _symbols_by_files(own, files, found, further)


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


def _put_named_first(
    store: Store,
    settings: Settings,
    query: Query,
    scope: Scope,
    fused: dict[str, float],
    found: Matches,
    intent: Intent | None,
) -> None:
    """Put the definitions of the names that a short query asks for before all else, tests last."""
    names = intent.names if intent is not None else asked_names(query.text)
    defined = _definitions(store, names, scope) if names else {}
    weights = dict(kinds(settings, query, defined, intent))
    best = max(fused.values(), default=1.0) or 1.0
    standing = {file: id for id, file in found.stands_for.items()}
    beside = intent is None and wants_tests(query)
    for id, share in defined.items():
        if beside and not is_test(path_of(id)):
            continue
        other = standing.get(file_id(path_of(id)), id)
        if other not in defined:  # another symbol of the file is its answer now
            del found.stands_for[other]
            fused[other] *= tuning.SAME_FILE
            found.rules[other] = {"same_file": tuning.SAME_FILE}
            standing[file_id(path_of(id))] = id
            found.stands_for[id] = file_id(path_of(id))
        fused[id] = best * (1 + share * weights.get(id, 1.0))
        found.how.setdefault(id, "all")
        found.rules[id] = {"defines_the_name": share}


def _definitions(store: Store, names: Iterable[str], scope: Scope) -> dict[str, float]:
    """Return the definitions of these very names within the scope, with 1; with less the same name
    in another class or module than the one that is asked for."""
    asked = {name.rpartition(".")[2]: name for name in names}
    phrases = [" ".join(split) for name in sorted(asked) if (split := words(name))]
    found = {}
    for id in store.fulltext.titled(CODE, phrases, tuning.MOST_DEFINED):
        qualified = fold(qualified_of(id))
        name = asked.get(qualified.rpartition(".")[2])
        if name is not None:
            whole = f".{qualified}".endswith(f".{name}")
            found[id] = 1.0 if whole else tuning.NAMED_ELSEWHERE
    among = store.nodes.match(scope, [*found]) if found else set()
    return {id: share for id, share in found.items() if id in among}


def _weigh_documents(
    store: Store,
    settings: Settings,
    query: Query,
    intent: Intent | None,
    fused: dict[str, float],
    found: Matches,
) -> None:
    """Let documents that were made from files of the project count what these files count, where
    the query is a question; else those that say what changed."""
    documents = [id for id in fused if id.startswith(DOCUMENT_IDS)]
    made = store.documents.paths(documents) if documents else {}
    files = {id: file_id(path) for id, path in made.items() if intent or is_changelog(path)}
    weights = dict(kinds(settings, query, set(files.values()), intent))
    for id, file in files.items():
        if file in weights:
            fused[id] *= weights[file]
            found.rules[id] = {"kind": weights[file]}


def _add_dependents(
    store: Store,
    settings: Settings,
    query: Query,
    scope: Scope,
    fused: dict[str, float],
    found: Matches,
    intent: Intent,
) -> None:
    """Add the files that import the best one or call into it, or change together with it."""
    from ..graph.relations import known_relations

    first = next((id for id in best_first(fused) if id.startswith(CODE_IDS)), None)
    if first is None or not settings.graph_max_depth:
        return
    best = fused[first]
    file = file_id(path_of(first))
    try:
        weights = known_relations(store, settings)
        edges = store.edges.neighbours([*{file, first}], [IMPORTS, CALLS, CO_CHANGES], ALL)
        near: dict[str, float] = {}
        for _, other, relation, weight, outgoing in edges:
            if outgoing and relation != CO_CHANGES:
                continue
            id = file_id(path_of(other)) if relation == CALLS else other
            score = best * weight * weights[relation][0]
            near[id] = max(near.get(id, 0.0), score)
    except GraphUnavailable:
        return
    among = store.nodes.match(scope, [*near])
    kept = dict(kinds(settings, query, among, intent))
    for id in among:
        fused[id] = max(fused.get(id, 0.0), near[id] * kept.get(id, 1.0))
        found.how.setdefault(id, "graph")
        found.rules[id] = {"depends_on_the_best": near[id] / best}
