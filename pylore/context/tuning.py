"""The numbers that decide what comes into a context, each with what chose it.

Read them as ``tuning.NAME``. The shares were measured as a whole: docs/context.md has what they
bring over results packed in order. ``tests/context/test_tuning.py`` fails where one is another.
"""

from __future__ import annotations

FIRST_SHARE = 0.15
"""Of the budget: what the best piece may take before all others have had their turn."""

NEXT_SHARE = 0.85
"""What each further piece may take, relative to the one before it."""

LEAST_SHARE = 70
"""Tokens that every piece may take, however many come before it."""

LEAST_CODE = 100
"""The same for code, of which less says little. With 160, 48 and 65 % in place of 52 and 67: see
``FILES_OPENED``."""

LEAST_ROOM = 12
"""With fewer tokens there is nothing to try. Not measured."""

MOST_RESULTS = 40
"""Direct matches, and as many reached ones, that a large budget makes a search return. Not
measured: a bound on the work."""

FILES_OPENED, NEXT_FILE, NEXT_DEFINITION = 8, 0.6, 0.95
"""How many files are shown by their definitions, what those of the next file are worth relative to
those of the one before it, and what the next definition of one file is. Of the functions and
classes that answers to 46 questions about flask and requests name, contexts of 2,000 and 4,000
tokens have 52 and 67 %; with 5 files 47 and 62 %; with heads of files, and none of this, 30 and
46 %."""

DEFINITIONS = 60
"""Definitions of these files among which the best are chosen. With 120 it is no better."""

DIAGRAM = 500
"""Tokens of the picture, at most: what its 12 nodes take with titles of usual length. Not measured
by itself: the context that docs/context.md measures has it."""

DIAGRAM_SHARE = 0.25
"""Of the room, where that is less: so that a small budget is for texts. Not measured by itself."""

FACTS_OF_ONE = 10
"""Facts of one subject, the best first. Not measured."""

FACTS_LOOKED_AT = 1000
"""Of those of one subject, the surest, so many are ranked: a bound on the work."""

WORDS_OF_NAMES, LONGEST_NAME = 64, 5
"""Words of a question among which entities are looked for, and words of their names: a bound on
the work, 310 ids at most."""

TIES = 10
"""Contradictions and successions of a record that are looked at. Not measured."""

MOST_FACTS = 30
"""Facts of a context: of three entities that have as many as are shown of one. Not measured."""

LONGEST_QUESTION = 2000
"""Letters of a task's text that are searched for: a query has 200 terms at most, which is less.
Not measured."""

HEADING = 200
"""Letters of the question that stand in the heading: it is to be recognized, not read again."""

MOST_NAMED = 5
"""Files that a note names of those that must not be shown: it is one line."""

WHOLE = 1600
"""Letters of a text that is looked at whole; of a longer one, the passage that matched. A passage
has 200 words or so, and this is a little more: a text of one passage comes as it is."""

LARGEST = 4 << 20
"""Bytes of the largest file that is read for its lines: a bound on the work."""

HEAD = 60
"""Lines of a file that are shown where no lines are known: a screen. Not measured."""

LEAST_LINES = 3
"""Of a snippet that is cut, the mark of the cut among them: with less it says nothing."""

CUT_FROM = 0.5
"""Of the lines that have room: a cut at a statement may leave out as much as comes after that.
Not measured: with more, a long statement at the end would take all before it along."""

SHORT = 40
"""Lines of a snippet within which others need not be shown again: one that is longer may be cut
before them. Not measured."""

NEAR = 3
"""Lines from its first one in which a symbol's own name must stand, if its file has changed:
decorators stand before it, and in some languages the type of what it returns."""

IMPORTS_WITHIN = 120
"""First lines of a file in which its imports are looked for: behind a licence and a description."""

CODE_WORTH = 0.5
"""Of the best score: code with less is left out of what is no question about code."""
