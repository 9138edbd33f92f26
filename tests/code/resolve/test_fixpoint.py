"""Answers that need one another: the least that agree, whatever is asked first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pylore.code.resolve.fixpoint import Answers, Search

NODES = 7
nodes = st.integers(0, NODES - 1)
graphs = st.lists(st.lists(nodes, max_size=3), min_size=NODES, max_size=NODES)


class Reaching:
    """The question of each node: which nodes are reached from it, itself among them."""

    def __init__(self, graph: list[list[int]], growing: set[int], deepest: int = 100) -> None:
        self.graph = graph
        self.growing = growing
        self.search: Search[frozenset[int]] = Search(frozenset(), deepest)
        self.answers: Answers[tuple[int], frozenset[int]] = self.search.table(self._find)
        self.found = 0

    def _find(self, node: int) -> frozenset[int]:
        self.found += 1
        if node in self.growing:
            self.search.asked.add(node)
        return frozenset({node}).union(*(self.answers[other,] for other in self.graph[node]))

    def first(self, node: int) -> tuple[frozenset[int], set[object]]:
        """The answer to a question that no other has led to, and what it hangs on."""
        self.search.asked = set()
        return self.answers[node,], self.search.asked


def reached(graph: list[list[int]], node: int) -> set[int]:
    found, pending = set(), [node]
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += graph[one]
    return found


@given(graphs, st.sets(nodes), st.permutations(range(NODES)))
def test_answers_are_the_same_whatever_is_asked_first(
    graph: list[list[int]], growing: set[int], order: list[int]
) -> None:
    reaching = Reaching(graph, growing)
    for node in order:
        found, sources = reaching.first(node)
        assert found == reached(graph, node)
        assert sources >= found & growing
        assert ((node,) in reaching.answers) == (not sources)


@given(graphs, st.sets(nodes, min_size=1), nodes)
def test_what_hangs_on_what_grew_is_looked_for_again_and_nothing_else(
    graph: list[list[int]], growing: set[int], first: int
) -> None:
    reaching = Reaching(graph, growing)
    hanging = {node for node in range(NODES) if reaching.first(node)[1]}
    grown = {min(growing)}
    reaching.search.forget_grown(grown)
    left = {node for node in hanging if (node,) in reaching.answers.open}
    assert all(not reached(graph, node) & grown for node in left)
    assert reaching.first(first)[0] == reached(graph, first)


def test_a_large_circle_is_gone_through_a_few_times() -> None:
    size = 80
    reaching = Reaching([[(n + 1) % size, (n + 7) % size] for n in range(size)], set())
    for node in range(size):
        assert len(reaching.first(node)[0]) == size
    assert reaching.found < 10 * size


def test_what_is_too_deep_has_no_answer_and_costs_no_more() -> None:
    size = 1000
    reaching = Reaching([[n + 1] for n in range(size - 1)] + [[]], set(), deepest=50)
    assert reaching.first(0)[0] == set(range(50))
    assert reaching.found == 50
