"""hook install, hook uninstall, hook status: what agents are told of lore."""

from __future__ import annotations

import os
from typing import Any

from ...app.trust import trusts
from ...hooks.agents import AGENTS
from ...hooks.install import (
    agent_named,
    default_scope,
    is_installed,
    place_of,
    preview,
)
from ...hooks.install import install as put
from ...hooks.install import uninstall as take
from ...system.programs import find_program
from ...terminal.output import write
from ..runtime import data_folder
from .shared import Session


def install(agent: str, scope: str | None, *, dry_run: bool, **options: Any) -> None:
    session = Session(options)
    one = agent_named(agent)
    scope = scope or default_scope(one)
    place = place_of(one, scope, os.getcwd())
    if dry_run:
        write(preview(one, place))
        return
    changed = put(one, place, everywhere=scope == "user")
    if find_program("lore") is None:
        session.say(["there is no 'lore' on the PATH, which the entries call: see 'make install'"])
    session.output.one(_row(agent, scope, place, "installed" if changed else "unchanged"), _text)


def uninstall(agent: str, scope: str | None, **options: Any) -> None:
    session = Session(options)
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
    note = _silence()
    if note:
        session.say([note])
    session.output.list(rows, lambda rows: "".join(map(_text, rows)))


def _silence() -> str:
    """Why hooks say nothing here; empty where they do."""
    if os.environ.get("LORE_STORE_SCOPE") != "project":
        return ""
    trusted = trusts(data_folder())
    return "" if trusted else f"{data_folder()} is not trusted, so hooks say nothing of it: " \
        "run 'lore trust' if it is yours"  # fmt: skip


def _row(agent: str, scope: str, place: str, state: str) -> dict[str, Any]:
    return {"id": agent, "scope": scope, "file": place, "state": state}


def _text(row: dict[str, Any]) -> str:
    return f"{row['state']}  {row['id']}  {row['scope']}  {row['file']}\n"
