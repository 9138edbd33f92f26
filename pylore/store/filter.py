"""Which nodes a search may return or start from, as SQL."""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.model import Record
from ..core.text import clean_tags
from ..core.vocabulary import STATUSES
from ..system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Scope(Record):
    """Conditions on a node; an empty one lets everything live through.

    ``types`` and ``statuses``: any of them; ``tags``: all of them, as records have them
    (lower case, no spaces); ``files``: any
    of these GLOB patterns; ``since`` and ``until``: UTC times of the last update.
    ``excluded``: ids that are as if they were not there; alone they make no filter.
    """

    __slots__ = ("excluded", "files", "since", "statuses", "tags", "types", "until")

    def __init__(
        self,
        types: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        files: tuple[str, ...] = (),
        since: str = "",
        until: str = "",
        statuses: tuple[str, ...] = (),
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        self.types = types
        self.tags = clean_tags(tags)
        self.files = files
        self.since = since
        self.until = until
        self.statuses = statuses
        self.excluded = excluded

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__ if name != "excluded")

    def with_types(self, types: tuple[str, ...]) -> Scope:
        """The same conditions with other types."""
        return Scope(types, self.tags, self.files, self.since, self.until, self.statuses,
                     self.excluded)  # fmt: skip

    def without(self, excluded: frozenset[str]) -> Scope:
        """The same conditions, with these ids excluded."""
        return Scope(self.types, self.tags, self.files, self.since, self.until, self.statuses,
                     excluded)  # fmt: skip

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
        if self.excluded:
            conditions.append("n.id NOT IN (SELECT value FROM json_each(?))")
            parameters.append(dumps([*self.excluded]))
        return " AND ".join(conditions) or "1", parameters


def require_statuses(names: Iterable[str]) -> tuple[str, ...]:
    """``names`` if they are statuses.

    Raises:
        UsageError: one of them is not.
    """
    wanted = tuple(names)
    for name in wanted:
        if name not in STATUSES:
            raise UsageError(f"unknown status '{name}': one of {', '.join(STATUSES)}")
    return wanted


def passages_in(scope: Scope, rowid: str = "rowid") -> tuple[str, list[str]]:
    """``(` AND rowid IN (…)`, parameters)`` for a query on a passage table.

    ``+rowid`` keeps full text from running its query anew for each of the rowids.
    """
    if not scope:
        if not scope.excluded:
            return "", []
        return (
            f" AND {rowid} NOT IN (SELECT key FROM passages"
            " WHERE node_id IN (SELECT value FROM json_each(?)))",
            [dumps([*scope.excluded])],
        )
    condition, parameters = scope.where()
    return (
        f" AND {rowid} IN (SELECT p.key FROM passages p JOIN nodes n ON n.id = p.node_id"
        f" WHERE {condition})",
        parameters,
    )
