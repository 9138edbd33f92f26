"""A ``Scope`` as SQL: conditions on nodes and on their passages."""

from __future__ import annotations

from ..core.json import dumps
from ..core.vocabulary import COLLECTIONS, HIDDEN, HIDDEN_STATUSES, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from .connection import apsw
    from .filter import Scope


if TYPE_CHECKING:
    Condition = tuple[str, list[str]]
    """A condition on nodes n and its parameters."""

FEW = 1000
"""Nodes within a scope whose passages are listed before anything is matched: with more, what
matches is looked at one by one. To list one takes about as long as to look at two."""

_OF_IDS = (
    "SELECT p.key FROM json_each(?) j CROSS JOIN nodes n ON n.id = j.value"
    " CROSS JOIN passages p ON p.node_key = n.key"
)
"""A query: the keys of the passages of these nodes."""

STAGED = "staged"
"""A status that has indexes of its own, as ``HIDDEN_STATUSES`` together have one."""


def where(scope: Scope) -> Condition:
    """Return what a node within a scope is; every value of others is a parameter.

    The index of types is not used: of most there are many nodes (``narrow`` uses it).
    """
    conditions = []
    parameters: list[str] = []
    for column, values in (("+n.type", scope.types), ("n.status", scope.statuses)):
        if values and column == "n.status" and _is_seldom(values):
            conditions.append(seldom(values))
        elif values:
            conditions.append(f"{column} IN ({_marks(values)})")
            parameters.extend(values)
    for tag in scope.tags:
        conditions.append("instr(' ' || n.tags || ' ', ' ' || ? || ' ') > 0")
        parameters.append(tag)
    if scope.files:
        exact = [path for path in scope.files if "[" in path]  # as app/[id]/page.tsx
        tests = ["n.file GLOB ?"] * len(scope.files) + ["n.file = ?"] * len(exact)
        conditions.append(f"({' OR '.join(tests)})")
        parameters += [*scope.files, *exact]
    if scope.since:
        conditions.append("n.updated_at >= ?")
        parameters.append(scope.since)
    if scope.until:
        conditions.append("n.updated_at <= ?")
        parameters.append(scope.until)
    if scope.hides:
        # By an index: in the row of a node the status comes after a text of any length.
        hidden = f"SELECT n.key FROM nodes n WHERE {seldom(scope.hides)}"
        conditions.append(f"n.key NOT IN ({hidden})")
    if scope.excluded:
        conditions.append("n.id NOT IN (SELECT value FROM json_each(?))")
        parameters.append(dumps([*scope.excluded]))
    return " AND ".join(conditions) or "1", parameters


class Passages:
    """The passages of a scope's nodes, as a condition of a query on a table of passages.

    Few are listed before the query runs (``narrow``); of more, each one that the query comes
    upon is looked at. With ``collection``, all passages of the query are in that one: types
    that all of these have are no condition. ``scoped``: the connection does not see all passages
    (``scoped.py``).
    """

    __slots__ = ("_db", "narrow", "scope", "scoped")

    def __init__(
        self,
        connection: apsw.Connection,
        scope: Scope,
        collection: str = "",
        *,
        scoped: bool = False,
    ) -> None:
        self._db = connection
        self.scoped = scoped
        if collection == HIDDEN:
            scope = scope.but(statuses=scope.hidden_shown or scope.statuses)
        elif scope.types and collection and self._have_all(scope.types, collection):
            scope = scope.but(types=())
        self.scope = scope
        self.narrow = narrow(connection, scope, FEW)

    def condition(self, rowid: str = "rowid") -> tuple[str, list[str]]:
        """Return ``(` AND …`, parameters)``; nothing where every passage may come.

        ``+rowid`` keeps full text from running its query anew for each of the rowids.
        """
        text, parameters = self._within(rowid)
        if self.scoped:
            text += f" AND (SELECT 1 FROM passages p WHERE p.key = {rowid})"
        if self.scope.excluded:
            text += f" AND {rowid} NOT IN ({_OF_IDS})"
            parameters.append(dumps([*self.scope.excluded]))
        return text, parameters

    def _within(self, rowid: str) -> tuple[str, list[str]]:
        if not self.scope:
            return "", []
        condition, parameters = where(self.scope.but(excluded=(), hides=()))
        if self.narrow:
            first, given = self.narrow
            found = (
                f"SELECT p.key FROM nodes n CROSS JOIN passages p ON p.node_key = n.key"
                f" WHERE {first} AND {condition}"
            )
            return f" AND {rowid} IN ({found})", [*given, *parameters]
        # No EXISTS: SQLite may make a join of it that begins with all nodes.
        found = f"SELECT {condition} FROM passages p CROSS JOIN nodes n ON n.key = p.node_key"
        return f" AND ({found} WHERE p.key = {rowid})", parameters

    def _have_all(self, types: Collection[str], collection: str) -> bool:
        """Return whether all nodes of a collection are of these types."""
        known = [str(name) for (name,) in self._db.execute("SELECT name FROM types")]
        others = [
            name for name in known
            if COLLECTIONS.get(name, TEXTS) == collection and name not in types
        ]  # fmt: skip
        query = "SELECT 1 FROM json_each(?) j CROSS JOIN nodes n ON n.type = j.value LIMIT 1"
        return self._db.execute(query, (dumps(others),)).get is None

    def narrow_within(self, few: int) -> None:
        """List the passages from now on if no more than so many nodes are within the scope."""
        self.narrow = self.narrow or narrow(self._db, self.scope, few)


def narrow(connection: apsw.Connection, scope: Scope, few: int) -> Condition | None:
    """Return a condition on nodes n that holds within a scope and that an index answers, where at
    most ``few`` nodes meet it."""
    for condition, parameters in _indexed(scope):
        query = f"SELECT count(*) FROM (SELECT 1 FROM nodes n WHERE {condition} LIMIT ?)"
        count: int = connection.execute(query, (*parameters, few + 1)).get
        if count <= few:
            return condition, parameters
    return None


def _indexed(scope: Scope) -> Iterator[Condition]:
    """Yield conditions that hold within a scope, each of which an index answers."""
    if scope.types:
        yield f"n.type IN ({_marks(scope.types)})", [*scope.types]
    if _is_seldom(scope.statuses):
        yield seldom(scope.statuses), []
    if scope.since:
        yield "n.updated_at >= ? AND n.invalidated_at IS NULL", [scope.since]
    beginnings = [_beginning(glob) for glob in scope.files]
    if beginnings and all(beginnings):
        parts = ["n.file >= ? AND n.file < ?"] * len(beginnings)
        ends = [text for one in beginnings for text in (one, one + "\U0010ffff")]
        yield f"({' OR '.join(f'({part})' for part in parts)})", ends


def seldom(statuses: Collection[str]) -> str:
    """Return a condition on nodes n: one of these statuses, which have an index.

    Word for word as that says it: of a parameter SQLite cannot know that it holds.
    """
    if STAGED in statuses:
        return "n.status = 'staged'"
    return f"n.status IN ({_quoted(HIDDEN_STATUSES)}) AND n.status IN ({_quoted(statuses)})"


def _quoted(statuses: Collection[str]) -> str:
    return ", ".join([repr(one) for one in HIDDEN_STATUSES if one in statuses])


def _is_seldom(statuses: Collection[str]) -> bool:
    # Both kinds at once would take two partial indexes, which SQLite's planner fails to join.
    return bool(statuses) and any(
        known.issuperset(statuses) for known in ({STAGED}, {*HIDDEN_STATUSES})
    )


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _beginning(glob: str) -> str:
    """Return what all that a pattern matches begins with.

    >>> _beginning("src/a*.py"), _beginning("src/a.py"), _beginning("*.py")
    ('src/a', 'src/a.py', '')
    """
    ends = [place for place in map(glob.find, "*?[") if place >= 0]
    return glob[: min(ends)] if ends else glob
