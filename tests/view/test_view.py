"""Test the page of ``lore graph view``: picked nodes and edges, and escaping of data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searching import options
from view_store import view_store

import pylore
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.store import Store
from pylore.view import page as picking
from pylore.view.page import data_block, label, page

D3_FORCE = "cd4d78fe712323e22d342257f8ec1d0d856da04ab77c7c71996ef8db508c380a"
"""SHA-256 of the output of tools/bundle-view.sh."""


@pytest.fixture(scope="module")
def lore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pylore.Lore]:
    with view_store(tmp_path_factory.mktemp("view")) as lore:
        yield lore


@pytest.fixture
def store(lore: pylore.Lore) -> Store:
    return lore._open().store


def settings(**flags: str) -> Settings:
    return options(graph_depth=2, **flags)


# --- picked nodes


def test_page_opens_on_records_and_neighbours(store: Store) -> None:
    found = picking.pick_whole(store, settings(), 100).hops
    assert next(iter(found)) == "decision-a"
    assert [*found][-2:] == ["file-auth.py", "note-alone"]
    assert "file-web.py" not in found
    assert set(found.values()) == {None}


def test_limit_leaves_room_for_neighbours(store: Store) -> None:
    picked = picking.pick_whole(store, settings(), 3)
    assert [*picked.hops] == ["decision-a", "lesson-0", "file-auth.py"]
    assert picked.notes == ["3 of 10 nodes are drawn: --max-nodes is 3"]


def test_only_edges_of_the_relations_count(store: Store) -> None:
    picked = picking.pick_whole(store, settings(graph_edges="imports"), 2)
    assert [*picked.hops] == ["file-auth.py", "file-web.py"]
    drawn = picking.picture(store, settings(graph_edges="imports"), picked)
    assert drawn["edges"] == [(1, 0, "imports", 0.6)]


def test_hops_count_from_the_center(store: Store) -> None:
    found = picking.pick_around(store, settings(), ["file-web.py"], 100).hops
    assert [found[id] for id in ("file-web.py", "file-auth.py", "decision-a")] == [0, 1, 2]
    assert "lesson-0" not in found


def test_query_shows_matches_and_surroundings(store: Store) -> None:
    picked = picking.pick_matches(store, settings(limit="1"), "signed state", 100, None)
    assert (picked.hops["decision-a"], picked.hops["file-web.py"]) == (0, 2)
    few = picking.pick_matches(store, settings(), "signed state", 3, None)
    assert len(few.hops) == 3
    assert few.notes[-1] == "the best 3 nodes are drawn: --max-nodes is 3"


def test_symbols_belong_to_files_unless_requested(store: Store) -> None:
    picked = picking.pick_around(store, settings(), ["file-auth.py"], 2)
    drawn = picking.picture(store, settings(), picked)
    nodes = [(node["id"], node["hop"], node["symbols"]) for node in drawn["nodes"]]
    assert nodes == [("file-auth.py", 0, "check_login, log_in"), ("decision-a", 1, "")]
    picked = picking.pick_around(store, settings(), ["symbol-auth.py::log_in"], 4)
    drawn = picking.picture(store, settings(), picked)
    first, *others = drawn["nodes"]
    assert (first["id"], first["label"]) == ("symbol-auth.py::log_in", "log_in")
    assert {node["id"] for node in others} == {"file-auth.py", "file-web.py", "decision-a"}


def test_edges_of_symbols_are_drawn_at_their_file(store: Store) -> None:
    picked = picking.pick_around(store, settings(), ["file-web.py"], 2)
    drawn = picking.picture(store, settings(), picked)
    assert [edge[:3] for edge in drawn["edges"]] == [(0, 1, "calls"), (0, 1, "imports")]


def test_strongest_edges_are_drawn(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picking, "MOST_EDGES", 3)
    picked = picking.pick_whole(store, settings(), 100)
    drawn = picking.picture(store, settings(), picked)
    assert len(drawn["edges"]) == 3
    assert "only the 3 strongest of 7 edges are drawn" in picked.notes
    assert {edge[2] for edge in drawn["edges"]} <= {"implements", "relates_to"}


@pytest.mark.parametrize(
    ("type", "title", "expected"),
    [
        ("file", "ctx.py", "ctx.py"),
        ("file", "src/flask/app.py", "flask/app.py"),
        ("symbol", "Flask.run(self, host: str)", "Flask.run"),
        ("note", "x" * 50, "x" * 31 + "…"),
        ("decision", "Sessions are kept in\n signed tokens", "Sessions are kept in signed…"),
    ],
)
def test_labels_are_short(type: str, title: str, expected: str) -> None:
    assert label(Node(id="n", type=type, title=title)) == expected


# --- escaping


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_data_block_contains_no_script_tags(text: str) -> None:
    block = data_block({"title": text})
    assert not set(block) & set("<>&\u2028\u2029")
    assert json.loads(block) == {"title": text}


def test_page_has_only_known_scripts_and_fetches_nothing(store: Store) -> None:
    html = page(picking.picture(store, settings(), picking.pick_whole(store, settings(), 100)))
    assert len(re.findall(r"<script\b", html)) == 3
    assert html.count("</script>") == 3
    assert "onerror=document" not in html.replace("\\u003cimg src=x onerror=document", "")
    assert "{{" not in html[: html.index('id="data"')]
    assert "default-src 'none'" in html
    assert not re.search(r"<(?:link|img|iframe)\b|<script[^>]+src", html)
    assert "Mike Bostock" in html
    assert "Permission to use, copy" in html


@pytest.mark.soak
def test_the_library_is_d3_force_as_pinned() -> None:
    data = Path(picking.__file__).with_name("assets").joinpath("d3-force.min.js").read_bytes()
    assert sha256(data).hexdigest() == D3_FORCE
