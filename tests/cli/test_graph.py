"""Test the verbs of ``lore graph``."""

from __future__ import annotations

import json
import re
import webbrowser
from unittest.mock import Mock

import pytest
from commands import Lore

DECISION, LESSON, NOTE = "decision-1a2b3c4d", "lesson-2b3c4d5e", "note-3c4d5e6f"
FILE = "file-src/a.py"


@pytest.fixture
def filled(lore: Lore) -> Lore:
    """Run commands in a project with the links lesson > decision > file, and an unlinked note."""
    lore.fill(
        {"id": DECISION, "type": "decision", "title": 'Sign sessions with "JWT"'},
        {"id": LESSON, "type": "lesson", "title": "Clocks drift"},
        {"id": NOTE, "type": "note", "title": "alone"},
        {"id": FILE, "type": "file", "title": "src/a.py"},
        {"from_id": LESSON, "to_id": DECISION, "relation": "learned_from"},
        {"from_id": DECISION, "to_id": FILE, "relation": "relates_to", "weight": 0.5},
    )
    return lore


def test_graph_help_names_the_verbs(lore_without_store: Lore) -> None:
    lore = lore_without_store
    help = lore("graph").out
    assert help.startswith("Usage: lore graph VERB") and help.count("\n") <= 40
    for words in (["graph", "--help"], ["graph", "help"], ["help", "graph"]):
        assert lore(*words).out == help
    verbs = re.findall(r"^  ([a-z]+)  +\S", help.partition("Commands:")[2], re.M)
    assert {"path", "stats", "hubs", "relations", "similar", "export", "view"} == {*verbs}
    for verb in verbs:
        assert lore("graph", verb, "a", "--help").out.startswith(f"Usage: lore graph {verb}")
    assert "did you mean 'path'" in lore.refuse("graph", "pth")


def test_graph_has_commands_of_the_top_level(filled: Lore) -> None:
    filled.print_each(f"""
        graph related {DECISION} | {LESSON} {FILE}
        graph related {LESSON} --hops 2 | {DECISION} {FILE}
        graph show {NOTE} | {NOTE}
    """)
    edge = f"{NOTE} relates_to {LESSON}"
    words = ("graph", "link", *edge.split())
    assert filled(*words).json == {"id": edge, "state": "added"}
    assert filled("graph", "unlink", *words[2:]).json["state"] == "invalidated"


# --- counts


def test_hubs_and_orphans_are_counted(filled: Lore) -> None:
    first, *others = filled("graph", "hubs").json
    assert [first[name] for name in ("id", "degree", "out", "in")] == [DECISION, 2, 1, 1]
    assert len(others) == 2 and filled("graph", "hubs", "-n", "1").json == [first]
    filled("add", "goal", "nothing yet")
    filled.print_each(f"list --orphans --type note,task | {NOTE}")
    assert len(filled("list", "--orphans").json) == 2
    assert len(filled("list", "--orphans", "-n", "1").json) == 1


# --- paths and neighbours


def test_path_has_nodes_and_edges(filled: Lore) -> None:
    found = filled("graph", "path", LESSON, FILE).json
    assert (found["from"], found["to"], found["hops"]) == (LESSON, FILE, 2)
    assert found["path"] == [LESSON, DECISION, FILE]
    assert [*found["edges"][1].values()] == [DECISION, FILE, "relates_to", "out", 0.5]
    filled.print_each(f"graph path {FILE} {LESSON} | {FILE} {DECISION} {LESSON}")
    assert filled("graph", "path", LESSON, FILE, "--text").lines == [
        f"{LESSON} > {DECISION} > {FILE}",
        f"out  learned_from  {DECISION}  1",
        f"out  relates_to  {FILE}  0.5",
    ]


@pytest.mark.parametrize(
    "options", [(NOTE,), (FILE, "--max-hops", "1"), (FILE, "--exclude-edges", "learned_from")]
)
def test_missing_path_has_no_hops(filled: Lore, options: tuple[str, ...]) -> None:
    done = filled("graph", "path", LESSON, *options)
    assert (done.json["hops"], done.json["path"], done.json["edges"]) == (None, [], [])
    assert filled("graph", "path", LESSON, *options, "--text").out == "no path\n"


def test_neighbors_are_a_single_edge_away(filled: Lore) -> None:
    lesson, file = filled("graph", "neighbors", DECISION).json
    assert (lesson["id"], lesson["edge_type"], lesson["verdict"]) == (LESSON, "learned_from", None)
    assert (file["id"], file["edge_type"], file["score"]) == (FILE, "relates_to", 0.245)
    filled.print_each(f"""
        graph neighbors {DECISION} --edges LEARNED_FROM | {LESSON}
        graph neighbors {LESSON} --depth 2 | {DECISION} {FILE}
        graph neighbors {NOTE} |
    """)
    filled.fill({"from_id": NOTE, "to_id": "note-2", "relation": "calls"})
    assert filled("graph", "neighbors", NOTE).json == []
    assert filled("graph", "stats").json["dangling_edges"] == 1


# --- exports


def test_export_has_three_formats(filled: Lore) -> None:
    def size(*options: str) -> tuple[int, int]:
        found = filled("graph", "export", *options).json
        return len(found["nodes"]), len(found["links"])

    assert size() == size("--format", "json") == (4, 2)
    assert size("--around", LESSON) == (2, 1)
    walk = ("--hops", "2", "--edges", "learned_from", "--edges", "relates_to")
    assert size("--around", LESSON, *walk) == (3, 2)
    dot = filled("graph", "export", "--format", "dot").out
    assert f'"{DECISION}" -> "{FILE}" [label="relates_to"];' in dot
    mermaid = filled("graph", "export", "--format", "mermaid", "--edges", "all").out
    assert mermaid.startswith("flowchart TD") and "Sign sessions with #34;JWT#34;" in mermaid


# --- the page of a graph


def nodes(page: str) -> list[str]:
    """Return the ids of the nodes in the data of a page."""
    [data] = re.findall(r'^<script type="application/json" id="data">(.*)</script>$', page, re.M)
    return [node["id"] for node in json.loads(data)["nodes"]]


def test_view_prints_a_page_to_a_pipe(filled: Lore) -> None:
    filled.fill({"id": NOTE, "title": "</script><script>alert(1)</script>"})
    page = filled("graph", "view").out
    assert nodes(filled("graph", "view", "-", stdin="").out) == []
    assert {*nodes(page)} == {DECISION, LESSON, NOTE, FILE} and page.count("<script") == 3
    for words, ids in (
        (("clocks", "drift", "--limit", "1"), [LESSON, DECISION]),
        ((FILE,), [FILE, DECISION]),
        (("-", "--exclude-edges", "learned_from"), [LESSON]),
        (("--max-nodes", "1", "-q", "-o", "-"), [DECISION]),
    ):
        options = ("--hops", "1", *words)
        assert nodes(filled("graph", "view", *options, stdin=LESSON).out) == ids, words


def test_view_writes_and_opens_a_file(filled: Lore) -> None:
    browser = Mock(return_value=True)
    filled.patch.setattr(webbrowser, "open", browser)
    path = filled.project / "a page.html"
    done = filled("graph", "view", "-o", path.name, "--open")
    assert done.json == {"path": path.name, "nodes": 4, "edges": 2}
    browser.assert_called_once_with(path.as_uri())
    assert len(nodes(path.read_text())) == 4
    assert [file.name for file in filled.project.glob("*a page*")] == [path.name]
    own = filled.store / "graph.html"
    assert str(own) in filled("graph", "view", terminal=True).out
    assert own.stat().st_mode & 0o777 == 0o600


# --- refusals and damage


def test_verbs_refuse_wrong_words(filled: Lore) -> None:
    wrong = f"{DECISION[:-2]}zz"
    filled.refuse_each(f"""
        graph related {wrong} | 1 | see 'lore search'
        graph neighbors {wrong} | 1 | see 'lore search'
        graph path {NOTE} {wrong} | 1 | see 'lore search'
        graph export --around {wrong} | 1 | see 'lore search'
        graph export --edges learnt_from | 2 | did you mean 'learned_from'
        graph neighbors | 2 | needs an id
        graph path | 2 | lore graph path
        graph hubs -n 0 | 2 | --limit
        graph export --format svg | 2 | json, dot, mermaid
        graph export --ids | 2 | remove --ids
        list --orphans --tag auth | 2 | remove further options
    """)


VERBS = (
    "related N, neighbors N, path N D, show N, stats, hubs, relations, link N relates_to D, "
    "unlink N relates_to D, export --around N"
)


def test_verbs_name_the_remedy_of_a_lost_graph(filled: Lore) -> None:
    verbs = VERBS.replace("N", NOTE).replace("D", DECISION).split(", ")
    filled.sql("DROP TABLE links")
    filled.refuse_each("\n".join(f"graph {verb} | 1 | lore doctor" for verb in verbs))
    filled.patch.setenv("LORE_DIR", str(filled.root / "none"))
    filled.refuse_each("\n".join(f"graph {verb} | 1 | lore init" for verb in verbs))


@pytest.fixture
def alike(lore: Lore) -> Lore:
    """Run commands in a project of two equal notes and a third note."""
    lore.patch.delenv("LORE_EMBEDDER")
    same = "The connection pool runs empty when {} worker leaks a connection"
    lore.fill(
        {"id": "note-a", "title": same.format("a")},
        {"id": "note-b", "title": same.format("some")},
        {"id": "note-c", "title": "Invoices are sent on Mondays"},
    )
    return lore


def test_similar_links_and_unlinks_records(alike: Lore) -> None:
    counts = {"min": 0.8, "nearest": 5, "records": 3, "edges": 1, "added": 1}
    zero = dict.fromkeys(("updated", "invalidated", "unchanged"), 0)
    assert alike("graph", "similar").json == {**counts, **zero}
    [edge] = alike("show", "note-a").json["edges"]
    assert (edge["relation"], edge["id"], edge["direction"]) == ("similar_to", "note-b", "out")
    assert edge["weight"] > 0.9
    assert alike("graph", "similar").json["unchanged"] == 1
    assert alike("graph", "similar", "--remove").json["invalidated"] == 1
    assert alike("show", "note-a").json["edges"] == []


def test_similar_refuses_wrong_options(lore: Lore) -> None:
    lore("add", "note", "words")
    lore.refuse_each("""
        graph similar --min 1.5 | 2 | --min
        graph similar -k 0 | 2 | --nearest
        graph paht | 2 | no such command 'paht' (did you mean 'path'?)
        graph similar --type nots | 2 | unknown type 'nots'
        graph similar | 1 | lore store reindex
    """)
