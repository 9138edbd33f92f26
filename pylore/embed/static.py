"""Static embeddings: the mean of the token vectors of a text's words, and the tokens of words.

Weights and tokenizer come from the package ``wordllama`` (l2_supercat, 32,000 tokens of 256
dimensions). A query loads neither: it reads the rows of tokens from the weights file, and pairs
from an SQLite file that ``merges`` makes. The tokenizer is a byte-pair encoding: a word begins as
letters, and the neighbours with the lowest rank are merged, the leftmost first.

A text is read word by word (``text.words``), without punctuation. On three retrieval sets this is
as good as the package's ``embed`` or better; long texts are embedded by passage.
"""

from __future__ import annotations

import os
import sys
from itertools import chain
from math import sqrt
from struct import pack, unpack

from ..core.errors import StoreError
from ..core.text import words
from ..store.connection import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


DIMENSION = 256
TOKENS = 32_000
_ROW = 2 * DIMENSION  # float16
_FEW = 8  # maximum texts that are embedded without numpy,
_FEW_TOKENS = 5_000  # and maximum tokens
_MANY = 200  # minimum texts for which all weights become float32: 32 MB
_LONGEST = 5_000  # words of a text; a passage has 200, a query may have more
_LONGEST_WORD = 100  # letters; longer runs are not words, and slow to tokenize


class StaticEmbedder:
    """Embed by looking words up."""

    name = "static:l2_supercat_256"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._pieces: Pieces | None = None
        self._tokens: dict[str, bytes] = {}
        """Word to tokens, two bytes each."""
        self._table: Any = None
        self._weights = weights_file()

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a unit vector for each text; None for a text without words."""
        split = [words(text, paired=False)[:_LONGEST] for text in texts]
        self._look_up({word for text in split for word in text})
        of_word = self._tokens.__getitem__
        tokens = [b"".join(map(of_word, text)) for text in split]
        few = len(texts) <= _FEW and sum(map(len, tokens)) <= 2 * _FEW_TOKENS
        return self._mean_few(tokens) if few else self._mean_many(tokens)

    def _look_up(self, wanted: Iterable[str]) -> None:
        new = [word for word in wanted if word not in self._tokens]
        if new:
            found = self._encode([word[:_LONGEST_WORD] for word in new], tokenizer_file())
            tokens = ((word, found[word[:_LONGEST_WORD]]) for word in new)
            self._tokens.update((word, pack(f"<{len(of)}H", *of)) for word, of in tokens)

    def _encode(self, words: list[str], tokenizer: str) -> dict[str, list[int]]:
        path = merges_of(tokenizer)
        try:
            if self._pieces is None:
                self._pieces = Pieces(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY))
            return self._pieces.encode(words)
        except (apsw.Error, ValueError, TypeError):  # missing or damaged
            from .merges import new_merges

            self._pieces = Pieces(new_merges(path, tokenizer))
            return self._pieces.encode(words)

    def _mean_few(self, tokens: list[bytes]) -> list[bytes | None]:
        file = os.open(self._weights, os.O_RDONLY)
        try:
            start = _data_start(file)

            def row(token: int) -> tuple[float, ...]:
                return unpack(f"<{DIMENSION}e", os.pread(file, _ROW, start + token * _ROW))

            return [_unit([*map(row, _numbers(text))]) for text in tokens]
        finally:
            os.close(file)

    def _mean_many(self, tokens: list[bytes]) -> list[bytes | None]:
        import numpy

        file = os.open(self._weights, os.O_RDONLY)
        start = _data_start(file)
        os.close(file)
        table = self._table
        if table is None:
            shape = (TOKENS, DIMENSION)
            table = numpy.asarray(numpy.memmap(self._weights, "<f2", "r", start, shape))
            if len(tokens) >= _MANY:  # more texts will follow
                table = self._table = table.astype("<f4")
        sums = numpy.zeros((len(tokens), DIMENSION), "<f4")
        for numbers, total in zip(tokens, sums, strict=True):
            if numbers:
                rows = table.take(numpy.frombuffer(numbers, "<u2"), axis=0)
                numpy.add.reduce(rows, axis=0, dtype="<f4", out=total)
        lengths = numpy.sqrt((sums * sums).sum(axis=1))
        sums /= numpy.where(lengths, lengths, 1)[:, None]
        return [
            vector.tobytes() if length else None
            for vector, length in zip(sums, lengths, strict=True)
        ]


def _numbers(tokens: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(tokens) // 2}H", tokens)


def _unit(rows: list[tuple[float, ...]]) -> bytes | None:
    total = list(map(sum, zip(*rows, strict=True)))
    length = sqrt(sum(value * value for value in total))
    if not length:
        return None
    return pack(f"<{len(total)}f", *[value / length for value in total])


def _data_start(file: int) -> int:
    # safetensors: the length of a JSON header (8 bytes), the header, the numbers
    start = 8 + int.from_bytes(os.pread(file, 8, 0), "little")
    if os.fstat(file).st_size != start + TOKENS * _ROW:
        raise StoreError("unknown format of wordllama's weights: run 'make setup'")
    return start


def tokenizer_file() -> str:
    """Return where the tokenizer's vocabulary is, as JSON."""
    return _package_file("tokenizers", "l2_supercat_tokenizer_config.json")


def weights_file() -> str:
    """Return where the tokens' vectors are."""
    return _package_file("weights", "l2_supercat_256.safetensors")


def _package_file(folder: str, name: str) -> str:
    """Return the path of a file of ``wordllama``: that of lore's own wheel, or of the package."""
    for entry in (os.path.dirname(__file__), *sys.path):
        path = os.path.join(entry, "wordllama", folder, name)
        if os.path.exists(path):
            return path
    raise StoreError("the weights of wordllama are not installed: run 'make setup'")


# --- tokens of words

WORD_START = "\u2581"
"""The tokenizer's mark before a word, for a space."""

_TOKENS = "SELECT token FROM letters WHERE letter = ?"
_MERGE = "SELECT merge FROM merges WHERE pair = ?"
_NEVER = 1 << 32
"""In the place of a merge, above every rank."""
_FEW_PAIRS = 6_000
"""Pairs that are read singly: all 61,000 take as long."""


class Pieces:
    """The tokens of words, by the merges in an SQLite file.

    Every method raises apsw.Error, ValueError or TypeError if the file is damaged.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._merges = _Merges(connection)
        self._letters = _Letters(connection)

    def encode(self, words: Iterable[str]) -> dict[str, list[int]]:
        """Return the tokens of each word. A word has no white space and no signs."""
        return {word: self._encode(word) for word in words}

    def _encode(self, word: str) -> list[int]:
        known = self._merges
        tokens = [*chain.from_iterable(map(self._letters.__getitem__, WORD_START + word))]
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


class _Letters(dict[str, list[int]]):
    """The tokens of each letter, read when needed."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def __missing__(self, letter: str) -> list[int]:
        rows: list[tuple[int]] = [*self._db.execute(_TOKENS, (letter,))]
        for byte in () if rows else letter.encode():
            rows += self._db.execute(_TOKENS, (f"<0x{byte:02X}>",))
        self[letter] = found = [token for (token,) in rows]
        return found


class _Merges(dict[int, int]):
    """The merge of each pair, or ``_NEVER``: read when needed, and after many pairs all."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def __missing__(self, pair: int) -> int:
        if len(self) < _FEW_PAIRS:
            found = self._db.execute(_MERGE, (pair,)).get
            self[pair] = merge = _NEVER if found is None else int(found)
            return merge
        if len(self) == _FEW_PAIRS:
            self.update(self._db.execute("SELECT pair, merge FROM merges"))
        return self.get(pair, _NEVER)


def merges_of(tokenizer: str) -> str:
    """Return the path of a tokenizer's merges: beside the packages, or in lore's wheel. The size of
    the tokenizer is in the name, so that each version has a file."""
    packages = os.path.dirname(os.path.dirname(os.path.dirname(tokenizer)))
    return os.path.join(packages, f"lore-merges-{os.stat(tokenizer).st_size}.db")
