"""What ties records to code: attaching, judging, taking away."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from shlex import quote
from typing import Any

from ..anchors.attach import place_anchor, remove_anchors
from ..anchors.claims import rule_text
from ..anchors.fingerprint import line_numbers
from ..anchors.project import (
    Project,
    matches,
    relative,
    relative_glob,
    root_to_keep,
)
from ..anchors.verify import Verified, judge_kept, require_anchors, rows
from ..anchors.verify import verify as verify_anchors
from ..code import cochanges
from ..code import reader as code_reader
from ..core.errors import UsageError
from ..core.vocabulary import BROKEN
from ..embed.prefetch import Ahead
from ..indexing.indexer import write_nodes
from ..records.fields import split_location
from ..store.anchors import Anchor
from ..store.resolve_id import complete_id, complete_ids
from ..system.git import Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..code.cochanges import CoChanges
    from .engine import Engine


KINDS = ("glob", "hash", "symbol", "lines", "rule")
_OPTION = {kind: f" --{kind}" for kind in KINDS}


def anchors_of(engine: Engine, id: str) -> list[dict[str, Any]]:
    """Return the anchors of a node, as ``lore anchor ID`` prints them.

    Raises:
        LoreError: there is no such node.
    """
    store = engine.store
    return rows(store, store.anchors.of(store.nodes.require(complete_id(store, id)).id))


def anchor(
    engine: Engine,
    id: str,
    file: str,
    kind: str = "",
    detail: str = "",
    *,
    here: str = "",
    source: str = "user_edit",
) -> dict[str, Any]:
    """Tie a node to code; return the anchor as a row with its ``state``.

    Args:
        file: ``FILE``, ``FILE:10-20`` or a glob, from the folder ``here`` or the project's root.
        kind: one of ``KINDS``, or empty: the lines of ``FILE:10-20``, else the whole file.
        detail: the symbol, the lines as ``10-20``, or a rule as ``Claim.detail``.
        source: an anchor of a conversation is staged.

    Raises:
        LoreError: no such node, file or symbol; the path leaves the project.
        UsageError: ``detail`` does not give lines.
    """
    store, project = engine.store, Project(engine.root)
    wanted = _wanted(engine, project, id, file, kind or None, detail, here)
    ahead = Ahead(store, lambda: engine.embedder)
    placed, state = ahead.settled(lambda: place_anchor(
        store, lambda nodes: write_nodes(store, ahead.given, nodes), project, wanted,
        code_reader, source,
    ), "anchor")  # fmt: skip
    return {**rows(store, [placed])[0], "state": state}


def left_invalid(engine: Engine, id: str, here: str) -> list[str]:
    """Return what to say of a node's anchors whose code is gone: the commands that take them away.

    They are for somebody in the folder ``here``.
    """
    root = root_to_keep(engine.store, engine.root)
    ways = [
        f"lore anchor {id} --rule {quote(rule_text(one))} --remove"
        if one.kind == "rule"
        else f"lore anchor {id} {quote(os.path.relpath(os.path.join(engine.root, one.path), here))}"
        f"{_OPTION.get(one.kind, '')}{' ' + quote(one.detail) if one.detail else ''} --remove"
        for one in engine.store.anchors.of(id)
        if one.verdict == "invalid" and one.root == root
    ]
    return [f"an older anchor of it is invalid: '{way}' takes it away" for way in ways]


def unanchor(
    engine: Engine, id: str, file: str, kind: str = "", detail: str = "", *, here: str = ""
) -> list[dict[str, Any]]:
    """Take away the anchors of a node to a file, of any kind where none is named; as rows.

    Raises:
        LoreError: there is no such anchor.
    """
    store = engine.store
    wanted = _wanted(engine, Project(engine.root), id, file, kind, detail, here)
    with store.transaction("anchor"):
        removed = remove_anchors(store, wanted)
    return [{**row, "state": "removed"} for row in rows(store, removed)]


def verify(
    engine: Engine,
    ids: Sequence[str] = (),
    progress: Callable[[int], None] = lambda done: None,
    since: str = "",
) -> Verified:
    """Judges the anchors of these nodes, or of all, and keeps the verdicts.

    With ``since``, a commit, rules know the violations that it has instead of their own.

    Raises:
        LoreError: a node has no anchors; ``since`` is not a commit.
    """
    ids = complete_ids(engine.store, ids)
    require_anchors(engine.store, ids)
    since = Git(engine.root).revision(since) if since else ""
    return verify_anchors(
        engine.store, lambda: engine.embedder, ids, reader=code_reader, since=since,
        progress=progress,
    )  # fmt: skip


def count_anchors(engine: Engine, ids: Sequence[str] = ()) -> int:
    """Return how many anchors ``verify`` would judge."""
    return len(engine.store.anchors.live(complete_ids(engine.store, ids)))


def verified_rows(
    engine: Engine, found: Verified, *, changed: bool = False
) -> list[dict[str, Any]]:
    """Return what was judged, as rows; only what has ``changed``, if that is asked for."""
    shown = [
        new for old, new in found.found
        if not changed or (old.key, old.verdict) != (new.key, new.verdict)
    ]  # fmt: skip
    return rows(engine.store, shown, found.claims)


def broken_rows(engine: Engine, found: Verified) -> list[dict[str, Any]]:
    """Return what no longer holds, as rows."""
    broken = [new for _, new in found.found if new.verdict in BROKEN]
    return rows(engine.store, broken, found.claims)


def kept_verdicts(engine: Engine) -> Verified:
    """Return the verdicts as they are kept: no file is looked at."""
    return judge_kept(engine.store)


def anchors_for_file(engine: Engine, file: str) -> list[dict[str, Any]]:
    """Return the anchors whose file this is, globs that match it included, as rows."""
    store = engine.store
    path = relative(engine.root, os.path.join(engine.root, file), file)
    kept = root_to_keep(store, engine.root)
    ids = [id for id, _ in store.anchors.about(kept, [path])]
    ids += [id for id, glob, _ in store.anchors.globs_like(kept, [path]) if matches(glob, path)]
    found = [
        one
        for id in dict.fromkeys(ids)
        for one in store.anchors.of(id)
        if one.path == path or (one.kind == "glob" and matches(one.path, path))
    ]
    return rows(store, found)


def _wanted(
    engine: Engine, project: Project, id: str, file: str, kind: str | None, detail: str, here: str
) -> Anchor:
    """Return the anchor that is described; with the kind None that of the whole file."""
    path, first, last = split_location(file)
    if first is not None and not kind:
        kind, detail, file = "lines", f"{first}-{last}", path
    if kind == "lines":
        first, last = line_numbers(detail)
        first, last = sorted((first, last))
        if first == 0:
            raise UsageError(f"--lines is '{detail}': give FIRST-LAST, as 10-20")
        detail = f"{first}-{last}"
    if kind == "symbol":
        detail = detail.replace("::", ".")
    kind = "file" if kind is None else kind
    here = here or project.root
    if kind in ("glob", "rule"):
        path = relative_glob(project.root, here, file)
    else:
        path = relative(project.root, os.path.join(here, file), file)
    root = root_to_keep(engine.store, project.root)
    return Anchor(complete_id(engine.store, id), kind, path, detail, root)


COMPACT_FROM = 1000
"""An index that adds this many files is followed by a compaction: of 147 s for 9,000 files it
takes 2, and the store is 3 % smaller."""


def index(
    engine: Engine,
    below: str = "",
    *,
    languages: Iterable[str] = (),
    since: str = "",
    history: bool = True,
    progress: Callable[[int, int], None] = lambda done, total: None,
    left_out: Callable[[str, str], None] = lambda path, why: None,
    stage: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Bring the store in step with the files; return counts of what it holds then.

    Args:
        below: a folder of the project; all of it if empty.
        since: a commit: only files that differ from it are looked at.
        history: count co-changes too, where they are due.
        progress: is called with the number of files that are done, and of all.
        left_out: is called with each file that is not read, and why.
        stage: is called with what is done with the history, how much of it, and of how much.

    Raises:
        LoreError: no such folder or commit, ast-grep is missing, a language is not known.
    """
    from ..code.index import below_root
    from ..code.index import index as index_files

    engine = engine.whole()

    below = below_root(engine.root, below) if below else ""
    found = index_files(
        engine.store, engine.settings, lambda: engine.embedder, engine.root, below=below,
        languages=tuple(languages), since=since, progress=progress,
        left_out=left_out,
    )  # fmt: skip
    found["cochanges"] = None
    if history and cochanges.cochanges_are_due(engine.store):
        found["cochanges"] = cochanges.counted_cochanges(
            engine.store, lambda: engine.embedder, engine.root, stage
        )
    if found["added"] >= COMPACT_FROM:
        with engine.store.faults:
            engine.store.compact()
    return found


def analyze_cochanges(
    engine: Engine,
    *,
    since: str = "",
    keep_commits: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> CoChanges:
    """Return which files change together, from the history since a time as git takes it.

    ``progress`` hears what is done, how much of it, and of how much.

    Raises:
        LoreError: the root is not a git repository with a commit.
    """
    engine = engine.whole()
    Git(engine.root).require()
    return cochanges.analyze_cochanges(
        engine.store, lambda: engine.embedder, engine.root, since=since,
        keep_commits=keep_commits, progress=progress,
    )  # fmt: skip
