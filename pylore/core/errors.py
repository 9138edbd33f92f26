"""Errors with their exit codes, and reports of bugs.

A message is a line: ``what happened: what to do``. A report has types and places of exceptions, but
no messages, which may quote private text.
"""

from __future__ import annotations

DONE = 0
FAILURE = 1
USAGE = 2
BUG = 3
INTERRUPTED = 130


class LoreError(Exception):
    """An expected failure: the message is for the user, the exit code is 1."""

    exit_code = FAILURE


class UsageError(LoreError):
    """A wrong command line or setting: the exit code is 2."""

    exit_code = USAGE


class StoreError(LoreError):
    """The store is missing, damaged, locked, full, or of an unknown version."""


class NoStore(StoreError):
    """There is no store in this folder."""


class StoreBusy(StoreError):
    """A writer did not end in time; the store is unchanged."""


class StoreFull(StoreError):
    """The disk is full; the store is unchanged."""


class StoreDamaged(StoreError):
    """A part of the store is missing, broken, or was not written by lore."""


class EmbedderError(LoreError):
    """The embedder failed: full text goes on without it."""


class GraphUnavailable(StoreError):
    """The tables of the graph or the anchors are damaged; a plain search still works."""


def first_of(messages: list[str], most: int = 3) -> str:
    """Join the first messages, and count the rest."""
    more = len(messages) - most
    return "; ".join(messages[:most]) + (f"; and {more} more" if more > 0 else "")


def nearest(word: str, known: list[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the shortest word with this prefix, or the closest;
    empty without any.

    >>> nearest("dec", ["doc", "decide"]), nearest("serach", ["search"]), nearest("title", ["file"])
    (" (did you mean 'decide'?)", " (did you mean 'search'?)", '')
    """
    from difflib import get_close_matches

    word = word.lower()
    longer = [one for one in known if one.startswith(word) and len(word.strip("-")) > 1]
    close = sorted(longer, key=len) or get_close_matches(word, known, n=1, cutoff=0.7)
    return f" (did you mean '{close[0]}'?)" if close else ""


class BugElsewhere(Exception):
    """A bug in a process that worked for this one; its text is that process's report."""


_MOST_PLACES = 40


def report_of(error: BaseException) -> str:
    """Return type and places of an exception and of those behind it, a line each."""
    from traceback import extract_tb

    lines: list[str] = []
    chain = [error]
    for one in chain:
        name = f"{type(one).__module__}.{type(one).__name__}".removeprefix("builtins.")
        lines.append(name if one is error else f"behind it: {name}")
        for at in extract_tb(one.__traceback__, -_MOST_PLACES):
            file = "/".join(at.filename.split("/")[-2:])  # a whole path may have a person's name
            lines.append(f"  {file}:{at.lineno} in {at.name}")
        if isinstance(one, BugElsewhere):
            lines.append(str(one))
        behind = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        if behind is not None and behind not in chain:
            chain.append(behind)
    return "\n".join(lines)
