"""What a command that merges has changed, as event plugins are told of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..store import Store


def last_command(store: Store) -> int:
    """The number of the last command that changed the store; 0 before the first."""
    found = store.history.commands(1)
    return found[0].id if found else 0


def changed_by(store: Store, name: str, before: int) -> list[dict[str, Any]]:
    """A row for each node and edge that commands of this name have changed since ``before``.

    ``before`` is the number of the last command before it. A node has ``id``, an edge the id
    ``from relation to``; ``state`` is ``added`` or ``updated``.
    """
    history = store.history
    rows: dict[str, str] = {}
    for command in history.commands():
        if command.id <= before:
            break
        if command.name == name:
            nodes, edges = history.added_by(command.id)
            added = [*nodes, *(_edge(*key) for key in edges)]
            left = [
                *(past.node.id for past in history.left_by(command.id)),
                *(_edge(*edge.key) for edge in history.edges_left_by(command.id)),
            ]
            rows = {**dict.fromkeys(left, "updated"), **dict.fromkeys(added, "added"), **rows}
    return [{"id": id, "state": state} for id, state in rows.items()]


def _edge(start: str, end: str, relation: str) -> str:
    return f"{start} {relation} {end}"
