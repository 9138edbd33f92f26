"""Results around some nodes and files, by the graph and by anchors."""

from __future__ import annotations

from ..core.errors import GraphUnavailable
from ..core.model import Hit, Hits
from ..core.text import counted
from ..core.vocabulary import CODE_TYPES, DEFINES, FILE_IDS, path_of
from ..store import ALL
from ..store.filter import Scope
from .expand import led, reach, say_caps, within
from .score import assemble, attach_verdicts, best_first, describe, rated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.settings import Settings
    from ..store import Store
    from .query import Near

WIDE = (("graph_fanout", 200), ("graph_max_nodes", 500))
"""Caps of a walk around some nodes, unless they are set, beside the symbols of files among them:
these must not hide what else a file is linked to."""


def related(
    store: Store,
    settings: Settings,
    ids: Sequence[str],
    near: Near | None = None,
    *,
    types: tuple[str, ...] = (),
    excluded: Iterable[str] = (),
    explain: bool = False,
    symbols: bool = False,
) -> Hits:
    """Return what the walk reaches from these nodes, up to ``settings.graph_depth``; of files
    ``near`` first what is tied to them and to the files next to them, and records before code.

    The nodes and files themselves are left out, and the symbols of these files, unless
    ``symbols`` is set.

    Raises:
        LoreError: as ``files_near`` does.
    """
    notes: list[str] = []
    scope = Scope(types=types).without((*excluded, *ids))
    hits: list[Hit] = []
    starts: dict[str, float] = {}
    if near is not None:
        from .file_context import of_files

        hits, starts = of_files(store, settings, near, scope, notes)
    shown = {hit.id for hit in hits}
    starts |= dict.fromkeys(ids, 1.0)
    try:
        reached = _reached(store, settings, starts, scope, notes, symbols=symbols)
        hits += [hit for hit in reached if hit.id not in shown]
    except GraphUnavailable as error:
        if near is None:
            raise
        notes.append(f"{error}; what anchors say alone")
    hits = rated(store, settings, best_first(hits), notes)
    for hit in hits:
        hit.snippet = " ".join(store.nodes.beginning(hit.id, 240).split())
    attach_verdicts(store, hits, notes)
    if explain:
        from .explain import explain_ways

        explain_ways(hits, settings)
    if near is not None:
        hits.sort(key=lambda hit: hit.type in CODE_TYPES)
    return Hits(hits, notes)


def _reached(
    store: Store,
    settings: Settings,
    seeds: Mapping[str, float],
    scope: Scope,
    notes: list[str],
    *,
    symbols: bool,
) -> list[Hit]:
    """Return what the best paths from the seeds reach, within ``scope``, best first."""
    if not settings.depth:
        notes.append("graph_max_depth is 0: the graph is switched off")
        return []
    keeps = symbols or "symbol" in scope.types
    aside = frozenset() if keeps else _own_symbols(store, seeds, notes)
    wide = settings.changed(
        [(name, str(most + len(aside))) for name, most in WIDE if name not in settings.origins],
        "default:related",
    )
    found = reach(store, wide, seeds, notes, scope.excluded, adds=False)
    among = [id for id in within(store, found, scope) if id not in aside]
    most = settings.graph_max_nodes
    say_caps(found, len(among) - most, notes)
    steps = [found.reached[id] for id in among[:most]]
    hits = [led(Hit(step.id), step) for step in steps]
    matched = {step.id: {"path": step.score} for step in steps}
    return assemble(describe(store, settings, hits), matched)


def _own_symbols(store: Store, ids: Iterable[str], notes: list[str]) -> frozenset[str]:
    """Return the symbols that these files define, counted in a note."""
    files = [id for id in ids if id.startswith(FILE_IDS)]
    rows = store.edges.neighbours(files, [DEFINES], ALL) if files else ()
    found = frozenset(other for _, other, _, _, outgoing in rows if outgoing)
    if found:
        whose = path_of(files[0]) if len(files) == 1 else counted(len(files), "file")
        notes.append(f"{counted(len(found), 'symbol')} of {whose}: --symbols lists them")
    return found
