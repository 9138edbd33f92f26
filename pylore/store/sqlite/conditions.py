"""A ``Scope`` as SQL."""

from __future__ import annotations

from ...system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..filter import Scope


def where(scope: Scope) -> tuple[str, list[str]]:
    """``(condition on nodes n, its parameters)``; every value is a parameter."""
    conditions = []
    parameters: list[str] = []
    for column, values in (("type", scope.types), ("status", scope.statuses)):
        if values:
            conditions.append(f"n.{column} IN ({', '.join('?' * len(values))})")
            parameters.extend(values)
    for tag in scope.tags:
        conditions.append("instr(' ' || n.tags || ' ', ' ' || ? || ' ') > 0")
        parameters.append(tag)
    if scope.files:
        conditions.append("(" + " OR ".join(["n.file GLOB ?"] * len(scope.files)) + ")")
        parameters.extend(scope.files)
    if scope.since:
        conditions.append("n.updated_at >= ?")
        parameters.append(scope.since)
    if scope.until:
        conditions.append("n.updated_at <= ?")
        parameters.append(scope.until)
    if scope.excluded:
        conditions.append("n.id NOT IN (SELECT value FROM json_each(?))")
        parameters.append(dumps([*scope.excluded]))
    return " AND ".join(conditions) or "1", parameters


def passages_in(scope: Scope, rowid: str = "rowid") -> tuple[str, list[str]]:
    """``(` AND rowid IN (…)`, parameters)`` for a query on a passage table.

    ``+rowid`` keeps full text from running its query anew for each of the rowids.
    """
    if not scope:
        if not scope.excluded:
            return "", []
        return (
            f" AND {rowid} NOT IN (SELECT p.key FROM json_each(?) j"
            " CROSS JOIN nodes n ON n.id = j.value CROSS JOIN passages p ON p.node_key = n.key)",
            [dumps([*scope.excluded])],
        )
    condition, parameters = where(scope)
    return (
        f" AND {rowid} IN (SELECT p.key FROM passages p JOIN nodes n ON n.key = p.node_key"
        f" WHERE {condition})",
        parameters,
    )
