"""Who may do what at a hub, and who did."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .connection import Hub

ROLES = ("reader", "writer", "curator")

_LET = "SELECT lore.let(%s, %s, %s)"
_BAR = "SELECT lore.bar(%s, %s)"
_KNOWN = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)"
_AUDIT = """
SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), role, client, action, kind,
  owner, detail, scope
FROM lore.audit WHERE at >= %s::timestamptz ORDER BY seq
"""
_AUDITED = ("at", "role", "client", "action", "kind", "id", "detail", "scope")


class Rights:
    """What whoever keeps a hub asks of it, each in a transaction of its own."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def is_role(self, name: str) -> bool:
        """Whether the server has a role of this name."""
        return bool(self._hub.ask(_KNOWN, [name])[0][0])

    def let(self, name: str, role: str, scope: str = "") -> None:
        """Makes somebody a reader, a writer or a curator, and a member of a scope, too."""
        self._hub.ask(_LET, [name, role, scope])

    def bar(self, name: str, scope: str = "") -> bool:
        """Takes a scope away, or all there is; whether there was anything."""
        return bool(self._hub.ask(_BAR, [name, scope])[0][0])

    def scopes(self, name: str) -> list[str]:
        """Those that somebody has been let into by name."""
        rows = self._hub.ask("SELECT scope FROM lore.members WHERE role = %s ORDER BY 1", [name])
        return [str(scope) for (scope,) in rows]

    def audit(self, since: str = "") -> Sequence[dict[str, Any]]:
        """Who changed what from this time on, the oldest first."""
        rows = self._hub.ask(_AUDIT, [since or "-infinity"])
        return [dict(zip(_AUDITED, row, strict=True)) for row in rows]
