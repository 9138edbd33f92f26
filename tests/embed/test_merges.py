"""Merges are made only of a tokenizer of the kind that ``pieces`` knows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pylore.core.errors import LoreError
from pylore.embed.merges import make_merges
from pylore.embed.pieces import Pieces, stamp_of
from pylore.store.connection import apsw


def settings() -> dict[str, Any]:
    """A small tokenizer of this kind."""
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


def test_a_tokenizer_of_this_kind_has_merges(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings()))
    place, tokenizer = str(tmp_path / "merges"), str(tmp_path / "tokenizer.json")
    make_merges(place, tokenizer)
    found = Pieces(apsw.Connection(place), stamp_of(tokenizer)).encode(["ab", "ba", "é"])
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


def too_many_pieces(found: dict[str, Any]) -> None:
    found["model"]["vocab"]["abc"] = 1 << 16


def a_merge_of_no_piece(found: dict[str, Any]) -> None:
    found["model"]["merges"].append("b a")


def no_model(found: dict[str, Any]) -> None:
    del found["model"]


@pytest.mark.parametrize(
    "other",
    [split, lower, words_first, unigram, without_a_byte, too_many_pieces, a_merge_of_no_piece,
     no_model],
)  # fmt: skip
def test_another_kind_of_tokenizer_is_refused(
    other: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    found = settings()
    other(found)
    (tmp_path / "tokenizer.json").write_text(json.dumps(found))
    with pytest.raises(LoreError):
        make_merges(str(tmp_path / "merges"), str(tmp_path / "tokenizer.json"))
    assert os.listdir(tmp_path) == ["tokenizer.json"]
