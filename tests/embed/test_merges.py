"""Tokens of words by the merges equal the tokenizer's; files of merges."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from real_tokenizer import real_pieces, tokenizer

from pylore.core.errors import LoreError
from pylore.core.text import words
from pylore.embed.merges import make_merges
from pylore.embed.static import Pieces, StaticEmbedder, merges_of, tokenizer_file
from pylore.store.connection import apsw

TEXTS = {
    "Latin": "Straße naïve façade Łódź žluťoučký kůň İstanbul Đặng ﬁne e\u0301te\u0301 œuvre ſ",
    "Chinese": "会话由轮换密钥签名 東京 𠮷野家",
    "Korean": "세션은 키로 서명된다 한국어 \u1112\u1161\u11ab",
    "identifiers": "getUserByID HTTPServer snake_case __init__ std::vector<int> sha256 x86_64 i18n",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 a👍b 🫠 \U0001fae8",
    "odd": "\ud800 a\udfffb \ufffd \ufffe \U0010ffff \ue000 \u0378 \u0301",
    "long": f"{'a' * 100} {'abc' * 33} {'Ж' * 100} {'字' * 100} {'ab12' * 25} {'🫠' * 50}",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's merges: to make them takes a fifth of a second."""
    path = tmp_path_factory.mktemp("merges") / "merges.db"
    make_merges(str(path), tokenizer_file())
    return path


@pytest.fixture(scope="module")
def table(made: Path) -> Pieces:
    return Pieces(apsw.Connection(str(made)))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_scripts_have_the_tokens_of_the_tokenizer(table: Pieces, text: str) -> None:
    found = words(text)
    assert table.encode(found) == real_pieces(found)


@given(st.text(max_size=60).map(words))
@example(["\ufffe", "ﷺ", "a" * 300])
def test_any_text_has_equal_tokens(table: Pieces, found: list[str]) -> None:
    assert table.encode(found) == real_pieces(found)


@cache
def parts() -> list[str]:
    """The tokenizer's pieces."""
    pieces = (piece.lstrip("▁") for piece in tokenizer().get_vocab())
    return sorted({word for piece in pieces for word in words(piece)})


@given(st.data())
def test_joined_pieces_have_equal_tokens(table: Pieces, data: st.DataObject) -> None:
    # More merges begin in these words than in random text.
    found = words("".join(data.draw(st.lists(st.sampled_from(parts()), max_size=8))))
    assert table.encode(found) == real_pieces(found)


# --- where the merges are


WORD = ["unheardofword"]


def encode(words: list[str], tokenizer: str) -> dict[str, list[int]]:
    """Tokens as a process finds them that has opened no merges yet."""
    return StaticEmbedder()._encode(words, tokenizer)


@pytest.fixture
def package(tmp_path: Path) -> str:
    """A tokenizer's file in an environment without merges."""
    copy = tmp_path / "packages" / "wordllama" / "tokenizers" / "tokenizer.json"
    copy.parent.mkdir(parents=True)
    shutil.copy2(tokenizer_file(), copy)
    return str(copy)


def test_missing_merges_are_written_once(package: str, made: Path) -> None:
    place = Path(merges_of(package))
    assert place.parent == Path(package).parents[2]
    for _ in range(2):
        assert encode(WORD, package) == real_pieces(WORD)
    assert place.read_bytes() == made.read_bytes() and place.stat().st_mode & 0o777 == 0o644
    assert {path.name for path in place.parent.iterdir()} == {place.name, "wordllama"}


@pytest.mark.parametrize("kept", [0, -5000])
def test_damaged_merges_are_replaced(kept: int, package: str, made: Path) -> None:
    place = Path(merges_of(package))
    place.write_bytes(made.read_bytes()[:kept])
    assert encode(WORD, package) == real_pieces(WORD)
    assert place.read_bytes() == made.read_bytes()


def test_read_only_folder_uses_merges_in_memory(package: str) -> None:
    place = Path(merges_of(package))
    place.mkdir()
    assert encode(WORD, package) == real_pieces(WORD)
    assert [*place.iterdir()] == []


# --- other tokenizers


def small() -> str:
    """A small tokenizer of this kind, as JSON."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "ab", "▁ab", "▁", "a", "b"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    return json.dumps({"model": {"vocab": vocabulary, "merges": ["a b", "▁ ab"]}})


@pytest.mark.parametrize("few", [0, 6_000])
def test_small_tokenizer(few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pylore.embed.static._FEW_PAIRS", few)
    (tmp_path / "tokenizer.json").write_text(small())
    place, tokenizer = str(tmp_path / "merges"), str(tmp_path / "tokenizer.json")
    make_merges(place, tokenizer)
    found = Pieces(apsw.Connection(place)).encode(["ab", "ba", "é"])
    assert found == {"ab": [258], "ba": [259, 261, 260], "é": [259, 1 + 0xC3, 1 + 0xA9]}


@pytest.mark.parametrize(
    "text", ["", "no json", "[]", "{}", '{"model": {"vocab": [], "merges": 7}}']
)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(LoreError, match="not a tokenizer of this kind"):
        make_merges(str(tmp_path / "merges"), str(tmp_path / "tokenizer.json"))
    assert os.listdir(tmp_path) == ["tokenizer.json"]
