"""What an answer cites, and whether it was given that: ids of records, lines of files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ..core.model import Record
from ..core.vocabulary import FILE_IDS

_TOKEN = re.compile(r"[^\s\[\](){}<>\"'`,;|*]+")
_LINES = re.compile(r"(.+?)(?::L?|#L)(\d{1,9})(?:[-–]L?(\d{1,9}))?$")
_LINES_IN_WORDS = re.compile(r"(?:::\S+)? \(lines (\d{1,9})(?:[-–](\d{1,9}))?\)?")
_PATH = re.compile(r"[^:]*[^\W\d_][^:]*[./][^:]*")
_UNLIKE_A_WORD = re.compile(r"[\d/.:_]")
_END = ".:!?…"
_HEX = re.compile(r"[0-9a-f]{8,}")
_COMPOUND = re.compile(
    r"\w+(ing|ed)|(by|for|in|of|on|the|to|up)-.*|\w+(ing|ed)-.*"
    r"|aware|first|format|free|kind|length|level|like|list|local|log|name|names|only|path|ready"
    r"|safe|scope|set|side|size|specific|style|system|table|time|times|tree|type|wide|wise",
)
"""What makes a word of the language of a type: ``file-based``, ``run-time``, ``file-by-file``."""


class Citation(Record):
    """Something cited, and whether the prompt had it.

    ``text`` is what was written, of ``path (lines 3-9)`` in its short form, ``path:3-9``.
    """

    __slots__ = ("in_prompt", "text")

    def __init__(self, text: str, in_prompt: bool) -> None:
        self.text = text
        self.in_prompt = in_prompt


class Sources:
    """What a prompt gives to cite: ids, and stretches of files.

    ``ids`` are those that are known to be in it; the rest is read from its text.
    """

    def __init__(self, prompt: str, ids: Collection[str], types: Collection[str]) -> None:
        self._types = types
        self._ids = set(ids)
        self._stretches: dict[str, list[tuple[int, int]]] = {}
        # An id may have a space or a bracket in it: no token then, but it can be looked for.
        self._odd = sorted((id for id in ids if not _TOKEN.fullmatch(id)), key=len, reverse=True)
        for word, _ in _words(prompt):
            path, first, last = _stretch(word)
            if path:
                self._stretches.setdefault(path, []).append((first, last))
            elif self._is_id(word):
                self._ids.add(word)

    def check(self, answer: str, stored: Collection[str] = ()) -> list[Citation]:
        """Everything that ``answer`` cites, each once, in its order.

        An id is what a word of a known type is, as ``decision-1a2b3c4d`` or
        ``decision-use-jwt-tokens``. What is a word of the language too, as ``file-based``,
        counts in brackets or back-ticks, or if it is one of ``stored``, the ids that there are.
        """
        found: dict[str, bool] = {}
        for id in self._odd:
            if id in answer:
                found[id] = True
                answer = answer.replace(id, " ")
        for word, marked in _words(answer):
            path, first, last = _stretch(word)
            if path:
                found.setdefault(word, self._has(path, first, last))
            elif self._is_id(word) and (
                word in self._ids or marked or word in stored or not _is_compound(word)
            ):
                found.setdefault(word, word in self._ids)
        return [Citation(text, known) for text, known in found.items()]

    def candidates(self, answer: str) -> list[str]:
        """The words of ``answer`` that have the form of an id."""
        return [word for word, _ in _words(answer) if self._is_id(word)]

    def _is_id(self, word: str) -> bool:
        type, dash, key = word.partition("-")
        return bool(dash and key) and type in self._types

    def _has(self, path: str, first: int, last: int) -> bool:
        return any(a <= first and last <= b for a, b in self._stretches.get(path, ()))


def _is_compound(word: str) -> bool:
    """Whether a word that begins as an id does may be one of the language."""
    key = word.partition("-")[2]
    if _UNLIKE_A_WORD.search(word) or _HEX.fullmatch(key):
        return False
    return _COMPOUND.fullmatch(key) is not None


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Words without the marks of a sentence; whether each stands in brackets or back-ticks.

    A place as a context's headings have it, ``path::symbol (lines 3-9)``, is ``path:3-9``.
    """
    text = _LINES_IN_WORDS.sub(lambda lines: f":{lines[1]}-{lines[2] or lines[1]} ", text)
    for match in _TOKEN.finditer(text):
        marked = text[match.start() - 1 : match.start()] in ("[", "`")
        word = match[0].rstrip(_END)
        if word:
            yield word, marked


def _stretch(word: str) -> tuple[str, int, int]:
    """``path:first-last``, ``path:line`` or ``path#L1-L2``: path, first, last; no path, else."""
    match = _LINES.fullmatch(word)
    if match is None or "://" in word:
        return "", 0, 0
    path = match[1].removeprefix(FILE_IDS).removeprefix("./")
    if not _PATH.fullmatch(path):
        return "", 0, 0
    return path, int(match[2]), int(match[3] or match[2])
