"""States that were left, commands, and what merging needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy

from pylore.core.model import EDGE_HISTORY, Edge, Node, Past, PastCommand
from pylore.core.states import NODE_STATE, clock, latest, state_name
from pylore.store.anchor import Anchor

from .documents import look_again
from .state import AnchorKey, Key, Part, limited


class History(Part):
    def of_node(self, id: str) -> list[Past]:
        kept = [past for past in self._state.node_history if past.node.id == id]
        return [_own(past) for past in sorted(kept, key=lambda past: clock(past.node))]

    def of_nodes(self) -> Iterator[Past]:
        kept = self._state.node_history
        return map(_own, sorted(kept, key=lambda past: (past.node.id, clock(past.node))))

    def keep(self, past: Past) -> bool:
        kept = self._changing.node_history
        for place, one in enumerate(kept):
            if _state(one.node) == _state(past.node):
                if (one.changed_at, one.change) <= (past.changed_at, past.change):
                    return False
                kept[place] = _own(past)
                return True
        kept.append(_own(past))
        return True

    def keep_edge(self, state: dict[str, object], command: int | None = None) -> bool:
        names = [name for name in EDGE_HISTORY if name not in ("change", "changed_at")]
        kept = self._changing.edge_history
        for place, one in enumerate(kept):
            if all(one[name] == state[name] for name in names):
                if _left(one) <= _left(state):
                    return False
                kept[place] = {**state, "command": command}
                return True
        kept.append({**state, "command": command})
        return True

    def older(self, before: str) -> int:
        state = self._state
        left = [past.changed_at for past in state.node_history]
        left += [str(one["changed_at"]) for one in state.edge_history]
        return sum(at < before for at in left)

    def sweep(self, before: str) -> int:
        state = self._changing
        for id in {past.node.id for past in state.node_history}:
            names = [state_name(past.node) for past in self.of_node(id) if past.changed_at < before]
            self.add_ancestors(id, latest(names))
        nodes = [past for past in state.node_history if past.changed_at >= before]
        edges = [one for one in state.edge_history if str(one["changed_at"]) >= before]
        swept = len(state.node_history) + len(state.edge_history) - len(nodes) - len(edges)
        state.node_history, state.edge_history = nodes, edges
        old = {one.id for one in state.commands if one.at < before}
        state.commands = [one for one in state.commands if one.id not in old]
        state.additions = [one for one in state.additions if one[0] not in old]
        state.anchors_left = {n: of for n, of in state.anchors_left.items() if n not in old}
        return swept

    @property
    def command(self) -> int | None:
        return self._state.command

    def commands(self, limit: int = -1) -> list[PastCommand]:
        return limited(reversed(self._state.commands), limit)

    def left_by(self, command: int) -> list[Past]:
        return [past for past in self.of_nodes() if past.command == command]

    def edges_left_by(self, command: int) -> list[Edge]:
        left = [one for one in self._state.edge_history if one["command"] == command]
        return [
            self._edge(one)
            for one in sorted(left, key=lambda one: [str(one[n]) for n in (*EDGE_HISTORY[:3],
                                                                           "made_at")])
        ]  # fmt: skip

    def _edge(self, one: dict[str, object]) -> Edge:
        edge = Edge(*(one[name] for name in EDGE_HISTORY[:7]))  # type: ignore[arg-type]
        now = self._state.edges.get(edge.key)
        edge.created_at = now.created_at if now else ""
        edge.invalidated_at = one["invalidated_at"]  # type: ignore[assignment]
        edge.changed_at = str(one["made_at"])
        return edge

    def added_by(self, command: int) -> tuple[list[str], list[Key]]:
        added = sorted({one[1:] for one in self._state.additions if one[0] == command})
        return [one[0] for one in added if not one[2]], [one for one in added if one[2]]

    def note_addition(self, id: str) -> None:
        state = self._changing
        if state.command is not None:
            state.additions.append((state.command, id, "", ""))

    def anchors_left_by(self, command: int) -> list[tuple[AnchorKey, Anchor | None]]:
        return sorted(self._state.anchors_left.get(command, {}).items(), key=lambda one: one[0])

    def settle(self, nodes: Iterable[Node] = (), edges: Iterable[Edge] = ()) -> None:
        state = self._changing
        for node in nodes:
            if node.id not in state.nodes and state.command is not None:
                state.additions.append((state.command, node.id, "", ""))
            before, state.nodes[node.id] = state.nodes.get(node.id), copy(node)
            look_again(state, before, node)
        for edge in edges:
            if edge.key not in state.edges and state.command is not None:
                state.additions.append((state.command, *edge.key))
            state.edges[edge.key] = copy(edge)

    def ancestors(self, ids: Sequence[str] | None = None) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for id, name in sorted(self._state.ancestors):
            if ids is None or id in ids:
                found.setdefault(id, []).append(name)
        return found

    def add_ancestors(self, id: str, names: Iterable[str]) -> None:
        self._changing.ancestors.update((id, name) for name in names)

    def purged(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        gone = sorted(self._state.purged.items())
        return {id: at for id, at in gone if ids is None or id in ids}

    def purge(self, id: str, at: str) -> None:
        state = self._changing
        state.node_history = [past for past in state.node_history if past.node.id != id]
        state.ancestors = {one for one in state.ancestors if one[0] != id}
        state.additions = [one for one in state.additions if id not in one[1:3]]
        for touched in state.anchors_left.values():
            for key in [key for key in touched if key[0] == id]:
                del touched[key]
        state.purged[id] = max(at, state.purged.get(id, ""))
        state.proposed_purges.pop(id, None)

    def proposed_purges(self) -> dict[str, str]:
        return dict(sorted(self._state.proposed_purges.items()))

    def propose_purge(self, id: str, at: str) -> None:
        self._changing.proposed_purges[id] = at


def _own(past: Past) -> Past:
    return Past(copy(past.node), past.change, past.changed_at, past.command)


def _state(node: Node) -> list[object]:
    return [node.id, clock(node), *(getattr(node, name) for name in NODE_STATE)]


def _left(state: dict[str, object]) -> tuple[str, str]:
    return str(state["changed_at"]), str(state["change"])
