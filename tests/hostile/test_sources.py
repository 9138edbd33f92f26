"""Test files that are costly to parse: each is indexed in bounded time, or skipped by name.

A row is a file, and the reason to skip the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from forked import in_child, preload
from new_stores import new_store

from pylore.code import scan as ast_grep
from pylore.code.index import index
from pylore.core.settings import Settings

MEMORY = 1 << 30
"""Bytes of address space of each process."""
SECONDS = 60
"""Of processor time, of each."""

COSTLY = "parsing exceeds|repeat to over"
"""The first limit depends on the machine."""
NESTED = "nesting exceeds the limit"
REPEATED = "names repeat too often"
NAME = "a" * 300


def deep(opening: str, closing: str, times: int, inner: str = "1") -> str:
    return opening * times + inner + closing * times


def numbered(text: str, times: int) -> str:
    return "".join(text.replace("#", str(number)) for number in range(times))


def indented(text: str, times: int) -> str:
    return "".join(f"{' ' * depth}{text}\n" for depth in range(times))


CALLS = "x = " + deep("f(\n", ")\n", 1500)
CHAIN = "x = (a" + numbered("\n.m#()", 3000) + ")\n"

FILES = {
    "calls-in-calls.js": (CALLS, ""),
    "calls-in-calls.go": (f"package p\nvar {CALLS}", ""),
    "a-chain-of-calls.js": (CHAIN, COSTLY),
    "a-sum-of-calls.py": ("x = (1\n" + "+ f(1)\n" * 12_000 + ")\n", COSTLY),
    "classes-in-classes.java": (deep("class A {\n", "}\n", 10_000), NESTED),
    "classes-in-classes.py": (indented("class A:", 1000), NESTED),
    "namespaces-in-namespaces.cpp": (deep("namespace a {\n", "}\n", 10_000), NESTED),
    "comments-without-an-end.c": ("int f() {}\n" + "\nA_B /*" * 30_000, COSTLY),
    "functions-in-functions.js": (deep("function f() {\n", "}\n", 3000), NESTED),
    "long-names-in-long-names.py": (
        "".join(f"{' ' * depth}class {NAME}{depth}:\n" for depth in range(80))
        + "".join(f"{' ' * 80}c{call}()\n" for call in range(1500)),
        REPEATED,
    ),
    "arrays-in-arrays.js": ("x = " + deep("[\n", "]\n", 20_000), ""),
    "templates-in-templates.js": ("x = " + deep("`${\n", "}`\n", 10_000), ""),
    "types-in-types.ts": ("let x: " + deep("A<\n", ">\n", 10_000, "B"), ""),
    "uses-in-uses.rs": (f"use {deep('a::{', '}', 5000, 'b')};\n", "nesting exceeds the limit"),
    "commands-in-commands.sh": (deep("$(", ")", 10_000, "a"), ""),
    "data-in-data.json": (deep("[\n", "]\n", 100_000), ""),
    "data-in-data.yaml": (indented("a:", 1000), ""),
    "constants-on-a-line.py": (numbered("A#=1;", 9000), REPEATED),
    "a-value-of-a-value.py": (numbered("b# = a#\na# = b#\n", 5000) + "a1()\n", ""),
}


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    preload()


def indexed(folder: str) -> dict[str, Any]:
    """Index a folder; return counts and skipped files."""
    ast_grep.CPU_SECONDS, ast_grep.CPU_SECONDS_A_MB = 1, 0
    left_out: dict[str, str] = {}
    with new_store(f"{folder}/.lore") as store:
        found = index(store, Settings(), lambda: None, folder, left_out=left_out.__setitem__)
    return {**found, "left_out": left_out}


@pytest.mark.one_in(48)
@pytest.mark.parametrize("name", FILES)
def test_hostile_file_has_bounded_costs(name: str, tmp_path: Path) -> None:
    text, why = FILES[name]
    (tmp_path / name).write_text(text)
    (tmp_path / "beside.py").write_text("def beside(): pass\n")
    found = in_child(lambda: indexed(str(tmp_path)), MEMORY, SECONDS)
    assert found["left_out"].keys() == ({name} if why else set())
    # A busy machine may run out of the second that a parse has before it meets the other limit.
    assert re.search(why and f"{why}|parsing exceeds", found["left_out"].get(name, ""))
    assert found["files"] == (1 if why else 2)
    skipped = found["skipped"].get("limit", 0) + found["skipped"].get("unparsed", 0)
    assert skipped == len(found["left_out"])
    assert found["symbols"] >= 1
