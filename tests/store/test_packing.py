"""Texts as they are kept."""

from __future__ import annotations

from zlib import compress

import pytest

from pylore.core.errors import StoreDamaged
from pylore.store import packing


def test_a_text_is_itself_again() -> None:
    assert packing.unpacked(packing.packed("é\0b" * 1000)) == "é\0b" * 1000


@pytest.mark.parametrize("held", [b"", b"no zlib", compress(b"\xff"), compress(b"text")[:-1]])
def test_what_is_no_packed_text_is_damage(held: bytes) -> None:
    with pytest.raises(StoreDamaged):
        packing.unpacked(held)


def test_what_would_be_too_long_is_never_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_LONGEST", 1000)
    assert len(packing.unpacked(packing.packed("a" * 1000))) == 1000
    with pytest.raises(StoreDamaged):
        packing.unpacked(packing.packed("a" * 1001))
