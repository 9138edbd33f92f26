"""What a query comes to as phrases: the same at a hub as in search.db."""

from __future__ import annotations

from ..sqlite.fulltext import COLUMNS, phrases_of

__all__ = ["COLUMNS", "LONGEST_WORD", "phrases_of"]

LONGEST_WORD = 200
"""Letters of a word that a hub keeps, and that is looked for there."""
