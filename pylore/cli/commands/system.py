"""init, reindex, doctor: the store itself, not what is in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...app.first_use import make_empty_store, make_store
from ...core.errors import DONE, FAILURE, LoreError, StoreError, UsageError
from ...core.scopes import ALL
from ...core.text import counted
from ...formats.knowledge import FILE as KNOWLEDGE
from ...indexing.indexer import rebuild
from ...store import FILE, create_store, open_store
from ...system import config, projects
from ...system.config import SHARED, locate
from ...system.symlinks import real_place
from ...terminal.progress import Progress
from ..doctor import checks_text, examine
from ..runtime import data_folder, project_folder, require_store, require_utf8
from .shared import Session, chosen_output

if TYPE_CHECKING:
    from ...core.settings import Settings


def init(folder: str, **options: Any) -> None:
    session = Session(options)
    chosen = os.environ.get("LORE_DIR", "")
    if chosen and not folder:
        existed = _init_chosen(session, chosen)
        _print_made(session, chosen, chosen, existed=existed)
        return
    project = os.path.abspath(folder or ".")
    require_utf8(project, "the folder")
    os.makedirs(real_place(os.path.join(project, SHARED)), exist_ok=True)
    outer = project_folder()
    project, store = locate(project)
    path = os.path.join(store, FILE)
    existed = os.path.exists(path) and os.path.getsize(path) > 0
    if existed:
        open_store(store, busy_timeout=session.settings.busy_timeout).close()  # if it is one
    else:
        session.say(_make(store, project, session.settings))
    if not existed and outer and os.path.realpath(project).startswith(f"{outer.rstrip('/')}/"):
        session.say([f"{outer} is a project too: from {project} on down this one hides it"])
    _print_made(session, os.path.join(project, SHARED), store, existed=existed)


def _make(store: str, project: str, settings: Settings) -> list[str]:
    """Make the store of a project; return what the person should know of it."""
    try:
        count = make_store(store, project, settings)
    except StoreError:
        raise
    except LoreError as error:
        make_empty_store(store, settings)
        return [str(error)]
    said = f"read {counted(count, 'line')} of {SHARED}/{KNOWLEDGE}; hooks are silent about what " \
        "others wrote until you run 'lore trust'"  # fmt: skip
    return [said] if count else []


def _init_chosen(session: Session, folder: str) -> bool:
    """Make the store of the folder that LORE_DIR names; return True if it was there."""
    path = os.path.join(require_utf8(os.path.abspath(folder), "the folder"), FILE)
    existed = os.path.exists(path) and os.path.getsize(path) > 0
    settings = session.settings
    create_store(folder, fulltext=settings.fulltext, busy_timeout=settings.busy_timeout).close()
    return existed


def _print_made(session: Session, folder: str, store: str, *, existed: bool) -> None:
    row = {"folder": os.path.abspath(folder), "state": "unchanged" if existed else "added",
           "store": os.path.join(os.path.abspath(store), FILE)}  # fmt: skip
    session.output.one(row, lambda row: f"{row['state']}  {row['folder']}\n")


def trust(folder: str, *, revoke: bool, **options: Any) -> None:
    session = Session(options)
    require_utf8(os.path.abspath(folder), "the folder")
    project, store = locate(folder) if folder else (project_folder(), data_folder())
    if not project:
        raise LoreError("trust is about a project, and there is none: name its folder")
    require_store(store)
    changed = projects.revoke(store) if revoke else projects.trust(store)
    state = ("revoked" if revoke else "trusted") if changed else "unchanged"
    row = {"folder": project, "state": state}
    session.output.one(row, lambda row: f"{row['state']}  {row['folder']}\n")


def reindex(**options: Any) -> None:
    session = Session(options)
    with session.open_whole("reindex") as store, store.faults:
        total = sum(store.nodes.count_by_type().values())
        with Progress("indexing", total, kept="the indexes are as they were") as advance:
            last = 0

            def progress(done: int) -> None:
                nonlocal last
                advance(done - last)
                last = done

            count = rebuild(store, session.embedder(store), session.settings.fulltext, progress)
            progress(count)
        store.compact()
        row = {"nodes": count, "fulltext": store.fulltext.engine,
               "embedder": store.meta.get("embedder")}  # fmt: skip
    session.output.one(row, lambda row: f"indexed {counted(row['nodes'], 'node')}\n")


def doctor(full: bool, **options: Any) -> int:
    output = chosen_output(options)  # no Session: it would stop at a wrong setting
    scope = options["setting_scope"] or os.environ.get("LORE_SCOPE", "")
    if scope not in ("", ALL):
        raise UsageError(f"doctor is about the whole store, and scope is '{scope}': "
                         "say --all-scopes")  # fmt: skip
    problem = ""
    config.find_store(os.environ)
    try:
        config.load(os.environ)
    except LoreError as error:
        problem = str(error)
        os.environ["LORE_FROM_CONFIG"] = ""
    found = examine(data_folder(), full=full, config_problem=problem)
    output.list([item.to_dict() for item in found], checks_text)
    return DONE if all(item.ok for item in found) else FAILURE
