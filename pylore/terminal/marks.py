"""The words of a query in the text that they were found in."""

from __future__ import annotations

from itertools import groupby

from ..core.text import camel_parts, parse_query, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def marked(text: str, query: str, mark: Callable[[str], str]) -> str:
    """``text`` with ``mark`` of each word that begins as one of the query does, or a part of it.

    >>> marked("Rotates tokens of getUser, not of users2", "rotate the user", "<{}>".format)
    '<Rotates> tokens of <getUser>, not of <users2>'
    """
    stems = tuple({stem(word) for word in parse_query(query).single_words()})
    runs = [(is_word, "".join(letters)) for is_word, letters in groupby(text, str.isalnum)]
    return "".join(
        mark(run)
        if is_word and any(part.startswith(stems) for part in [run.lower(), *camel_parts(run)])
        else run
        for is_word, run in runs
    )
