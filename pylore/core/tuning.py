"""The numbers of the formulas and of queries that are not settings, each with what chose it.

"Not measured" means that it was chosen by hand; ``tests/core/test_tuning.py`` fails where one
of them is another.
"""

from __future__ import annotations

# --- scores (pylore/core/scoring.py)

SURE_COSINE = 0.5
"""A best cosine below this is not stretched to a full score. Not measured."""

MOST_RELEVANT = 2.0
"""However often a record is read, it counts at most twice a plain one (docs/decisions/0029).
Not measured: on the sets records are alike."""

PRIOR_MEAN = 0.5
"""What the ratings of a node that nobody has rated are taken to be."""

PRIOR_COUNT = 2
"""How many ratings that belief is worth. Measured with ``feedback_weight`` as a whole: 1.6
points of recall@5 (docs/decisions/0022)."""

# --- words (pylore/core/text.py)

MAX_TERMS = 200
"""The most words of one query that are searched for. Not measured: a bound on the work."""

PHRASE_WORDS = 32
"""The most words that must stand next to each other: what has more is cut into several phrases.
Not measured."""

PASSAGE_WORDS = 200
"""About how many words one passage has: long texts are ranked by their best passages. That
took recall@5 from 50.8 to 62.3 (docs/decisions/0006); other lengths were not measured."""

PREFIX_LENGTH = 3
"""The shortest word that is tried as the beginning of another one. Not measured."""

ENDING = 2
"""So many last letters of a word may be another ending in another form of it. Not measured."""

SHORT_QUERY = 6
"""Up to this many terms, a word's other forms count as the word. Measured as part of
docs/decisions/0034 only."""
