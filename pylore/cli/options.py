"""Options shared by commands: parameters take them as defaults.

This module is on the path of every search.
"""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.vocabulary import SOURCES, STATUSES
from .command import option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WALK = ("graph_edges", "graph_exclude_edges")
"""Settings of every walk that the help lists."""

# --- filters and forms of results

TYPES = option("--type TYPE,…", "only these types", complete="types")
STATUS_FILTER = option("--status STATUS,…", "only these statuses", complete="statuses")
TAG_FILTER = option("--tag, --tags TAG,…", "only with all these tags")
FILE_FILTER = option("--file GLOB,…", "only of these files", complete="files")
SINCE = option("--since DATE|AGE", "changed since (2026-01-31, 7d)", "")
EXCLUDE = option("--exclude ID,…", "neither return nor walk through these", complete="ids")
NEAR = option("--files GLOB,…", "files you work on; also @git, @session", complete="near")
EXPLAIN = option("--explain, --verbose", "show the factors of each score")
TREE = option("--tree", "print a tree of how nodes were reached")
LIMIT = option("-n, --limit N", "maximum number of results", low=1)
SKIP_BAD = option("--skip-bad", "skip broken lines or files, and name them")
SUPERSEDED = option("--with-superseded", "include superseded facts")

# --- fields of records and links

STATUS = option("--status STATUS", ", ".join(STATUSES), choices=STATUSES)
SOURCE = option("--source SOURCE", ", ".join(SOURCES), choices=SOURCES)
CONFIDENCE = option("--confidence X", "0 to 1", low=0.0, high=1.0)
CATEGORY = option("--category NAME", "category within the type")


def exclusive(**given: Any) -> str:
    """Return the name of the given option, or an empty text; raise UsageError for two options."""
    names = [
        name if name.isupper() else f"--{name.replace('_', '-')}"
        for name, value in given.items()
        if value
    ]
    if len(names) > 1:
        raise UsageError(f"{names[0]} and {names[1]} exclude each other: give one")
    return names[0] if names else ""


def require_utf8(text: str, what: str) -> str:
    """Return ``text``; raise UsageError unless it is UTF-8, without half surrogates."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"{what} '{text}' is not UTF-8: convert or rename it")
    return text
