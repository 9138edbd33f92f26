"""Test the syntax and the time of globs."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.anchors.globs import Glob

PARTS = {part: part for part in ("a", "b", "/", "é", "]", "-", "[ab]", "[^/b]", "[a-é]", "[]a]")}
PARTS |= {".": r"\.", "?": "[^/]", "*": "[^/]*", "**": ".*", "**/": "(?:.*/)?", "[!a]": "[^/a]"}
"""Parts of globs as regular expressions."""


@pytest.mark.parametrize(
    ("glob", "path", "matched"),
    [
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a/b/c.py", True),
        ("*.py", "a/b.py", False),
        ("a[.py", "a[.py", True),
        ("[z-a]", "[z-a]", True),
        ("[a-]", "-", True),
        ("[adz]", "m", False),
        ("app/[id]/**", "app/[id]/a.ts", True),
        ("**/a.py", "a.py", True),
        ("{a,b}/*.py", "b/c.py", True),
        ("{a,b}/*.py", "c/c.py", False),
        ("{i}.py", "{i}.py", True),
        ("{a,b/**}/*.{c,d}", "b/x/y.d", True),
        ("{a,b{c,d}}*", "bd", True),
        ("a{b,c}", "a", False),
        ("a[{]b,c}", "a{b,c}", True),
        ("{a,b", "{a,b", True),
        ("{a,b}", "{a,b}", False),
    ],
)
def test_glob_syntax(glob: str, path: str, matched: bool) -> None:
    assert Glob(glob).matches(path) is matched


@given(st.lists(st.sampled_from([*PARTS]), max_size=6), st.text(alphabet="ab/.é]-", max_size=8))
def test_globs_agree_with_regular_expressions(parts: list[str], path: str) -> None:
    glob = "".join(parts)
    split = re.findall(r"\*\*/|\*\*|\*|\[.\w?[-\w]*\w?\]|\[\]a\]|.", glob)
    if "[" in split or not path:
        return
    pattern = "".join(PARTS[part] for part in split)
    assert Glob(glob).matches(path) == (re.fullmatch(pattern, path) is not None)


@pytest.mark.parametrize(
    "glob", ["*" * 5000 + "z", "*a" * 500 + "z", "{*,*}" * 60 + "z", "{a," * 20_000 + "b}" * 20_000]
)
def test_no_glob_is_slow(glob: str) -> None:
    begin = time.process_time()
    assert not Glob(glob).matches("a" * 250 + "/" + "a" * 250)
    assert time.process_time() - begin < 1
