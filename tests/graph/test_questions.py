"""Paths, statistics and drawings, against plain versions of themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from math import prod

import pytest
from graphs import RELATIONS, Link, filled, ids_of, links, steps
from hypothesis import given, settings
from hypothesis import strategies as st

from pylore.core.settings import Settings
from pylore.formats.drawing import draw
from pylore.graph.queries import hubs, orphans, path, stats, within
from pylore.store import Store

ids = st.sampled_from([f"note-{number}" for number in range(7)])


# --- path


Taken = list[tuple[str, str, float, bool]]


def all_paths(edges: list[Link], start: str, goal: str, barred: set[str]) -> Iterator[Taken]:
    """Every simple path between two nodes, by depth-first search."""
    around = steps(edges)

    def follow(seen: tuple[str, ...], taken: Taken) -> Iterator[Taken]:
        if seen[-1] == goal:
            yield taken
            return
        for step in around.get(seen[-1], []):
            if step[0] not in seen and step[0] not in barred:
                yield from follow((*seen, step[0]), [*taken, step])

    yield from follow((start,), [])


def strength(taken: Taken) -> float:
    return prod(step[2] for step in taken)


@given(links(), ids, ids, st.sets(ids, max_size=2))
@settings(deadline=None)
def test_path_is_the_strongest_of_the_shortest(
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
def test_path_respects_max_hops(
    store: Store, edges: list[Link], start: str, goal: str, most: int
) -> None:
    with filled(store, edges, {start, goal, *ids_of(edges)}):
        anywhere = path(store, Settings(), start, goal)
        near = path(store, Settings(), start, goal, most)
    too_far = anywhere["hops"] is None or anywhere["hops"] > most
    assert near["hops"] == (None if too_far else anywhere["hops"])


@given(links(), st.integers(0, 4))
@settings(deadline=None)
def test_within_has_the_nodes_in_range(store: Store, edges: list[Link], hops: int) -> None:
    around = steps(edges)
    expected = {"note-0"}
    for _ in range(hops):
        expected |= {step[0] for id in expected for step in around.get(id, [])}
    with filled(store, edges):
        assert within(store, "note-0", list(RELATIONS), hops) == expected


# --- statistics


def count_components(nodes: set[str], edges: list[Link]) -> int:
    groups = [{id} for id in nodes]
    for from_id, to_id, *_ in edges:
        joined = [group for group in groups if group & {from_id, to_id}]
        groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    return len(groups)


@given(links(nodes=9), st.sets(ids, max_size=3), st.sets(ids, max_size=3))
@settings(deadline=None)
def test_stats_equal_a_plain_count(
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


# --- drawings

LABELS = {
    "dot": re.compile(r'  "note-1" \[label="((?:[^"\\]|\\.)*)"\];'),
    "mermaid": re.compile(r"""  n0\["((?:[\w .,:\-/…()']|#\d+;)+)"\]"""),
}
NASTY = r"""" \ \" # #quot; & &#0; <b> ]]> <!-- end --> | [x] ` { } ; é 漢 𝔸 ' $$""".split()
NASTY += ["%%{init: {}}%%", "style a:b#c;", "\n", "\r", "\x1b[31m", "\x9b", "\u202e", "\u2028", " "]
titles = st.lists(st.sampled_from(NASTY), min_size=1, max_size=5).map("".join)


def drawing(store: Store, form: str, title: str) -> str:
    with filled(store, [], {"note-1"}):
        node = store.nodes.require("note-1")
        node.title = title
        store.nodes.put(node)
        return "".join(draw(store, form, list(RELATIONS)))


@given(titles, st.sampled_from(["dot", "mermaid"]))
@settings(deadline=None)
def test_no_title_breaks_a_drawing(store: Store, title: str, form: str) -> None:
    text = drawing(store, form, title)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    (line,) = [line for line in text.split("\n") if line.startswith(("  n0", '  "'))]
    assert LABELS[form].fullmatch(line), line


def test_a_label_has_the_title(store: Store) -> None:
    title = 'say "hi" & C:\\n <b> (…)'
    assert r'[label="say \"hi\" &amp; C:\\n <b> (…)"]' in drawing(store, "dot", title)
    mermaid = 'n0["say #34;hi#34; #38; C:#92;n #60;b#62; (…)"]'
    assert mermaid in drawing(store, "mermaid", title)


def test_a_drawing_can_be_of_some_nodes_and_relations(store: Store) -> None:
    edges: list[Link] = [("note-1", "doc-1", "calls", 1.0), ("note-1", "note-2", "calls", 1.0)]
    edges += [("note-2", "note-1", "implements", 1.0), ("note-2", "note-9", "calls", 1.0)]
    with filled(store, edges, {"note-1", "note-2", "doc-1"}):
        found = json.loads("".join(draw(store, "json", ["calls"], among={"note-1", "note-2"})))
    assert [node["id"] for node in found["nodes"]] == ["note-1", "note-2"]
    joined = [(link["source"], link["target"], link["relation"]) for link in found["links"]]
    assert joined == [("note-1", "note-2", "calls")]
