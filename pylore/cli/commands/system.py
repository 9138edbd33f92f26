"""init, reindex, doctor: the store itself, not what is in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...app.sync import earlier_store, make_empty_store, make_store
from ...core.errors import DONE, FAILURE, LoreError, StoreError, UsageError
from ...core.ids import ALL
from ...core.settings import SETTINGS, named, users_alone
from ...core.text import counted
from ...formats.knowledge import FILE as KNOWLEDGE
from ...indexing.indexer import rebuild
from ...store import FILE, create_store, open_store
from ...system import config as system_config
from ...system import projects
from ...system.atomic_write import write_whole
from ...system.config import locate
from ...system.config_edit import with_setting, without_setting
from ...system.files import SHARED, make_private_folder
from ...system.project_files import real_place
from ...system.stores import claim
from ...terminal.output import note, write
from ...terminal.screen import Progress
from ...terminal.text import bold, dim
from ..doctor import checks_text, examine
from ..runtime import (
    chosen_output,
    data_folder,
    project_folder,
    require_store,
    require_utf8,
    shared_folder,
)
from ..session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...core.settings import Setting, Settings


def init(folder: str, fulltext: str, **options: Any) -> None:
    session = Session(options)
    chosen = os.environ.get("LORE_DIR", "")
    if chosen and not folder:
        existed = _init_chosen(session, chosen, fulltext)
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
        earlier = earlier_store(project)
        store = claim(project)
        session.say(_make(store, project, session.settings, fulltext, earlier))
    if not existed and outer and os.path.realpath(project).startswith(f"{outer.rstrip('/')}/"):
        session.say([f"{outer} is a project too: from {project} on down this one hides it"])
    _print_made(session, os.path.join(project, SHARED), store, existed=existed)


def _make(store: str, project: str, settings: Settings, fulltext: str, earlier: str) -> list[str]:
    """Make the store of a project; return what the person should know of it."""
    try:
        count = make_store(store, project, settings, fulltext)
    except StoreError:
        raise
    except LoreError as error:
        make_empty_store(store, settings, fulltext)
        return [str(error)]
    said = f"read {counted(count, 'line')} of {SHARED}/{KNOWLEDGE}; hooks are silent about what " \
        "others wrote until you run 'lore trust'"  # fmt: skip
    return [said + earlier] if count else [earlier.removeprefix("; ")] if earlier else []


def _init_chosen(session: Session, folder: str, fulltext: str) -> bool:
    """Make the store of the folder that LORE_DIR names; return True if it was there."""
    path = os.path.join(require_utf8(os.path.abspath(folder), "the folder"), FILE)
    existed = os.path.exists(path) and os.path.getsize(path) > 0
    create_store(folder, fulltext=fulltext, busy_timeout=session.settings.busy_timeout).close()
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


def reindex(fulltext: str, **options: Any) -> None:
    session = Session(options)
    with session.open_whole("reindex") as store, store.faults:
        total = sum(store.nodes.count_by_type().values())
        with Progress("indexing", total, kept="the indexes are as they were") as advance:
            last = 0

            def progress(done: int) -> None:
                nonlocal last
                advance(done - last)
                last = done

            count = rebuild(store, session.embedder(store), fulltext, progress)
            progress(count)
        store.compact()
        session.wipe(store)
        row = {"nodes": count, "fulltext": store.fulltext.engine,
               "embedder": store.meta.get("embedder")}  # fmt: skip
    session.output.one(row, lambda row: f"indexed {counted(row['nodes'], 'node')}\n")


def doctor(full: bool, **options: Any) -> int:
    output = chosen_output(options)  # no Session: it would stop at a wrong setting
    scope = options["settings"].get("scope") or os.environ.get("LORE_SCOPE", "")
    if scope not in ("", ALL):
        raise UsageError(f"doctor is about the whole store, and scope is '{scope}': "
                         "say --all-scopes")  # fmt: skip
    problem = ""
    system_config.find_store(os.environ)
    try:
        system_config.load(os.environ)
    except LoreError as error:
        problem = str(error)
        os.environ["LORE_FROM_CONFIG"] = ""
    found = examine(data_folder(), full=full, config_problem=problem)
    output.list([item._asdict() for item in found], checks_text)
    return DONE if all(item.ok for item in found) else FAILURE


_USAGE = ("config takes 'list [SECTION]', 'get KEY', 'set KEY VALUE' or 'unset KEY': "
          "see 'lore config --help'")  # fmt: skip
_WORDS = {"list": (0, 1), "get": (1,), "set": (2,), "unset": (1,)}


def config(
    words: tuple[str, ...], value_only: bool, user: bool, project: bool, **options: Any
) -> None:
    try:
        system_config.load(os.environ)
    except UsageError as error:  # it may be this command that mends the line
        note(str(error))
    session = Session(options, lenient=True)
    verb, given = (words[0], words[1:]) if words else ("list", ())
    if len(given) not in _WORDS.get(verb, ()) or (value_only and verb != "get"):
        raise UsageError(_USAGE)
    if (user or project) and verb in ("list", "get"):
        raise UsageError("--user and --project are for 'set' and 'unset': leave them out")
    if verb in ("set", "unset"):
        _change(session, given[0], given[1:], user=user, project=project)
    elif verb == "list":
        rows = [_row(session, one) for one in _of_section(given)]
        session.say(_store_in_use())
        session.output.list(rows, _sections_text)
    else:
        row = _row(session, named(given[0])[0])
        if value_only:
            write(f"{row['value']}\n")
        else:
            session.output.one(row, _text)


def _of_section(words: tuple[str, ...]) -> list[Setting]:
    sections = list(dict.fromkeys(one.section for one in SETTINGS))
    for word in words:
        if not any(section.startswith(word) for section in sections):
            raise UsageError(f"no section '{word}': give one of {', '.join(sections)}")
    return [one for one in SETTINGS if one.section.startswith("".join(words))]


def _row(session: Session, setting: Setting) -> dict[str, Any]:
    return {
        "id": setting.config_key,
        "section": setting.section,
        "value": session.settings.as_text(setting.name),
        "origin": session.settings.origins.get(setting.name, "default"),
        "help": setting.help,
    }


def _store_in_use() -> list[str]:
    path = os.path.join(os.environ.get("LORE_STORE", ""), FILE)
    return [f"the store is {path}"] if os.path.exists(path) else []


def _change(
    session: Session, key: str, value: tuple[str, ...], *, user: bool, project: bool
) -> None:
    """Writes one setting into a file, or takes it out; nothing is written where that is wrong."""
    try:
        setting, element = named(key)
    except UsageError:
        if value or not _unset_unknown(session, key):
            raise
        return
    key = setting.config_key + (f"[{element}]" if element else "")
    if value:
        session.settings.changed([(key, value[0])], "command:config set")
    path = _file(setting, "".join(value), user=user, project=project)
    changes: dict[str, str | None] = {key: value[0] if value else None}
    if value and setting.kind == "weights" and not element:
        pairs = [item.partition("=") for item in value[0].replace(",", " ").split()]
        changes = {f"{key}[{name.lower()}]": weight for name, _, weight in sorted(pairs)}
    is_changed = _write_changes(path, changes)
    session.say(_overruled(session, setting, path))
    state = "unchanged" if not is_changed else "set" if value else "unset"
    _print_change(session, key, value[0] if value else None, state, path)


def _unset_unknown(session: Session, key: str) -> bool:
    """Take a key that is not a setting out of the first config file that has it."""
    for path in (os.path.join(shared_folder(), ".config"), _users_file()):
        if _write_changes(path, {key: None}):
            _print_change(session, key, None, "unset", path)
            return True
    return False


def _print_change(session: Session, key: str, value: str | None, state: str, path: str) -> None:
    row = {"id": key, "value": value, "state": state, "file": path}
    session.output.one(row, lambda row: f"{row['state']}  {row['id']}  in {row['file']}\n")


def change_users_config(changes: Mapping[str, str | None]) -> str:
    """Sets these keys in the user's own config, or takes them out (None); the file."""
    path = _users_file()
    _write_changes(path, changes)
    return path


def _write_changes(path: str, changes: Mapping[str, str | None]) -> bool:
    """Return the same in a file; whether it is another one now."""
    before = after = _read(path)
    for key, value in changes.items():
        after = without_setting(after, key) if value is None else with_setting(after, key, value)
    if after != before:
        make_private_folder(os.path.dirname(path))
        write_whole(path, [after])
    return after != before


def _file(setting: Setting, value: str, *, user: bool, project: bool) -> str:
    """Return the file that is meant: the project's where there is one that may have this setting.

    Raises:
        UsageError: a project's file may not have it, or both are asked for.
        LoreError: there is no such folder.
    """
    if user and project:
        raise UsageError("--user and --project exclude each other: give one")
    why = users_alone(setting.name, value)
    found = bool(project_folder())
    if user or (not project and (why or not found)):
        return _users_file()
    if why and found:
        raise UsageError(f"{setting.config_key} {why}, so it counts only in the user's own "
                         "config: say --user")  # fmt: skip
    if not found:
        require_store(data_folder())
    return os.path.join(shared_folder(), ".config")


def _users_file() -> str:
    folder = system_config.home_folder(os.environ, "XDG_CONFIG_HOME", ".config")
    if not folder:
        raise LoreError("no folder for the user's config: set HOME, or say --project")
    return os.path.join(folder, "config")


def _read(path: str) -> str:
    try:
        with open(real_place(path), encoding="utf-8-sig", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise LoreError(f"{path}: not UTF-8: convert it first") from None


def _overruled(session: Session, setting: Setting, path: str) -> list[str]:
    """Return a note where the setting has its value from elsewhere all the same."""
    origin = session.settings.origins.get(setting.name, "")
    kind, _, place = origin.partition(":")
    if kind == "env":
        return [f"{place} is set in the environment, and counts before this file"]
    if kind == "project" and place.rpartition(":")[0] != path:
        return [f"{place} sets {setting.config_key} too, and counts before this file"]
    return []


def _text(row: dict[str, Any]) -> str:
    origin = "" if row["origin"] == "default" else dim(f"  {row['origin']}")
    return f"{bold(row['id'])} = {row['value'] or '-'}{origin}\n    {row['help']}\n"


def _sections_text(rows: Sequence[dict[str, Any]]) -> str:
    text, section = "", ""
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            text += f"{chr(10) if text else ''}# {section}\n"
        text += _text(row)
    return text
