"""The tokenizer of the static embedder's package, loaded once a process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from tokenizers import Tokenizer

from pylore.embed.static import tokenizer_file


@cache
def tokenizer() -> Tokenizer:
    """Return the tokenizer of the package's JSON file."""
    return Tokenizer.from_file(tokenizer_file())


def real_pieces(words: Iterable[str]) -> dict[str, list[int]]:
    """Return each word with the tokenizer's numbers."""
    encode = tokenizer().encode
    return {word: encode(word, add_special_tokens=False).ids for word in words}
