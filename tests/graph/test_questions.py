"""Paths, counts and drawings, against plain versions of themselves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from graphs import RELATIONS, Link, filled, graph_store, ids_of, links, steps
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_stores import connection_of

from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.formats.drawing import draw
from pylore.graph.queries import (
    hubs,
    orphans,
    path,
    stats,
    within,
)
from pylore.store import Store, open_store

ids = st.sampled_from([f"note-{number}" for number in range(7)])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with graph_store(tmp_path_factory.mktemp("graph")) as store:
        yield store


# --- path


def all_paths(
    edges: list[Link], start: str, goal: str, barred: set[str]
) -> Iterator[list[tuple[str, str, float, bool]]]:
    """Every simple path between two nodes, by depth-first search."""
    around = steps(edges)

    def follow(
        seen: tuple[str, ...], taken: list[tuple[str, str, float, bool]]
    ) -> Iterator[list[tuple[str, str, float, bool]]]:
        if seen[-1] == goal:
            yield taken
            return
        for step in around.get(seen[-1], []):
            if step[0] not in seen and step[0] not in barred:
                yield from follow((*seen, step[0]), [*taken, step])

    yield from follow((start,), [])


def strength(taken: list[tuple[str, str, float, bool]]) -> float:
    product = 1.0
    for step in taken:
        product *= step[2]
    return product


@given(links(), ids, ids, st.sets(ids, max_size=2))
@settings(deadline=None)
def test_a_path_has_the_fewest_edges_and_of_those_the_strongest(
    store: Store, edges: list[Link], start: str, goal: str, forgotten: set[str]
) -> None:
    forgotten -= {start, goal}
    with filled(store, edges, {start, goal, *ids_of(edges)}, forgotten):
        found = path(store, Settings(), start, goal)
    paths = list(all_paths(edges, start, goal, forgotten))
    assert (found["from"], found["to"]) == (start, goal)
    if not paths:
        assert (found["hops"], found["path"], found["edges"]) == (None, [], [])
        return
    fewest = min(map(len, paths))
    assert found["hops"] == fewest == len(found["edges"])
    assert found["path"][0] == start and found["path"][-1] == goal
    taken = []
    for edge, (before, after) in zip(found["edges"], pairwise(found["path"]), strict=True):
        assert (edge["from"], edge["to"]) == (before, after)
        along = edge["direction"] == "out"
        ends = (before, after) if along else (after, before)
        assert (*ends, edge["relation"], edge["weight"]) in edges
        taken.append((after, "", edge["weight"] * RELATIONS[edge["relation"]][not along], along))
    best = max(strength(way) for way in paths if len(way) == fewest)
    assert strength(taken) == pytest.approx(best)


@given(links(), ids, ids, st.integers(0, 4))
@settings(deadline=None)
def test_a_path_is_found_within_the_hops_allowed_or_not_at_all(
    store: Store, edges: list[Link], start: str, goal: str, most: int
) -> None:
    with filled(store, edges, {start, goal, *ids_of(edges)}):
        anywhere = path(store, Settings(), start, goal)
        near = path(store, Settings(), start, goal, most)
    too_far = anywhere["hops"] is None or anywhere["hops"] > most
    assert near["hops"] == (None if too_far else anywhere["hops"])


def test_a_path_is_long_where_it_must_be(store: Store) -> None:
    chain: list[Link] = [(f"note-{n}", f"note-{n + 1}", "calls", 0.5) for n in range(300)]
    with filled(store, chain):
        assert path(store, Settings(), "note-300", "note-0")["hops"] == 300


@given(links(), st.integers(0, 4))
@settings(deadline=None)
def test_within_holds_what_is_so_many_hops_away(store: Store, edges: list[Link], hops: int) -> None:
    around = steps(edges)
    expected = {"note-0"}
    for _ in range(hops):
        expected |= {step[0] for id in expected for step in around.get(id, [])}
    with filled(store, edges):
        assert within(store, "note-0", list(RELATIONS), hops) == expected


# --- counts


def count_components(nodes: set[str], edges: list[Link]) -> int:
    groups = [{id} for id in nodes]
    for from_id, to_id, *_ in edges:
        joined = [group for group in groups if group & {from_id, to_id}]
        groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    return len(groups)


def test_guesses_about_code_make_no_hub(store: Store) -> None:
    edges = [("doc-1", "doc-2", "calls", 0.45), ("note-1", "doc-2", "relates_to", 0.2)]
    with filled(store, edges, {"doc-1", "doc-2", "note-1"}, set()):
        all_of_them, sure = hubs(store, 1)[0], hubs(store, 1, 0.5)[0]
    assert (all_of_them["id"], all_of_them["in"]) == (sure["id"], 2) == ("doc-2", 2)
    assert (sure["degree"], sure["in"]) == (1, 1)


@given(links(nodes=9), st.sets(ids, max_size=3), st.sets(ids, max_size=3))
@settings(deadline=None)
def test_stats_are_those_of_a_plain_count(
    store: Store, edges: list[Link], missing: set[str], forgotten: set[str]
) -> None:
    live = (ids_of(edges) | {"doc-1", "doc-2"}) - missing - forgotten
    with filled(store, edges, live, forgotten):
        edges = [edge for edge in edges if forgotten.isdisjoint(edge[:2])]
        found = stats(store)
        most = hubs(store, 100)
        alone = orphans(store)
    whole = [edge for edge in edges if {*edge[:2]} <= live]
    degrees = {id: sum(edge[:2].count(id) for edge in edges) for id in live}
    busiest = max(degrees.values())
    assert found == {
        "nodes": len(live),
        "nodes_by_type": {"doc": 2, **({"note": len(live) - 2} if len(live) > 2 else {})},
        "edges": len(edges),
        "edges_by_relation": {
            name: count
            for name in sorted(RELATIONS)
            if (count := sum(1 for edge in edges if edge[2] == name))
        },
        "mean_degree": round(sum(degrees.values()) / len(live), 3),
        "max_degree": busiest,
        "max_degree_id": min(id for id in live if degrees[id] == busiest) if busiest else None,
        "orphans": sum(1 for degree in degrees.values() if not degree),
        "components": count_components(live, whole),
        "dangling_edges": len(edges) - len(whole),
        "forgotten_nodes": len(forgotten),
    }
    assert [(row["id"], row["degree"], row["out"], row["in"]) for row in most] == [
        (id, degrees[id], sum(e[0] == id for e in edges), sum(e[1] == id for e in edges))
        for id in sorted(live, key=lambda id: (-degrees[id], id))
        if degrees[id]
    ]
    assert [row["id"] for row in alone] == sorted(id for id in live if not degrees[id])


def put_chain(store: Store, length: int) -> None:
    with store.transaction():
        for number in range(length):
            store.nodes.put(Node(f"note-{number}", "note", created_at="2026", updated_at="2026"))
        for number in range(length - 1):
            store.edges.put(
                Edge(f"note-{number}", f"note-{number + 1}", "calls", created_at="2026")
            )


def test_stats_answer_without_waiting_while_another_writes(tmp_path: Path) -> None:
    with graph_store(tmp_path) as store, open_store(str(tmp_path)) as writer:
        put_chain(store, 3)
        with writer.transaction():
            writer.nodes.delete("note-0")
            started = time.monotonic()
            assert stats(store)["nodes"] == 3
            assert time.monotonic() - started < 5
        assert stats(store)["nodes"] == 2


# --- drawings

NASTY = [
    '"', "\\", '\\"', "#", "#quot;", "&", "&amp;", "&#0;", "<b>", "]]>", "<!--", "%%",
    "%%{init: {}}%%", "end", "-->", "|", "[x]", "`", "style a:b#c;", "{", "}", ";", "\n", "\r",
    "\t", "\x1b[31m", "\x07", "\x9b", "\u202e", "\u2028", "\ufffe", "é", "漢", "𝔸", "'", " ", "$$",
]  # fmt: skip
titles = st.one_of(
    st.lists(st.sampled_from(NASTY), max_size=5).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80),
)
letters = st.one_of(st.sampled_from(" \"\\<>&#;'/:"), st.characters(exclude_categories=["C", "Z"]))
keys = st.text(letters, min_size=1, max_size=6).filter(str.strip)

Parsed = tuple[list[str], list[tuple[str, str, str]]]

NODE_OF_DOT = re.compile(r'  "((?:[^"\\]|\\.)*)" \[label="((?:[^"\\]|\\.)*)"\];')
EDGE_OF_DOT = re.compile(
    r'  "((?:[^"\\]|\\.)*)" -> "((?:[^"\\]|\\.)*)" \[label="((?:[^"\\]|\\.)*)"\];'
)
NODE_OF_MERMAID = re.compile(r'  n(\d+)\["((?:[\w .,:\-/]|#(?:\d+|quot|lt|gt|amp);)+)"\]')
EDGE_OF_MERMAID = re.compile(r'  n(\d+) -->\|"(\w+)"\| n(\d+)')


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with graph_store(tmp_path_factory.mktemp("drawing")) as store:
        yield store


def drawings(
    store: Store, named: dict[str, str], edges: list[tuple[int, int, str]]
) -> dict[str, str]:
    """The three forms of a graph with these nodes (key to title) and edges (by number)."""
    names = sorted(f"note-{key}" for key in named)
    connection_of(store).execute("BEGIN")
    try:
        for key, title in named.items():
            store.nodes.put(
                Node(f"note-{key}", "note", title, created_at="2026", updated_at="2026")
            )
        for a, b, relation in edges:
            ends = names[a % len(names)], names[b % len(names)]
            store.edges.put(Edge(*ends, relation, 0.5, created_at="2026"))
        return {
            form: "".join(draw(store, form, list(RELATIONS))) for form in ("json", "dot", "mermaid")
        }
    finally:
        connection_of(store).execute("ROLLBACK")


@given(
    st.dictionaries(keys, titles, min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(sorted(RELATIONS)))),
)
@settings(deadline=None)
def test_every_drawing_parses_and_has_every_node_and_edge(
    drawn: Store, named: dict[str, str], edges: list[tuple[int, int, str]]
) -> None:
    forms = drawings(drawn, named, edges)
    names = sorted(f"note-{key}" for key in named)
    expected = sorted(
        {(names[a % len(names)], names[b % len(names)], relation) for a, b, relation in edges}
    )
    for form, text in forms.items():
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text), form
        assert (form, *PARSERS[form](text, names)) == (form, names, expected)


def parse_json(text: str, names: list[str]) -> Parsed:
    data = json.loads(text)
    return (
        [node["id"] for node in data["nodes"]],
        [(link["source"], link["target"], link["relation"]) for link in data["links"]],
    )


def parse_dot(text: str, names: list[str]) -> Parsed:
    lines = text.removesuffix("\n").split("\n")
    assert lines[:3] == ["digraph lore {", "  rankdir=LR;", "  node [shape=box];"]
    assert lines[-1] == "}"
    found: Parsed = ([], [])
    for line in lines[3:-1]:
        edge = EDGE_OF_DOT.fullmatch(line)
        if edge:
            found[1].append((unquoted(edge[1]), unquoted(edge[2]), edge[3]))
        else:
            node = NODE_OF_DOT.fullmatch(line)
            assert node, line
            found[0].append(unquoted(node[1]))
    return found


def unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text).replace("&amp;", "&")


def parse_mermaid(text: str, names: list[str]) -> Parsed:
    """Its nodes are numbers, in the order of their ids."""
    lines = text.removesuffix("\n").split("\n")
    assert lines[0] == "flowchart TD"
    found: Parsed = ([], [])
    for line in lines[1:]:
        edge = EDGE_OF_MERMAID.fullmatch(line)
        if edge:
            found[1].append((names[int(edge[1])], names[int(edge[3])], edge[2]))
        else:
            node = NODE_OF_MERMAID.fullmatch(line)
            assert node, line
            assert int(node[1]) == len(found[0])
            found[0].append(names[int(node[1])])
    return found


PARSERS = {"json": parse_json, "dot": parse_dot, "mermaid": parse_mermaid}


def test_a_label_says_what_the_title_does(drawn: Store) -> None:
    forms = drawings(drawn, {"1": 'say "hi" & C:\\n <b>'}, [])
    assert r'[label="say \"hi\" &amp; C:\\n <b>"]' in forms["dot"]
    assert 'n0["say #quot;hi#quot; #amp; C:#92;n #lt;b#gt;"]' in forms["mermaid"]


def test_a_drawing_can_be_of_some_nodes_and_relations(store: Store) -> None:
    edges: list[Link] = [
        ("note-1", "doc-1", "calls", 1.0),
        ("note-1", "note-2", "calls", 1.0),
        ("note-2", "note-1", "implements", 1.0),
        ("note-2", "note-3", "calls", 1.0),
        ("note-2", "note-9", "calls", 1.0),
    ]
    with filled(store, edges, {"note-1", "note-2", "note-3", "doc-1"}):
        text = "".join(draw(store, "json", ["calls"], among={"note-1", "note-2"}))
    nodes, drawn_edges = parse_json(text, [])
    assert (nodes, drawn_edges) == (["note-1", "note-2"], [("note-1", "note-2", "calls")])
