"""Search, and what is recorded of it. Every search imports this: nothing heavy here."""

from __future__ import annotations

from ..search.pipeline import Request
from ..search.pipeline import search as run_pipeline
from ..store.filter import Scope, require_statuses
from ..store.resolve_id import complete_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.model import Hit, Hits
    from ..search.query import Near
    from .engine import Engine


def search(
    engine: Engine,
    query: str = "",
    *,
    near: Iterable[str] = (),
    types: Iterable[str] = (),
    statuses: Iterable[str] = (),
    tags: Iterable[str] = (),
    files: Iterable[str] = (),
    since: str = "",
    filter_expanded: bool = False,
    min_score: float = 0.0,
    exclude: Iterable[str] = (),
    explain: bool = False,
    operators: bool = False,
) -> Hits:
    """Return the matches, best first, and the nodes connected to them, with notes for a person.

    ``near`` names files (globs from the project's root, ``@git`` or ``@session``) whose related
    nodes are found as well. ``types`` and ``statuses`` limit the results. ``tags``, ``files``
    (globs) and ``since`` (a date, or an age as ``7d``) limit where the walk starts; with
    ``filter_expanded`` they limit the results too. Results below
    ``min_score`` (0 to 1) are left out. ``exclude`` are ids. ``operators`` reads those
    of the query (``core.query``). With ``explain`` the results also say where its words are
    in their snippets.

    Raises:
        UsageError: a type, a status, a relation, a date or a setting is wrong.
        StoreError: the store cannot be read.
    """
    scope = Scope(
        types=engine.store.types.require(tuple(types)),
        tags=tuple(tags),
        statuses=require_statuses(tuple(statuses)),
        files=tuple(files),
        since=_since(since) if since else "",
    )
    request = Request(
        query,
        scope,
        filter_expanded=filter_expanded,
        min_score=min_score,
        explain=explain,
        excluded=complete_ids(engine.store, tuple(exclude)),
        near=near_files(engine, tuple(near)),
        operators=operators,
    )
    embedder = engine.embedder
    with engine.store.snapshot():
        found = run_pipeline(engine.store, engine.settings, request, embedder)
    if explain:
        found.marked = query
    return found


def near_files(engine: Engine, globs: tuple[str, ...]) -> Near | None:
    """Return the files at hand; None where there are none."""
    if not globs:
        return None
    from ..search.query import Near

    return Near(engine.root, globs)


def globs_of(engine: Engine, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs, those of the files that a mark stands for in its place."""
    if not any(name.startswith("@") for name in names):
        return names
    from ..search.file_context import MARKS, files_near, literal
    from ..search.query import Near

    marks = [name for name in names if name in MARKS]
    files = files_near(engine.store, Near(engine.root, marks), [])
    return (*(name for name in names if name not in marks), *map(literal, files)) or names


def record_shown(engine: Engine, query: str, found: Hits) -> list[str]:
    """Records the results in the run of the settings, if there is one; notes for a person.

    Call it when the results are out. It never fails.
    """
    return record_ids(engine, query, [hit.id for hit in found]) if engine.settings.run else []


def record_ids(engine: Engine, query: str, ids: Iterable[str]) -> list[str]:
    """Return the same for what is not a list of results: ``ids`` in the order of their worth."""
    if not engine.settings.run:
        return []
    from ..records.impressions import keep_shown

    said = keep_shown(engine.store, engine.settings, query, ids)
    return [said] if said else []


def keep_question(
    engine: Engine, source: str, question: str, hits: Iterable[Hit], session: str = ""
) -> None:
    """Note a question in the log of events if none of its results is sure: see ``capture gaps``.

    It never fails.
    """
    if not engine.settings.events_days or not question.strip():
        return
    if any(not hit.weak for hit in hits):
        return
    from os import getsid

    from ..system.parts import part

    log = part("capture", "event_log")
    if log is None:
        return
    name = session or engine.settings.run or f"shell-{getsid(0)}"
    try:
        log.append_event(source, name, "question", engine.root, [], ok=False, text=question)
    except OSError:
        return  # what was asked is answered all the same


def _since(text: str) -> str:
    from ..core.times import parse_since

    return parse_since(text)
