"""Links, titles and tags of Markdown; every form is read in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.formats.pages import read_page


def links(text: str) -> list[tuple[str, str, str]]:
    return [(link.kind, link.target, link.lines) for _, link in read_page(text, "a.md").links]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[A title]]", [("wiki", "A title", "")]),
        (r"| [[target\|label]] |", [("wiki", "target", "")]),
        ("[[1]](other.md#part)", [("relative", "other.md", "")]),
        ("[x](<a b.md>)", [("relative", "a b.md", "")]),
        ("[x](a%20b.md)", [("relative", "a b.md", "")]),
        ("[![badge](b.png)\\\n](a.md)", [("relative", "a.md", "")]),
        ("[x [y](a.md)](b.md) [p][q]\n\n[p]: c.md", [("relative", "a.md", "")]),
        ("[x](../src/a.py#L3-L9)", [("relative", "../src/a.py", "3-9")]),
        ("[x][r\n\\]]: and\n\n1. > [R \\]]:\n  other.md", [("relative", "other.md", "")]),
        ("`lib/config.sh:10-20`", [("path", "lib/config.sh", "10-20")]),
        ("`` lib/a`b.sh:7 ``", [("path", "lib/a`b.sh", "7")]),
        (r"[x](a.md (a \) title))", [("relative", "a.md", "")]),
        ("<pre>\n[x](a.md)\n</pre>\n[y](b.md)", [("relative", "b.md", "")]),
        ("- a `\n- [x](a.md) [a`](b.md)`", [("relative", "a.md", ""), ("path", "](b.md)", "")]),
        ('<b><A class=x\nHREF="a.md#b">x</a>', [("relative", "a.md", "")]),
        ("> ```\n> code\n\n1. ```\n   code\n\n[x](a.md)", [("relative", "a.md", "")]),
        ("!!! note\n\n    ![a][p] [b][p]\n\n[p]: a.md", [("relative", "a.md", "")]),
    ],
)
def test_links(text: str, found: list[tuple[str, str, str]]) -> None:
    assert links(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://example.org/a.md)",
        "[x](mailto:someone) [y]({{'a.md'}}) <https://[x](a.md)> [x\n\ny](a.md)",
        "[x](#part) [[_TOC_]]",
        "![an image](a.png)",
        r"\[x](a.md)",
        "[^1]: a.md",
        "~~~~ python\n```\n[[a]]\n~~~\n~~~~",
        "- ```\n  [[a]]\n  ```",
        "para\n\n    [[ -f x ]] && echo\n    [[a]]\n",
        "<!-- [[a]] -->",
        "<!--\n[[a]]\n\n[x](a.md)\n-->",
        r"\[[a]] is text",
        '[![an image][p]](#b)\n\n[p]: a.png\n[unused]: b.md\n\n[q]\n\n[q]: c.md "t" u',
    ],
)
def test_no_links(text: str) -> None:
    assert links(text) == []


@given(st.lists(st.sampled_from(["words", "a `code` span", "- item", "# head"]), max_size=8))
def test_link_in_any_prose_is_found(around: list[str]) -> None:
    text = "\n".join([*around, "", "see [[here]]", "", *around])
    places = [at for at, link in read_page(text, "a.md").links if link.kind == "wiki"]
    assert [text[at : at + 4] for at in places] == ["[[he"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# **[One](a.md)** *fi_le* _a_ *args **k #", "One fi_le a *args **k"),
        ("A\ntitle\n===\n\ntext", "A title"),
        ("\n<!-- a\n-->\n<a id=b></a>\n## Second level {: #two}\n\n# First level", "Second level"),
        ("text\n\n## Second level\n\n# First level", "First level"),
        ("## Symptoms\n\n### Alert\n\n## Steps\n\n# Links", ""),
        ("- Start: 2026\n\n# Summary\n\n```sh\n# a\n```\n# Motivation\n# Design", ""),
        ("[[_TOC_]]\n# [A](b.md) `c` \\* &amp; ![d](e.png)\n# B", "A `c` * &"),
        ("<h1><img src='a.png'></h1>\n\n# ![Only](a.png)", "Only"),
        ("# List<String> and [[A]]", "List<String> and [[A]]"),
        ('<p><H1 align="center">\n  <img src="a.png"> A\n</H1>', "A"),
        ("text\n\n  Another  \n---\ntext", "Another"),
        ("> quoted\n---\n# Real", "Real"),
        ("```\n---\n# Real\n```\n---\n# Yes", "Yes"),
        ("---\n# Real", "Real"),
    ],
)
def test_title(text: str, title: str) -> None:
    assert read_page(text, "a.md").title == title


def test_tags() -> None:
    page = read_page(
        "#dad #decade, #a/हिन्दी。#次\n(#no) #12 #3d #🚀 #a1b2c3 `#code` {: #no}", "a.md"
    )
    assert page.tags == ["dad", "decade", "a/हिन्दी", "次", "3d", "🚀"]


PARTS = [
    part.encode().decode("unicode_escape")
    for part in r"""
        [ ]( ](a\x20" ](a\x20(b ](< <!-- [[ ![ \x5c` ``a` >\x20 [\x5c] [a\x5c]
        ](\x20\x20\x20\x20\x20\x20\x20\x20\x20 [a](b [[a] [x] ![a][b] [a]:\x20b\n `a``b```c
        ```\n >\x20```\n> \n\n\x20\x20\x20\x20a\n -\x20 1.\x20 #\x20 a\n---\n `` ` `a\x20<
        `a\x20<b>`_ :a:` :doc: a_\x20 _ ::\n ::\n\n ..\x20|a|\x20replace::\x20|a|\n
        ..\x20a::\n ..\x20_a:\x20b\n ..\n\x20 |a| {:\x20# ====\n = ----\n a/b/ \x20 \t \n
    """.split()
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("ending", ["md", "rst"])
def test_time_is_linear(ending: str, part: str) -> None:
    text, start = part * (60_000 // len(part)), time.process_time()
    read_page(f"{text}\n\n# a{text}b", f"a.{ending}")
    assert time.process_time() - start < 1.5
