"""Find the intent of an English question: where, how or why something is, or what depends on it.

The words that say so are no words of what is looked for, and go: "implemented" finds
NotImplementedError. Whatever does not begin as a question does stays as it is. Nothing here
needs ``re``: a search imports this module, where a query begins as they do.
"""

from __future__ import annotations

from .query_cleaning import AROUND, named_in
from .text import STOP_WORDS, fold, words

WHERE, HOW, WHY, CHANGES = "where", "how", "why", "changes"

_DROPPED = {
    WHERE: frozenset(
        "where which defined define defines definition implemented implements implement declared"
        " located location lives live happens happen handled handles handle done found code"
        " function class method struct file module type made".split()
    ),
    HOW: frozenset("how works work done happens happen handled handle handles implemented".split()),
    WHY: frozenset("why when since reason reasons".split()),
    CHANGES: frozenset(
        "what who which change changes changed changing must should need needs break breaks"
        " depends depend affected else touch touched uses imports calls".split()
    ),
}
_HANGS = frozenset("break breaks depends depend affected uses imports calls".split())
_FEW = 2


class Intent:
    """The ``kind`` of a question, its ``text`` without the words of the question, and ``names``.

    ``names`` are the names that it asks for, folded.
    """

    __slots__ = ("kind", "names", "text")

    def __init__(self, kind: str, text: str, names: frozenset[str]) -> None:
        self.kind = kind
        self.text = text
        self.names = names


def intent_of(text: str) -> Intent | None:
    """Return the intent of a question; None if it is no question, or has no other words.

    >>> intent = intent_of("where is the Crawler class defined?")
    >>> intent.kind, intent.text, sorted(intent.names)
    ('where', 'is the Crawler', ['crawler'])
    >>> intent_of("token expiry") is None
    True
    """
    chunks = text.split()
    bare = [chunk.strip(AROUND).lower() for chunk in chunks]
    kind = _kind_of(bare)
    if kind is None:
        return None
    dropped = _DROPPED[kind]
    kept = [chunk for chunk, word in zip(chunks, bare, strict=True) if word not in dropped]
    rest = " ".join(kept)
    content = [word for word in words(rest) if fold(word) not in STOP_WORDS]
    if not content:
        return None
    names = {fold(name.rpartition(".")[2]) for name in named_in(text)}
    names |= {fold(word) for word in content if word[0].isupper()}
    if len(content) == 1:
        names.add(fold(content[0]))
    return Intent(kind, rest, frozenset(names if len(content) <= _FEW else ()))


def _kind_of(bare: list[str]) -> str | None:
    first, second = bare[0], bare[1] if len(bare) > 1 else ""
    if first == "why" or (first == "when" and second in ("was", "were", "did", "is"))\
            or (first == "since" and second == "when"):  # fmt: skip
        return WHY
    if first in ("where", "which") or ("where" in bare and first == "what"):
        return WHERE
    if first == "how":
        return HOW
    if first == "who" or (first == "what" and (second in _HANGS or "change" in bare)):
        return CHANGES if not _HANGS.isdisjoint(bare) or "change" in bare else None
    return None
