"""Filters of nodes, and their conditions in SQL on nodes and passages."""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.json import dumps
from ..core.model import Row
from ..core.text import clean_tags
from ..core.vocabulary import HIDDEN_STATUSES, STATUSES, alternatives, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from .connection import apsw

    Condition = tuple[str, list[str]]
    """A condition on nodes n, with parameters."""

FEW = 1000
"""Maximum nodes of a scope for listing passages before a search; else each match is tested."""

_NO_FILTER = ("excluded", "hides")
_LONGEST_PATTERN = 1000
"""Maximum characters of a pattern."""


class Scope(Row):
    """Conditions on a node; an empty scope admits every live node. ``types`` and ``statuses``: any
    of them; ``tags``: all of them; ``files``: any of these paths or patterns, in which ``*``, ``?``
    and ``[…]`` match slashes; ``since`` and ``until``: UTC times of the last update.
    ``excluded`` ids and nodes in a status of ``hides`` are treated as missing; these two alone make
    no filter.
    Raise UsageError for a pattern that is too long."""

    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    statuses: tuple[str, ...] = ()
    excluded: frozenset[str] = frozenset()
    hides: tuple[str, ...] = ()

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        self.tags = clean_tags(self.tags)
        for pattern in self.files:
            if len(pattern) > _LONGEST_PATTERN:
                raise UsageError(f"pattern '{pattern[:40]}…' exceeds {_LONGEST_PATTERN} characters")

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.FIELDS if name not in _NO_FILTER)

    def but(self, **changed: Any) -> Scope:
        """Return a copy with other values in these fields."""
        scope = object.__new__(Scope)
        vars(scope).update(vars(self), **changed)
        return scope

    @property
    def hidden_shown(self) -> tuple[str, ...]:
        """Return the ``HIDDEN_STATUSES`` that this scope admits."""
        wanted = self.statuses or HIDDEN_STATUSES
        return tuple(one for one in HIDDEN_STATUSES if one in wanted and one not in self.hides)


def require_statuses(names: Iterable[str]) -> tuple[str, ...]:
    """Return these statuses; raise UsageError for an unknown status."""
    wanted = tuple(names)
    for name in wanted:
        if name not in STATUSES:
            raise UsageError(f"unknown status '{name}': one of {', '.join(STATUSES)}")
    return wanted


def where(scope: Scope) -> Condition:
    """Return the condition of a node within a scope, without the index of types (``narrow``)."""
    conditions = []
    parameters: list[str] = []

    def add(condition: str, *given: str) -> None:
        conditions.append(condition)
        parameters.extend(given)

    if scope.types:
        add(f"+n.type IN ({_marks(scope.types)})", *scope.types)
    if scope.statuses:
        add(in_status(scope.statuses))
    if scope.tags:
        least = "(SELECT min(instr(' ' || n.tags || ' ', ' ' || value || ' ')) FROM json_each(?))"
        add(least, dumps(scope.tags))
    if scope.files:
        wide = [path.replace("**/", "{**/,}").replace("[!", "[^") for path in scope.files]
        globs = [one for path in wide for one in alternatives(path)]
        names = [literal(path.rstrip("/")) for path in (*scope.files, *globs)]
        found = {*globs, *names, *(f"{name}/*" for name in names)}  # a file or a folder
        add("(SELECT max(n.file GLOB value) FROM json_each(?))", dumps([*found]))
    if scope.since:
        add("n.updated_at >= ?", scope.since)
    if scope.until:
        add("n.updated_at <= ?", scope.until)
    if scope.hides:
        # By an index, because the status follows texts of any length in the row.
        add(f"n.key NOT IN (SELECT n.key FROM nodes n WHERE {in_status(scope.hides)})")
    if scope.excluded:
        add("n.id NOT IN (SELECT value FROM json_each(?))", dumps([*scope.excluded]))
    return " AND ".join(conditions) or "1", parameters


def in_status(statuses: Collection[str]) -> str:
    """Return a condition on nodes n. Statuses are literals, so that the partial index applies."""
    indexed = "" if "confirmed" in statuses else "n.status <> 'confirmed' AND "
    named = ", ".join([f"'{one}'" for one in STATUSES if one in statuses])
    return f"{indexed}n.status IN ({named})"


def passages_within(
    connection: apsw.Connection, scope: Scope, key: str, few: int = FEW
) -> tuple[str, list[str], bool]:
    """Return `` AND …`` on the key of a passage, the parameters, and True if it tests single
    passages. ``hides`` is ignored: hidden nodes have a separate table. ``few``: as ``FEW``."""
    condition, parameters = where(scope.but(excluded=frozenset(), hides=()))
    first = narrow(connection, scope, few)
    text = ""
    if first:
        listed = (
            "SELECT p.key FROM nodes n CROSS JOIN passages p ON p.node_key = n.key"
            f" WHERE {first[0]} AND {condition}"
        )
        text, parameters = f" AND {key} IN ({listed})", [*first[1], *parameters]
    elif scope:
        # No EXISTS, which SQLite may turn into a join over all nodes.
        found = f"SELECT {condition} FROM passages p CROSS JOIN nodes n ON n.key = p.node_key"
        text = f" AND ({found} WHERE p.key = {key})"
    is_scoped = bool(connection.execute("SELECT 1 FROM sqlite_temp_schema LIMIT 1").get)
    if is_scoped:  # the view of passages lacks some (scoped.py)
        text += f" AND (SELECT 1 FROM passages p WHERE p.key = {key})"
    if scope.excluded:
        text += (
            f" AND {key} NOT IN (SELECT p.key FROM json_each(?) j CROSS JOIN nodes n"
            " ON n.id = j.value CROSS JOIN passages p ON p.node_key = n.key)"
        )
        parameters.append(dumps([*scope.excluded]))
    return text, parameters, not first and bool(scope or is_scoped)


def narrow(connection: apsw.Connection, scope: Scope, few: int) -> Condition | None:
    """Return an indexed condition on nodes that at most ``few`` nodes within a scope meet."""
    for condition, parameters in _indexed(scope):
        query = f"SELECT count(*) FROM (SELECT 1 FROM nodes n WHERE {condition} LIMIT ?)"
        count: int = connection.execute(query, (*parameters, few + 1)).get
        if count <= few:
            return condition, parameters
    return None


def _indexed(scope: Scope) -> Iterator[Condition]:
    if scope.types:
        yield f"n.type IN ({_marks(scope.types)})", [*scope.types]
    if scope.statuses and "confirmed" not in scope.statuses:
        yield in_status(scope.statuses), []
    if scope.since:
        yield "n.updated_at >= ? AND n.invalidated_at IS NULL", [scope.since]


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
