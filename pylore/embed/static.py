"""Static embeddings: the mean of the token vectors of a text's words.

The weights and the tokenizer are those that the package ``wordllama`` ships
(l2_supercat, 32,000 tokens of 256 dimensions). Neither is loaded for a query of
known words: the store keeps the token numbers of each word, and the rows of
those tokens are read from the weights file at their offsets.

A text is taken word by word (``text.words``), so punctuation has no part in the
mean. Measured on three retrieval sets this is as good as the package's own
``embed`` of the whole text or better, and long texts are embedded by passage.
"""

from __future__ import annotations

import os
import sys
from math import sqrt
from struct import pack, unpack

from ..core.errors import StoreError
from ..core.text import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from tokenizers import Tokenizer

    from ..store.protocols import Words

DIMENSION = 256
TOKENS = 32_000
_ROW = 2 * DIMENSION  # float16
_FEW = 8  # up to this many texts are embedded without numpy,
_FEW_TOKENS = 5_000  # and up to this many tokens
_MANY = 200  # from so many on all weights are made float32 at once: 32 MB
_LONGEST = 5_000  # words of one text; a passage has 200, a query may have more
_LONGEST_WORD = 100  # letters; what is longer is not a word, and slow to tokenize


class StaticEmbedder:
    """Embeds by looking words up; see the module's text for how."""

    name = "static:l2_supercat_256"
    dimension = DIMENSION

    def __init__(self, known: Words) -> None:
        self._known = known
        self._tokens: dict[str, list[int]] = {}
        self._tokenizer: Tokenizer | None = None
        self._table: Any = None
        self._weights = _package_file("weights", "l2_supercat_256.safetensors")
        self.fresh: dict[str, list[int]] = {}
        """Words that had to be tokenized since the last ``remember``."""

    def knows(self, texts: Sequence[str]) -> bool:
        """Whether these can be embedded without loading the tokenizer, that is in no time."""
        if self._tokenizer is not None:
            return True
        wanted = {word for text in texts for word in _words(text)} - self._tokens.keys()
        return wanted == self._known.get(wanted).keys()

    def learn(self, texts: Sequence[str]) -> None:
        """Makes sure that words like these can be embedded in no time."""
        self._look_up({word for text in texts for word in _words(text)})

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """A unit vector for each text; None for a text without words."""
        split = [_words(text) for text in texts]
        self._look_up({word for text in split for word in text})
        tokens = [[token for word in text for token in self._tokens[word]] for text in split]
        few = len(texts) <= _FEW and sum(map(len, tokens)) <= _FEW_TOKENS
        return self._mean_few(tokens) if few else self._mean_many(tokens)

    def remember(self) -> None:
        """Keeps the words that were new, so that the next process need not tokenize them."""
        if self.fresh:
            self._known.put(self.fresh)
            self.fresh = {}

    def _look_up(self, wanted: Iterable[str]) -> None:
        missing = [word for word in wanted if word not in self._tokens]
        known = {
            word: numbers
            for word, numbers in self._known.get(missing).items()
            if max(numbers, default=0) < TOKENS
        }
        self._tokens.update(known)
        new = [word for word in missing if word not in known]
        if new:
            if self._tokenizer is None:
                self._tokenizer = _load_tokenizer()
                if self._known.is_empty():
                    # Loading takes 90 ms: the words that are tokens of their own come
                    # along at once, so that few queries will have to.
                    self._take(_whole_words(self._tokenizer))
            self._take(_tokens(self._tokenizer, [word for word in new if word not in self._tokens]))

    def _take(self, tokens: dict[str, list[int]]) -> None:
        self._tokens.update(tokens)
        self.fresh.update(tokens)

    def _mean_few(self, tokens: list[list[int]]) -> list[bytes | None]:
        file = os.open(self._weights, os.O_RDONLY)
        try:
            start = _data_start(file)
            form = f"<{DIMENSION}e"
            return [
                _unit(
                    [unpack(form, os.pread(file, _ROW, start + token * _ROW)) for token in numbers]
                )
                for numbers in tokens
            ]
        finally:
            os.close(file)

    def _mean_many(self, tokens: list[list[int]]) -> list[bytes | None]:
        import numpy

        file = os.open(self._weights, os.O_RDONLY)
        start = _data_start(file)
        os.close(file)
        table = self._table
        if table is None:
            shape = (TOKENS, DIMENSION)
            table = numpy.asarray(numpy.memmap(self._weights, "<f2", "r", start, shape))
            if len(tokens) >= _MANY:  # whoever embeds so many will embed more
                table = self._table = table.astype("<f4")
        sums = numpy.zeros((len(tokens), DIMENSION), "<f4")
        for numbers, total in zip(tokens, sums, strict=True):
            if numbers:
                numpy.add.reduce(table.take(numbers, axis=0), axis=0, dtype="<f4", out=total)
        lengths = numpy.sqrt((sums * sums).sum(axis=1))
        sums /= numpy.where(lengths, lengths, 1)[:, None]
        return [
            vector.tobytes() if length else None
            for vector, length in zip(sums, lengths, strict=True)
        ]


def _words(text: str) -> list[str]:
    return [word[:_LONGEST_WORD] for word in words(text)[:_LONGEST]]


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
        raise StoreError("wordllama's weights have another shape: run 'make setup'")
    return start


_loaded: list[Tokenizer] = []
_whole: dict[str, list[int]] = {}


def _load_tokenizer() -> Tokenizer:
    """The tokenizer, once a process: each of its stores has an embedder of its own."""
    if not _loaded:
        from tokenizers import Tokenizer

        _loaded.append(Tokenizer.from_file(tokenizer_file()))
    return _loaded[0]


def _tokens(tokenizer: Tokenizer, texts: list[str]) -> dict[str, list[int]]:
    found = tokenizer.encode_batch(texts, add_special_tokens=False)
    return {text: encoding.ids for text, encoding in zip(texts, found, strict=True)}


def tokenizer_file() -> str:
    """Where the tokenizer's vocabulary is, as JSON."""
    return _package_file("tokenizers", "l2_supercat_tokenizer_config.json")


def _whole_words(tokenizer: Tokenizer) -> dict[str, list[int]]:
    """The words that are tokens of their own, with these; once a process."""
    if not _whole:
        begin = "\u2581"  # how this tokenizer marks the beginning of a word
        pieces = (token[1:] for token in tokenizer.get_vocab() if token.startswith(begin))
        _whole.update(_tokens(tokenizer, sorted(piece for piece in pieces if piece.isalnum())))
    return _whole


def _package_file(folder: str, name: str) -> str:
    for entry in sys.path:
        path = os.path.join(entry, "wordllama", folder, name)
        if os.path.exists(path):
            return path
    raise StoreError("the package wordllama is not installed: run 'make setup'")
