"""Where the table of pieces is, and that only one is read that is what it should be."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_tokenizer import real_pieces

from pylore.core.errors import LoreError
from pylore.embed import bpe
from pylore.embed import static as pieces
from pylore.embed.bpe import PieceTable, TableError, is_whole, stamp_of_tokenizer
from pylore.embed.bpe_table import part
from pylore.embed.static import encode, install_table, installed_table, own_table, tokenizer_file


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tokenizer's file in an environment without a table, and a cache without one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(pieces, "_opened", {})
    monkeypatch.setattr(pieces, "_temporary", {})
    copy = tmp_path / "packages" / "wordllama" / "tokenizers" / "tokenizer.json"
    copy.parent.mkdir(parents=True)
    shutil.copy2(tokenizer_file(), copy)
    return str(copy)


def placed(made_table: Path, package: str, *, own: bool) -> Path:
    """A table of this package in one of its two places."""
    own_place = own_table(package)
    place = Path(own_place if own else installed_table(package))
    place.parent.mkdir(exist_ok=True, parents=True)
    shutil.copy(made_table, place)
    place.chmod(0o600)
    return place


WORD = ["unheardofword"]


def test_who_has_no_table_gets_one_of_his_own(package: str, made_table: Path) -> None:
    assert encode(WORD, package) == real_pieces(WORD)
    place = Path(own_table(package))
    assert place.stat().st_mode & 0o7777 == 0o600
    assert place.parent.stat().st_mode & 0o7777 == 0o700
    assert [*place.parent.iterdir()] == [place]
    assert place.read_bytes() == made_table.read_bytes()


def test_where_the_setup_made_one_nobody_makes_another(package: str, made_table: Path) -> None:
    placed(made_table, package, own=False)
    assert encode(WORD, package) == real_pieces(WORD)
    assert not Path(own_table(package)).exists()


def test_the_table_of_another_version_takes_the_place_of_the_one_before(package: str) -> None:
    for second in (1, 2):
        os.utime(package, (second, second))
        assert encode(WORD, package) == real_pieces(WORD)
    place = Path(own_table(package))
    assert [*place.parent.iterdir()] == [place]


def cut(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-1])


def empty(place: Path) -> None:
    place.write_bytes(b"")


def zeroed(place: Path) -> None:
    place.write_bytes(bytes(place.stat().st_size))


def without_buckets(place: Path) -> None:
    data = place.read_bytes()
    place.write_bytes(data[: bpe.HEAD] + bytes(len(data) - bpe.HEAD))


def buckets_swapped(place: Path) -> None:
    head, buckets = place.read_bytes()[: bpe.HEAD], place.read_bytes()[bpe.HEAD :]
    place.write_bytes(head + buckets[bpe.BUCKET :] + buckets[: bpe.BUCKET])


def for_all(place: Path) -> None:
    place.chmod(0o666)


def linked(place: Path) -> None:
    place.rename(place.with_suffix(".other"))
    place.symlink_to(place.with_suffix(".other"))


def of_another_form(place: Path) -> None:
    reworded(place, bpe.FORM.encode(), b"lore-pieces-0")


def of_another_tokenizer(place: Path) -> None:
    reworded(place, b" 1842796-", b" 1842797-")


def reworded(place: Path, old: bytes, new: bytes) -> None:
    """With other words in its head, which is whole all the same."""
    data = place.read_bytes()
    head = data[: bpe.HEAD - bpe.CHECK]
    assert old in head
    place.write_bytes(part(head.replace(old, new), bpe.HEAD, 0) + data[bpe.HEAD :])


DAMAGES: list[Callable[[Path], None]] = [
    cut, empty, zeroed, without_buckets, buckets_swapped, for_all, linked, of_another_form,
    of_another_tokenizer,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_table_that_is_not_what_it_should_be_is_not_read(
    damage: Callable[[Path], None], package: str, made_table: Path
) -> None:
    place = placed(made_table, package, own=True)
    stamp = stamp_of_tokenizer(package)
    assert PieceTable(str(place), stamp, own=True).encode(WORD) == real_pieces(WORD)
    damage(place)
    with pytest.raises((TableError, OSError)):
        PieceTable(str(place), stamp, own=True).encode(WORD)


@given(st.data())
def test_no_byte_of_a_part_can_change_unseen(made_table: Path, data: st.DataObject) -> None:
    whole = made_table.read_bytes()
    number = data.draw(st.integers(0, bpe.BUCKETS))
    start = bpe.HEAD + (number - 1) * bpe.BUCKET if number else 0
    size = bpe.BUCKET if number else bpe.HEAD
    altered = bytearray(whole[start : start + size])
    assert is_whole(bytes(altered), number)
    altered[data.draw(st.integers(0, size - 1))] ^= data.draw(st.integers(1, 255))
    assert not is_whole(bytes(altered), number)


@pytest.mark.parametrize("own", [True, False])
def test_a_damaged_table_is_made_anew_or_passed_over(
    package: str, made_table: Path, *, own: bool
) -> None:
    without_buckets(placed(made_table, package, own=own))
    assert encode(WORD, package) == real_pieces(WORD)
    mended = Path(own_table(package))
    assert mended.read_bytes() == made_table.read_bytes()


def test_where_none_can_be_kept_there_is_one_as_long_as_the_process(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    (tmp_path / "for now").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "for now"))
    for _ in range(2):
        assert encode(WORD, package) == real_pieces(WORD)
        [made] = (tmp_path / "for now").iterdir()
    pieces._temporary.clear()
    assert not made.exists()
    (tmp_path / "for now").rmdir()
    with pytest.raises(LoreError, match="the table of the embedder's pieces cannot be made"):
        encode(WORD, package)


def test_the_setup_makes_a_table_beside_the_packages_once(package: str) -> None:
    place = Path(install_table(package))
    assert place == Path(installed_table(package)) == Path(package).parents[2] / "lore-pieces.table"
    first = place.stat()
    assert Path(install_table(package)).stat().st_ino == first.st_ino
    os.utime(package, (1, 1))  # as where another version of the package was installed
    assert Path(install_table(package)).stat().st_ino != first.st_ino
    assert encode(WORD, package) == real_pieces(WORD)
    assert not Path(own_table(package)).exists()
