"""Split words into the static embedder's tokens, without loading the tokenizer.

The tokenizer is a byte-pair encoding: a word begins as letters, and the neighbours with the lowest
rank are merged, the leftmost first, until no pair may be merged. ``merges`` makes the read-only
SQLite file of the pairs. Every search imports this module: keep imports light.
"""

from __future__ import annotations

import os

from ..store.connection import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WORD_START = "\u2581"
"""The tokenizer's mark before a word, for a space."""

_TOKENS = "SELECT token FROM letters WHERE letter = ?"
_MERGE = "SELECT merge FROM merges WHERE pair = ?"
_NEVER = 1 << 32
"""In the place of a merge, above every rank."""
_MOST_MERGES = 1 << 17
"""Merges that are kept in memory; words have the same pairs again and again."""


class Pieces:
    """The tokens of words, by the merges in an SQLite file.

    Every method raises apsw.Error, ValueError or TypeError if the file is damaged.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._merges = _Merges(connection)
        self._letters: dict[str, list[int]] = {}

    def encode(self, words: Iterable[str]) -> dict[str, list[int]]:
        """Return the tokens of each word. A word has no white space and no signs."""
        return {word: self._encode(word) for word in words}

    def _encode(self, word: str) -> list[int]:
        tokens = [token for letter in WORD_START + word for token in self._tokens_of(letter)]
        known = self._merges
        merges = [known[a << 16 | b] for a, b in zip(tokens, tokens[1:], strict=False)]
        while merges:
            least = min(merges)
            if least == _NEVER:
                break
            at = merges.index(least)
            tokens[at : at + 2] = [least & 0xFFFF]
            del merges[at]
            if at > 0:
                merges[at - 1] = known[tokens[at - 1] << 16 | tokens[at]]
            if at < len(merges):
                merges[at] = known[tokens[at] << 16 | tokens[at + 1]]
        return tokens

    def _tokens_of(self, letter: str) -> list[int]:
        found = self._letters.get(letter)
        if found is None:
            rows: list[tuple[int]] = [*self._db.execute(_TOKENS, (letter,))]
            for byte in () if rows else letter.encode():
                rows += self._db.execute(_TOKENS, (f"<0x{byte:02X}>",))
            found = self._letters[letter] = [token for (token,) in rows]
        return found


class _Merges(dict[int, int]):
    """The merge of each pair, or ``_NEVER``, read when needed."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def __missing__(self, pair: int) -> int:
        if len(self) >= _MOST_MERGES:
            self.clear()
        found = self._db.execute(_MERGE, (pair,)).get
        self[pair] = merge = _NEVER if found is None else int(found)
        return merge


def merges_of(tokenizer: str) -> str:
    """Return the path of a tokenizer's merges: beside the packages, or in lore's wheel. The size of
    the tokenizer is in the name, so that each version has a file."""
    packages = os.path.dirname(os.path.dirname(os.path.dirname(tokenizer)))
    return os.path.join(packages, f"lore-merges-{os.stat(tokenizer).st_size}.db")
