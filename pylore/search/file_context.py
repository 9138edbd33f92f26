"""What is near files: by paths, ties and history."""

from __future__ import annotations

import os

from ..anchors.project import relative, relative_glob, root_to_keep
from ..core.errors import GraphUnavailable, LoreError
from ..core.model import Hit
from ..core.scoring import best_first as ranked
from ..core.scoring import rounded
from ..core.vocabulary import (
    ANCHORED_TO,
    CO_CHANGES,
    FILE_IDS,
    FROM_CODE,
    IMPORTS,
    file_id,
    path_of,
)
from ..graph.relations import fold, known_relations
from ..graph.walk import Step
from ..store import ALL
from ..store.filter import Scope
from . import tuning
from .expand import explain_walk
from .score import assemble, describe, explained_relevance, in_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..core.settings import Settings
    from ..store import Store
    from .legs import Matches

    FilePaths = dict[str, Step]
    """Id of what is tied to a file next to one at hand, to the way from that one."""

    Weights = tuple[float, float]
    """Of a relation: forwards and backwards."""


def tied(id: str, score: float, beside: Step, tie: float) -> Step:
    """Return the way to what is tied to the file that ``beside`` leads to.

    A tie is no hop: what is tied to a file at hand stands at hop 0 too.
    """
    step = Step(id, score, beside, ANCHORED_TO, tie, 1.0, False)
    step.hop = beside.hop
    return step


def attach_path(hit: Hit, way: Step, *, explain: bool) -> None:
    """Says of a result that files bring over which edge from file to file it has come."""
    chain = way.steps()
    hit.hops = len(chain) - 1
    hit.path = [step.id for step in chain]
    hit.edge = chain[way.hop].relation
    if explain:
        hit.explain = {**(hit.explain or {}), "walk": explain_walk(chain, tuning.NEXT)}


def attach_paths(
    hits: Iterable[Hit],
    ways: Mapping[str, Step],
    by_files: Callable[[str], bool],
    *,
    explain: bool,
) -> None:
    """The same of all of them, and of what a walk has reached from one.

    What matches the words, which is what ``by_files`` denies, needs no file to stand here.
    """
    for hit in hits:
        way = ways.get(hit.path[0])
        if way is None or not by_files(hit.path[0]):
            continue
        if not hit.hops:
            attach_path(hit, way, explain=explain)
            continue
        chain = way.steps()
        hit.path = [step.id for step in chain[:-1]] + hit.path
        hit.hops = len(hit.path) - 1
        walk = (hit.explain or {}).get("walk")
        if walk:
            before = explain_walk(chain, tuning.NEXT)["hops"]
            walk["seed"], walk["hops"] = chain[0].id, before + walk["hops"]
            walk["seed_score"] = round(walk["seed_score"] / way.score, 6)


CHANGED, RECENT = MARKS = ("@git", "@session")
"""Instead of a glob: the files that are changed in the work tree, and those that the latest
sessions of agents make likely to be changed next (``likely``)."""
_NONE = {CHANGED: "no file has changed in", RECENT: "no session has edited files in"}

WILD = "*?["


class Near:
    """Some files of the project ``root``: ``globs`` that start there, and exact ``paths``."""

    __slots__ = ("globs", "paths", "root")

    def __init__(self, root: str, globs: Iterable[str] = (), paths: Iterable[str] = ()) -> None:
        self.root = root
        self.globs = tuple(globs)
        self.paths = tuple(paths)

    def files(self, store: Store, notes: list[str]) -> list[str]:
        """Return the files, as the store spells them; a glob that matches none is said in
        ``notes``.

        Raises:
            LoreError: a glob leads outside the project; ``@git`` where there is no git.
        """
        found = dict.fromkeys(self.paths)
        for glob in self.globs:
            some = self._meant(store, glob)
            if not some:
                said = _NONE.get(glob, f"--files '{glob}' matches no file in")
                notes.append(f"{said} {self.root}")
            found.update(dict.fromkeys(some))
        return list(found)

    def _meant(self, store: Store, glob: str) -> list[str]:
        if glob == RECENT:
            from .likely import likely_files

            return [one.path for one in likely_files(store, self.root)]
        if glob != CHANGED:
            return _matching(store, self.root, glob)
        from ..system.git import Git

        paths = Git(self.root).changed()
        return [path for path in paths if path.isprintable() and not path.startswith(".lore/")]


def seeds(
    store: Store, settings: Settings, near: Near, notes: list[str]
) -> tuple[dict[str, float], FilePaths]:
    """Id to how near it is to these files, 0..1; ids may be of no live node. And the ways
    to what is tied to the files next to these alone.

    What is tied to a file that these import, that imports them, or that changes together
    with them, counts by the weights of that edge and of its relation. Where the graph is
    missing, it is what anchors alone say.

    Raises:
        LoreError: as ``Near.files`` does.
    """
    files = near.files(store, notes)
    found = dict.fromkeys(map(file_id, files), tuning.ITSELF)
    kept = root_to_keep(store, near.root)
    own = dict.fromkeys(files, 1.0)
    if settings.depth and files:
        try:
            weights = _weights(store, settings)
            beside = _beside(store, settings, files, weights)
            around = {path: step.score for path, step in beside.items()} | own
            ties = _tied(store, kept, [*around], edges=ANCHORED_TO in weights)
            return found, _add_ties(found, [*ties], around, beside)
        except GraphUnavailable:
            pass  # the walk says so
    return found, _add_ties(found, _tied(store, kept, files, edges=False), own, {})


def _add_ties(
    found: dict[str, float],
    ties: Iterable[tuple[str, str, float]],
    nearness: Mapping[str, float],
    beside: Mapping[str, Step],
) -> FilePaths:
    """Adds what is tied to files to ``found``, of several ties the nearest; and gives the ways
    to what is nearest by a file ``beside``."""
    ways: FilePaths = {}
    for id, path, tie in ties:
        score = tie * nearness[path]
        if score > found.get(id, 0.0):
            found[id] = score
            ways.pop(id, None)
            if path in beside:
                ways[id] = tied(id, score, beside[path], tie)
    return ways


def _tied(
    store: Store, kept: str, paths: Sequence[str], *, edges: bool
) -> Iterator[tuple[str, str, float]]:
    """``(id, path, what the tie counts)`` of what is tied to these files by its anchors and,
    with ``edges``, by ``anchored_to``."""
    anchors = store.anchors
    for id, path in anchors.about(kept, paths):
        yield id, path, tuning.TIED
    by_glob = set()
    for id, glob, path in anchors.globs_like(kept, paths):
        from ..anchors.project import matches

        if matches(glob, path):
            by_glob.add((id, path))
            yield id, path, tuning.BY_GLOB
    if edges:
        for id, path, weight in store.edges.into_files(paths, ANCHORED_TO):
            if (id, path) not in by_glob:  # that edge is the glob's
                yield id, path, tuning.TIED * weight


def _beside(
    store: Store, settings: Settings, files: Sequence[str], weights: Mapping[str, Weights]
) -> dict[str, Step]:
    """Return the nearest of the files that these import, are imported by, or change together with:
    path to the step from one of these.
    """
    relations = [name for name in weights if name != ANCHORED_TO]
    if not relations or len(files) > tuning.MOST_FILES:
        return {}
    from ..graph.walk import Step

    ids = dict.fromkeys(map(file_id, files))
    found: dict[str, float] = {}
    ways: dict[str, tuple[str, str, float, float, bool]] = {}
    for id, other, relation, weight, outgoing in store.edges.neighbours([*ids], relations, ALL):
        if not other.startswith(FILE_IDS) or other in ids:
            continue
        strength = weights[relation][0 if outgoing else 1]
        score = tuning.NEXT * weight * strength
        sure = weight >= settings.min_confidence or relation not in FROM_CODE
        if sure and score > found.get(other, 0.0):
            found[other] = score
            ways[other] = (id, relation, weight, strength, outgoing)
    return {
        path_of(other): Step(other, found[other], Step(ways[other][0], 1.0), *ways[other][1:])
        for other in [*ranked(found)][: settings.graph_fanout]
    }


def _weights(store: Store, settings: Settings) -> dict[str, Weights]:
    """Return the relations that lead from file to file or tie to files, unless they are not
    walked."""
    wanted = set(map(fold, settings.graph_edges))
    unwanted = set(map(fold, settings.graph_exclude_edges))
    return {
        name: weight
        for name, weight in known_relations(store, settings).items()
        if name in (ANCHORED_TO, IMPORTS, CO_CHANGES)
        and name not in unwanted
        and (name in wanted or not wanted)
    }


# --- seeds beside the matches of a search


def add_seeds(
    store: Store, settings: Settings, found: Matches, near: Mapping[str, float], scope: Scope
) -> None:
    """Adds what is near, within ``scope``, to what the legs found: scores add up.

    Where one is above 1 then, all are brought back. The fused scores are absolute
    afterwards: what a search is sure of is in them.
    """
    live = store.nodes.match(scope, [*near])
    found.near = {id: settings.files_weight * near[id] for id in live}
    fused = {id: score * found.confidence for id, score in found.fused.items()}
    for id, score in found.near.items():
        fused[id] = fused.get(id, 0.0) + score
        found.how.setdefault(id, "files")
    highest = max(1.0, *fused.values()) if fused else 1.0
    found.fused = ranked({id: score / highest for id, score in fused.items()})
    found.confidence = 1.0


def beside_matches(
    store: Store, settings: Settings, found: Matches, direct: list[Hit], room: int
) -> list[Hit]:
    """Return the direct matches in their new order, with the best ``room`` of what else is near."""
    from .legs import add_leg_scores

    shown = {hit.id for hit in direct}
    others = [id for id in found.fused if id in found.near and id not in shown]
    for id in others[:room]:
        hit = Hit(id)
        hit.match = found.how[id]
        add_leg_scores(hit, found)
        direct.append(hit)
    hits = describe(store, settings, direct)
    return in_order(hits, {hit.id: found.factors(hit.id) for hit in hits})


# --- the records of a file, without a search


def of_files(
    store: Store, settings: Settings, near: Near, scope: Scope, notes: list[str], *, explain: bool
) -> tuple[list[Hit], dict[str, float]]:
    """Return what is tied to files, as results within ``scope``, and where a walk from there
    begins.

    It begins at the files and at the best of what is tied to them, id to score.
    """
    nearness, ways = seeds(store, settings, near, notes)
    found = ranked(nearness)
    themselves = [
        id for id, score in found.items() if score == tuning.ITSELF and id.startswith(FILE_IDS)
    ]
    tied = {id: score for id, score in found.items() if id not in themselves}
    own = [id for id, score in tied.items() if score > tuning.BY_GLOB]
    starts = dict.fromkeys(themselves, 1.0) | {id: tied[id] for id in own[: settings.graph_seeds]}
    among = store.nodes.match(scope, list(tied))
    hits = []
    for id in [id for id in tied if id in among][: settings.graph_max_nodes]:
        hit = Hit(id)
        hit.match = "files"
        hits.append(hit)
    hits = assemble(describe(store, settings, hits), {id: {"files": tied[id]} for id in tied})
    if explain:
        for hit in hits:
            hit.explain = {
                "files": rounded(tied[hit.id]),
                "recency": {"score": hit.recency_score, "weight": settings.recency_weight},
                "relevance": explained_relevance(hit, settings),
            }
    if ways:
        for hit in hits:
            if hit.id in ways:
                attach_path(hit, ways[hit.id], explain=explain)
    return hits, starts


# --- from what people write to the files of a project


def named(store: Store, near: Near, names: Iterable[str], here: str = "") -> Near:
    """``near`` with the files meant by those of ``names`` that are not ids.

    Each is a path from the folder ``here``, if there is one, or from the root, or a mark; a
    folder means all files below it.

    Raises:
        LoreError: there is neither such a node nor such a file, or it lies outside.
    """
    globs, paths = [*near.globs], [*near.paths]
    for name in names:
        if name in MARKS:
            globs.append(name)
        elif store.nodes.get(name) is None:
            path = _path(store, near.root, name, here)
            (globs if path.endswith("/**") else paths).append(path)
    return Near(near.root, globs, paths)


def _path(store: Store, root: str, name: str, here: str) -> str:
    """Return a path as the store spells it, if there is such a file or the store knows of one."""
    for folder in dict.fromkeys((here or root, root)):
        full = os.path.join(folder, name)
        if os.path.lexists(full):
            path = relative(root, full, name)
            return _below(path) if os.path.isdir(full) else path
    if _is_id(store, name):
        store.nodes.require(name)
    path = relative(root, os.path.join(root, name), name)
    if not _is_known(store, root, path):
        raise LoreError(f"{name}: there is no such file, and nothing is known of one: "
                        "check its name")  # fmt: skip
    return path


def _below(folder: str) -> str:
    """Return the glob for all files below a folder, whatever its name has in it."""
    return f"{literal(folder)}/**"


def literal(path: str) -> str:
    """Return the glob that matches this path alone."""
    return "".join(f"[{sign}]" if sign in WILD else sign for sign in path)


def _is_id(store: Store, name: str) -> bool:
    type, dash, _ = name.partition("-")
    return bool(dash and type in store.types.all()) or not any(sign in name for sign in "/.")


def _is_known(store: Store, root: str, path: str) -> bool:
    if store.nodes.match(Scope(), [file_id(path)]):
        return True
    return bool(store.anchors.about(root_to_keep(store, root), [path]))


def _matching(store: Store, root: str, glob: str) -> list[str]:
    """Return the files that a glob from the root matches, as far as the store knows them.

    The disk is looked at too where no file is known, or a record may be tied to one
    that is not known by a glob of its own. A name that has ``[`` in it is a name first.
    """
    literal = os.path.join(root, glob)
    if os.path.lexists(literal) and not os.path.isdir(literal):
        return [relative(root, literal, glob)]
    pattern = relative_glob(root, root, glob)
    if os.path.isdir(literal):
        pattern = _below(pattern)
    elif _is_known(store, root, pattern):
        return [pattern]
    beginning = pattern[: min(map(pattern.find, filter(pattern.__contains__, WILD)), default=0)]
    if not any(sign in pattern for sign in WILD):
        return []
    from ..anchors.project import glob_pattern

    kept = root_to_keep(store, root)
    matches = glob_pattern(pattern).fullmatch
    known = {*store.nodes.files(beginning), *store.anchors.paths(kept, beginning)}
    found = {path for path in known if matches(path)}
    if not found or store.anchors.globs(kept):
        from ..anchors.project import Project

        found.update(Project(root).matching(pattern))
    return sorted(found)
