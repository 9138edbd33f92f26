"""The operators of a query: ``"exact phrase"``, ``-word``, ``word*``, ``title:word``, ``tag:x``
and ``type:x``. Whatever else has one of their marks is words, as it was typed.

Flags and code must not be misread. A phrase begins and ends where white space does; ``-word`` is
one word of at least three lower-case letters or digits (``-O2``, ``-Wall``, ``--all``, ``-rf``
and ``a-b`` are words); ``word*`` has nothing else in it (``*.py`` and ``src/**`` are words); and
a letter or digit follows at once on ``title:``, ``tag:`` and ``type:``. A text of more than
``MOST_WORDS`` words is no query that a person typed, and has none.
"""

from __future__ import annotations

from .text import fold, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_WORDS = 12
LEAST_LETTERS = 3
"""Letters that ``-word`` and ``word*`` have at least: shorter ones are flags and pointers."""

_SHOWN = 60


class Operators:
    """A query's ``text`` without its operators, and these as folded words, a space between them.

    ``phrases``, ``titled``: what must be there, in the title; ``without``: what must not be;
    ``beginnings`` of words. ``tags``, ``types``: names as typed. ``unread``: a sentence for each
    operator that was left in the text as words.
    """

    __slots__ = ("beginnings", "phrases", "tags", "text", "titled", "types", "unread", "without")

    def __init__(self, text: str) -> None:
        self.text = text
        self.phrases: list[str] = []
        self.without: list[str] = []
        self.beginnings: list[str] = []
        self.titled: list[str] = []
        self.tags: list[str] = []
        self.types: list[str] = []
        self.unread: list[str] = []

    def any(self) -> bool:
        """Return whether there is one."""
        return any((self.phrases, self.without, self.beginnings, self.titled, self.tags,
                    self.types))  # fmt: skip


def read_operators(text: str, doubt: Callable[[str, str], str]) -> Operators:
    """Take the operators out of a query.

    ``doubt(kind, name)`` says why there is no such ``tag`` or ``type``; nothing where there is.

    >>> read = read_operators('signed "log in" toke* -cookie type:note', lambda kind, name: "")
    >>> read.text, read.phrases, read.beginnings, read.without, read.types
    ('signed log in toke', ['log in'], ['toke'], ['cookie'], ['note'])
    >>> read_operators("gcc -Wall a::b", lambda kind, name: "").any()
    False
    """
    read = Operators(text)
    chunks = text.split(None, MOST_WORDS)
    if len(chunks) > MOST_WORDS:
        return read
    kept = []
    at = 0
    while at < len(chunks):
        end = _end_of_phrase(chunks, at)
        if end > at:
            phrase = " ".join(chunks[at:end])[1:-1]
            read.phrases.append(_folded(phrase))
            kept.append(phrase)
        else:
            end = at + 1
            kept.append(_rest(read, chunks[at], doubt))
        at = end
    if text.count('"') % 2 and any(chunk.startswith('"') for chunk in chunks):
        _leave(read, text, "a quotation mark has no other one")
    if not read.any():
        return read
    rest = " ".join(filter(None, kept))
    if not words(rest):
        literal = Operators(text)
        _leave(literal, text, "there are no other words to search for")
        return literal
    read.text = rest
    return read


def _end_of_phrase(chunks: list[str], start: int) -> int:
    """Return the index after the phrase that begins here; ``start`` where none does."""
    if not chunks[start].startswith('"'):
        return start
    for end in range(start, len(chunks)):
        inner = chunks[end][1:] if end == start else chunks[end]
        if '"' in inner:
            phrase = " ".join(chunks[start : end + 1])
            whole = inner.index('"') == len(inner) - 1 and words(phrase)
            return end + 1 if whole else start
    return start


def _rest(read: Operators, chunk: str, doubt: Callable[[str, str], str]) -> str:
    """Return what of a chunk is to be searched for; its operator goes to ``read``."""
    if chunk[0] == "-":
        return _left_out(read, chunk)
    if chunk[-1] == "*" and chunk[:-1].isalnum() and words(chunk) == [chunk[:-1]]:
        return _begun(read, chunk)
    kind, _, name = chunk.partition(":")
    first = name[1:2] if name[:1] == '"' else name[:1]
    if not words(first) or kind not in ("title", "tag", "type"):
        return chunk
    why = f"{kind}: takes no phrase" if '"' in name else ""
    if not why and kind != "title":
        why = doubt(kind, name)
    if why:
        _leave(read, chunk, why)
        return chunk
    if kind == "title":
        read.titled.append(_folded(name))
        return name
    (read.tags if kind == "tag" else read.types).append(name)
    return ""


def _left_out(read: Operators, chunk: str) -> str:
    word = chunk[1:]
    if len(word) < LEAST_LETTERS or not word.isalnum() or word != word.lower():
        return chunk
    if not word[0].isalpha() or len(words(word)) != 1:
        return chunk
    read.without.append(_folded(word))
    return ""


def _begun(read: Operators, chunk: str) -> str:
    word = chunk[:-1]
    if len(word) < LEAST_LETTERS:
        _leave(read, chunk, f"{LEAST_LETTERS} letters must come before the *")
        return chunk
    read.beginnings.append(_folded(word))
    return word


def _leave(read: Operators, written: str, why: str) -> None:
    if len(written) > _SHOWN:
        written = written[:_SHOWN] + "…"
    read.unread.append(f"{written} is searched for as plain words: {why}")


def _folded(text: str) -> str:
    return " ".join(words(fold(text)))
