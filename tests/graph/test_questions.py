"""Paths, counts and drawings, against plain versions of themselves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from graphs import RELATIONS, Link, filled, graph_store, ids_of, links, steps
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_stores import connection_of

from pylore.core.errors import GraphUnavailable, UsageError
from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.formats.drawing import draw
from pylore.graph.queries import (
    hubs,
    orphans,
    path,
    relations,
    stats,
    within,
)
from pylore.store import Store, open_store

ids = st.sampled_from([f"note-{number}" for number in range(7)])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with graph_store(tmp_path_factory.mktemp("graph")) as store:
        yield store


def given_settings(**flags: str) -> Settings:
    return Settings.load(environ={}, flags=flags)


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


@pytest.mark.parametrize("hops", [1, 2, 3, 4, 5])
def test_a_chain_is_found_with_as_many_hops_as_it_has(store: Store, hops: int) -> None:
    edges: list[Link] = [(f"note-{n}", f"note-{n + 1}", "calls", 1.0) for n in range(hops)]
    edges += [("note-0", f"note-9{n}", "calls", 1.0) for n in range(3)]  # so both ends advance
    with filled(store, edges):
        ends = ("note-0", f"note-{hops}")
        assert path(store, Settings(), *ends, max_hops=hops)["hops"] == hops
        assert path(store, Settings(), *ends, max_hops=hops - 1)["hops"] is None


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


def test_of_two_shortest_paths_the_one_walked_along_its_edges_is_worth_more(store: Store) -> None:
    edges: list[Link] = [
        ("note-1", "note-0", "supersedes", 1.0),  # 0.2 backwards
        ("note-0", "note-2", "supersedes", 1.0),  # 0.5
        ("note-1", "note-3", "calls", 1.0),
        ("note-2", "note-3", "calls", 1.0),
    ]
    with filled(store, edges):
        assert path(store, Settings(), "note-0", "note-3")["path"] == ["note-0", "note-2", "note-3"]
        back = path(store, Settings(), "note-3", "note-0")["path"]
    assert back == ["note-3", "note-1", "note-0"]


def test_a_path_goes_by_the_relations_asked_for(store: Store) -> None:
    edges: list[Link] = [
        ("note-0", "note-1", "calls", 1.0),
        ("note-0", "note-2", "implements", 1.0),
        ("note-2", "note-1", "implements", 1.0),
    ]
    with filled(store, edges):
        assert path(store, Settings(), "note-0", "note-1")["hops"] == 1
        for asked in ({"graph_edges": "IMPLEMENTS"}, {"graph_exclude_edges": "calls"}):
            found = path(store, given_settings(**asked), "note-0", "note-1")
            assert found["path"] == ["note-0", "note-2", "note-1"]
        with pytest.raises(UsageError, match="did you mean 'calls'"):
            path(store, given_settings(graph_edges="cals"), "note-0", "note-1")


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


def test_stats_of_an_empty_store(store: Store) -> None:
    assert stats(store) == {
        "nodes": 0, "nodes_by_type": {}, "edges": 0, "edges_by_relation": {}, "mean_degree": 0.0,
        "max_degree": 0, "max_degree_id": None, "orphans": 0, "components": 0,
        "dangling_edges": 0, "forgotten_nodes": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ("INSERT INTO nodes(id, type, created_at, updated_at) VALUES ('note-9', 'note', '', '')",
         {"nodes": 4}),
        ("UPDATE nodes SET invalidated_at = '2026' WHERE id = 'note-0'", {"forgotten_nodes": 1}),
        ("UPDATE nodes SET type = 'doc' WHERE id = 'note-0'",
         {"nodes_by_type": {"doc": 1, "note": 2}}),
        ("DELETE FROM nodes WHERE id = 'note-2'", {"nodes": 2}),
        ("INSERT INTO links(from_key, to_key, relation, created_at)"
         " VALUES (1, 3, 'calls', '')", {"edges": 3}),
        ("UPDATE links SET invalidated_at = '2026'", {"edges": 0}),
        ("UPDATE links SET relation = 'implements'",
         {"edges_by_relation": {"implements": 2}}),
        ("DELETE FROM links WHERE to_key = 3", {"components": 2}),
    ],
)  # fmt: skip
def test_whatever_changes_the_graph_is_counted(
    tmp_path: Path, change: str, differs: dict[str, Any]
) -> None:
    with graph_store(tmp_path) as store:
        put_chain(store, 3)
        before = stats(store)
        with open_store(str(tmp_path)) as other, other.transaction():
            connection_of(other).execute(change)
        after = stats(store)
    assert after != before
    assert {name: after[name] for name in differs} == differs


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


def test_stats_of_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    with graph_store(tmp_path) as store:
        put_chain(store, 3)
        connection_of(store).pragma("query_only", 1)
        assert stats(store)["nodes"] == 3


@pytest.mark.parametrize("table", ["links", "relations"])
def test_a_missing_table_is_said(tmp_path: Path, table: str) -> None:
    with graph_store(tmp_path) as store:
        put_chain(store, 3)
        stats(store)
        connection_of(store).pragma("foreign_keys", 0)
        connection_of(store).execute(f"DROP TABLE {table}")
        questions: list[Callable[[], object]] = [
            lambda: path(store, Settings(), "note-0", "note-2"),
            lambda: relations(store, Settings()),
        ]
        if table == "links":
            questions += [lambda: stats(store), lambda: hubs(store, 3), lambda: orphans(store)]
        for ask in questions:
            with pytest.raises(GraphUnavailable, match=rf"no such table.*{table}.*lore doctor"):
                ask()


def test_orphans_by_type_and_number(store: Store) -> None:
    with filled(
        store, [("note-0", "note-1", "calls", 1.0)], {"note-0", "note-1", "doc-1", "goal-1"}
    ):
        assert [row["id"] for row in orphans(store)] == ["doc-1", "goal-1"]
        assert orphans(store, limit=1) == [{"id": "doc-1", "type": "doc", "title": "The doc-1"}]
        assert [row["id"] for row in orphans(store, ("goal",))] == ["goal-1"]


def test_relations_say_where_their_weight_is_from(store: Store) -> None:
    with filled(store, [("note-0", "note-1", "supersedes", 1.0)]):
        rows = {
            row["name"]: row
            for row in relations(store, given_settings(edge_weights="supersedes=1"))
        }
    assert list(rows) == sorted(rows)
    assert rows["supersedes"] == {
        "name": "supersedes", "weight": 1.0, "backward_weight": 0.4, "origin": "setting",
        "description": "", "edges": 1,
    }  # fmt: skip
    assert (rows["calls"]["weight"], rows["calls"]["origin"], rows["calls"]["edges"]) == (
        0.7, "store", 0,
    )  # fmt: skip


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


def test_a_title_is_whole_in_data_and_short_in_a_picture(drawn: Store) -> None:
    title = "a" * 100
    forms = drawings(drawn, {"1": title}, [])
    assert json.loads(forms["json"])["nodes"][0]["title"] == title
    for form in ("dot", "mermaid"):
        assert title not in forms[form]
        assert "a" * 59 in forms[form]


def test_a_label_says_what_the_title_does(drawn: Store) -> None:
    forms = drawings(drawn, {"1": 'say "hi" & C:\\n <b>'}, [])
    assert r'[label="say \"hi\" &amp; C:\\n <b>"]' in forms["dot"]
    assert 'n0["say #quot;hi#quot; #amp; C:#92;n #lt;b#gt;"]' in forms["mermaid"]


def test_a_node_without_a_title_is_labelled_by_its_id(drawn: Store) -> None:
    forms = drawings(drawn, {"1": " \n"}, [])
    assert '"note-1" [label="note-1"]' in forms["dot"]
    assert 'n0["note-1"]' in forms["mermaid"]


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_reads_it(drawn: Store) -> None:
    named = {str(number): text * 3 for number, text in enumerate(NASTY)}
    text = drawings(drawn, named, [(0, 1, "calls"), (2, 3, "implements")])["dot"]
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    assert len(re.findall(b'class="node"', done.stdout)) == len(named)
    ElementTree.fromstring(done.stdout)


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


def test_a_drawing_comes_in_pieces(store: Store) -> None:
    edges: list[Link] = [(f"note-{n}", f"note-{n + 1}", "calls", 1.0) for n in range(500)]
    with filled(store, edges):
        pieces = list(draw(store, "dot", list(RELATIONS)))
    assert max(map(len, pieces)) < 200
