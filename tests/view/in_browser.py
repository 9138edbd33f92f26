"""The page of ``lore graph view`` in Chromium: ``make test-view`` runs this."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, Browser, overlaps
from searching import options
from view_store import HOSTILE, view_store

import pylore
from pylore.view import page as picking
from pylore.view.page import page

SETTINGS = options(graph_depth=2)
STARTS = ["Sessions are signed tokens", "Of nothing else"]
SENT = "Network.requestWillBeSent"
FAULTS = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")


@pytest.fixture(scope="module")
def lore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pylore.Lore]:
    with view_store(tmp_path_factory.mktemp("view")) as lore:
        yield lore


@pytest.fixture(scope="module")
def shown(lore: pylore.Lore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser that shows the page of everything, and the page's file."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH")
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "a page.html"
    picked = picking.pick_around(lore._open().store, SETTINGS, ["decision-a", "note-alone"], 100)
    file.write_text(page(picking.picture(lore._open().store, SETTINGS, picked)), encoding="utf-8")
    browser = Browser(folder)
    try:
        browser.open(file)
        yield browser, file
    finally:
        browser.close()


def listed(browser: Browser) -> list[str]:
    buttons = "document.querySelectorAll('#nodes li:not([hidden]) button')"
    return list(browser.run(f"[...{buttons}].map(b => b.textContent)"))


def choose(browser: Browser, title: str) -> None:
    found = f"document.querySelector('#nodes button[title=\"{title}\"]')"
    browser.run(f"{found}.click()")


def canvas(browser: Browser) -> Any:
    """Return the place of the upper left corner of the picture."""
    return browser.run(
        "(b => [b.x, b.y])(document.getElementById('graph').getBoundingClientRect())"
    )


def chosen(browser: Browser) -> Any:
    return browser.run(
        "(text => text.hidden ? null : text.querySelector('h2').textContent)"
        "(document.getElementById('text'))"
    )


def test_page_escapes_titles(shown: Any) -> None:
    browser, _ = shown
    titles = listed(browser)
    assert titles[0] == "Sessions are signed tokens"
    for text in HOSTILE:
        title = text.splitlines()[0]
        assert title.replace("\x1b", "?").replace("\u202e", "?") in titles
    assert browser.run("document.documentElement.dataset.owned || ''") == ""
    assert browser.run("document.querySelectorAll('script').length") == 3
    assert browser.run("document.querySelectorAll('nav img, nav svg, article img').length") == 0


def test_words_filter_the_list(shown: Any) -> None:
    browser, _ = shown
    browser.press("Escape")
    browser.run("document.activeElement.blur()")
    browser.press("/", "/")
    browser.send("Input.insertText", {"text": "KÉEPS state\u0301"})
    assert listed(browser) == ["Sessions are signed tokens"]
    browser.press("ArrowDown")
    browser.press("Enter", "\r")
    assert chosen(browser) == "Sessions are signed tokens"
    body = browser.run("document.querySelector('#text .body').textContent")
    assert "The server keeps no state." in body
    browser.press("Escape")
    assert chosen(browser) is None
    browser.press("Escape")
    assert len(listed(browser)) == 10


def test_an_edge_leads_on(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    choose(browser, "file-web.py")
    assert chosen(browser) == "web.py"
    browser.run("document.querySelector('#text li button').click()")
    assert chosen(browser) == "auth.py"


def test_a_node_of_the_picture_can_be_clicked(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    browser.run("document.querySelector('#nodes button').click()")  # brings it to the middle
    box = canvas(browser)
    browser.click(box[0] + 5, box[1] + 5)
    assert chosen(browser) is None
    browser.run("document.querySelector('#nodes button').click()")
    box = canvas(browser)
    browser.run("document.getElementById('find').focus()")
    browser.press("Escape")
    assert chosen(browser) is None
    (line,) = [line for line in browser.drawn() if line["text"] == "signed tokens"]
    browser.click(box[0] + line["x"], box[1] + line["y"])
    assert chosen(browser) == "Sessions are signed tokens"


def test_labels_do_not_overlap(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    labels = browser.labels()
    assert {*STARTS, "auth.py\u00a0+2", "web.py"} <= {*labels}
    assert len([label for label in labels if label not in ("relates_to", "implements")]) >= 10
    assert overlaps(browser.drawn()) == []


def test_start_is_marked_and_files_list_symbols(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    marked = browser.run("[...document.querySelectorAll('.start')].map(i => i.textContent)")
    assert marked == STARTS
    browser.open(file)
    choose(browser, "file-auth.py")
    text = browser.run("document.querySelector('#text').textContent")
    assert "← calls web.py" in text and "check_login, log_in" in text


def test_tab_selects_a_neighbour(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    choose(browser, "file-web.py")
    labels = browser.labels()
    assert labels["web.py"] == labels["auth.py\u00a0+2"] == 1
    assert labels["web.py"] > labels["Sessions are signed tokens"]
    browser.run("document.querySelector('#text h2').focus()")
    browser.press("Tab")
    browser.press("Enter", "\r")
    assert chosen(browser) == "auth.py"
    assert browser.labels()["Sessions are signed tokens"] == 1
    browser.press("Escape")


def test_match_is_marked_and_centered(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    browser.press("/", "/")
    browser.send("Input.insertText", {"text": "of nothing else"})
    (line,) = [line for line in browser.drawn() if line["text"] == "Of nothing else"]
    width = browser.run("document.getElementById('graph').clientWidth")
    assert (line["alpha"], round(line["x"] / width, 1)) == (1, 0.5)
    others = [alpha for label, alpha in browser.labels().items() if "othing" not in label]
    assert max(others) == 0.15


def test_types_and_relations_can_be_hidden(shown: Any) -> None:
    browser, file = shown
    browser.open(file)
    toggle = (
        "(word => [...document.querySelectorAll('details label')]"
        ".find(l => l.textContent.includes(word)).firstChild.click())"
    )
    browser.run(f"{toggle}('lesson')")
    assert len(listed(browser)) == 4
    browser.run(f"{toggle}('imports')")
    count = browser.run("document.getElementById('count').textContent")
    assert count == "4 nodes, 2 lines"


def test_page_is_drawn_light_and_dark_offline(shown: Any, tmp_path: Path) -> None:
    browser, file = shown
    browser.open(file)
    light = browser.picture()
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.send("Emulation.setEmulatedMedia", {"features": features})
    browser.run("new Promise(done => setTimeout(() => requestAnimationFrame(done), 200))")
    dark = browser.picture()
    assert struct.unpack(">II", light[16:24])[0] >= 800
    assert light != dark
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    said = [(event.get("method"), event.get("params")) for event in browser.said]
    sent = [params["request"]["url"] for name, params in said if name == SENT]
    assert {url.split("#")[0] for url in sent} == {file.as_uri()}
    assert [params for name, params in said if name in FAULTS] == []
    if keep := os.environ.get("VIEW_PICTURES"):
        Path(keep, "light.png").write_bytes(light)
        Path(keep, "dark.png").write_bytes(dark)
