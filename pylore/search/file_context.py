"""Files at hand: the files a person means, the records tied to them, and their part in a search."""

from __future__ import annotations

import os

from ..anchors.globs import Glob
from ..anchors.project import relative, relative_glob, root_to_keep
from ..core.errors import GraphUnavailable
from ..core.model import Hit
from ..core.scoring import best_first
from ..core.vocabulary import ANCHORED_TO, CO_CHANGES, FILE_IDS, IMPORTS, file_id, path_of
from ..graph.relations import relation_weights
from ..graph.walk import Step, spread
from ..store.filter import Scope
from .score import assemble, describe, led

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.settings import Settings
    from ..store import Store
    from .legs import Matches
    from .query import Near, ParsedQuery

    Ways = dict[str, Step]  # id to the way there from a file at hand

BY_GLOB, ITSELF = 0.7, 0.9
"""Scores of a record tied to a file by a glob, and of the file; other anchors score 1."""

FILES_WEIGHT = 0.5
"""Share of nearness to a file at hand that adds to the fused score. Set by hand."""

MARKS = {"@git": "no file has changed in", "@session": "no session has edited files in"}
"""Instead of a glob: files with changes in the work tree, and ``likely`` files."""

WILD = "*?[{"


def files_near(store: Store, near: Near, notes: list[str]) -> list[str]:
    """Return the files as the store spells them; add a note for a glob without a match.

    Raises:
        LoreError: a glob outside the project; ``@git`` outside a work tree.
    """
    found: list[str] = []
    for glob in near.globs:
        some = [*_meant(store, near.root, glob)]
        found += some
        if not some:
            said = MARKS.get(glob, f"--files '{glob}' matches no file in")
            notes.append(f"{said} {near.root}")
    return [*dict.fromkeys(found)]


def _meant(store: Store, root: str, glob: str) -> Iterable[str]:
    """Return the files of a mark, path, folder or glob: known files, or files on disk if none
    matches or records are tied by globs."""
    if glob == "@session":
        from .likely import likely_files

        return likely_files(store, root)
    if glob == "@git":
        from ..system.git import Git

        changed = Git(root).changed()
        return [path for path in changed if path.isprintable() and path[:6] != ".lore/"]
    place = os.path.join(root, glob)
    if os.path.lexists(place) and not os.path.isdir(place):
        return [relative(root, place, glob)]
    pattern, kept = relative_glob(root, root, glob), root_to_keep(store, root)
    if os.path.isdir(place):
        pattern = f"{literal(pattern)}/**"
    elif store.nodes.match(Scope(), [file_id(pattern)]) or store.anchors.about(kept, [pattern]):
        return [pattern]
    from ..anchors.project import Project

    signs = [at for at, letter in enumerate(pattern) if letter in WILD]
    beginning = pattern[: min(signs, default=None)]
    known = store.anchors.paths(kept, beginning)
    found = set(filter(Glob(pattern).matches, known))
    if not found or store.anchors.globs(kept):
        found.update(Project(root).matching(pattern))
    return sorted(found)


def literal(path: str) -> str:
    """Return the glob that matches this path only."""
    return "".join(f"[{sign}]" if sign in WILD else sign for sign in path)


def seeds(store: Store, settings: Settings, near: Near, notes: list[str]) -> Ways:
    """Return the ways to the files and to what is tied to them, at no hop; with a ``depth`` also
    over files that import these, are imported by them, or change together with them.

    A score is the product along the edges, 0..1. Ids may be unknown. Without a graph only anchors
    count.

    Raises:
        LoreError: as ``files_near`` does.
        UsageError: a relation of the settings is unknown.
    """
    files = files_near(store, near, notes)
    kept = root_to_keep(store, near.root)
    around = {path: Step(file_id(path), 1.0) for path in files}
    ties: dict[tuple[str, str], float] = {}
    if settings.depth and files:
        try:
            weights = relation_weights(store, settings)
            around |= _beside(store, settings, files, weights)
            if ANCHORED_TO in weights:
                edges = store.edges.into_files([*around], ANCHORED_TO)
                ties = {(id, path): weight for id, path, weight in edges}
        except GraphUnavailable:
            pass  # the walk adds a note
    globs = store.anchors.globs_like(kept, [*around])  # edges were made for these as well
    ties |= {(id, path): BY_GLOB for id, glob, path in globs if Glob(glob).matches(path)}
    ties |= dict.fromkeys(store.anchors.about(kept, [*around]), 1.0)
    ways = {file_id(path): Step(file_id(path), ITSELF) for path in files}
    for (id, path), weight in ties.items():
        way, file = Step(id, weight), around[path]
        if file.before is not None:
            score = file.score * weight * settings.hop_decay
            way = Step(id, score, file, ANCHORED_TO, weight, outgoing=False)
        if id not in ways or way.score > ways[id].score:
            ways[id] = way
    return ways


def _beside(
    store: Store, settings: Settings, files: list[str], weights: Mapping[str, tuple[float, float]]
) -> Ways:
    """Return the ways to the files next to these, by path: ``graph_fanout`` at most."""
    relations = {name: weights[name] for name in (IMPORTS, CO_CHANGES) if name in weights}
    found = spread(
        store.edges,
        dict.fromkeys(map(file_id, files), 1.0),
        relations,
        adds=False,
        depth=1,
        decay=settings.hop_decay,
        fanout=settings.graph_fanout,
        max_nodes=settings.graph_fanout,
        min_confidence=settings.min_confidence,
    )
    return {path_of(id): way for id, way in found.reached.items() if id.startswith(FILE_IDS)}


def add_matches(query: ParsedQuery, found: Matches, scope: Scope, direct: list[Hit]) -> list[Hit]:
    """Add nodes near the files at hand, within ``scope``, to the matches; return the ``direct``
    hits in their new order, with the best ``room`` of the other nodes.

    Scores add up; if a sum exceeds 1, all are divided by the highest. The fused scores include the
    confidence of the search afterwards.
    """
    ways = query.at_hand
    live = query.store.nodes.match(scope.without(query.excluded), [*ways])
    found.near = {id: FILES_WEIGHT * ways[id].score for id in live}
    fused = {id: score * found.confidence for id, score in found.fused.items()}
    for id, score in found.near.items():
        fused[id] = fused.get(id, 0.0) + score
        found.how.setdefault(id, "files")
    highest = max([1.0, *fused.values()])
    found.fused = best_first({id: score / highest for id, score in fused.items()})
    found.confidence = 1.0
    shown = {hit.id for hit in direct}
    others = [id for id in found.fused if id in found.near and id not in shown][: query.room]
    added = [Hit(id, match=found.how[id]) for id in others]
    hits = describe(query.store, query.settings, direct + added)
    return assemble(hits, {hit.id: found.factors(hit.id) for hit in hits})


def attach_paths(hits: Iterable[Hit], ways: Ways) -> None:
    """Let paths begin at a file at hand: of results that files bring over files next to these."""
    for hit in hits:
        if hit.match == "files" and not hit.hops and ways[hit.id].before is not None:
            led(hit, ways[hit.id])


def of_files(
    store: Store, settings: Settings, near: Near, scope: Scope, notes: list[str]
) -> tuple[list[Hit], dict[str, float]]:
    """Return the records tied to files, as results within ``scope``, and the starts of a walk, id
    to score: the files and the best of these records, globs aside."""
    ways = seeds(store, settings, near, notes)
    starts = {id: 1.0 for id in ways if id.startswith(FILE_IDS)}
    tied = best_first({id: way.score for id, way in ways.items() if id not in starts})
    among = store.nodes.match(scope, [*tied])
    hits = [Hit(id, match="files") for id in tied if id in among][: settings.graph_max_nodes]
    hits = assemble(describe(store, settings, hits), {id: {"files": tied[id]} for id in tied})
    attach_paths(hits, ways)
    own = [id for id, score in tied.items() if score > BY_GLOB][: settings.graph_seeds]
    return hits, starts | {id: tied[id] for id in own}
