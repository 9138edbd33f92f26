"""What a question is for, used: which kinds of results come first (docs/decisions/0018).

where, how   source first, by whole files; what has the very name that is asked for before all
why          records, changelogs and documents before source
changes      what depends on the best match, and what changes together with it
"""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.query import CHANGES, WHERE
from ..core.scoring import best_first
from ..core.text import fold, words
from ..core.vocabulary import (
    CALLS,
    CO_CHANGES,
    CODE,
    CODE_IDS,
    FILE_IDS,
    IMPORTS,
    SYMBOL_IDS,
    file_id,
    path_of,
    qualified_of,
)
from ..graph.relations import known_relations
from ..store import ALL
from ..store.filter import Scope
from . import tuning
from .files import stand_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core.query import Intent
    from ..core.settings import Settings
    from ..store.protocols import SearchStore as Store
    from .files import FileRanks
    from .legs import Matches


def use(store: Store, settings: Settings, intent: Intent, found: Matches, scope: Scope) -> None:
    """Ranks what was found anew, for what the question is for."""
    ranks = found.files
    fused = {
        id: score * stand_of(path_of(id), intent.kind) * _of_its_file(id, ranks)
        if id.startswith(SYMBOL_IDS) else score
        for id, score in found.fused.items()
    }  # fmt: skip
    if ranks is None or not ranks.plain:
        fused = {
            id: score * stand_of(path_of(id), intent.kind) if id.startswith(FILE_IDS) else score
            for id, score in fused.items()
        }
    best = max(fused.values(), default=1.0) or 1.0
    if intent.kind == WHERE and intent.names:
        for id in _named(store, intent.names, scope):
            fused[id] = best * (1 + stand_of(path_of(id), WHERE))
            found.how.setdefault(id, "all")
    if intent.kind == CHANGES:
        _add_dependents(store, settings, fused, found, scope)
    most = max(fused.values(), default=0.0)
    scale = (max(found.fused.values(), default=most) or 1.0) / most if most else 1.0
    found.fused = best_first(_files_apart({id: scale * score for id, score in fused.items()}))


def _of_its_file(id: str, ranks: FileRanks | None) -> float:
    if ranks is None or not ranks.plain:
        return 1.0
    own = tuning.OWN_SCORE
    return own + (1 - own) * ranks.plain.get(file_id(path_of(id)), 0.0)


def _named(store: Store, names: frozenset[str], scope: Scope) -> list[str]:
    """The definitions of that very name, within the scope."""
    asked = [" ".join(split) for name in sorted(names) if (split := words(name))]
    found = [
        id for id in store.fulltext.titled(CODE, asked, tuning.MOST_DEFINED)
        if fold(qualified_of(id).partition("~")[0].rpartition(".")[2]) in names
    ]  # fmt: skip
    among = store.nodes.match(scope, found) if found else set()
    return [id for id in found if id in among]


def _files_apart(fused: dict[str, float]) -> dict[str, float]:
    """A further result of a file that has one already counts less."""
    seen: set[str] = set()
    apart = {}
    for id, score in best_first(fused).items():
        path = path_of(id) if id.startswith(CODE_IDS) else ""
        apart[id] = score * tuning.SAME_FILE if path in seen else score
        if path:
            seen.add(path)
    return apart


def _add_dependents(
    store: Store, settings: Settings, fused: dict[str, float], found: Matches, scope: Scope
) -> None:
    """Adds the files that import the best one or call into it, or change together with it."""
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
    for id in store.nodes.match(scope, [*near]):
        fused[id] = max(fused.get(id, 0.0), near[id] * stand_of(path_of(id), CHANGES))
        found.how.setdefault(id, "graph")
