"""lore graph view: what is picked, that data stays data, and the page in a browser."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, Browser, overlaps
from homes import move_home
from hypothesis import given
from hypothesis import strategies as st

import pylore
from pylore.core.model import Node
from pylore.core.settings import Settings
from pylore.store import Store
from pylore.view import page as picking
from pylore.view.page import data_block, labels, page

ROOT = Path(__file__).resolve().parents[2]
OWNED = "document.documentElement.dataset.owned='yes'"
HOSTILE = (
    f"</script><script>{OWNED}</script>",
    f"<img src=x onerror={OWNED}>",
    f"<!--<script>{OWNED}\u2028//",
    f'"-->`;{OWNED};//',
    f"]]></style><svg onload={OWNED}>",
    "tokens \x1b[2J\u202e backwards",
)


@pytest.fixture(scope="module")
def lore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pylore.Lore]:
    folder = tmp_path_factory.mktemp("view")
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, folder)
        with pylore.open(folder / ".lore", create=True) as lore:
            lore.add("decision", "Sessions are signed tokens\n\nThe server keeps no state.",
                     id="decision-a")  # fmt: skip
            lore.add("file", "auth.py", id="file-auth.py", links=[("decision-a", "implements")])
            lore.add("file", "web.py", id="file-web.py", links=[("file-auth.py", "imports")])
            lore.add("note", "Of nothing else", id="note-alone")
            for name in ("check_login", "log_in"):
                lore.add("symbol", f"{name}()", id=f"symbol-auth.py::{name}")
                lore.link("file-auth.py", "defines", f"symbol-auth.py::{name}")
            lore.link("file-web.py", "calls", "symbol-auth.py::log_in")
            for number, text in enumerate(HOSTILE):
                lore.add("lesson", text, id=f"lesson-{number}",
                         links=[("decision-a", "relates_to")])  # fmt: skip
            yield lore


@pytest.fixture
def store(lore: pylore.Lore) -> Store:
    return lore._open()[0]


def settings(**flags: str) -> Settings:
    return Settings.load(environ={}, flags={"graph_depth": "2", **flags})


def places(picked: picking.Picked) -> dict[str, int | None]:
    return {id: hop for id, (hop, _) in picked.places.items()}


# --- what is picked


def test_it_opens_on_records_and_what_they_touch(store: Store) -> None:
    found = places(picking.pick_whole(store, settings(), 100))
    assert next(iter(found)) == "decision-a"
    assert [*found][-2:] == ["file-auth.py", "note-alone"]
    assert "file-web.py" not in found
    assert set(found.values()) == {None}


def test_a_cap_leaves_room_for_what_records_touch_and_is_said(store: Store) -> None:
    picked = picking.pick_whole(store, settings(), 3)
    assert [*picked.places] == ["decision-a", "lesson-0", "file-auth.py"]
    assert picked.notes == [
        "3 of 12 nodes are drawn, records with most edges first, then what they touch: "
        "--max-nodes is 3"
    ]


def test_only_edges_of_the_relations_count(store: Store) -> None:
    picked = picking.pick_whole(store, settings(graph_edges="imports"), 2)
    assert [*picked.places] == ["file-auth.py", "file-web.py"]
    drawn = picking.picture(store, settings(graph_edges="imports"), picked)
    assert drawn["edges"] == [(3, 0, "imports", 0.6)]  # behind the two symbols of the first


def test_around_a_node_hops_count_from_it(store: Store) -> None:
    found = places(picking.pick_around(store, settings(), ["file-web.py"], 100))
    assert found["file-web.py"] == 0
    assert found["file-auth.py"] == 1
    assert found["decision-a"] == 2
    assert "lesson-0" not in found


def test_a_query_brings_its_matches_and_what_is_around_them(store: Store) -> None:
    picked = picking.pick_matches(store, settings(limit="1"), "signed state", 100, None)
    assert places(picked)["decision-a"] == 0
    assert places(picked)["file-web.py"] == 2
    few = picking.pick_matches(store, settings(), "signed state", 3, None)
    assert sum(not id.startswith("symbol-") for id in few.places) == 3
    assert few.notes[-1] == "the best 3 nodes are drawn: --max-nodes is 3"


def test_symbols_come_with_their_files_and_take_no_room(store: Store) -> None:
    picked = picking.pick_around(store, settings(), ["file-auth.py"], 1)
    nodes = picking.picture(store, settings(), picked)["nodes"]
    assert [(node["id"], node["within"], node["hop"]) for node in nodes] == [
        ("file-auth.py", None, 0),
        ("symbol-auth.py::check_login", 0, 1),
        ("symbol-auth.py::log_in", 0, 1),
    ]
    picked = picking.pick_around(store, settings(), ["symbol-auth.py::log_in"], 1)
    nodes = picking.picture(store, settings(), picked)["nodes"]
    assert [node["id"] for node in nodes][:2] == ["file-auth.py", "symbol-auth.py::log_in"]


def test_the_strongest_edges_stay(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picking, "MOST_EDGES", 3)
    picked = picking.pick_whole(store, settings(), 100)
    drawn = picking.picture(store, settings(), picked)
    assert len(drawn["edges"]) == 3
    assert "only the 3 strongest of 9 edges are drawn" in picked.notes
    assert {edge[2] for edge in drawn["edges"]} <= {"implements", "relates_to"}


def test_a_long_text_is_cut_and_a_short_one_is_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picking, "MOST_TEXT", 10)
    picked = picking.pick_around(store, settings(), ["decision-a", "note-alone"], 2)
    texts = [node["text"] for node in picking.picture(store, settings(), picked)["nodes"]]
    assert texts[0] == "Sessions a …"


def test_the_same_picture_is_the_same_page(store: Store) -> None:
    pages = [
        page(picking.picture(store, settings(), picking.pick_whole(store, settings(), 100)))
        for _ in range(2)
    ]
    assert pages[0] == pages[1]


def test_labels_are_short_and_files_of_one_name_are_told_apart() -> None:
    titles = [
        ("file", "src/flask/ctx.py"), ("file", "src/flask/app.py"), ("file", "src/sansio/app.py"),
        ("symbol", "Flask.run(self, host: str)"), ("note", "x" * 50),
        ("decision", "Sessions are kept in\n signed tokens"),
    ]  # fmt: skip
    nodes = [Node(id=f"n-{place}", type=type, title=title)
             for place, (type, title) in enumerate(titles)]  # fmt: skip
    assert labels(nodes) == [
        "ctx.py", "flask/app.py", "sansio/app.py", "Flask.run", "x" * 31 + "…",
        "Sessions are kept in signed…",
    ]  # fmt: skip


# --- data stays data


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_data_block_neither_ends_nor_opens_a_script_and_says_the_same(text: str) -> None:
    block = data_block({"title": text})
    assert not set(block) & set("<>&\u2028\u2029")
    assert json.loads(block) == {"title": text}


def test_a_page_has_no_more_scripts_than_its_own(store: Store) -> None:
    html = page(picking.picture(store, settings(), picking.pick_whole(store, settings(), 100)))
    assert len(re.findall(r"<script\b", html)) == 3
    assert html.count("</script>") == 3
    assert "onerror=document" not in html.replace("\\u003cimg src=x onerror=document", "")
    assert "{{" not in html[: html.index('id="data"')]


def test_a_page_fetches_nothing_and_says_whose_library_it_has(store: Store) -> None:
    html = page(picking.picture(store, settings(), picking.pick_whole(store, settings(), 1)))
    assert "default-src 'none'" in html
    assert not re.search(r"<(?:link|img|iframe)\b|<script[^>]+src", html)
    assert "Mike Bostock" in html
    assert "Permission to use, copy" in html


@pytest.mark.parametrize("changed", [False, True])
def test_a_changed_library_is_found(tmp_path: Path, changed: bool) -> None:
    script, library = "tools/bundle-view.sh", "pylore/view/assets/d3-force.min.js"
    for path in (script, library):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(
            (ROOT / path).read_text() + " \n" * (changed and path == library)
        )
    done = subprocess.run(["bash", tmp_path / script, "--check"], capture_output=True, text=True)
    assert ("is not d3-force" in done.stderr, done.returncode) == (changed, int(changed))


# --- in a browser


@pytest.fixture(scope="module")
def shown(lore: pylore.Lore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser that shows the page of everything, and the page's file."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH")
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "a page.html"
    picked = picking.pick_around(lore._open()[0], settings(), ["decision-a", "note-alone"], 100)
    file.write_text(page(picking.picture(lore._open()[0], settings(), picked)), encoding="utf-8")
    browser = Browser(folder)
    try:
        browser.open(file)
        yield browser, file
    finally:
        browser.close()


def listed(browser: Browser) -> list[str]:
    return list(browser.run(
        "[...document.querySelectorAll('#nodes li:not([hidden]) button')].map(b => b.textContent)"
    ))  # fmt: skip


def chosen(browser: Browser) -> Any:
    return browser.run(
        "(text => text.hidden ? null : text.querySelector('h2').textContent)"
        "(document.getElementById('text'))"
    )


def test_the_page_shows_every_title_as_text_and_runs_none(shown: Any) -> None:
    browser, _ = shown
    titles = listed(browser)
    assert titles[0] == "Sessions are signed tokens"
    for text in HOSTILE:
        title = text.splitlines()[0]
        assert title.replace("\x1b", "?").replace("\u202e", "?") in titles
    assert browser.run("document.documentElement.dataset.owned || ''") == ""
    assert browser.run("document.querySelectorAll('script').length") == 3
    assert browser.run("document.querySelectorAll('nav img, nav svg, article img').length") == 0


def test_words_narrow_the_list_and_keys_lead_to_the_text(shown: Any) -> None:
    browser, _ = shown
    browser.press("Escape")
    browser.run("document.activeElement.blur()")
    browser.press("/", "/")
    browser.send("Input.insertText", {"text": "KÉEPS state\u0301"})
    assert listed(browser) == ["Sessions are signed tokens"]
    browser.press("ArrowDown")
    browser.press("Enter", "\r")
    assert chosen(browser) == "Sessions are signed tokens"
    assert "The server keeps no state." in browser.run(
        "document.querySelector('#text .body').textContent"
    )
    browser.press("Escape")
    assert chosen(browser) is None
    browser.press("Escape")
    assert len(listed(browser)) == 10


def test_an_edge_leads_on_and_back_leads_back(shown: Any) -> None:
    browser, file = shown
    browser.open(file, "#file-web.py")
    assert chosen(browser) == "web.py"
    browser.run("document.querySelector('#text li button').click()")
    assert chosen(browser) == "auth.py"
    browser.run("new Promise(done => { addEventListener('popstate', done); history.back(); })")
    assert chosen(browser) == "web.py"


def test_a_node_of_the_picture_can_be_clicked(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    browser.run("document.querySelector('#nodes button').click()")  # brings it to the middle
    box = browser.run("(b => [b.x, b.y, b.width, b.height])"
                      "(document.getElementById('graph').getBoundingClientRect())")  # fmt: skip
    browser.click(box[0] + 5, box[1] + 5)
    assert chosen(browser) is None
    browser.run("document.querySelector('#nodes button').click()")
    box = browser.run("(b => [b.x, b.y, b.width, b.height])"
                      "(document.getElementById('graph').getBoundingClientRect())")  # fmt: skip
    browser.run("document.getElementById('find').focus()")
    browser.press("Escape")
    assert chosen(browser) is None
    (line,) = [line for line in browser.drawn() if line["text"] == "tokens"]
    browser.click(box[0] + line["x"], box[1] + line["y"])
    assert chosen(browser) == "Sessions are signed tokens"


def test_a_few_nodes_all_have_labels_and_none_lies_over_another(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    labels = browser.labels()
    assert {"Sessions are signed tokens", "Of nothing else", "auth.py\u00a0+2", "web.py"} <= {
        *labels
    }
    assert len([label for label in labels if label not in ("relates_to", "implements")]) >= 10
    assert overlaps(browser.drawn()) == []


def test_a_file_opens_and_what_was_asked_for_is_marked(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    assert browser.run("[...document.querySelectorAll('.start')].map(i => i.textContent)") == [
        "Sessions are signed tokens", "Of nothing else"
    ]  # fmt: skip
    assert "check_login" not in browser.labels()
    browser.open(file, "#file-auth.py")
    assert "← calls web.py" in browser.run("document.querySelector('#text ul').textContent")
    browser.press("o", "o")
    settle(browser)
    assert {"auth.py", "check_login", "log_in"} <= {*browser.labels()}
    assert "log_in()" in listed(browser)
    browser.press("o", "o")
    assert "log_in()" not in listed(browser)


def settle(browser: Browser) -> None:
    """Wait until nothing moves."""
    browser.run(
        "new Promise(done => { let last = ''; (function look() {"
        " const now = JSON.stringify(window.drawn); if (now === last) done();"
        " else { last = now; setTimeout(look, 300); } })(); })"
    )


def test_arrows_lead_to_a_neighbour_and_what_is_farther_fades(shown: Any) -> None:
    browser, file = shown
    browser.open(file, "#file-web.py")
    labels = browser.labels()
    assert labels["web.py"] == labels["auth.py\u00a0+2"] == 1
    assert labels["web.py"] > labels["Sessions are signed tokens"]
    browser.press("ArrowRight")
    browser.press("Enter", "\r")
    assert chosen(browser) == "auth.py"
    assert browser.labels()["Sessions are signed tokens"] == 1
    browser.press("Escape")


def test_what_is_found_is_marked_and_brought_to_the_middle(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    browser.press("/", "/")
    browser.send("Input.insertText", {"text": "of nothing else"})
    (line,) = [line for line in browser.drawn() if line["text"] == "Of nothing else"]
    width = browser.run("document.getElementById('graph').clientWidth")
    assert (line["alpha"], round(line["x"] / width, 1)) == (1, 0.5)
    others = [alpha for label, alpha in browser.labels().items() if "othing" not in label]
    assert max(others) == 0.15


def test_types_and_relations_can_be_left_out(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    toggle = ("(word => [...document.querySelectorAll('details label')]"
              ".find(l => l.textContent.startsWith(word)).firstChild.click())")  # fmt: skip
    browser.run(f"{toggle}('lesson')")
    assert len(listed(browser)) == 4
    browser.run(f"{toggle}('imports')")
    count = browser.run("document.getElementById('count').textContent")
    assert count == "4 nodes, 2 lines, 2 symbols in their files"


def test_it_is_drawn_light_and_dark_and_asks_nobody(shown: Any, tmp_path: Path) -> None:
    browser, file = shown
    browser.open(file)
    light = browser.picture()
    browser.send("Emulation.setEmulatedMedia",
                 {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})  # fmt: skip
    browser.run("new Promise(done => setTimeout(() => requestAnimationFrame(done), 200))")
    dark = browser.picture()
    assert struct.unpack(">II", light[16:24])[0] >= 800
    assert light != dark
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    urls = {event["params"]["request"]["url"].split("#")[0] for event in browser.said
            if event.get("method") == "Network.requestWillBeSent"}  # fmt: skip
    assert urls == {file.as_uri()}
    wrong = [event for event in browser.said if event.get("method") in (
        "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]  # fmt: skip
    assert wrong == []
    if keep := os.environ.get("VIEW_PICTURES"):
        Path(keep, "light.png").write_bytes(light)
        Path(keep, "dark.png").write_bytes(dark)
