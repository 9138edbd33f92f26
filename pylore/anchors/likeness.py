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

Bag = Counter[object]
"""Tokens, and pairs of neighbours, each with how often it is there."""


def bag_of(path: str, text: str, name: str) -> Bag:
    """The tokens of a definition in a file of this name; ``name`` is the definition's own."""
    own = name.rpartition(".")[2]
    found = [
        "\0" if match[0] == own else match[0]
        for match in (_BY_HASH if path.endswith(_HASHES) else _BY_SLASH).finditer(text)
        if match.lastgroup != "left_out"
    ]
    bag: Bag = Counter(found)
    bag.update(zip(found, found[1:], strict=False))
    return bag


def similarity(one: Bag, other: Bag) -> float:
    """How much of both bags is in each, 0 to 1; 1 for the same, whichever comes first.

    >>> one, other = ("def f(x): return x", "f"), ("def g(x):  # it\\n  return x", "g")
    >>> similarity(bag_of("a.py", *one), bag_of("a.py", *other))
    1.0
    """
    both = one.total() + other.total()
    return 2 * (one & other).total() / both if both else 1.0
