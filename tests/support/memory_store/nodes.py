"""Nodes and their passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from json import loads
from typing import Any

from pylore.core.errors import (
    LoreError,
    VerdictsUnavailable,
    nearest,
)
from pylore.core.merging import is_indexed
from pylore.core.model import Node, Past
from pylore.core.states import NODE_STATE, clock
from pylore.core.vocabulary import HIDDEN_STATUSES
from pylore.store.filter import Scope
from pylore.store.resolve_id import ends_with_part

from .documents import look_again
from .state import Part, days_since, limited, move_on, within


class Nodes(Part):
    def get(self, id: str) -> Node | None:
        return copy(self._state.nodes.get(id))

    def require(self, id: str) -> Node:
        node = self.get(id)
        if node is None:
            likely = [other for other in sorted(self._state.nodes) if id in other][:3]
            hint = f" (did you mean {', '.join(likely)}?)" if likely else ""
            raise LoreError(f"no node '{id}'{hint}: see 'lore list'")
        return node

    def get_many(self, ids: Iterable[str]) -> dict[str, Node]:
        known = self._state.nodes
        return {id: copy(known[id]) for id in ids if id in known}

    def holds(self, node: Node) -> bool:
        old = self._state.nodes.get(node.id)
        return old is not None and _same(old, node)

    def put(self, node: Node) -> str:
        if self.holds(node):
            return "unchanged"
        state, node = self._changing, copy(node)
        old = state.nodes.get(node.id)
        if old is None:
            if state.command is not None:
                state.additions.append((state.command, node.id, "", ""))
        else:
            node.changed_at = old.changed_at
            self._leave(old, node)
        state.nodes[node.id] = node
        look_again(state, old, node)
        return "added" if old is None else "updated"

    def _leave(self, old: Node, new: Node) -> None:
        names = [name for name in NODE_STATE if name != "updated_at"]
        if is_indexed(old) or all(getattr(old, name) == getattr(new, name) for name in names):
            return
        move_on(old, new)
        state, kept = self._changing, copy(old)
        kept.changed_at = clock(old)
        name = next((one.name for one in state.commands if one.id == state.command), "changed")
        state.node_history.append(Past(kept, name, clock(new), state.command))

    def invalidate(self, id: str, at: str | None) -> None:
        state = self._changing
        if id in state.nodes:
            node = copy(state.nodes[id])
            node.invalidated_at = at
            old = state.nodes[id]
            self._leave(old, node)
            state.nodes[id] = node
            look_again(state, old, node)

    def delete(self, id: str) -> None:
        state = self._changing
        state.nodes.pop(id, None)
        state.shown.pop(id, None)
        for key in [key for key in state.documents if key[1] == id]:
            del state.documents[key]
        for shown in state.shown.values():
            shown.pop(id, None)

    def select(
        self, scope: Scope, limit: int, *, forgotten: bool = False, oldest_first: bool = False
    ) -> Iterator[Node]:
        found = [
            copy(node) for _, node in sorted(self._state.nodes.items())
            if within(scope, node) and (node.invalidated_at is not None) == forgotten
        ]  # fmt: skip
        found.sort(key=lambda node: node.updated_at, reverse=not oldest_first)
        return iter(limited(found, limit))

    def all(self, *, live_only: bool = False) -> Iterator[Node]:
        for _, node in sorted(self._state.nodes.items()):
            if not live_only or node.invalidated_at is None:
                yield copy(node)

    def briefs(self, ids: Sequence[str]) -> dict[str, Any]:
        return {
            node.id: (node.type, node.title, node.file, node.line_start, node.line_end,
                      days_since(node.updated_at), node.confidence, node.source, node.status,
                      node.access_count)
            for node in self.get_many(ids).values()
        }  # fmt: skip

    def hidden_statuses(self, shown: Sequence[str] = ()) -> tuple[str, ...]:
        held = {node.status for node in self.all()}
        return tuple(one for one in HIDDEN_STATUSES if one in held and one not in shown)

    def hidden(self, statuses: Sequence[str], most: int) -> list[str] | None:
        found = [node.id for node in self.all(live_only=True) if node.status in statuses]
        return found if most < 0 or len(found) <= most else None

    def hidden_among(self, ids: Sequence[str], statuses: Sequence[str]) -> set[str]:
        return {id for id in ids if id in (self.hidden(statuses, -1) or ())}

    def anchored(self, ids: Sequence[str]) -> list[tuple[str, str, str, str, str, str]]:
        if "anchors" in self._state.lost:
            raise VerdictsUnavailable("the verdicts cannot be read (lost): run 'lore doctor'")
        return [
            (one.node_id, one.verdict, one.kind, one.root, one.path, one.stamp)
            for one in self._state.anchors.values() if one.node_id in ids
        ]  # fmt: skip

    def categories(self, ids: Sequence[str], tags: Sequence[str] = ()) -> dict[str, str]:
        found = {
            id: node.category or next((tag for tag in tags if tag in node.tags), "")
            for id, node in self.get_many(ids).items()
        }
        return {id: category for id, category in found.items() if category}

    def files(self, beginning: str) -> list[str]:
        return [
            id.removeprefix("file-") for id in self._state.nodes
            if id.startswith(f"file-{beginning}") and self._node_is_live(id)
        ]  # fmt: skip

    def symbol_lines(self, keys: Sequence[int]) -> dict[int, tuple[int | None, int | None]]:
        found = {}
        for key in keys:
            node = self._state.nodes.get(self._state.passages.get(key, ("", ""))[0])
            if node is not None and node.type == "symbol":
                found[key] = (node.line_start, node.line_end)
        return found

    def beginning(self, id: str, length: int = 800) -> str:
        node = self._state.nodes.get(id)
        return node.body[:length] if node else ""

    def match(self, scope: Scope, ids: Sequence[str]) -> set[str]:
        nodes = self.get_many(ids).values()
        return {node.id for node in nodes if node.invalidated_at is None and within(scope, node)}

    def ids_at(self, part: str, limit: int) -> list[str]:
        found = [
            id for id in self._state.nodes
            if id.startswith(part) or id.endswith(part) or id.partition("-")[2].startswith(part)
        ]  # fmt: skip
        return sorted(found, key=lambda id: (not ends_with_part(id, part), id))[:limit]

    def unknown_tags(self, tags: Iterable[str]) -> list[str]:
        known = sorted({tag for node in self.all(live_only=True) for tag in node.tags})
        return [
            f"no record has the tag '{tag}'{nearest(tag, known)}" for tag in tags
            if tag not in known
        ]  # fmt: skip

    def outlines(
        self, types: Sequence[str] = ()
    ) -> Iterator[tuple[str, str, str, str, str, str | None]]:
        for node in self.all(live_only=True):
            if not types or node.type in types:
                tags = " ".join(node.tags)
                yield node.id, node.type, node.title, node.status, tags, node.file

    def documents(self, file: str | None = None) -> list[tuple[str, str]]:
        return [
            (node.id, node.file) for node in self.all(live_only=True)
            if node.file is not None and file in (None, node.file) and node.type != "file"
            and (node.source == "file" or loads(node.data).get("_stated") is not None)
        ]  # fmt: skip

    def count_by_type(self) -> dict[str, int]:
        return dict(Counter(node.type for node in self.all(live_only=True)))

    def new_passages(self, ids: Sequence[str], collection: str) -> list[int]:
        passages = self._changing.passages
        first = max(passages, default=0) + 1
        keys = [*range(first, first + len(ids))]
        passages |= {key: (id, collection) for key, id in zip(keys, ids, strict=True)}
        return keys

    def passages(self, ids: Sequence[str]) -> list[tuple[int, str]]:
        return [
            (key, collection) for key, (id, collection) in sorted(self._state.passages.items())
            if id in ids
        ]  # fmt: skip

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for key, (id, _) in sorted(self._state.passages.items()):
            if id in ids:
                found.setdefault(id, key)
        return found

    def remove_passages(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._changing.passages.pop(key, None)

    def remove_all_passages(self) -> None:
        self._changing.passages.clear()


def _same(one: Node, other: Node) -> bool:
    names = [name for name in Node.__slots__ if name not in ("updated_at", "changed_at")]
    return all(getattr(one, name) == getattr(other, name) for name in names)
