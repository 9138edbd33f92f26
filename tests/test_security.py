"""Test that SECURITY.md names existing tests."""

from __future__ import annotations

import re
from pathlib import Path

import pylore

ROOT = Path(pylore.__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")][1:]


def test_every_promise_names_tests_that_are_there() -> None:
    assert len(ROWS) >= 10
    for row in ROWS:
        named = re.findall(r"`(tests/[\w/.]+)`", row.split("|")[-2])
        assert named, row
        assert [name for name in named if not (ROOT / name).exists()] == []


def test_whatever_tries_hostile_things_is_named() -> None:
    hostile = {f"tests/hostile/{path.name}" for path in (ROOT / "tests/hostile").glob("test_*.py")}
    assert len(hostile) >= 5
    assert hostile <= set(re.findall(r"tests/hostile/\w+\.py", PAGE))
