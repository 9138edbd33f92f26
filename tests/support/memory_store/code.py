"""What ties nodes to code, and what was read of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from copy import copy
from json import loads

from pylore.core.model import Edge, Node
from pylore.core.times import now
from pylore.store.anchor import ANCHOR_HISTORY, Anchor

from .state import AnchorKey, Key, Part

CODE_RELATIONS = ("imports", "calls", "inherits", "instantiates", "mentions")


class Anchors(Part):
    def _sorted(self) -> list[Anchor]:
        return [copy(one) for _, one in sorted(self._state.anchors.items())]

    def of(self, node_id: str) -> list[Anchor]:
        return [one for one in self._sorted() if one.node_id == node_id]

    def all(self) -> Iterator[Anchor]:
        return iter(self._sorted())

    def live(self, ids: Sequence[str] = ()) -> list[Anchor]:
        found = [
            one for one in self._sorted()
            if self._node_is_live(one.node_id) and (not ids or one.node_id in ids)
        ]  # fmt: skip
        return sorted(
            found, key=lambda one: (one.root, one.path, one.node_id, one.kind, one.detail)
        )

    def about(self, root: str, paths: Sequence[str]) -> list[tuple[str, str]]:
        return [*{
            (one.node_id, one.path): None for one in self._sorted()
            if one.kind != "glob" and one.root == root and one.path in paths
        }]  # fmt: skip

    def globs(self, root: str) -> list[tuple[str, str]]:
        return [
            (one.node_id, one.path) for one in self._sorted()
            if one.kind == "glob" and one.root == root
        ]  # fmt: skip

    def globs_like(self, root: str, paths: Sequence[str]) -> list[tuple[str, str, str]]:
        return [(node, glob, path) for node, glob in self.globs(root) for path in paths]

    def paths(self, root: str, beginning: str) -> list[str]:
        return [*{
            one.path: None for one in self._sorted()
            if one.kind != "glob" and one.root == root and one.path.startswith(beginning)
        }]  # fmt: skip

    def put(self, anchor: Anchor) -> str:
        old = self._state.anchors.get(anchor.key)
        if old == anchor:
            return "unchanged"
        if old is not None and old.verdict != anchor.verdict:
            self._keep(old, "judged")
        self._touch(anchor.key)
        self._changing.anchors[anchor.key] = anchor.copy()
        return "added" if old is None else "updated"

    def replace(self, changes: Iterable[tuple[AnchorKey, Anchor]]) -> None:
        anchors = self._changing.anchors
        for key, anchor in changes:
            if key not in anchors:
                continue
            if anchor.key != key and anchor.key in anchors:
                self.delete(key)
                continue
            self._touch(key)
            self._touch(anchor.key)
            old = anchors.pop(key)
            moved = (old.path, old.detail) != (anchor.path, anchor.detail)
            if moved or old.verdict != anchor.verdict:
                self._keep(old, "moved" if moved else "judged")
            anchors[anchor.key] = anchor.copy()

    def delete(self, key: AnchorKey) -> bool:
        if key in self._state.anchors:
            self._touch(key)
        old = self._changing.anchors.pop(key, None)
        if old is not None:
            self._keep(old, "removed")
        return old is not None

    def delete_node(self, node_id: str) -> None:
        state = self._changing
        for anchor in self.of(node_id):
            self._touch(anchor.key)
        state.anchors = {k: one for k, one in state.anchors.items() if one.node_id != node_id}
        state.anchor_history = [one for one in state.anchor_history if one["node_id"] != node_id]

    def _touch(self, key: AnchorKey) -> None:
        """Notes an anchor as it is before a command changes it."""
        state = self._changing
        if state.command is not None:
            left = state.anchors_left.setdefault(state.command, {})
            left.setdefault(key, copy(state.anchors.get(key)))

    def _keep(self, old: Anchor, change: str) -> None:
        left = {name: getattr(old, name) for name in ANCHOR_HISTORY[:6]}
        self._changing.anchor_history.append({**left, "change": change, "changed_at": now()})

    def history(self, node_id: str = "") -> Iterator[dict[str, str]]:
        left = sorted(
            self._state.anchor_history, key=lambda one: (one["node_id"], one["changed_at"])
        )
        return (dict(one) for one in left if node_id in ("", one["node_id"]))

    def add_history(self, state: dict[str, str], copies: int) -> None:
        line = {name: state[name] for name in ANCHOR_HISTORY}
        if self._changing.anchor_history.count(line) < copies:
            self._changing.anchor_history.append(line)


class CodeFiles(Part):
    def hold_more(self) -> None:
        return None

    def stamps(self) -> dict[str, str]:
        return {path: row[1] for path, row in self._state.code.items()}

    def known(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        held = self._state.code
        return {path: (held[path][0], held[path][2]) for path in paths if path in held}

    def as_read(self, path: str) -> tuple[str, str, str] | None:
        row = self._state.code.get(path)
        return (row[1], row[0], row[2]) if row else None

    def facts(self, but: Container[str] = ()) -> Iterator[tuple[str, str, str]]:
        for path, (_, _, language, facts) in sorted(self._state.code.items()):
            if language and path not in but:
                yield path, language, facts

    def facts_of(self, path: str) -> tuple[str, str] | None:
        row = self._state.code.get(path)
        return (row[2], row[3]) if row and row[2] else None

    def languages_of_all(self) -> dict[str, str]:
        return {path: row[2] for path, row in sorted(self._state.code.items()) if row[2]}

    def put(self, rows: Iterable[tuple[str, str, str, str, str]]) -> None:
        for path, *row in rows:
            self._changing.code[path] = (row[0], row[1], row[2], row[3])

    def restamp(self, stamps: Iterable[tuple[str, str]]) -> None:
        code = self._changing.code
        for stamp, path in stamps:
            if path in code:
                code[path] = (code[path][0], stamp, *code[path][2:])

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._changing.code.pop(path, None)

    def skipped(self) -> dict[str, int]:
        rows = self._state.code.values()
        return dict(Counter(loads(row[3])["skipped"] for row in rows if not row[2]))

    def languages(self) -> dict[str, int]:
        return dict(Counter(row[2] for row in self._state.code.values() if row[2]))

    def nodes_of(self, paths: Sequence[str]) -> dict[str, Node]:
        return {
            node.id: node for node in self._store.nodes.all()
            if node.file in paths and node.type in ("file", "symbol")
        }  # fmt: skip

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        state = self._changing
        for node in map(copy, nodes):
            old = state.nodes.get(node.id)
            if old is not None:
                node.created_at = old.created_at
                node.accessed_at, node.access_count = old.accessed_at, old.access_count
            state.nodes[node.id] = node

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        self.put_nodes(nodes)

    def symbol_count(self) -> int:
        return sum(node.type == "symbol" for node in self._store.nodes.all(live_only=True))

    def edge_counts(self) -> dict[str, int]:
        made = ("defines", *CODE_RELATIONS)
        edges = self._store.edges.all(live_only=True)
        return dict(Counter(edge.relation for edge in edges if edge.relation in made))

    def defined(self, file_ids: Sequence[str]) -> set[tuple[str, str]]:
        return {
            (edge.from_id, edge.to_id) for edge in self._store.edges.all(live_only=True)
            if edge.relation == "defines" and edge.from_id in file_ids
        }  # fmt: skip

    def resolved(self) -> dict[Key, tuple[float, str, str, bool]]:
        return {
            edge.key: (edge.weight, edge.metadata, edge.source, edge.invalidated_at is None)
            for edge in self._store.edges.all() if edge.relation in CODE_RELATIONS
        }  # fmt: skip

    def resolved_from(self, ids: Sequence[str]) -> dict[Key, tuple[float, str, str, bool]]:
        return {key: row for key, row in self.resolved().items() if key[0] in ids}

    def resolved_to(self, ids: Sequence[str]) -> list[Key]:
        return [
            key for key, (_, _, source, stands) in self.resolved().items()
            if key[1] in ids and source == "system" and stands
        ]  # fmt: skip

    def add_edges(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            if edge.key not in self._state.edges:
                self._store.edges.put_many([edge])

    def put_edges(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            old = self._state.edges.get(edge.key)
            stands = old is not None and old.invalidated_at is None
            if not (old and stands and old.source in ("user_edit", "conversation")):
                new = copy(edge)
                new.status = old.status if old else edge.status
                self._store.edges.put_many([new])

    def end_edges(self, keys: Iterable[Key], at: str) -> None:
        for key in keys:
            edge = self._state.edges.get(key)
            if edge is not None and edge.invalidated_at is None:
                self._store.edges.invalidate(key, at)


class CodeAnswers(Part):
    def clear(self) -> None:
        self._changing.code_answers = {}

    def fill(self, rows: Iterable[tuple[str, str, bytes, str, Iterable[int]]]) -> None:
        for owner, outline, reads, answers, marks in rows:
            self._changing.code_answers[owner] = (outline, reads, answers, frozenset(marks))

    def reads(self) -> list[tuple[str, bytes]]:
        return [(owner, row[1]) for owner, row in self._state.code_answers.items()]

    def outlines(self) -> list[tuple[str, str]]:
        return [(owner, row[0]) for owner, row in self._state.code_answers.items() if row[0]]

    def answers(self, owner: str) -> str:
        return self._of(owner)[2]

    def holding(self, mark: int) -> list[str]:
        return sorted(owner for owner, row in self._state.code_answers.items() if mark in row[3])

    def put_reads(self, rows: Iterable[tuple[str, bytes]]) -> None:
        for owner, reads in rows:
            outline, _, answers, marks = self._of(owner)
            self._changing.code_answers[owner] = (outline, reads, answers, marks)

    def put_answers(self, rows: Iterable[tuple[str, str, str]]) -> None:
        for owner, outline, answers in rows:
            _, reads, _, marks = self._of(owner)
            self._changing.code_answers[owner] = (outline, reads, answers, marks)

    def put_marks(self, owner: str, gone: Iterable[int], new: Iterable[int]) -> None:
        if owner in self._state.code_answers:
            outline, reads, answers, marks = self._of(owner)
            marks = marks.difference(gone).union(new)
            self._changing.code_answers[owner] = (outline, reads, answers, marks)

    def remove(self, owners: Iterable[str]) -> None:
        for owner in owners:
            self._changing.code_answers.pop(owner, None)

    def _of(self, owner: str) -> tuple[str, bytes, str, frozenset[int]]:
        return self._state.code_answers.get(owner, ("", b"", "", frozenset()))
