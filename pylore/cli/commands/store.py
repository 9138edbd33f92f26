"""backup and restore-backup."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...core.errors import LoreError, UsageError
from ...embed import open_embedder
from ...indexing.reembed import Cost, Embedding
from ...store import FILE
from ...store import backup as backups
from ...system import stores
from ...system.projects import project_of
from ...terminal.screen import Progress
from ...terminal.text import each
from ..runtime import data_folder, forms_in, project_folder, require_utf8
from ..session import Session

if TYPE_CHECKING:
    from ...store import Store


def backup(path: str, force: bool, **options: Any) -> None:
    session = Session(options)
    _require_file(path, "a backup cannot go through a pipe, 'lore export' can")
    session.open_whole("backup").close()  # what is wrong with the store is said as by any command
    with Progress("copying", _STEPS, kept="there is no new backup") as advance:
        done = backups.back_up(
            data_folder(), path, force=force, busy_timeout=session.settings.busy_timeout,
            progress=_Steps(advance),
        )  # fmt: skip
    row = {"file": done.file, "bytes": done.bytes, "nodes": done.nodes, "edges": done.edges}
    session.output.one(row, _text)


def restore_backup(path: str, **options: Any) -> None:
    session = Session(options)
    session.require_whole("restore-backup")
    _require_file(path, "a backup is a file, 'lore import -' reads an export")
    with Progress("restoring", _STEPS, kept="the store is as it was") as advance:
        done = backups.restore_backup(
            data_folder(), path, busy_timeout=session.settings.busy_timeout,
            progress=_Steps(advance),
        )  # fmt: skip
    if done.kept:
        session.say([f"what was there is kept in {done.kept}"])
    row = {"file": done.file, "bytes": done.bytes, "nodes": done.nodes, "edges": done.edges,
           "kept": done.kept}  # fmt: skip
    session.output.one(row, _text)


_STEPS = 100


class _Steps:
    """Turns the part that is done into steps of a bar."""

    def __init__(self, advance: Any) -> None:
        self._advance = advance
        self._done = 0

    def __call__(self, part: float) -> None:
        now = int(part * _STEPS)
        self._advance(now - self._done)
        self._done = now


def _require_file(path: str, instead: str) -> None:
    if path in ("-", ""):
        raise UsageError(f"a file is needed: {instead}")
    require_utf8(path, "the file")


def _text(row: dict[str, Any]) -> str:
    return f"{row['file']}: {row['nodes']} nodes, {row['edges']} edges, {row['bytes']} bytes\n"


def path(**options: Any) -> None:
    if not forms_in(options) and options.get("jq") is None:
        options["as_text"] = True  # for $(lore store path)
    session = Session(options)
    if project_folder() and not os.path.exists(os.path.join(data_folder(), FILE)):
        session.open().close()  # it is made by the first command
    row = {"id": os.path.join(data_folder(), FILE), "project": project_folder()}
    session.output.one(row, lambda row: f"{row['id']}\n")


def list_stores(gone: bool, **options: Any) -> None:
    session = Session(options)
    rows = [_row(*one) for one in stores.stores()]
    rows = [row for row in rows if row["state"] == "gone" or not gone]
    session.output.list(rows, each(_stores_text))


def adopt(store: str, **options: Any) -> None:
    session = Session(options)
    if not project_folder():
        raise LoreError("no project here to adopt a store for: run this in its folder")
    folder, own = stores.adopt(_named(store), project_folder())
    row = _row(os.path.basename(folder), project_of(folder), folder)
    session.say([f"the store that was here is kept as {os.path.basename(own)}"] if own else [])
    session.output.one({**row, "state": "adopted"}, _stores_text)


def remove(store: str, **options: Any) -> None:
    session = Session(options)
    found = stores.gone_store(_named(store))
    row = {**_row(*found), "state": "removed"}
    stores.remove(found[-1])
    session.output.one(row, _stores_text)


def _named(word: str) -> str:
    """Return the name of a store, or the whole path of a folder, which need not exist."""
    if "/" not in word and word not in (".", ".."):
        return word
    above, name = os.path.split(os.path.abspath(require_utf8(word, "the folder")))
    return os.path.join(os.path.realpath(above), name)


def _row(name: str, place: str, store: str) -> dict[str, Any]:
    file = os.path.join(store, FILE)
    state = "gone" if stores.is_gone(name, place, store) else "present"
    size = os.path.getsize(file) if os.path.exists(file) else 0
    return {"id": name, "folder": place, "state": state, "bytes": size, "file": file}


def _stores_text(row: dict[str, Any]) -> str:
    return f"{row['state']:<8} {row['bytes']:>12}  {row['folder']}  {row['id']}\n"


def embed(verbs: tuple[str, ...], dry_run: bool, **options: Any) -> None:
    session = Session(options)
    if len(set(verbs)) != 1:
        raise UsageError("embed takes one of --all, --missing, --status: see 'lore embed --help'")
    verb = verbs[0]
    if verb == "status":
        if dry_run:
            raise UsageError("--dry-run goes with --all and --missing: see 'lore embed --help'")
        _status(session)
    else:
        _embed(session, all=verb == "all", dry_run=dry_run)


# --- vectors


_KEPT = "what is embedded is kept, and the same command goes on from there"


def _embed(session: Session, *, all: bool, dry_run: bool) -> None:
    with session.open_whole("embed") as store, store.faults:
        embedder = open_embedder(session.settings.embedder, store, session.settings, anew=all)
        if embedder is None:
            raise UsageError("the embedder is none: choose another, or drop the vectors with "
                             "'lore reindex --embedder none'")  # fmt: skip
        run = Embedding(store, embedder, all=all)
        cost = run.cost()
        session.say([_cost_text(cost, embedder.name)])
        row = {"embedder": embedder.name, "dimension": embedder.dimension,
               "passages": cost.passages, "kept": cost.kept}  # fmt: skip
        if dry_run:
            row["seconds"] = round(cost.seconds, 1)
        else:
            with Progress("embedding", cost.passages, kept=_KEPT) as advance:
                row["passages"] = run.run(advance)
            _after(session, store)
    session.output.one(row, lambda row: f"{row['passages']} passages, {row['embedder']}, "
                       f"{row['dimension']} dimensions\n")  # fmt: skip


def _after(session: Session, store: Store) -> None:
    store.compact()
    if session.settings.origins.get("embedder", "").startswith("flag:"):
        session.say([f"to search with these vectors, set embedder={session.settings.embedder} "
                     "in your config"])  # fmt: skip


def _cost_text(cost: Cost, name: str) -> str:
    kept = f", {cost.kept:,} have theirs from an interrupted run" if cost.kept else ""
    return (f"{cost.passages:,} passages to embed by {name}{kept}: about "
            f"{_duration(cost.seconds)} ({cost.a_second:,.0f} a second)")  # fmt: skip


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1.0, seconds):.0f} seconds"


def _status(session: Session) -> None:
    with session.open_whole("embed") as store, store.faults, store.snapshot():
        held = store.meta.get("embedder")
        pending = store.staged_vectors
        row: dict[str, Any] = {
            "embedder": held,
            "dimension": int(store.meta.get("embedder_dimension") or 0),
            "passages": pending.count_passages(),
            "missing": pending.count_lacking(aside=False) if held else pending.count_passages(),
            "wanted": session.settings.embedder,
            "unfinished": None,
        }
        if pending.embedder is not None:
            row["unfinished"] = {"embedder": pending.embedder,
                                 "missing": pending.count_lacking(aside=True)}  # fmt: skip
    session.output.one(row, _status_text)


def _status_text(row: dict[str, Any]) -> str:
    lines = [
        f"vectors     {row['embedder'] or 'none'}, {row['dimension']} dimensions",
        f"passages    {row['passages']}, {row['missing']} without a vector",
        f"setting     embedder={row['wanted']}",
    ]
    begun = row["unfinished"]
    if begun:
        lines.append(f"unfinished  {begun['embedder']}, {begun['missing']} passages to go: "
                     "run 'lore embed --all'")  # fmt: skip
    return "\n".join(lines) + "\n"
