"""init, reindex, doctor: the store itself, not what is in it."""

from __future__ import annotations

import os
from typing import Any

from ...app.trust import revoke_trust, trust_store
from ...core.errors import DONE, FAILURE, LoreError, UsageError
from ...core.scopes import ALL
from ...core.text import counted
from ...indexing.indexer import rebuild
from ...store import FILE, create_store, open_store
from ...system.atomic_write import write_whole
from ...system.links import real_place, require_own_store
from ...terminal.progress import Progress
from ..doctor import checks_text, examine
from ..runtime import data_folder, require_found_store, require_store, require_utf8
from .shared import Session, chosen_output


def init(folder: str, **options: Any) -> None:
    session = Session(options)
    chosen = os.environ.get("LORE_DIR", "")
    target = os.path.join(folder, ".lore") if folder else chosen or os.path.abspath(".lore")
    require_utf8(os.path.abspath(target), "the folder")
    path = os.path.join(target, FILE)
    ignored = os.path.join(target, ".gitignore")
    if not chosen:
        real_place(target)
        require_own_store(os.path.abspath(target))
    existed = os.path.exists(path) and os.path.getsize(path) > 0
    ignored = "" if existed or os.path.exists(ignored) else real_place(ignored)
    store = create_store(
        target, fulltext=session.settings.fulltext, busy_timeout=session.settings.busy_timeout
    )
    notes = [] if existed or chosen else _trust_own(target)
    store.close()
    if ignored:
        write_whole(ignored, [f"{FILE}*\n"])
    outer = "" if existed or chosen else _store_above(target)
    if outer:
        session.say([f"there is a store above, in {outer}: from here on down this one hides it"])
    session.say(notes)
    row = {"folder": os.path.abspath(target), "state": "unchanged" if existed else "added"}
    session.output.one(row, lambda row: f"{row['state']}  {row['folder']}\n")


def _trust_own(folder: str) -> list[str]:
    """Trusts a store that was made just now; what is to be said where that cannot be kept."""
    try:
        trust_store(folder)
    except LoreError as error:
        return [f"{error}; hooks stay silent about this store until 'lore trust'"]
    return []


def _store_above(target: str) -> str:
    """The data folder of a project that this one would lie in; nothing without one."""
    folder = os.path.dirname(os.path.abspath(target))
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        if os.path.isfile(os.path.join(folder, ".lore", FILE)):
            return os.path.join(folder, ".lore")
    return ""


def trust(folder: str, *, revoke: bool, **options: Any) -> None:
    session = Session(options)
    if folder:
        inner = os.path.join(folder, ".lore")
        target = os.path.abspath(inner if os.path.isdir(inner) else folder)
        require_utf8(target, "the folder")
        require_own_store(target)
    else:
        target = data_folder()
        require_found_store(target)
    require_store(target)
    if revoke:
        changed = revoke_trust(target)
    else:
        open_store(target, busy_timeout=session.settings.busy_timeout).close()  # if it is one
        changed = trust_store(target)
    state = ("revoked" if revoke else "trusted") if changed else "unchanged"
    row = {"folder": os.path.abspath(target), "state": state}
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
    problem = os.environ.get("LORE_CONFIG_PROBLEM", "")
    found = examine(data_folder(), full=full, config_problem=problem)
    output.list([item.to_dict() for item in found], checks_text)
    return DONE if all(item.ok for item in found) else FAILURE
