"""The tokenizer that the static embedder's pieces are those of, loaded once a process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from tokenizers import Tokenizer

from pylore.embed.static import tokenizer_file


@cache
def tokenizer() -> Tokenizer:
    """The package's own, as its JSON says."""
    return Tokenizer.from_file(tokenizer_file())


def real_pieces(words: Iterable[str]) -> dict[str, list[int]]:
    """Each word with the numbers that the tokenizer gives it."""
    encode = tokenizer().encode
    return {word: encode(word, add_special_tokens=False).ids for word in words}
