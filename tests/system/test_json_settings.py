"""Settings files of other programs: changed in place, and back to the same bytes."""

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
from pylore.system.json_settings import BACKUP, change_settings

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
def test_taking_back_what_was_put_leaves_the_bytes_that_were_there(before: bytes | None) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        if before is not None:
            path.write_bytes(before)
        assert change_settings(str(path), put)
        once = path.read_bytes()
        assert not change_settings(str(path), put), "a second time changes nothing"
        assert path.read_bytes() == once
        assert {**json.loads(once)}.pop("ours") == {"command": "lore"}
        assert change_settings(str(path), take, back=put)
        assert (path.read_bytes() if path.exists() else None) == before
        assert os.listdir(folder) == ([] if before is None else ["settings.json"])


def test_what_a_person_adds_in_between_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{\n    "model": "x"\n}')
    path.chmod(0o640)
    change_settings(str(path), put)
    assert path.read_text().startswith('{\n    "model": "x",\n    "ours"')
    assert path.stat().st_mode & 0o777 == 0o640
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, "theirs": [1]}, indent=4))
    change_settings(str(path), take, back=put)
    assert json.loads(path.read_text()) == {"model": "x", "theirs": [1]}
    assert (tmp_path / f"settings.json{BACKUP}").read_text() == '{\n    "model": "x"\n}'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, // why\n}',
        '{"a": 1, "a": 2}',
        "[1]",
        "{",
        '{"a": NaN}',
        '{"a": 1e400}',
        "\ufeff{}",
        "{" * 9000,
    ],
)
def test_what_cannot_be_kept_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(LoreError, match=r"settings\.json: is not"):
        change_settings(str(path), put)
    assert path.read_text() == text
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_link_stays_one_and_leads_out_of_a_project_only_where_it_may(tmp_path: Path) -> None:
    dotfiles, project = tmp_path / "dotfiles", tmp_path / "project"
    dotfiles.mkdir()
    (project / ".git").mkdir(parents=True)
    link, target = project / "settings.json", dotfiles / "settings.json"
    target.write_text("{}")
    link.symlink_to(target)
    with pytest.raises(LoreError, match="leads out of"):
        change_settings(str(link), put)
    assert target.read_text() == "{}"
    assert change_settings(str(link), put, everywhere=True)
    assert link.is_symlink() and "ours" in target.read_text()


def test_what_is_written_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    turns = []

    def slow(settings: dict[str, Any]) -> None:
        turns.append(1)
        if len(turns) < 3:
            path.write_text(json.dumps({"theirs": len(turns)}))
        put(settings)

    assert change_settings(str(path), slow)
    assert json.loads(path.read_text()) == {"theirs": 2, "ours": {"command": "lore"}}
