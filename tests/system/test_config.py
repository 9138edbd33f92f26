"""Test that config files are read as bash would, and no code in them runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from samples import examples

from pylore.core.errors import LoreError, UsageError
from pylore.system import config
from pylore.system.config import is_plain, parse_line, read_file, unquoted
from pylore.system.edits import with_setting

HOME = "/home/of me"
PLAIN = "only plain assignments are read"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config"


def read(file: Path, text: str | bytes, scope: str = "user") -> list[tuple[str, int, str]]:
    """Key, line and value of each setting."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    found: list[str] = []
    problems = read_file(str(file), scope, HOME, found)
    if problems:
        raise UsageError(problems[0])
    rows = [entry.removesuffix("\n").split("\t", 2) for entry in found]
    assert all(origin.startswith(f"{scope}:{file}:") for _, origin, _ in rows)
    return [(key, int(origin.rpartition(":")[2]), value) for key, origin, value in rows]


REFUSED = r"""
x=$(touch canary)
x=`touch canary`
x="$(touch canary)"
x=1; touch canary
x=1 touch canary
$(touch canary)
x=$HOME
x=$'a\tb'
W[$(touch canary)]=1
W["calls]=1
W[""]=1
export x=1
x+=1
x =1
x='a
x=a"b"
x=a*
x=~a
1x=1
x-y=1
declare -a x=(1)
declare -A x y
declare -A x#y=([a]=1)
if true; then
source other
x=1\
=1
x=(1 2)
declare -A x=([a]=$(touch canary))
declare -A x=([$(touch canary)]=1)
declare -A x=([a]=1); touch canary
declare -A x=([a]=1) y=2
declare -A x=([a]=1)#y
declare -A x=([a]=1[b]=2)
declare -A x=(["a']=1)
""".strip().split("\n")


@pytest.mark.parametrize("line", [*REFUSED, 'x="/a\tb"', 'x="a\x1bb"', "x='\x7f'"])
def test_other_lines_than_assignments_are_refused(file: Path, line: str) -> None:
    with pytest.raises(UsageError, match=PLAIN) as error:
        read(file, f"a=1\n\n# c\n{line}\n")
    assert str(error.value).startswith(f"{file}:4: ")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a=1\ndeclare -A W=(\n[calls]=0.5", 2, "the array W is not closed: add a )"),
        ("declare -A x=(\n[a]=1\ntouch canary\n)", 3, "only plain"),
        (b"a=1\nb=1\0\n", 2, "only plain"),
        ("#" * 1_000_001, 1, "more than a megabyte"),
        ("a=1\n#" + "y" * 20_000, 2, "more than 20000 bytes"),
        ("limit=5\n" * 10_000, None, "too many settings"),
    ],
)
def test_oversized_and_unclosed_configs_are_refused(
    file: Path, text: str | bytes, where: int | None, what: str
) -> None:
    with pytest.raises(UsageError, match=what.replace(")", r"\)")) as error:
        read(file, text)
    assert where is None or str(error.value).startswith(f"{file}:{where}: ")
    assert len(str(error.value)) < 300 + len(str(file))


def test_comments_homes_and_windows_line_ends(file: Path) -> None:
    text = "limit=5\r\ndeclare -A W=(\r\n[a]=1 # c\r\n)\r\n  # end\r\nx=~/a # c\ny=~"
    assert read(file, text) == [
        ("limit", 1, "5"),
        ("W[a]", 3, "1"),
        ("x", 6, f"{HOME}/a"),
        ("y", 7, HOME),
    ]
    assert read(file, "") == []


def test_project_config_must_not_be_a_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a secret line\n")
    file.symlink_to(tmp_path / "kept")
    (problem,) = read_file(str(file), "project", "", [])
    assert ":1: is a link" in problem and "secret" not in problem


def test_broken_lines_are_named_and_others_read(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfa=1\r\nb 2\nW=(\n[x]=1\n[y]=$(id)\n)\nc=3\n")
    found: list[str] = []
    problems = read_file(str(file), "user", "", found)
    assert [problem.split(": ")[0] for problem in problems] == [f"{file}:2", f"{file}:5"]
    assert [entry.split("\t")[0] for entry in found] == ["a", "W[x]", "c"]


def test_setting_replaces_broken_lines_of_the_key() -> None:
    text = "a=1 2\nb=x y\nb=$(id)\n"
    assert with_setting(text, "b", "5") == "a=1 2\nb=5\n"
    assert with_setting(text, "b", None) == "a=1 2\n"


NAMES = st.sampled_from(["v_a", "v_b", "v_c"])
ARRAYS = st.sampled_from(["V_A", "V_B"])
KEYS = st.sampled_from(["calls", "depends-on", "x_1"])
BARE = st.text("abcXYZ019_./:,@%+=-", max_size=8)
WORD = st.text("abcXYZ019_./-", max_size=6)
GAP = st.sampled_from(["", " ", "\t", "  # c", "\t# 'x' $(y)"])


def quoted(inside: str, quote: str) -> st.SearchStrategy[str]:
    return st.text(inside, max_size=8).map(lambda text: f"{quote}{text}{quote}")


VALUES = st.one_of(
    BARE,
    quoted('ab 1"$`\\#~!(){}[];&|<>*?ä', "'"),
    quoted("ab 1'#~!(){}[];&|<>*?ä", '"'),
    st.just("~"),
    BARE.map(lambda text: f"~/{text}"),
)
QUOTES = st.sampled_from(["", "'", '"'])
SPELLED_KEYS = st.builds(lambda key, quote: f"[{quote}{key}{quote}]", KEYS, QUOTES)
ITEM = st.builds(lambda key, word, quote: f"{key}={quote}{word}{quote}", SPELLED_KEYS, WORD, QUOTES)
LINES = st.one_of(
    st.builds(lambda name, value, gap: f"{name}={value}{gap}", NAMES, VALUES, GAP),
    st.builds(lambda name, key, value: f" {name}{key}={value}", ARRAYS, SPELLED_KEYS, VALUES),
    st.sampled_from(
        ["", "# a comment", "  \t# $(touch canary)", "declare -A V_A", "\tdeclare  -A V_B # c"]
    ),
)
LITERALS = st.builds(
    lambda head, items, between, gap: f"{head}=({between.join(items)}){gap}",
    st.sampled_from(["declare -A V_A", "V_A"]),
    st.lists(ITEM, max_size=4),
    st.sampled_from([" ", "\n", "  # c\n\n\t"]),
    GAP,
)
"""An array at the head: a later one would drop former elements in bash, but not in lore."""

PRINT = r"""
declare -A V_A V_B
. "$1"
for name in v_a v_b v_c; do
  [ -z "${!name+x}" ] || printf '%s\t%s\0' "$name" "${!name}"
done
for key in "${!V_A[@]}"; do printf 'V_A[%s]\t%s\0' "$key" "${V_A[$key]}"; done
for key in "${!V_B[@]}"; do printf 'V_B[%s]\t%s\0' "$key" "${V_B[$key]}"; done
"""


def by_bash(file: Path) -> dict[str, str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", PRINT, "-", file],
        cwd=file.parent,
        capture_output=True,
        env={"HOME": HOME, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        check=True,
    )
    assert done.stderr == b""
    pairs = (entry.split("\t", 1) for entry in done.stdout.decode().split("\0") if entry)
    return dict(pairs)


@given(literal=LITERALS, lines=st.lists(LINES, max_size=6))
@settings(max_examples=examples(480), deadline=None)
def test_plain_assignments_agree_with_bash(
    tmp_path_factory: pytest.TempPathFactory, literal: str, lines: Sequence[str]
) -> None:
    file = tmp_path_factory.mktemp("plain") / "config"
    found = {key: value for key, _, value in read(file, "\n".join([literal, *lines]))}
    assert found == by_bash(file)


@given(
    literal=LITERALS,
    lines=st.lists(LINES, max_size=6),
    value=VALUES,
    key=st.one_of(NAMES, st.builds(lambda name, key: f"{name}[{key}]", ARRAYS, KEYS)),
)
@settings(max_examples=examples(480), deadline=None)
def test_written_settings_are_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    literal: str,
    lines: Sequence[str],
    value: str,
    key: str,
) -> None:
    file = tmp_path_factory.mktemp("edited") / "config"
    text = "\n".join([literal, *lines])
    before = {key: value for key, _, value in read(file, text)}
    assume("[" not in key or parse_line(f"[a]={value})", "V_A") is not None)
    assert is_plain(value)
    plain = unquoted(value, HOME)
    assert plain is not None
    changed = with_setting(text, key, plain)
    assert {key: value for key, _, value in read(file, changed)} == {**before, key: plain}
    left = {key: value for key, _, value in read(file, with_setting(changed, key, None))}
    assert left == {name: value for name, value in before.items() if name != key}


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """A project in a separate home, and the environment there."""
    home, project = tmp_path / "home", tmp_path / "a project"
    (home / ".config/lore").mkdir(parents=True)
    (project / ".lore").mkdir(parents=True)
    yield project, {"HOME": str(home)}


def test_config_is_optional(places: tuple[Path, dict[str, str]]) -> None:
    project, environ = places
    (project / "src").mkdir()
    config.load(environ, str(project / "src"))
    data = f"{environ['HOME']}/.local/share/lore"
    assert environ["LORE_PROJECT"] == str(project)
    assert environ["LORE_STORE"] == f"{data}/projects/new"
    assert (environ["LORE_STORE_SCOPE"], environ["LORE_FROM_CONFIG"]) == ("project", "")
    config.load(environ, "/")
    assert (environ["LORE_PROJECT"], environ["LORE_STORE"]) == ("", data)
    environ["LORE_DIR"] = "chosen"
    config.load(environ, str(project))
    assert environ["LORE_STORE"] == f"{project}/chosen"
    assert environ["LORE_STORE_SCOPE"] == "user"


def test_user_config_is_read_before_the_project_config(places: tuple[Path, dict[str, str]]) -> None:
    project, environ = places
    Path(environ["HOME"], ".config/lore/config").write_text("limit=5\n")
    (project / ".lore/.config").write_text("limit=6\n")
    config.load(environ, str(project))
    assert environ["LORE_FROM_CONFIG"] == (
        f"limit\tuser:{environ['HOME']}/.config/lore/config:1\t5\n"
        f"limit\tproject:{project}/.lore/.config:1\t6\n"
    )
    environ["LORE_DIR"] = f"{project}/.lore"
    config.load(environ, "/")
    assert f"limit\tuser:{project}/.lore/.config:1\t6\n" in environ["LORE_FROM_CONFIG"]


def test_linked_folder_outside_the_project_is_refused(
    places: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    project, environ = places
    (project / ".lore").rmdir()
    (project / "inside").mkdir()
    (project / ".lore").symlink_to("inside")
    config.load(environ, str(project))
    (project / ".lore").unlink()
    (project / ".lore").symlink_to(tmp_path / "home")
    with pytest.raises(LoreError, match="is a link out of the project, to"):
        config.load(environ, str(project))
