"""What a query comes to as phrases: the same at a hub as in search.db."""

from __future__ import annotations

from ..sqlite.fulltext import COLUMNS, phrases_of

__all__ = ["COLUMNS", "phrases_of"]
