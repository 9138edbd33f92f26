"""Packed texts."""

from __future__ import annotations

from zlib import compress

import pytest

from pylore.core.errors import StoreDamaged
from pylore.store import whole_text as packing


@pytest.mark.parametrize("held", [b"", b"no zlib", compress(b"\xff"), compress(b"text")[:-1]])
def test_damaged_packed_text_is_reported(held: bytes) -> None:
    with pytest.raises(StoreDamaged):
        packing.unpacked(held)


def test_unpacking_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_LONGEST", 1000)
    assert len(packing.unpacked(packing.packed("a" * 1000))) == 1000
    with pytest.raises(StoreDamaged):
        packing.unpacked(packing.packed("a" * 1001))
