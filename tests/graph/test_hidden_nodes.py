"""What a walk must not enter, asked as it comes upon it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pylore.graph.edge_views import HiddenNodes

if TYPE_CHECKING:
    from pylore.store.edges import Bundle


class Line:
    """Each number leads to the next."""

    def bundles(
        self, frontier: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Bundle]:
        return [(id, True, ["relates_to"], [str(int(id) + 1)], [1.0]) for id in frontier]


def test_it_asks_once_of_each_node_that_edges_lead_to() -> None:
    asked: list[list[str]] = []

    def hidden(ids: Sequence[str]) -> set[str]:
        asked.append(sorted(ids))
        return {id for id in ids if id in ("2", "7")}

    hidden_nodes = HiddenNodes(Line(), hidden, ["9"])
    assert hidden_nodes.barred == {"9"}
    assert hidden_nodes.bundles(["1", "4"], ["relates_to"], 5)[0][3] == ["2"]
    assert hidden_nodes.barred == {"2", "9"}
    hidden_nodes.bundles(["1", "6"], ["relates_to"], 5)
    hidden_nodes.bundles(["4"], ["relates_to"], 5)
    assert hidden_nodes.barred == {"2", "7", "9"} and asked == [["2", "5"], ["7"]]
