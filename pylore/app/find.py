"""Find and show: search, related, path, show, context; bound, record and audit results.

Every search imports this module: other modules are imported in functions. Arguments of several
words may be a single text. All raise UsageError for a wrong type, relation, date or
setting, LoreError for a missing node or file, and StoreError.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, StoreBusy, StoreError, UsageError
from ..core.json import require_storable
from ..core.vocabulary import CODE_TYPES, RUN_IDS, literal
from ..store.filter import Scope, require_statuses
from ..system import part
from ..system.files import lstamp_of, spelled
from ..terminal import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..context.build import Context
    from ..core.model import Hit, Hits
    from ..core.settings import Settings
    from ..store import Store
    from . import Engine

_LEAST_BUDGET = 64  # tokens; no record fits in less
_MOST_RUNS = 200  # newest runs that are audited
_PATIENCE = 0.5  # seconds to wait for other writers: the results are out, and the caller waits
_QUERY_LENGTH = 500  # maximum characters of a stored query


def words(given: Iterable[str]) -> tuple[str, ...]:
    """Return several words from an iterable or a single text."""
    return (given,) if isinstance(given, str) else tuple(given)


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

    Args:
        near: files (globs from the root, ``@git``, ``@session``); nodes tied to them are found.
        types, statuses: limit the results.
        tags, files, since: limit the start of the walk, with ``filter_expanded`` the results too;
            ``since`` is a date, or an age as ``7d``.
        min_score: leave out lower scores, 0 to 1.
        exclude: ids that are neither returned nor entered.
        explain: return the factors of each score, and the places of the query's words.
        operators: read the operators of the query (``core.query``).
    """
    from ..search import Near, pipeline

    store, globs = engine.store, words(near)
    request = pipeline.Request(
        query,
        scope(store, types=types, statuses=statuses, tags=tags, files=files, since=since),
        filter_expanded=filter_expanded,
        min_score=min_score,
        explain=explain,
        excluded=[*map(store.complete_id, words(exclude))],
        near=Near(engine.root, globs) if globs else None,
        operators=operators,
    )
    embedder = engine.embedder
    with store.snapshot():
        found = pipeline.search(store, engine.settings, request, embedder)
    if engine.root and not engine.settings.on:
        found.notes += _changed_since(engine, found)
    return found


def _changed_since(engine: Engine, found: Hits) -> list[str]:
    """Return a note about the first file of the results that has changed since it was read."""
    paths = [hit.file for hit in found if hit.file]
    stamps = engine.store.documents.stamps(paths) if paths else {}
    return [
        f"{path} has changed since lore read it: run 'lore index', or 'lore import' for documents"
        for path, stamp in stamps.items()
        if stamp and lstamp_of(os.path.join(engine.root, path)) != stamp
    ][:1]


def scope(
    store: Store,
    *,
    types: Iterable[str] = (),
    statuses: Iterable[str] = (),
    tags: Iterable[str] = (),
    files: Iterable[str] = (),
    since: str = "",
    until: str = "",
) -> Scope:
    """Return the conditions on nodes; ``since`` and ``until`` are dates, or ages as ``7d``."""
    if since or until:
        from ..core.times import parse_since, parse_until

        since, until = since and parse_since(since), until and parse_until(until)
    exact = {path for path in words(files) if os.path.isfile(os.path.join(store.project, path))}
    return Scope(
        types=store.types.require(words(types)),
        statuses=require_statuses(words(statuses)),
        tags=words(tags),
        files=tuple(literal(path) if path in exact else path for path in words(files)),
        since=since,
        until=until,
    )


def related(
    engine: Engine,
    names: Iterable[str] = (),
    *,
    near: Iterable[str] = (),
    hops: int = 1,
    types: Iterable[str] = (),
    exclude: Iterable[str] = (),
    explain: bool = False,
    here: str = "",
    limit: int = 0,
    symbols: bool = False,
) -> Hits:
    """Return the nodes that a walk from nodes and files reaches.

    Args:
        names: ids, or paths of files from the folder ``here``, else from the project's root.
        near: globs of files.
        limit: maximum results; 0 returns all.
        symbols: with the symbols that the files define.
    """
    from ..core.settings import BY_NAME
    from ..search import Near
    from ..search.expand import related as walk_from

    most = int(BY_NAME["graph_depth"].high)
    if not 1 <= hops <= most:
        raise UsageError(f"hops is {hops}: give a whole number from 1 to {most}")
    store, settings = engine.store, engine.changed([("graph_depth", str(hops))], "hops").settings
    wanted = store.types.require(words(types))
    with store.snapshot():
        found = [_named(engine, name, here) for name in words(names)]
        ids = [name for name in found if store.nodes.get(name) is not None]
        files = [_path(engine, name, here) for name in found if name not in ids]
        globs = (*words(near), *files)
        hits = walk_from(
            store,
            settings,
            ids,
            Near(engine.root, globs) if globs else None,
            types=wanted,
            excluded=[*map(store.complete_id, words(exclude))],
            explain=explain,
            symbols=symbols,
        )
    del hits[limit or len(hits) :]
    return hits


def _named(engine: Engine, name: str, here: str) -> str:
    """Return the id that a name means; return a path, or a possible path, without line numbers."""
    path, _, lines = name.rpartition(":")
    for one in (name, path) if path and lines.replace("-", "").isdigit() else (name,):
        is_path = any(os.path.lexists(os.path.join(folder, one)) for folder in (here, engine.root))
        found = engine.store.resolve_id(one) if is_path else engine.store.complete_id(one)
        if is_path or engine.store.nodes.get(found) is not None:
            break
    return found


def _path(engine: Engine, name: str, here: str) -> str:
    """Return a mark, or the path from the root that a name means: from ``here`` if it exists."""
    from ..anchors.project import relative
    from ..search import Near
    from ..search.file_context import MARKS, files_near

    if name in MARKS:
        return name
    if here and os.path.lexists(spelled(os.path.join(here, name))):
        return relative(engine.root, os.path.join(here, name), name)
    if not files_near(engine.store, Near(engine.root, [name]), []):
        if name.partition("-")[0] in engine.store.types.all() or not {*"/."} & {*name}:
            engine.store.nodes.require(name)
        path, _, symbol = name.partition("::")
        if symbol:
            raise LoreError(f"no symbol '{symbol}' in {path}: list all with --type symbol")
        raise LoreError(f"{name}: no such file, also not in the store: check the name")
    return name


def path(engine: Engine, from_id: str, to_id: str, max_hops: int | None = None) -> dict[str, Any]:
    """Return ``{from, to, hops, path, edges}``; ``hops`` is None without a path."""
    from ..graph.queries import path as shortest_path

    store = engine.store
    first, last = (store.nodes.require(store.complete_id(id)).id for id in (from_id, to_id))
    return shortest_path(store, engine.settings, first, last, max_hops)


def show(
    engine: Engine, ids: Iterable[str], *, history: bool = False, unknown: list[str] | None = None
) -> list[dict[str, Any]]:
    """Return nodes with all their fields and live edges; with ``history``, also their past. An
    unknown id raises LoreError, or adds the message to ``unknown``, if given."""
    from ..records.show import shown

    found, store = [], engine.store
    with store.snapshot():
        for id in words(ids):
            try:
                found.append(shown(store, store.complete_id(id), history=history))
            except LoreError as error:
                if unknown is None or isinstance(error, StoreError):
                    raise
                unknown.append(str(error))
    return found


def context(
    engine: Engine,
    question: str,
    *,
    form: str = "narrative",
    types: Iterable[str] = (),
    files: Iterable[str] = (),
    needed: Iterable[str] = (),
    with_superseded: bool = False,
) -> Context:
    """Return a text on a question, with the ids in it; the setting ``budget`` is the limit.

    Args:
        question: words, or the id of a task.
        form: narrative, prompt, json, code (a prompt without a diagram) or mermaid.
        files: globs of files that everything comes from.
        needed: further names of symbols, paths and questions that the answer needs.
        with_superseded: include superseded facts, marked so.
    """
    from ..context.build import build
    from ..context.results import FORMS, ContextBrief, wider
    from ..search import Near

    if form not in FORMS:
        raise UsageError(f"unknown form '{form}': give {', '.join(FORMS)}")
    store, settings, embedder = engine.store, engine.settings, engine.embedder
    if not settings.origins.get("graph_depth"):  # connected records are two hops away
        settings = settings.changed([("graph_depth", "2")], "default:graph_depth")
    files = _without_marks(engine, words(files))
    brief = ContextBrief(
        store.resolve_id(question),
        form=form,
        budget=settings.budget,
        root=engine.root,
        scope=scope(store, types=types, files=files),
        needed=tuple(map(store.resolve_id, words(needed))),
        near=Near(engine.root, files) if files else None,
        with_superseded=with_superseded,
    )
    with store.snapshot():
        return build(store, wider(settings), brief, embedder)


def _without_marks(engine: Engine, globs: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs, with files in place of marks."""
    if not any(name.startswith("@") for name in globs):
        return globs
    from ..search import Near
    from ..search.file_context import MARKS, files_near

    marks = [name for name in globs if name in MARKS]
    files = files_near(engine.store, Near(engine.root, marks), [])
    return (*(name for name in globs if name not in marks), *map(literal, files)) or globs


def context_within(engine: Engine, question: str, text_bytes: int = 0, **options: Any) -> Context:
    """Return a context whose text has at most ``text_bytes``, or whose JSON ``max_bytes``.

    ``options`` are as for ``context``. First the names of withheld nodes are dropped,
    then the budget is lowered, with a note.
    """
    most, notes = text_bytes or engine.settings.max_bytes, list[str]()
    while True:
        found = context(engine, question, **options)
        found.notes += notes
        if most and not text_bytes and size(found.to_row()) > most:
            found.withheld = []
        taken = len(found.text.encode()) if text_bytes else size(found.to_row())
        if not most or taken <= most:
            return found
        budget = found.tokens_used * most // taken * 9 // 10
        if budget < _LEAST_BUDGET:
            raise LoreError(f"no result fits: max_bytes is {most}")
        engine = engine.changed([("budget", str(budget))], "max_bytes")
        notes = [f"the budget is {budget} tokens: max_bytes is {most}"][bool(text_bytes) :]


# --- runs: records of shown results never fail, and run after the output


def record_shown(engine: Engine, query: str, ids: Iterable[str]) -> list[str]:
    """Record ids, best first, and the redacted query in the run of the settings, if any; return a
    note on a failure."""
    store, run = engine.store, engine.settings.run
    if not run:
        return []
    try:
        if not store.writable:
            raise LoreError("the store cannot be written")
        with store.aside(_PATIENCE):
            if (state := store.impressions.state(run)) != "open":
                unknown = f"no run '{run}': see 'lore run list'"
                raise LoreError(f"the run {run} is {state}" if state else unknown)
            require_storable(query)
            if log := part("capture", "event_log"):
                (query,) = log.without_tokens_in([query])
            records = [id for id in ids if not id.startswith(RUN_IDS)]
            store.impressions.show(run, records, query[:_QUERY_LENGTH])
        return []
    except LoreError as error:
        why = "the store is busy" if isinstance(error, StoreBusy) else error
        return [f"what was shown is not recorded: {why}"]


def keep_question(
    engine: Engine, source: str, question: str, hits: Iterable[Hit], session: str = ""
) -> None:
    """Log a question as an event unless a record or a page matches.

    ``capture gaps`` decides if the first result is code.
    """
    found = [*hits]
    is_of_code = len(question.split()) >= 3 and found and found[0].type in CODE_TYPES
    is_answered = any(not hit.weak for hit in found) and not is_of_code
    if is_answered or not engine.settings.events_days or not question.strip():
        return
    from contextlib import suppress

    name = session or engine.settings.run or f"shell-{os.getsid(0)}"
    if log := part("capture", "event_log"):
        with suppress(OSError):
            log.append_event(source, name, "question", engine.root, [], ok=False, text=question)


def audit(store: Store, settings: Settings, run: str = "") -> dict[str, Any]:
    """Return ``coverage`` and ``diversity`` of the newest live runs, or of ``run``.

    ``coverage`` has the number of runs, ``finished`` runs, and records ``shown`` and ``rated``.
    ``diversity`` counts ``answers`` with enough first results in the store, with the mean ``share``
    of the most frequent category.
    """
    from ..search.rank import SAME_CATEGORY, TOP

    answers: dict[tuple[str, str], list[str]] = {}
    with store.graph_faults:
        runs = store.impressions.summaries(run or None, _MOST_RUNS)
        for of_run, query, id in store.impressions.tops([row[0] for row in runs], TOP):
            answers.setdefault((of_run, query), []).append(id)
        known = [ids for ids in answers.values() if len(ids) > SAME_CATEGORY]
        every = {id for ids in known for id in ids}
        categories = store.nodes.categories([*every], settings.category_tags)
    shares = []
    for ids in known:
        found = [categories[id] for id in ids if categories.get(id)]
        shares.append(max(map(found.count, found), default=0) / len(ids))
    coverage = {
        "runs": len(runs),
        "finished": sum('"finished_at"' in row[1] for row in runs),
        "shown": sum(row[3] + row[4] for row in runs),
        "rated": sum(int(row[5] + row[6]) for row in runs),
    }
    share = round(sum(shares) / max(1, len(shares)), 3)
    return {"coverage": coverage, "diversity": {"answers": len(shares), "share": share}}
