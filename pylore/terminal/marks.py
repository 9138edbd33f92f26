"""The words of a query, marked in the text that they were found in."""

from __future__ import annotations

from ..core.matches import matches_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def marked(text: str, query: str, mark: Callable[[str], str]) -> str:
    """Return ``text`` with ``mark`` of each word of the query.

    >>> marked("Rotates tokens of getUser", "rotate the user", "<{}>".format)
    '<Rotates> tokens of <getUser>'
    """
    shown, after = "", 0
    for start, length in matches_in(text, query):
        shown += text[after:start] + mark(text[start : start + length])
        after = start + length
    return shown + text[after:]
