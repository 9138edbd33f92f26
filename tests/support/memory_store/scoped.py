"""What one scope sees of a state, and the rest of it, set aside until a transaction ends."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from pylore.core.errors import LoreError
from pylore.core.scopes import COMMON, is_own, is_seen

from .state import State

_NAMES: dict[str, Callable[[Any, Any], tuple[str, ...]]] = {
    "nodes": lambda id, _: (id,),
    "edges": lambda key, _: key,
    "purged": lambda id, _: (id,),
    "anchors": lambda key, _: key[:1],
    "documents": lambda key, _: key[1:],
    "relations": lambda name, _: (name,),
}
"""Dicts: whose an entry is, by the names that its key and value have."""

_NAMES_IN: dict[str, Callable[[Any], tuple[str, ...]]] = {
    "edge_history": lambda state: (state["from_id"], state["to_id"], state["relation"]),
    "node_history": lambda past: (past.node.id,),
    "additions": lambda row: row[1:],
    "anchor_history": lambda state: (state["node_id"],),
}
"""The same of lists."""


def parted(state: State, scope: str) -> tuple[State, State]:
    """What a scope sees, and what it does not; both share the things themselves."""
    seen, hidden = copy(state), copy(state)
    for name, names in _NAMES.items():
        for part, wanted in ((seen, True), (hidden, False)):
            held = getattr(state, name).items()
            setattr(part, name, {k: v for k, v in held if _sees(names(k, v), scope) is wanted})
    for name, names_in in _NAMES_IN.items():
        for part, wanted in ((seen, True), (hidden, False)):
            rows = [row for row in getattr(state, name) if _sees(names_in(row), scope) is wanted]
            setattr(part, name, rows)
    seen.candidates = {id: one for id, one in state.candidates.items() if is_own(id, scope)}
    hidden.candidates = {id: one for id, one in state.candidates.items() if not is_own(id, scope)}
    seen.ancestors = {one for one in state.ancestors if is_seen(one[0], scope)}
    hidden.ancestors = state.ancestors - seen.ancestors
    for part, wanted in ((seen, True), (hidden, False)):
        part.shown = {
            run: {id: row for id, row in rows.items() if _sees((run, id), scope) is wanted}
            for run, rows in state.shown.items()
        }
    _part_passages(state, scope, seen, hidden)
    own = {row[0] for row in seen.additions if any(is_own(name, scope) for name in row[1:])}
    own |= {past.command or 0 for past in seen.node_history if is_own(past.node.id, scope)}
    seen.commands = [one for one in state.commands if one.id in own or one.id == state.command]
    return seen, hidden


def _sees(names: tuple[str, ...], scope: str) -> bool:
    return all(is_seen(name, scope) for name in names)


def _part_passages(state: State, scope: str, seen: State, hidden: State) -> None:
    gone = {
        key for key, (id, _) in state.passages.items()
        if not is_seen(id, scope) or (key in state.facts and not _sees(state.facts[key][0], scope))
    }  # fmt: skip
    # A number that is taken stays so.
    seen.passages = {
        key: ("", row[1]) if key in gone else row for key, row in state.passages.items()
    }
    hidden.passages = {key: row for key, row in state.passages.items() if key in gone}
    for name in ("facts", "vectors", "next_vectors"):
        held = getattr(state, name)
        setattr(seen, name, {key: row for key, row in held.items() if key not in gone})
        setattr(hidden, name, {key: row for key, row in held.items() if key in gone})
    for part, wanted in ((seen, False), (hidden, True)):
        part.rows = {
            name: {key: row for key, row in rows.items() if (key in gone) is wanted}
            for name, rows in state.rows.items()
        }


def joined(seen: State, hidden: State, before: State) -> State:
    """The whole again, once what a scope sees has changed; ``before`` has the commands."""
    for name in (*_NAMES, "candidates", "passages", "facts", "vectors", "next_vectors"):
        getattr(seen, name).update(getattr(hidden, name))
    for name in _NAMES_IN:
        setattr(seen, name, [*getattr(hidden, name), *getattr(seen, name)])
    seen.ancestors |= hidden.ancestors
    for name, rows in hidden.rows.items():
        seen.rows[name].update(rows)
    for run, shown in hidden.shown.items():
        seen.shown[run] = {**shown, **seen.shown.get(run, {})}
    known = {one.id for one in before.commands}
    seen.commands = [*before.commands, *(one for one in seen.commands if one.id not in known)]
    return seen


def require_own(before: State, after: State, scope: str) -> None:
    """LoreError where what is common is another than before."""
    for name in ("nodes", "edges", "anchors", "relations", "types"):
        one, other = (_common(getattr(state, name), scope) for state in (before, after))
        if one != other:
            raise LoreError(COMMON)


def _common(held: dict[Any, Any], scope: str) -> dict[Any, Any]:
    found = {}
    for key, thing in held.items():
        names = key if isinstance(key, tuple) else (key,)
        if not any(is_own(name, scope) for name in names):
            fields = thing.to_dict() if hasattr(thing, "to_dict") else {"it": thing}
            read = ("access_count", "accessed_at")
            found[key] = {name: value for name, value in fields.items() if name not in read}
    return found
