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

LEAST_CODE = 160
"""The same for code, of which less says little."""

LEAST_ROOM = 12
"""With fewer tokens there is nothing to try. Not measured."""

MOST_RESULTS = 40
"""Direct matches, and as many reached ones, that a large budget makes a search return. Not
measured: a bound on the work."""

CENTRAL = 0.5
"""How much of the worth of code hangs on how many of the paths lead through it. Not measured by
itself."""
