"""The numbers by which the graph ranks and that are not settings, each with what chose it.

Read them as ``tuning.NAME``. "Not measured" means that it was chosen by hand;
``tests/search/test_tuning.py`` fails where one of them changes what a walk says.
"""

from __future__ import annotations

# --- accumulate: measured as a whole, see docs/decisions/0015 and docs/quality.md

THINNING = 0.25
"""The power of its degree by which a match's mass is divided, so that a hub says little of
each neighbour. Thinning by the target's in-degree was tried without gain."""

MOST_NAMING = 100
"""A bridge that more records name than this ties none of them. Not measured by itself."""

OF_A_PLACE = 0.35
"""What an edge counts to the walk that stands in one passage of a longer text, relative to one
of the whole text (docs/decisions/0017)."""

FRONTIER = 20
"""So many reached nodes may always start the next hop. Not measured by itself: a second hop
adds a point of recall@5 on MuSiQue and nothing on three other sets."""
