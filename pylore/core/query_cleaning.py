"""Clean a query: find noise to drop, and names of code.

A commit's message, an issue or a traceback goes into a query as it is. What tools have written
in it (trailers, hashes, addresses, comments that a page does not show) is about no subject; what
is in back-ticks, has dots or capitals inside, or is a line of a traceback, names code.
Nothing here needs ``re``: a search imports this module.
"""

from __future__ import annotations

from .text import camel_parts, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


SHORT = 6
"""Words up to which a query is as a person typed it: nothing of it is dropped."""

_TRAILERS = (
    "signed-off-by:", "co-authored-by:", "co-developed-by:", "reviewed-by:", "acked-by:",
    "tested-by:", "reported-by:", "suggested-by:", "helped-by:", "approved-by:", "authored-by:",
    "change-id:", "git-svn-id:", "cc:", "pr-url:", "reviewed-on:", "differential revision:",
    "(cherry picked from", "cherry picked from",
)  # fmt: skip
"""Prefixes of lines that tools put below a message."""

AROUND = "()[]{}<>,.;:!?'\"`*"
"""Characters around a word that are no part of it."""
_HEX = frozenset("0123456789abcdef")
_SHORTEST_HASH, _LONGEST_HASH = 7, 40


def cleaned(text: str) -> str:
    """Return ``text`` without what tools have written in it; as it is where nothing would be left.

    >>> cleaned("Fix :func:`raises` for groups of errors, see https://example.org/1 and 1f2e3d4c")
    'Fix `raises` for groups of errors, see and'
    """
    if len(text.split(None, SHORT)) <= SHORT:
        return text
    kept = _without_comments(text) if "<!--" in text else text
    lines = [line for line in kept.split("\n") if not line.strip().lower().startswith(_TRAILERS)]
    kept = "\n".join(" ".join(map(_unwrapped, filter(_says, line.split()))) for line in lines)
    return kept if words(kept) else text


def _without_comments(text: str) -> str:
    parts = text.split("<!--")
    return parts[0] + " ".join(part.partition("-->")[2] for part in parts[1:])


def _says(chunk: str) -> bool:
    """Return whether it is neither an address, nor a hash, nor the number of an issue."""
    if "://" in chunk:
        return False
    bare = chunk.strip(AROUND)
    if bare[:1] == "#" and bare[1:].isdigit():
        return False
    if not _SHORTEST_HASH <= len(bare) <= _LONGEST_HASH or not _HEX.issuperset(bare):
        return True
    return bare.isdigit() or bare.isalpha()


def _unwrapped(chunk: str) -> str:
    """Return a role of reStructuredText without its name: ``:func:`raises``` → ```raises```."""
    end = chunk.find(":`")
    start = chunk.find(":")
    if 0 <= start < end and chunk[start + 1 : end].replace(":", "").replace("-", "").isalpha():
        return chunk[:start] + chunk[end + 1 :]
    return chunk


HEAD = 12
"""Words of the beginning of a text that say what it is about."""


def head_of(text: str) -> str:
    """Return how a longer text begins: its first line, or the beginning of that; else nothing.

    >>> head_of("Fix reports\\n\\nThe long story of how it came to this, in more words than fit.")
    'Fix reports'
    """
    if len(text.split(None, HEAD)) <= HEAD:
        return ""
    first = text.strip().split("\n", 1)[0]
    return " ".join(first.split()[:HEAD])


def named_in(text: str) -> list[str]:
    """Return the names of code in a text, as they are written, each once.

    What is in back-ticks, has an underscore or a dot inside, a capital after a small
    letter, or parentheses after it; paths and functions of tracebacks too.

    >>> named_in("`Config` breaks in get(), see src/a.py; e.g. File \\"base.py\\", line 2, in load")
    ['Config', 'get', 'src/a.py', 'base.py', 'load']
    """
    return list(dict.fromkeys(_names(text)))


def _names(text: str) -> Iterator[str]:
    quoted = text.split("`") if "`" in text else []
    for piece in quoted[1::2]:
        if piece and len(piece) <= _LONGEST_QUOTED:
            yield from filter(_is_name, (word.strip(AROUND) for word in piece.split()))
    before = before_it = ""
    for chunk in text.split():
        bare = chunk.strip(AROUND)
        called = "(" in chunk[1:]
        if called:
            bare = bare.partition("(")[0]
        if _is_name(bare) and (called or _looks_like_code(bare) or _ends_frame(before, before_it)):
            yield bare
        before_it, before = before, chunk


_LONGEST_QUOTED = 100


def _ends_frame(before: str, before_it: str) -> bool:
    """Return whether it follows ``line 12, in`` of a traceback."""
    return before == "in" and before_it[-1:] == "," and before_it[:-1].isdigit()


def _is_name(text: str) -> bool:
    return len(text) > 1 and any(sign.isalpha() for sign in text) and text.isprintable()


def _looks_like_code(word: str) -> bool:
    inner = word.strip("_")
    if "_" in inner or (word.startswith("__") and inner):
        return True
    dot = inner.find(".")
    if 0 < dot < len(inner) - 1:
        return any(len(part) > _LONGEST_LETTERS for part in inner.split("."))
    if "::" in inner or ("/" in inner and "." in inner):
        return True
    return len(camel_parts(inner)) > 1 or (inner.isupper() and len(inner) > _LONGEST_ACRONYM)


_LONGEST_ACRONYM = 3
_LONGEST_LETTERS = 2
"""Of what has dots and is no name: ``e.g``, ``i.e``."""
