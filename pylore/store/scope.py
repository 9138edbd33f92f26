"""Which nodes a search may return or start from, as SQL."""

from __future__ import annotations

from ..model import Record
from ..text import clean_tags


class Scope(Record):
    """Conditions on a node; an empty one lets everything live through.

    ``types`` and ``statuses``: any of them; ``tags``: all of them, as records have them
    (lower case, no spaces); ``files``: any
    of these GLOB patterns; ``since`` and ``until``: UTC times of the last update.
    """

    __slots__ = ("files", "since", "statuses", "tags", "types", "until")

    def __init__(
        self,
        types: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        files: tuple[str, ...] = (),
        since: str = "",
        until: str = "",
        statuses: tuple[str, ...] = (),
    ) -> None:
        self.types = types
        self.tags = clean_tags(tags)
        self.files = files
        self.since = since
        self.until = until
        self.statuses = statuses

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)

    def with_types(self, types: tuple[str, ...]) -> Scope:
        """The same conditions with other types."""
        return Scope(types, self.tags, self.files, self.since, self.until, self.statuses)

    def where(self) -> tuple[str, list[str]]:
        """``(condition on nodes n, its parameters)``; every value is a parameter."""
        conditions = []
        parameters: list[str] = []
        for column, values in (("type", self.types), ("status", self.statuses)):
            if values:
                conditions.append(f"n.{column} IN ({', '.join('?' * len(values))})")
                parameters.extend(values)
        for tag in self.tags:
            conditions.append("instr(' ' || n.tags || ' ', ' ' || ? || ' ') > 0")
            parameters.append(tag)
        if self.files:
            conditions.append("(" + " OR ".join(["n.file GLOB ?"] * len(self.files)) + ")")
            parameters.extend(self.files)
        if self.since:
            conditions.append("n.updated_at >= ?")
            parameters.append(self.since)
        if self.until:
            conditions.append("n.updated_at <= ?")
            parameters.append(self.until)
        return " AND ".join(conditions) or "1", parameters


def passages_in(scope: Scope, rowid: str = "rowid") -> tuple[str, list[str]]:
    """``(` AND rowid IN (…)`, parameters)`` for a query on a passage table.

    ``+rowid`` keeps full text from running its query anew for each of the rowids.
    """
    if not scope:
        return "", []
    condition, parameters = scope.where()
    return (
        f" AND {rowid} IN (SELECT p.key FROM passages p JOIN nodes n ON n.id = p.node_id"
        f" WHERE {condition})",
        parameters,
    )
