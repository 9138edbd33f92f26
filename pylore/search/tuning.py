"""The numbers by which a search ranks and that are not settings, each with what chose it.

Read them as ``tuning.NAME``. "Not measured" means that it was chosen by hand;
``tests/search/test_tuning.py`` fails where one of them changes what a search says.
"""

from __future__ import annotations

# --- full text

POOL = 50
"""So many direct matches are ranked, whatever the limit: the first results are the same with a
smaller one (docs/decisions/0020). Of a limit above it the rest comes from further pools, each
``LARGER`` times as large, and stands below. Not measured: a bound on the work."""

LARGER = 4

PASSAGES = 8
"""How many of the best passages full text looks at for each match of a pool. Not measured."""

ENOUGH = 5
"""One of so many in a pool that has all words is enough: 10 of 50. Not measured."""

PASSAGE_SHARES = (1.0, 0.5, 0.25)
"""A node's BM25 score is its best passage's, half its second's, a fourth of its third's.
Scored so, passages took recall@5 on Python Enhancement Proposals from 50.8 to 62.3
(docs/decisions/0006); other shares were not measured."""

INFLECTED = 0.6
"""What a match counts that has the words in other forms only, relative to the last one that
has them as written. Not measured by itself; docs/decisions/0010 has what words as written
and then other forms bring together."""

OTHER_FORM = 0.5
"""What another form of a word counts for coverage, where the word itself counts 1. Not
measured."""

TITLE_SHARE = 0.1
"""What it counts for a collection that its best match has the words in the title. Not
measured."""

LEAST_WORTH = 0.05
"""So that a collection whose best match has no word whole still counts a little. Not measured."""

# --- vectors and fusion

COSINE_OF_FACT = 0.25
"""What a cosine of 1 counts for which of a thing's facts is shown, where having all of the
query's words counts 1: it tells facts apart that have the same ones. Not measured."""

NEIGHBOURS = 2
"""How many of the nearest passages the vector leg looks at for each match of a pool. Not measured
for ranks; docs/decisions/0008 has what it costs."""

RETRIEVER_SHARE = 0.3
"""What a retriever of the user's own has in a convex fusion, unless ``retriever_shares`` says
otherwise. Not measured: it depends on the retriever."""

WEAK = 0.3
"""Below this confidence the results are noise more often than not: so marked are 0 to 1 % of
own queries on texts, 9 % of commit messages on code, and 91 to 100 % of queries about another
subject (docs/decisions/0013)."""


# --- repeats (docs/decisions/0020)

WINDOW = 50
"""How many of the first results may be re-ordered. Not measured: a bound on the work."""

TOP = 5
SAME_CATEGORY = 2
"""Of one category, at most so many among the first ``TOP``, where there is a third one to show.
What has no category may come as often as its score lets it."""

SIGN_DEVIATIONS = 4
"""Standard deviations that are added to the signs in which two vectors are taken to differ:
of 40,000 pairs of passages with a cosine of 0.7 or more, in three stores, none differed in
more."""

# --- files as a whole (docs/decisions/0018)

FILE_SHARES = {"file": 1.0, "path": 0.5, "passage": 0.5, "meaning": 0.5, "defined": 0.5}
"""Weights of the legs, the best file of each having 1. On tests/bench/questions.py --set, hit@1 was
82.0, and 83.1, 81.0, 80.5, 78.9, 79.4 and 81.5 without one of them, in this order; recall@5 of
files on pytest-commits without a type was 58.0, and 55.7, 57.4, 56.3, 57.1, 56.5 and 58.2."""

WHOLE_WEIGHTS = (4.0, 1.0, 1.0)
"""BM25 weights of a file's path, its text, and the parts of the names in it."""

WHOLE_FILES = 500
"""How many of the best files the full text of whole files looks at."""

A_FOLDER = 0.1
"""Share that each folder takes from what the words of a path count: without it, hit@3 of questions
is 0.6 lower."""

MOST_DEFINED = 500
"""Symbols that are looked at for the names in a query."""

OF_TESTS = frozenset("spec specs test tests testing".split())
NO_SOURCE = frozenset(
    "adoc bib cfg conf css csv html ini ipynb json less lock log md markdown org po properties rst"
    " scss svg tex toml tsv txt xml yaml yml".split()
)
"""Endings of files that are no source."""

# --- the history (docs/decisions/0019)

ALIKE = 200
"""Commits that are looked at."""

HEAD_OF_HISTORY = 0.5
"""What commits count that are like the beginning of the query, beside those like all of it."""

EVER, OFTEN_CHANGED = 10, 0.25
"""What a file says is divided by (``EVER`` + its commits) to the power of this."""

YOUNG, YOUNG_HAS = 3, 0.7
"""As many commits as a file's match counts for, and what it counts."""

# --- the place in a file

STRETCH = 1200
"""Characters of a file, about thirty lines, that are shown as one place. Not measured."""

PLACES_OF_A_WORD = 50
"""More of them do not tell a place apart. Not measured: a bound on the work."""

# --- passages of documents, changelogs among them (docs/decisions/0006)

AS_GOOD = 0.5
"""Entries with this share of the best one's BM25 score are looked at for one that has more of the
query's words, and for the newest. On the tuned half of tests/bench/changelogs.py 0.5, 0.6 and 0.75
are alike, on the other half 0.75 finds two fewer."""

# --- what a question is for (docs/decisions/0018)

SAME_FILE = 0.3
"""The factor on a further result of a file, where files are returned: on tests/bench/questions.py
--set, recall@5 is 69.2 with 1, 72.9 with 0.6, 74.0 with 0.4, 74.2 with 0.3 and 0.2; on
pytest-commits without a type it is 53.5 with 1 and 58.0 with 0.3."""

# --- one ranking

ASKED, PROOFS, BY_WORDS, LEAN = 40, 10, 1 / 3, 0.2
HISTORY_OF_QUESTIONS = 0.15
