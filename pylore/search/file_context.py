"""Files of the work: the files at hand, which a person means, with the records tied to them and
their part in a search; and the files that the work is likely to change, each with a reason.
"""

from __future__ import annotations

import os
from itertools import islice

from ..anchors.globs import Glob
from ..anchors.project import Project, relative, relative_glob, root_to_keep
from ..core.errors import GraphUnavailable, first_of
from ..core.model import Hit
from ..core.scoring import best_first
from ..core.scoring import relative as relative_scores
from ..core.text import MAX_QUERY, parse_query, words
from ..core.vocabulary import ANCHORED_TO, CO_CHANGES, FILE_IDS, IMPORTS, file_id, literal, path_of
from ..graph.relations import relation_weights
from ..graph.walk import Step, spread
from ..store.filter import Scope
from ..system import part
from .files import WHOLE, defining, whole_texts
from .legs import assemble, describe, led

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.settings import Settings
    from ..store import Store
    from . import Near, ParsedQuery
    from .legs import Matches

    Legs = dict[str, dict[str, float]]  # reason to path to score
    Ways = dict[str, Step]  # id to the way there from a file at hand

BY_GLOB, ITSELF = 0.7, 0.9
"""Scores of a record tied to a file by a glob, and of the file; other anchors score 1."""

FILES_WEIGHT = 0.5
"""Share of nearness to a file at hand that adds to the fused score. Set by hand."""

MARKS = {"@git": "no file has changed in", "@session": "no session has edited files in"}
"""Instead of a glob: files with changes in the work tree, and ``likely`` files."""


def files_near(store: Store, near: Near, notes: list[str]) -> list[str]:
    """Return the files as the store spells them; add a note for a glob without a match.

    Raises:
        LoreError: a glob outside the project; ``@git`` outside a work tree.
    """
    project = Project(near.root)
    found = {glob: [*_meant(store, project, glob)] for glob in near.globs}
    lacking = [MARKS.get(one, f"'{one}' matches no file in") for one in found if not found[one]]
    if lacking:
        notes.append(first_of([f"{said} {near.root}" for said in lacking]))
    return [*dict.fromkeys(path for some in found.values() for path in some)]


def _meant(store: Store, project: Project, glob: str) -> Iterable[str]:
    """Return the files of a mark, path, folder or glob: known files, or files on disk if none
    matches or records are tied by globs."""
    root = project.root
    if glob == "@session":
        return likely_files(store, root)
    if glob == "@git":
        changed = project.git.changed()
        return [path for path in changed if path.isprintable() and path[:6] != ".lore/"]
    place = os.path.join(root, glob)
    if os.path.lexists(place) and not os.path.isdir(place):
        return [relative(root, place, glob)]
    pattern, kept = relative_glob(root, root, glob), root_to_keep(store, root)
    if os.path.isdir(place):
        pattern = f"{literal(pattern)}/**"
    elif store.nodes.match(Scope(), [file_id(pattern)]):
        return [pattern]
    wanted = Glob(pattern)
    found = set(filter(wanted.matches, store.anchors.paths(kept, wanted.head)))
    if not found or store.anchors.globs(kept):
        found.update(project.matching(pattern))
    return sorted(found)


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
    ties |= {one: 1.0 for path in files for one in store.nodes.documents(path, kept)}
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
    scope = scope.but(excluded=frozenset(query.excluded))
    live = query.store.nodes.match(scope, [*ways])
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


# --- likely files: legs, each relative to the best file, are added by their shares

SHARES = {
    "named in the prompt": 1.0,
    "edited in your last sessions here": 0.3,
    "edited in the last sessions on this branch": 1.0,
    "edited in the last sessions": 0.2,
    "has words of the prompt": 0.5,
    "has a name like the prompt's words": 0.5,
}
"""The share of each leg, by the reason. Chosen on half of entireio/cli; ``NAMED`` 1.5 and ``PATH``
0.2 are worse on the other half."""

NAMED, HERE, ON_BRANCH, EVERYWHERE, CONTENT, PATH = SHARES

A_SESSION_BACK, LATEST = 0.7, 15
"""Factor of a session per session since, and maximum sessions: 0.85, 1, 4 and 30 are alike."""

MOST_LIKELY = 5

_LOOKED_UP = 30  # names with a dot in a prompt
_BESIDE_PATHS = str.maketrans(dict.fromkeys("`'\"()[]{}<>,;*?|", " "))
_SHARED_BRANCHES = frozenset(("", "develop", "main", "master", "trunk"))


def is_long_enough(text: str) -> bool:
    """Return True for a text long enough for a task: 3 and 6 are alike, 12 loses four points."""
    return len(words(text)) >= (4 if text.isascii() else 3)


def likely_files(store: Store, root: str, text: str = "", session: str = "") -> dict[str, str]:
    """Return the paths of the ``MOST_LIKELY`` files to be changed next, best first, each with the
    strongest reason.

    ``text`` is a prompt. The edits of ``session`` do not count.

    Raises:
        StoreError: the store cannot be read.
    """
    legs = _of_sessions(root, session)
    text = text[:MAX_QUERY]
    legs[NAMED] = _named(store, root, text)
    if is_long_enough(text) and store.whole_files.is_there():
        like = whole_texts(store, parse_query(text))
        for reason, leg in ((CONTENT, WHOLE), (PATH, "path")):
            legs[reason] = {path_of(id): score for id, score in like[leg].items()}
    worths: Legs = {}
    for reason, share in SHARES.items():
        for path, score in relative_scores(legs.get(reason, {})).items():
            worths.setdefault(path, {})[reason] = share * score
    best = best_first({path: sum(own.values()) for path, own in worths.items()})
    there = (path for path in best if best[path] and os.path.isfile(os.path.join(root, path)))
    return {
        path: max(worths[path], key=worths[path].__getitem__) for path in islice(there, MOST_LIKELY)
    }


def _of_sessions(here: str, session: str) -> Legs:
    """Return the edits of the latest sessions: in this folder, on this branch, and all."""
    recent = part("capture", "events")
    if recent is None:
        return {}
    sessions = [one for one in recent.recent_sessions(here) if one.name != session]
    branch, place = recent.branch_of(here), os.path.realpath(here)
    along = [one for one in sessions if one.branch == branch and branch not in _SHARED_BRANCHES]
    own = [one for one in sessions if os.path.realpath(one.folder) == place]
    legs: Legs = {HERE: {}, ON_BRANCH: {}, EVERYWHERE: {}}
    for leg, some in zip(legs.values(), (own, along, sessions), strict=True):
        for back, one in enumerate(some[:LATEST]):
            for at, path in enumerate(reversed(one.files)):
                # the first edit of a session is nearly as far back as the session before
                far = back + at / len(one.files)
                leg[path] = leg.get(path, 0.0) + A_SESSION_BACK**far
    return legs


def _named(store: Store, root: str, text: str) -> dict[str, float]:
    """Return the files with paths or names in a text, or with a definition of a name in it: the
    more files have a name, the less each counts."""
    scores = {path_of(id): share for id, share in defining(store, text).items()}
    parts = text.translate(_BESIDE_PATHS).split()
    names = (part.removeprefix(f"{root}/").strip(".:@").partition(":")[0] for part in parts)
    dotted = (name for name in dict.fromkeys(names) if "." in name[1:] and name.isprintable())
    for name in islice(dotted, _LOOKED_UP):
        inside = name[0] != "/" and ".." not in name
        files = [name] if inside and os.path.isfile(os.path.join(root, name)) else []
        if not files:
            stem = os.path.splitext(os.path.basename(name))[0]
            known = store.whole_files.named(words(stem.casefold()))
            files = [path for path in known if f"/{path}".endswith(f"/{name}")]
        for path in files:
            scores[path] = max(1 / len(files), scores.get(path, 0.0))
    return scores
