"""Words new to any store, as in first questions of people."""

from __future__ import annotations

import random

_RARE = """
    absquatulate bumfuzzle cattywampus defenestration erinaceous gobbledygook hullaballoo
    impignorate jentacular kakorrhaphiophobia lollygag mumpsimus nudiustertian omphaloskepsis
    psithurism quire rigmarole sialoquent tergiversate ultracrepidarian vomitory widdershins
    xertz yarborough zoanthropy
    """.split()
"""Words that no documentation has."""
_SYLLABLES = "ba co du fe gi ho ju ka le mi no pu ra se ti vo wu xa ye zi".split()


def with_new_words(query: str, rng: random.Random | None = None) -> str:
    """The query, a rare word, and two identifiers that no earlier query had either."""
    chance = rng or random.SystemRandom()
    one, other = ("".join(chance.choices(_SYLLABLES, k=4)) for _ in "12")
    return f"{query} {chance.choice(_RARE)} get{one.title()} {other}_{one}"
