"""Answers that need one another: the least that agree, whatever is asked first."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pylore.code.resolve.modules import Answers, Search

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


HALF_TOLD = [[4, 5], [], [1, 4], [], [6], [2], [0, 2]]
"""A component within which one goes on to change after others of it were told together."""


def reached(graph: list[list[int]], node: int) -> set[int]:
    found, pending = set(), [node]
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += graph[one]
    return found


@given(graphs, st.sets(nodes), st.permutations(range(NODES)))
@example(HALF_TOLD, {0, 1}, [0, 5, 1, 2, 3, 4, 6])
@example(HALF_TOLD, {0, 1}, [1, 0, 5, 2, 3, 4, 6])
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


@pytest.mark.parametrize("closed", [False, True])
def test_a_chain_longer_than_calls_go_deep_has_its_answers(closed: bool) -> None:
    size = sys.getrecursionlimit()
    last = [0] if closed else []
    reaching = Reaching([[n + 1] for n in range(size - 1)] + [last], {size // 2}, deepest=50)
    assert reaching.first(0) == (frozenset(range(size)), {size // 2})
    assert reaching.first(size - 1)[0] == (set(range(size)) if closed else {size - 1})
    assert reaching.found <= 3 * size


@given(graphs, st.permutations(range(NODES)), st.integers(1, NODES))
def test_answers_are_the_same_however_deep_calls_go(
    graph: list[list[int]], order: list[int], deepest: int
) -> None:
    reaching = Reaching(graph, set(range(NODES)), deepest)
    for node in order:
        every = frozenset(reached(graph, node))
        assert [*reaching.first(node)] == [every, every]


Sure = tuple[frozenset[int], int]
"""Values, and how sure they are: what is made of several is as sure as the least of them."""
Step = tuple[int, int, int]
"""What one node takes of another: if the answer of the first has this value, the third's."""
UNSURE: Sure = (frozenset(), 9)

steps = st.tuples(nodes, nodes, nodes)
systems = st.lists(
    st.tuples(st.integers(1, 9), st.lists(steps, max_size=3)), min_size=NODES, max_size=NODES
)


def taken(system: list[tuple[int, list[Step]]], node: int, answer: Callable[[int], Sure]) -> Sure:
    """A node has itself, and asks what it asks only where it has found what it looks for."""
    sure, taking = system[node]
    values = {node}
    for guard, wanted, other in taking:
        if wanted in answer(guard)[0]:
            more, how = answer(other)
            values |= more
            sure = min(sure, how)
    return frozenset(values), sure


@given(systems, st.permutations(range(NODES)), st.integers(1, NODES))
def test_answers_are_those_of_asking_everything_until_nothing_changes(
    system: list[tuple[int, list[Step]]], order: list[int], deepest: int
) -> None:
    least = [UNSURE] * NODES
    while (more := [taken(system, node, least.__getitem__) for node in range(NODES)]) != least:
        least = more
    search: Search[Sure] = Search(UNSURE, deepest)
    answers: Answers[tuple[int], Sure] = search.table(
        lambda node: taken(system, node, lambda other: answers[other,])
    )
    assert [answers[node,] for node in order] == [least[node] for node in order]


def test_answers_that_contradict_themselves_come_to_an_end() -> None:
    search: Search[int] = Search(0, 50)
    answers: Answers[tuple[int], int] = search.table(
        lambda node: 1 - answers[node,] if node == 2 else answers[node + 1,]
    )
    assert {answers[node,] for node in range(3)} <= {0, 1}
