"""The numbers of the formulas and of queries that are not settings, each with what chose it.

"Not measured" means that it was chosen by hand; ``tests/core/test_tuning.py`` fails where one
of them is another.
"""

from __future__ import annotations

# --- scores (pylore/core/scoring.py)

SURE_COSINE = 0.5
"""A best cosine below this is not stretched to a full score. Not measured."""

MOST_RELEVANT = 2.0
"""However often a record is read, it counts at most twice a plain one (docs/decisions/0021).
Not measured: on the sets records are alike."""

PRIOR_MEAN = 0.5
"""The prior mean of ratings, for a node that nobody has rated."""

PRIOR_COUNT = 2
"""Ratings that the prior is worth. Measured with ``feedback_weight`` as a whole: 1.6
points of recall@5 (docs/decisions/0021)."""

# --- words (pylore/core/text.py)

MAX_TERMS = 200
"""The most words of one query that are searched for. Not measured: a bound on the work."""

PHRASE_WORDS = 32
"""The most words that must be next to each other: what has more is cut into several phrases.
Not measured."""

PASSAGE_WORDS = 200
"""About how many words one passage has: long texts are ranked by their best passages. That
took recall@5 from 50.8 to 62.3 (docs/decisions/0006); other lengths were not measured."""

LEAST_PASSAGE = 50
"""Words from which a heading ends a passage: recall@5 on PEPs at depth 1 is 77.2 with 50, and 77.0
with 1 (docs/decisions/0006)."""

PREFIX_LENGTH = 3
"""The shortest word that is tried as the beginning of another one. Not measured."""

ENDING = 2
"""So many last letters of a word may be another ending in another form of it. Not measured."""

SHORT_QUERY = 6
"""Up to this many terms, a word's other forms count as the word. Measured as part of
docs/decisions/0010 only."""

# --- full text over many passages (pylore/store/sqlite/rare_terms.py, docs/decisions/0011)

LARGE = 20_000
"""In a collection of fewer passages all that match are ranked. Measured: with 5,000 the two ways
take as long, with 38,000 to 50,000 this one two thirds, with 1,000,000 a third to a fifth."""

WORTH_IT = 2
"""So many times more passages must have one of the words than would be ranked. Measured with
38,000 to 50,000: with 8, three fourths of ranking all, with 2 two thirds, and the same first ten
of 96 questions; with 1 it is no quicker."""

FEW_OF_A_WORD = 250
"""So many passages for each word of the query are ranked for its rare words, and about twice as
many for having several of the others. Measured on 1,000,000 passages: with half of it
more of the first results were missed."""

WORDS = 8
"""A query of fewer words counts as one of so many. Measured with ``FEW_OF_A_WORD``."""

FEW = 500
"""To rank so many passages, it is quicker to know the words' IDFs than to let FTS5 count
them. Measured."""

QUICKLY_COUNTED = 100_000
"""Passages at most that have one of the words: up to here, counted for each, FTS5 ranks what was
chosen, and counts them: that takes less than to call a function in Python for each passage.
Measured: with 38,000 to 50,000 passages it is 39 ms in place of the 47 with 0; with 1,000,000
plain questions took 80 ms, with three times as much 90."""

FIRST_RESULTS = 10
"""Matches that must score at least as much as what is left out, or that is searched too."""

TOGETHER = 1.5
"""So many times more often than by chance a passage has words of two groups. Not measured:
where it has them less often, fewer groups follow."""

COMMON = 1_000
"""A word that so many passages have is counted ahead of a search: for one that fewer have,
counting takes some 0.05 ms."""

COUNTED_AFTER = 10_000
"""After so many new passages, check whether words are to be counted again."""
