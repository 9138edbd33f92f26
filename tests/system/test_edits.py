"""Test edits of files of other programs: the rest of a file is preserved."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.errors import LoreError
from pylore.system.edits import BEGIN, END, change_block, change_json, with_block

LINES = st.lists(
    st.text("ab#\r ", max_size=5) | st.sampled_from(["#!/bin/sh", "exit 0", "", BEGIN, END]),
    max_size=5,
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))
BODIES = st.lists(st.sampled_from(["lore sync", "if x; then", "fi", ""]), max_size=3)
HEAD = "#!/bin/sh\n"


@given(TEXTS, BODIES, BODIES)
def test_block_leaves_the_text_as_it_was(text: str, body: list[str], other: list[str]) -> None:
    once = with_block(text, "'.'", body)
    assert with_block(once, "'.'", body) == once
    assert with_block(once, "'.'", None) == text
    assert with_block(with_block(once, "'.'", other), "'.'", None) == text
    assert with_block(text, "'.'", None) == text


@given(TEXTS, BODIES, st.booleans())
def test_blocks_of_two_keys_leave_in_either_order(text: str, body: list[str], turn: bool) -> None:
    both = with_block(with_block(text, "one", body), "two", body)
    first, last = ("two", "one") if turn else ("one", "two")
    left = with_block(both, first, None)
    assert left != both and with_block(left, last, None) == text


def test_block_without_end_is_not_removed() -> None:
    both = with_block(with_block("a\n", "one", ["x"]) + "mine\n", "two", ["y"])
    broken = both.replace(f"x\n{END}\n", "x\n")
    assert with_block(broken, "one", None) == broken
    assert "mine\n" in with_block(broken, "two", None)


def test_new_file_is_deleted_with_the_block(tmp_path: Path) -> None:
    path = tmp_path / "hook"
    for body, state in (["a"], "added"), (["a"], "unchanged"), (["b"], "updated"):
        assert change_block(str(path), "'.'", body, head=HEAD) == (str(path), state, "")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"echo done\r\n")
    assert change_block(str(path), "'.'", None, head=HEAD)[1] == "removed"
    assert path.read_bytes() == b"#!/bin/sh\r\necho done\r\n"
    assert change_block(str(path), "'.'", None, head=HEAD)[1] == "unchanged"
    path.unlink()
    change_block(str(path), "'.'", ["a"], head=HEAD)
    change_block(str(path), "'.'", None, head=HEAD)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("data", [b"caf\xe9", b"a" * 6_000_000, None])
def test_irregular_files_are_not_changed(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "file"
    os.mkfifo(path) if data is None else path.write_bytes(data)
    assert change_block(str(path), "'.'", ["a"])[1] == "left"
    assert change_block(str(path), "'.'", None)[1] == "left"
    with pytest.raises(LoreError, match=r"file: it is .*: it is unchanged"):
        change_json(str(path), put)
    assert os.listdir(tmp_path) == ["file"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
FILES = st.one_of(
    st.none(),
    st.just(b""),
    st.builds(
        lambda value, indent, escaped, end: (
            json.dumps(value, indent=indent, ensure_ascii=escaped) + end
        ).encode(),
        st.dictionaries(st.text(max_size=6).filter("ours".__ne__), VALUES, max_size=4),
        st.sampled_from([None, 2, 4, "\t"]),
        st.booleans(),
        st.sampled_from(["", "\n", "\n\n"]),
    ),
)


def put(settings: dict[str, Any]) -> None:
    settings.setdefault("ours", {})["command"] = "lore"


def take(settings: dict[str, Any]) -> None:
    settings.pop("ours", None)


@given(before=FILES)
def test_json_comes_back_byte_for_byte(before: bytes | None) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        if before is not None:
            path.write_bytes(before)
        assert change_json(str(path), put)
        once = path.read_bytes()
        assert not change_json(str(path), put)
        assert path.read_bytes() == once
        assert {**json.loads(once)}.pop("ours") == {"command": "lore"}
        assert change_json(str(path), take)
        assert not change_json(str(path), take)
        is_empty = not before or json.loads(before) == {}
        assert (path.read_bytes() if path.exists() else None) == (None if is_empty else before)
        assert os.listdir(folder) == ([] if is_empty else ["settings.json"])


def test_indentation_mode_and_later_changes_are_preserved(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{\n    "model": "x"\n}')
    path.chmod(0o640)
    change_json(str(path), put)
    assert path.read_text().startswith('{\n    "model": "x",\n    "ours"')
    assert path.stat().st_mode & 0o777 == 0o640
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, "theirs": [1]}, indent=4))
    change_json(str(path), take)
    assert json.loads(path.read_text()) == {"model": "x", "theirs": [1]}


UNKEPT = ['{"a": 1, // why\n}', '{"a": 1, "a": 2}', "[1]", '{"a": NaN}', '{"a": 1e400}', "\ufeff{}"]


@pytest.mark.parametrize("text", [*UNKEPT, "{" * 9000])
def test_unstorable_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(LoreError, match=r"settings\.json: it is not"):
        change_json(str(path), put)
    assert path.read_text() == text
    assert os.listdir(tmp_path) == ["settings.json"]


def test_links_leave_a_project_only_where_allowed(tmp_path: Path) -> None:
    dotfiles, project = tmp_path / "dotfiles", tmp_path / "project"
    dotfiles.mkdir()
    (project / ".git").mkdir(parents=True)
    link, target = project / "settings.json", dotfiles / "settings.json"
    target.write_text("{}")
    link.symlink_to(target)
    with pytest.raises(LoreError, match="link out of"):
        change_json(str(link), put)
    assert target.read_text() == "{}"
    assert change_json(str(link), put, everywhere=True)
    assert link.is_symlink() and "ours" in target.read_text()
