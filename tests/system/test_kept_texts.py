"""Texts in the user's cache folder: whole, of this user alone, and in so many places."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from homes import move_home

from pylore.system import user_files as kept_texts
from pylore.system.user_files import forget_text, forget_texts, keep_text, kept_text

KEY = sha256(b"a question").digest()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    move_home(monkeypatch, tmp_path)
    yield tmp_path / "cache/lore/answers"


def the_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_a_text_comes_back_under_its_key_alone_and_nobody_else_may_read_it(folder: Path) -> None:
    assert kept_text(KEY) is None
    keep_text(KEY, "häßlich\n\ud800")
    assert kept_text(KEY) == "häßlich\n?"
    assert kept_text(KEY[:4] + bytes(28)) is None  # another key of the same place
    assert the_file(folder).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    forget_text(KEY)
    assert kept_text(KEY) is None
    keep_text(KEY, "again")
    forget_texts()
    assert [*folder.iterdir()] == []


def test_what_is_not_whole_or_not_of_this_user_alone_is_not_there(folder: Path) -> None:
    keep_text(KEY, "a text")
    file = the_file(folder)
    good = file.read_bytes()
    for bad in (good[:-1], good + b"x", good.replace(b"text", b"tixt"), b"", bytes(50), good[5:]):
        file.write_bytes(bad)
        assert kept_text(KEY) is None
    file.write_bytes(good)
    assert kept_text(KEY) == "a text"
    file.chmod(0o644)
    assert kept_text(KEY) is None
    file.chmod(0o600)
    file.rename(folder / "elsewhere")
    file.symlink_to(folder / "elsewhere")
    assert kept_text(KEY) is None
    file.unlink()
    os.mkfifo(file)
    assert kept_text(KEY) is None


def test_there_are_so_many_places_and_no_long_texts(folder: Path) -> None:
    keep_text(KEY, "x" * (kept_texts.LARGEST + 1))
    assert not folder.exists()
    for number in range(2 * kept_texts.PLACES):
        keep_text(sha256(str(number).encode()).digest(), "text")
    assert len([*folder.iterdir()]) <= kept_texts.PLACES


def test_one_process_writes_a_text_and_a_half_one_that_was_left_is_in_nobodys_way(
    folder: Path,
) -> None:
    keep_text(KEY, "first")
    half = the_file(folder).with_suffix(".new")
    half.touch()
    keep_text(KEY, "second")
    assert kept_text(KEY) == "first"
    os.utime(half, (0, 0))
    keep_text(KEY, "third")
    assert kept_text(KEY) == "third" and not half.exists()


def test_nothing_fails_where_nothing_can_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.parent.mkdir(parents=True)
    folder.touch()
    keep_text(KEY, "text")
    forget_text(KEY)
    forget_texts()
    assert kept_text(KEY) is None
    monkeypatch.setattr(kept_texts, "user_folder", lambda *_: "~/.cache/lore")  # no home
    monkeypatch.chdir(folder.parent)
    keep_text(KEY, "text")
    forget_text(KEY)
    forget_texts()
    assert kept_text(KEY) is None and not Path("~").exists()
