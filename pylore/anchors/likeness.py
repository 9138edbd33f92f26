"""How alike two definitions are, by their tokens.

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
_BY_HASH = re.compile(
    rf"(?P<left_out>\#.*|[rRuU]?\"\"\"(?s:.*?)\"\"\"|[rRuU]?'''(?s:.*?)''')|{_TOKEN}"
)
_BY_SLASH = re.compile(rf"(?P<left_out>//.*|/\*(?s:.*?)\*/)|{_TOKEN}")

_WORD = re.compile(r"[^\W\d]\w{2,}")

Bag = frozenset[int]
"""Tokens and pairs of neighbours, each with its number among those that are the same, as hashes."""


def bag_of(path: str, text: str, name: str) -> Bag:
    """The tokens of a definition in a file of this name; ``name`` is the definition's own."""
    found = _tokens(path, text, name)
    seen: Counter[object] = Counter()
    bag = set()
    for one in (*found, *zip(found, found[1:], strict=False)):
        seen[one] += 1
        bag.add(hash((one, seen[one])))
    return frozenset(bag)


def words_of(path: str, text: str, name: str) -> frozenset[str]:
    """The names and words in a definition, but for its own and the shortest."""
    return frozenset(one for one in _tokens(path, text, name) if _WORD.fullmatch(one))


def words_in(text: str) -> frozenset[str]:
    """All such words of a file, whatever they stand in."""
    return frozenset(_WORD.findall(text))


def similarity(one: Bag, other: Bag) -> float:
    """How much of both bags is in each, 0 to 1; 1 for the same, whichever comes first.

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
