"""Compare two definitions by their tokens.

Layout, comments and documentation do not count, nor does the definition's own name: what
was renamed and nothing else is the same. The figure is the Dice coefficient of two bags,
of the tokens and of each token with the next one, so that order counts a little.
"""

from __future__ import annotations

import re
from collections import Counter

_HASHES = (".py", ".pyi", ".rb", ".sh", ".bash")
"""Endings of files whose comments begin with ``#``."""

_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_TOKEN = rf"(?P<string>{_STRING})|(?P<word>\w+)|(?P<mark>[^\w\s])"
_LEFT_OUT_BY_HASH = r"\#.*|[rRuU]?\"\"\"(?s:.*?)\"\"\"|[rRuU]?'''(?s:.*?)'''"
_LEFT_OUT_BY_SLASH = r"//.*|/\*(?s:.*?)\*/"
_BY_HASH = re.compile(rf"(?P<left_out>{_LEFT_OUT_BY_HASH})|{_TOKEN}")
_BY_SLASH = re.compile(rf"(?P<left_out>{_LEFT_OUT_BY_SLASH})|{_TOKEN}")

_WORD = re.compile(r"[^\W\d]\w{2,}")

Bag = frozenset[int]
"""Tokens and pairs of neighbours, each with its number among those that are the same, as hashes."""


def bag_of(path: str, text: str, name: str) -> Bag:
    """Return the tokens of a definition in a file of this name; ``name`` is the definition's
    own."""
    found = _tokens(path, text, name)
    seen: Counter[object] = Counter()
    bag = set()
    for one in (*found, *zip(found, found[1:], strict=False)):
        seen[one] += 1
        bag.add(hash((one, seen[one])))
    return frozenset(bag)


def words_of(path: str, text: str, name: str) -> frozenset[str]:
    """Return the names and words in a definition, but for its own and the shortest."""
    return frozenset(one for one in _tokens(path, text, name) if _WORD.fullmatch(one))


def words_in(text: str) -> frozenset[str]:
    """Return all such words of a file, whatever they are in."""
    return frozenset(_WORD.findall(text))


def renamed(path: str, text: str, old: str, new: str) -> list[str]:
    """Return a definition under another name, wherever it names itself, but for strings.

    First with comments and documentation as they were, then with the name changed there too.

    >>> renamed("a.py", "def f(): f('f')  # f", "f", "g")
    ["def g(): g('f')  # f", "def g(): g('f')  # g"]
    """
    before, after = old.rpartition(".")[2], new.rpartition(".")[2]
    own = re.compile(rf"(?<!\w){re.escape(before)}(?!\w)")
    left_out = _LEFT_OUT_BY_HASH if path.endswith(_HASHES) else _LEFT_OUT_BY_SLASH
    parts = re.compile(rf"(?P<left_out>{left_out})|(?P<string>{_STRING})|(?P<own>{own.pattern})")

    def code(match: re.Match[str]) -> str:
        return after if match.lastgroup == "own" else match[0]

    def comments_too(match: re.Match[str]) -> str:
        return match[0] if match.lastgroup == "string" else own.sub(lambda _: after, match[0])

    return list(dict.fromkeys(parts.sub(change, text) for change in (code, comments_too)))


def similarity(one: Bag, other: Bag) -> float:
    """Return how much of both bags is in each, 0 to 1; 1 for the same, whichever comes first.

    >>> one, other = ("def f(x): return x", "f"), ("def g(x):  # it\\n  return x", "g")
    >>> similarity(bag_of("a.py", *one), bag_of("a.py", *other))
    1.0
    """
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 1.0


def _tokens(path: str, text: str, name: str) -> list[str]:
    own = name.rpartition(".")[2]
    return [
        "\0" if match[0] == own else match[0]
        for match in (_BY_HASH if path.endswith(_HASHES) else _BY_SLASH).finditer(text)
        if match.lastgroup != "left_out"
    ]
