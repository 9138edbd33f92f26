"""hub grant, revoke, audit: who may do what there, and who did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...app.hub_sync import open_hub
from ...core.errors import LoreError, UsageError
from ...core.scopes import ALL
from ...core.times import parse_since
from ...store.postgres.connection import Hub
from ...store.postgres.rights import ROLES, Rights
from .hub import meant
from .shared import Session


def grant(name: str, role: str, on: str, **options: Any) -> None:
    in_scope = _asked(options)
    session = Session(options)
    if role not in ROLES:
        raise UsageError(f"'{role}' is no role of a hub: give one of {', '.join(ROLES)}")
    with _hub(session, on, "hub grant") as hub:
        rights = Rights(hub)
        if not rights.is_role(name):
            raise LoreError(f"{hub.name}: the server has no role '{name}': make it there first "
                            f'(CREATE ROLE "{name}" LOGIN)')  # fmt: skip
        rights.let(name, role, in_scope)
        row = {"id": name, "role": role, "scopes": rights.scopes(name)}
    session.output.one(row, _granted)


def revoke(name: str, on: str, **options: Any) -> None:
    in_scope = _asked(options)
    session = Session(options)
    with _hub(session, on, "hub revoke") as hub:
        if not Rights(hub).bar(name, in_scope):
            what = f"is not in scope {in_scope}" if in_scope else "has no role and no scope"
            raise LoreError(f"{hub.name}: '{name}' {what} there: nothing was changed")
    session.output.one({"id": name, "scope": in_scope or None}, _revoked)


def audit(since: str, on: str, **options: Any) -> None:
    session = Session(options)
    start = parse_since(since) if since else ""
    with _hub(session, on, "hub audit") as hub:
        rows = Rights(hub).audit(start)
    session.output.list(rows, _audit_text)


def _hub(session: Session, place: str, command: str) -> Hub:
    remote = meant(session, place, command, "--on with ")
    return open_hub(remote.name, remote.url).hub


def _asked(options: dict[str, Any]) -> str:
    """The scope that ``--scope`` names; that under which one works oneself is none of this."""
    scope = str(options.get("setting_scope") or "")
    return "" if scope == ALL else scope


def _granted(row: dict[str, Any]) -> str:
    scopes = f", in {', '.join(row['scopes'])}" if row["scopes"] else ""
    return f"{row['id']}: {row['role']}{scopes}\n"


def _revoked(row: dict[str, Any]) -> str:
    what = f"no longer in {row['scope']}" if row["scope"] else "may do nothing any more"
    return f"{row['id']}: {what}\n"


def _audit_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(
        f"{row['at']}  {row['role']:<12} {row['action']:<8} {row['id']}"
        f"{' ' if row['detail'] else ''}{row['detail']}\n"
        for row in rows
    )
