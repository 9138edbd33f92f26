"""Event plugins: order, refusals, and guards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from homes import move_home

from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.system.files import GUARD
from pylore.system.plugins import Events

ROWS: list[dict[str, object]] = [{"id": "note-a"}, {"id": "note-b\ud800"}]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    move_home(monkeypatch, tmp_path / "home")
    folder = tmp_path / "home/config/lore/commands"
    folder.mkdir(parents=True)
    return folder


def events(**flags: str) -> Events:
    return Events(Settings.load(environ={}, flags=flags))


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_first_plugin_that_refuses_is_named(own: Path, tmp_path: Path) -> None:
    for name in ("", ".b", ".a"):
        put(
            own, f"lore-hook-pre-add{name}", f"cat >{tmp_path}/got{name}; echo no{name} >&2; exit 1"
        )
    put(own, "lore-hook-pre-adder", f"touch {tmp_path}/got-another")
    with pytest.raises(LoreError, match=r"^lore-hook-pre-add: no: not written$"):
        events().ask("pre-add", ROWS)
    lines = '{"event":"pre-add","id":"note-a"}\n{"event":"pre-add","id":"note-b?"}\n'
    assert {path.name: path.read_text() for path in tmp_path.glob("got*")} == dict.fromkeys(
        ("got", "got.a", "got.b"), lines
    )


def test_no_plugin_runs_within_a_plugin(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(own, "lore-hook-pre-add", f"touch {tmp_path}/ran; exit 1")
    assert not events().has_plugins("post-add")
    assert events().tell("post-add", ROWS) == []
    monkeypatch.setenv(GUARD, "lore-hook-post-add")
    events().ask("pre-add", ROWS)
    assert not (tmp_path / "ran").exists()


def test_unreadable_folder_refuses_before_and_warns_after(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> list[str]:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(LoreError, match=r"cannot be read .*: not written"):
        events().ask("pre-add", ROWS)
    (note,) = events().tell("post-add", ROWS)
    assert "no plugin can run" in note
    own.rmdir()
    events().ask("pre-add", ROWS)
