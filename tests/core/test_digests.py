"""The hashes that ids are made of are those of the standard library."""

from __future__ import annotations

import hashlib

from pylore.core.ids import blake2b, sha256


def test_they_are_what_hashlib_gives() -> None:
    assert sha256(b"decision").hexdigest() == hashlib.sha256(b"decision").hexdigest()
    assert blake2b(b"a", digest_size=16).digest() == hashlib.blake2b(b"a", digest_size=16).digest()
