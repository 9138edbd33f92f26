"""config: what the settings are, and setting one in a config file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ...core.errors import LoreError, UsageError, nearest
from ...core.settings import ARRAYS, BY_NAME, SETTINGS, users_alone
from ...store import FILE
from ...system.atomic_write import write_whole
from ...system.config_edit import with_setting, without_setting
from ...system.symlinks import real_place
from ..runtime import data_folder, project_folder, require_store, shared_folder
from .shared import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...core.settings import Setting

_USAGE = "config takes 'list', 'get KEY', 'set KEY VALUE' or 'unset KEY': see 'lore config --help'"
_WORDS = {"list": 0, "get": 1, "set": 2, "unset": 1}


def config(
    words: tuple[str, ...], value_only: bool, user: bool, project: bool, **options: Any
) -> None:
    session = Session(options)
    verb, given = (words[0], words[1:]) if words else ("list", ())
    if _WORDS.get(verb) != len(given) or (value_only and verb != "get"):
        raise UsageError(_USAGE)
    if (user or project) and verb in ("list", "get"):
        raise UsageError("--user and --project are for 'set' and 'unset': leave them out")
    setting, element = _named(given[0]) if given else (None, "")
    if verb in ("set", "unset"):
        assert setting is not None
        _change(session, setting, element, given[1:], user=user, project=project)
        return
    rows = [_row(session, one) for one in SETTINGS if setting in (None, one)]
    if verb == "list":
        session.say(_store_in_use())
        session.output.list(rows, _text)
    elif value_only:
        click.echo(rows[0]["value"])
    else:
        session.output.one(rows[0], lambda row: _text([row]))


def _named(word: str) -> tuple[Setting, str]:
    """The setting that a key names, and of ``EDGE_WEIGHTS[calls]`` the element in brackets."""
    name, bracket, element = word.partition("[")
    setting = BY_NAME.get(name.lower())
    if setting is None or (bracket and setting.kind not in ARRAYS):
        hint = nearest(name, list(BY_NAME))
        raise UsageError(f"unknown setting '{word}'{hint}: see 'lore config list'")
    return setting, f"[{element}" if bracket else ""


def _row(session: Session, setting: Setting) -> dict[str, Any]:
    return {
        "id": setting.config_key,
        "value": session.settings.as_text(setting.name),
        "origin": session.settings.origins.get(setting.name, "default"),
        "help": setting.help,
    }


def _store_in_use() -> list[str]:
    folder = os.environ.get("LORE_STORE", "")
    return [f"the store is {os.path.join(folder, FILE)}"] if folder else []


def _change(
    session: Session, setting: Setting, element: str, value: tuple[str, ...], *,
    user: bool, project: bool,
) -> None:  # fmt: skip
    """Writes one setting into a file, or takes it out; nothing is written where that is wrong."""
    key = setting.config_key + element
    if value:
        session.settings.changed([(key, value[0])], "command:config set")
    path = _file(setting, "".join(value), user=user, project=project)
    changes: dict[str, str | None] = {key: value[0] if value else None}
    if value and setting.kind == "weights" and not element:
        weights = sorted(_weights(setting, value[0]).items())
        changes = {f"{key}[{name}]": f"{weight:.15g}" for name, weight in weights}
    is_changed = _write_changes(path, changes)
    session.say(_overruled(session, setting, path))
    state = "unchanged" if not is_changed else "set" if value else "unset"
    row = {"id": key, "value": value[0] if value else None, "state": state, "file": path}
    session.output.one(row, lambda row: f"{row['state']}  {row['id']}  in {row['file']}\n")


def change_users_config(changes: Mapping[str, str | None]) -> str:
    """Sets these keys in the user's own config, or takes them out (None); the file."""
    path = _users_file()
    _write_changes(path, changes)
    return path


def _write_changes(path: str, changes: Mapping[str, str | None]) -> bool:
    """The same in a file; whether it is another one now."""
    before = after = _read(path)
    for key, value in changes.items():
        after = without_setting(after, key) if value is None else with_setting(after, key, value)
    if after != before:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_whole(path, [after])
    return after != before


def _weights(setting: Setting, text: str) -> dict[str, float]:
    found = setting.parse(text)
    assert isinstance(found, dict)
    return {name: float(weight) for name, weight in found.items()}


def _file(setting: Setting, value: str, *, user: bool, project: bool) -> str:
    """The file that is meant: the project's where there is one that may have this setting.

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
    chosen = os.environ.get("XDG_CONFIG_HOME", "")
    if not chosen.startswith("/"):
        home = os.environ.get("HOME")
        if not home:
            raise LoreError("no folder for the user's config: set HOME, or say --project")
        chosen = os.path.join(home, ".config")
    return os.path.join(chosen, "lore", "config")


def _read(path: str) -> str:
    try:
        with open(real_place(path), encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise LoreError(f"{path}: not UTF-8: convert it first") from None


def _overruled(session: Session, setting: Setting, path: str) -> list[str]:
    """A note where the setting has its value from elsewhere all the same."""
    origin = session.settings.origins.get(setting.name, "")
    kind, _, place = origin.partition(":")
    if kind == "env":
        return [f"{place} is set in the environment, and counts before this file"]
    if kind == "project" and place.rpartition(":")[0] != path:
        return [f"{place} sets {setting.config_key} too, and counts before this file"]
    return []


def _text(rows: Any) -> str:
    return "".join(f"{row['id']:<22} {row['value'] or '-':<34} {row['origin']}\n" for row in rows)
