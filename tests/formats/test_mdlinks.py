"""Finding links in Markdown: what is one, what is not, on which line, in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.formats.mdlinks import find_links as find_links_in_prose
from pylore.formats.mdlinks import prose
from pylore.formats.page import Link


def find_links(lines: list[str], first_line: int = 1) -> list[Link]:
    return find_links_in_prose(prose(lines), first_line)


def links(text: str) -> list[tuple[str, str, str]]:
    return [(link.kind, link.target, link.lines) for link in find_links(text.split("\n"))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[A title]]", [("wiki", "A title", "")]),
        ("[[target|label]]", [("wiki", "target", "")]),
        ("[[target#part]]", [("wiki", "target", "")]),
        (r"| [[target\|label]] |", [("wiki", "target", "")]),
        ("[x](other.md#part)", [("relative", "other.md", "")]),
        ('[x](other.md "a title")', [("relative", "other.md", "")]),
        ("[x](<a b.md>)", [("relative", "a b.md", "")]),
        ("[x](a%20b.md)", [("relative", "a b.md", "")]),
        ("[x](a_(b).md)", [("relative", "a_(b).md", "")]),
        ("[x `y` [z]](a.md)", [("relative", "a.md", ""), ("path", "y", "")]),
        ("[![badge](b.png)](a.md)", [("relative", "a.md", "")]),
        ("[x](../src/a.py#L3-L9)", [("relative", "../src/a.py", "3-9")]),
        ("[x](../src/a.py#L3)", [("relative", "../src/a.py", "3")]),
        ("[x][r] and\n\n[r]: other.md", [("relative", "other.md", "")]),
        ("`src/auth.py`", [("path", "src/auth.py", "")]),
        ("`lib/config.sh:10-20`", [("path", "lib/config.sh", "10-20")]),
        ("`` lib/a`b.sh:7 ``", [("path", "lib/a`b.sh", "7")]),
        ("- item\n\n    [x](a.md)", [("relative", "a.md", "")]),
    ],
)
def test_what_is_a_link(text: str, found: list[tuple[str, str, str]]) -> None:
    assert links(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://example.org/a.md)",
        "[x](//example.org/a.md)",
        "[x](mailto:someone)",
        "<https://example.org>",
        "[x](#part)",
        "[[#part]]",
        "![an image](a.png)",
        r"\[x](a.md)",
        "x](a.md)",
        "[^1]: a.md",
        "```\n[[a]]\n[x](a.md)\n```",
        "~~~~ python\n```\n[[a]]\n~~~\n~~~~",
        "- ```\n  [[a]]\n  ```",
        "> ```\n> [[a]]",
        "```\n[[a]]",
        "para\n\n    [[ -f x ]] && echo\n    [[a]]\n",
        "<!-- [[a]] -->",
        "<!--\n[[a]]\n\n[x](a.md)\n-->",
        "text <!-- [[a]] --> text",
    ],
)
def test_what_is_none(text: str) -> None:
    assert links(text) == []


def test_a_code_span_is_no_wiki_link() -> None:
    assert [kind for kind, _, _ in links("`[[a]]` and ``[x](a.md)``")] == ["path", "path"]


def test_after_a_code_block_links_count_again() -> None:
    assert links("```\n[[a]]\n```\n[[b]]") == [("wiki", "b", "")]


def test_links_know_their_line() -> None:
    text = "one [[a]]\ntwo\nthree `b`\n\n```\nx\n```\n[c](c.md)"
    found = find_links(text.split("\n"), first_line=10)
    assert [(link.target, link.line) for link in found] == [("a", 10), ("b", 12), ("c.md", 17)]


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    _check(text)


@given(st.text("[]()!`~<>-#|\\\"' \n\tab./:>L1", max_size=120))
def test_odd_punctuation(text: str) -> None:
    _check(text)


def _check(text: str) -> None:
    lines = text.split("\n")
    for link in find_links(lines):
        assert 1 <= link.line <= len(lines)
        assert link.target
        assert "\n" not in link.target or link.kind == "relative"


@given(st.lists(st.sampled_from(["words", "a `code` span", "- item", "# head"]), max_size=8))
def test_a_link_between_any_prose_is_found(around: list[str]) -> None:
    lines = [*around, "", "see [[here]]", "", *around]
    assert [link.line for link in find_links(lines) if link.kind == "wiki"] == [len(around) + 2]


@pytest.mark.parametrize(
    "part",
    ["[", "](", '](a "', "](a (b", "](<", "<!--", "[[", "![", "\\`", "``a`", "> ", "](" + 9 * " "],
)
def test_time_is_linear(part: str) -> None:
    text = [part * (40_000 // len(part))]
    start = time.process_time()
    find_links(text)
    assert time.process_time() - start < 1
