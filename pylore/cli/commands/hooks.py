"""hook install, hook uninstall, hook status: what agents and git are told of lore."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...core.errors import LoreError, UsageError
from ...hooks.install import (
    AGENTS,
    GIT,
    GitHooks,
    agent_named,
    default_scope,
    is_installed,
    place_of,
    preview,
)
from ...hooks.install import install as put
from ...hooks.install import uninstall as take
from ...system.programs import find_program
from ...system.projects import is_trusted
from ...terminal.output import note, write
from ..runtime import data_folder, project_folder
from .shared import Session

if TYPE_CHECKING:
    from ...system.git_setup import Done


def install(agent: str, scope: str | None, *, dry_run: bool, **options: Any) -> None:
    session = Session(options)
    if agent == GIT:
        hooks = _git_hooks(scope)
        if dry_run:
            write(hooks.preview())
            return
        _say_unreachable(session)
        _say_silence(session)
        _print_done(session, hooks.install())
        return
    one = agent_named(agent)
    scope = scope or default_scope(one)
    place = place_of(one, scope, os.getcwd())
    if dry_run:
        write(preview(one, place))
        return
    changed = put(one, place, everywhere=scope == "user")
    _say_unreachable(session)
    session.output.one(_row(agent, scope, place, "installed" if changed else "unchanged"), _text)


def uninstall(agent: str, scope: str | None, **options: Any) -> None:
    session = Session(options)
    if agent == GIT:
        _print_done(session, _git_hooks(scope).uninstall())
        return
    one = agent_named(agent)
    scope = scope or default_scope(one)
    place = place_of(one, scope, os.getcwd())
    changed = take(one, place, everywhere=scope == "user")
    session.output.one(_row(agent, scope, place, "removed" if changed else "unchanged"), _text)


def status(**options: Any) -> None:
    session = Session(options)
    rows = []
    for one in AGENTS.values():
        for scope in one.places:
            place = place_of(one, scope, os.getcwd())
            if is_installed(one, place):
                rows.append(_row(one.name, scope, place, "installed"))
    rows += [_row(GIT, "local", place, "installed") for place in _hooks_of_git()]
    _say_silence(session)
    session.output.list(rows, lambda rows: "".join(map(_text, rows)))


def _git_hooks(scope: str | None) -> GitHooks:
    """The hooks of the repository that the project in use lies in."""
    if scope not in (None, "local"):
        raise UsageError(f"git has no --{scope} hooks: they are of this clone alone")
    project = project_folder()
    if not project:
        raise LoreError("hooks of git are a project's: run 'lore init' in one")
    return GitHooks(project)


def _hooks_of_git() -> list[str]:
    """The hooks of this project's repository that have lore's lines."""
    try:
        return _git_hooks(None).installed()
    except LoreError:
        return []


def _say_unreachable(session: Session) -> None:
    if find_program("lore") is None:
        session.say(["there is no 'lore' on the PATH, which the entries call: see 'make install'"])


def _say_silence(session: Session) -> None:
    why = _silence()
    if why:
        session.say([why])


def _print_done(session: Session, done: Iterable[Done]) -> None:
    rows = []
    for place, state, why in done:
        if state == "left":
            note(f"{place} was left as it is: {why}")
        rows.append(_row(GIT, "local", place, state))
    session.output.list(rows, lambda rows: "".join(map(_text, rows)))


def _silence() -> str:
    """Why hooks say nothing here; empty where they do."""
    project = project_folder()
    if not project or is_trusted(data_folder()):
        return ""
    return (f"{project} is not trusted, so hooks say nothing of what others shared there: "
            "run 'lore trust'")  # fmt: skip


def _row(agent: str, scope: str, place: str, state: str) -> dict[str, Any]:
    return {"id": agent, "scope": scope, "file": place, "state": state}


def _text(row: dict[str, Any]) -> str:
    return f"{row['state']}  {row['id']}  {row['scope']}  {row['file']}\n"
