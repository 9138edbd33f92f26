"""Merges of a tokenizer's file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pylore.core.errors import LoreError
from pylore.embed.merges import make_merges
from pylore.embed.static import Pieces
from pylore.store.connection import apsw


def settings() -> dict[str, Any]:
    """A small tokenizer of this kind."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "ab", "▁ab", "▁", "a", "b"]
    return {
        "model": {
            "vocab": {piece: number for number, piece in enumerate(pieces)},
            "merges": ["a b", "▁ ab"],
        },
    }


def test_merges_of_a_small_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings()))
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
