"""Find the words of a query in a text that matched."""

from __future__ import annotations

from itertools import groupby

from .text import camel_parts, fold, parse_query, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FILTERS = ("type:", "tag:")
"""Characters outside of words (``core.operators``)."""


def matches_in(text: str, query: str) -> Iterator[tuple[int, int]]:
    """Yield start and length, in characters, of each word that begins as one of the query does, or
    a part of it; in order.

    >>> list(matches_in("Rotates tokens of getUser, not of users2", "rotate the user type:note"))
    [(0, 7), (18, 7), (34, 6)]
    """
    asked = " ".join(chunk for chunk in query.split() if not chunk.startswith(_FILTERS))
    stems = tuple({stem(word) for word in parse_query(asked).single_words()})
    at = 0
    for is_word, letters in groupby(text, str.isalnum):
        run = "".join(letters)
        if is_word and any(part.startswith(stems) for part in [fold(run), *camel_parts(run)]):
            yield at, len(run)
        at += len(run)
