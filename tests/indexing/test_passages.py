"""Passages: cut texts, and find the passages by search."""

from __future__ import annotations

import re

import pytest
from commands import Lore
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.indexing.passages import passages, prose_passages

_HEADINGS = ["# One", "## 1.2.0", "Title", "=====", "-----", "~~~~", "[1.3.0] - 2026-01-31"]
LINES = st.sampled_from(
    [*_HEADINGS, "", "- item", "1. first", "```", "word " * 30, "\u3000", "限流" * 250]
)


@settings(max_examples=examples(100))
@given(st.lists(LINES, max_size=40).map("\n".join) | st.text(max_size=300))
def test_passages_join_to_the_text(text: str) -> None:
    parts = passages(text)
    assert "".join(parts) == text
    assert all(len(part.split()) <= 200 >= part.count("限流") for part in parts)
    for file in ("", "docs/a.rst", "CHANGES.md"):
        assert "".join(part for _, part in prose_passages(text, file)) == text


def section(heading: str, words: int) -> str:
    return f"{heading}\n\n" + "word " * words + "\n\n"


@pytest.mark.parametrize(
    ("one", "two", "three"),
    [
        ("# One", "## Two", "## Three"),
        ("= One", "== Two ==", "== Three"),
        ("One\n===", "Two\n---", "Three\n-----"),
        ("===\nOne\n===", "Two\n~~~", "Three\n~~~~~"),
    ],
)
def test_long_text_is_cut_at_headings(one: str, two: str, three: str) -> None:
    text = section(one, 120) + section(two, 100) + section(three, 60)
    (above, first), (inside, second) = prose_passages(text)
    assert first.startswith(f"{one}\n") and second.startswith(f"{two}\n")
    assert (above, inside) == ("One", "Two Three")  # that has room there
    assert len(prose_passages(section(one, 50) + section(two, 50))) == 1


def test_other_lines_are_not_headings() -> None:
    code = "```sh\n# a comment\n```\n\n"
    for line in (code, "a\nb\n---\n", " # indented\n", "- one\n-----\n"):
        found = [part for _, part in prose_passages("word " * 150 + "\n\n" + line + "word " * 150)]
        assert len(found[0].split()) == 200


CHANGES = (
    """\
## Unreleased

- Faster.

## 2.3.0 - 2026-01-31

- The rotation of keys can be scheduled.
- Support for old browsers was dropped.

## 2.2.1

- A fix.

## 2.2.0

- Support for older browsers was dropped.
"""
    + "".join(
        f"- Thing number {number} is as it should be, and was not before.\n" for number in range(20)
    )
    + "".join(f"\n## 2.1.{number}\n\n- Fix {number}.\n" for number in range(9, 0, -1))
)


def test_changelog_entries_are_found_by_version(lore: Lore) -> None:
    lore.write("CHANGES.md", "# Changes\n\n" + CHANGES)
    rst = re.sub("## (.*)", lambda found: f"{found[1]}\n{'-' * len(found[1])}", CHANGES)
    lore.write("HISTORY.rst", rst.replace("Unreleased", "HEAD"))
    lore.write("upgrade.md", f"<h1>Upgrade to 2.0</h1>\n\n{section('## Drop', 240)}## Others\n")
    lore("import", "CHANGES.md", "HISTORY.rst", "upgrade.md", "--embedder", "none")

    def first(query: str, file: str) -> tuple[int, str]:
        found = lore("search", query, "--embedder", "none").json
        row = next(row for row in found if row["file"] == file)
        return row["line_start"], row["snippet"]

    for file, lines in (("CHANGES.md", (7, 16)), ("HISTORY.rst", (6, 17))):
        assert (first("2.3 rotation", file)[0], first("2.2.0 browsers", file)[0]) == lines
        assert first("support browsers dropped", file)[0] == lines[0]  # the newer of two
        line, snippet = first("2.2.0 thing number 19", file)
        assert line > lines[1] + 10 and snippet.startswith("2.2.0: ") and "number 19 is" in snippet
    assert first("drop", "upgrade.md")[1].startswith("## Drop word")
    titles = [row["title"] for row in lore("show", "doc-HISTORY", "doc-upgrade").json]
    assert titles == ["HISTORY", "Upgrade to 2.0"]  # not that of one of several versions
