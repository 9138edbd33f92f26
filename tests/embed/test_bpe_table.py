"""The table of pieces as it is made: only of a tokenizer of this kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pylore.core.errors import LoreError
from pylore.embed.bpe import PieceTable, stamp_of_tokenizer
from pylore.embed.bpe_table import write_table


def settings() -> dict[str, Any]:
    """A small tokenizer of the kind that there is."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "ab", "▁ab", "▁", "a", "b"]
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "model": {
            "type": "BPE", "dropout": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "byte_fallback": True,
            "vocab": {piece: number for number, piece in enumerate(pieces)},
            "merges": ["a b", "▁ ab"],
        },
    }  # fmt: skip


def test_a_tokenizer_of_this_kind_is_made_a_table(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings()))
    place, tokenizer = str(tmp_path / "table"), str(tmp_path / "tokenizer.json")
    write_table(place, tokenizer)
    found = PieceTable(place, stamp_of_tokenizer(tokenizer), own=True).encode(["ab", "ba", "é"])
    assert found == {"ab": [258], "ba": [259, 261, 260], "é": [259, 1 + 0xC3, 1 + 0xA9]}


def split(found: dict[str, Any]) -> None:
    found["pre_tokenizer"] = {"type": "Whitespace"}


def lower(found: dict[str, Any]) -> None:
    found["normalizer"]["normalizers"].append({"type": "Lowercase"})


def words_first(found: dict[str, Any]) -> None:
    found["model"]["ignore_merges"] = True


def unigram(found: dict[str, Any]) -> None:
    found["model"]["type"] = "Unigram"


def without_a_byte(found: dict[str, Any]) -> None:
    del found["model"]["vocab"]["<0x41>"]


def bytes_elsewhere(found: dict[str, Any]) -> None:
    found["model"]["vocab"]["<0xFF>"] = 900


def letters_elsewhere(found: dict[str, Any]) -> None:
    found["model"]["vocab"]["b"] = 900


def too_many_pieces(found: dict[str, Any]) -> None:
    found["model"]["vocab"]["abc"] = 1 << 16


def too_many_letters(found: dict[str, Any]) -> None:
    more = ["a", "b", *map(chr, range(0x4E00, 0x4E00 + 3_000))]
    found["model"]["vocab"].update((letter, 260 + at) for at, letter in enumerate(more))


def a_merge_of_no_piece(found: dict[str, Any]) -> None:
    found["model"]["merges"].append("b a")


def no_model(found: dict[str, Any]) -> None:
    del found["model"]


OTHERS: list[Callable[[dict[str, Any]], None]] = [
    split, lower, words_first, unigram, without_a_byte, bytes_elsewhere, letters_elsewhere,
    too_many_pieces, too_many_letters, a_merge_of_no_piece, no_model,
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: other.__name__)
def test_of_another_kind_of_tokenizer_no_table_is_made(
    other: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    found = settings()
    other(found)
    (tmp_path / "tokenizer.json").write_text(json.dumps(found))
    with pytest.raises(LoreError):
        write_table(str(tmp_path / "table"), str(tmp_path / "tokenizer.json"))
    assert os.listdir(tmp_path) == ["tokenizer.json"]
