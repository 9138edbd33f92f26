"""Running ast-grep over files, and what it says of each.

Its output for GitHub is read, a line a match, and not its JSON: that repeats the
text of every match four times, and so a class's text with each of its methods, which
made it ten times as long and its reading slower than the scan itself. A rule's
``message`` holds what is wanted of the match, with U+001F between the parts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import LoreError

SECONDS = 120
"""How long one call may take; what does not end by then is scanned file by file."""
SECONDS_A_FILE = 20
_LONGEST_COMMAND = 100_000
"""Characters of paths in one call: every system allows at least this many."""
_UNESCAPED = (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))


class Match(NamedTuple):
    """One match of a rule. Lines count from 1, the last one included."""

    rule: str
    """The rule's id without the language: ``class``, ``import.2``."""
    first: int
    last: int
    fields: list[str]
    """The parts of its message."""


class Scan:
    """What ast-grep found in some files, and which of them it could not read."""

    def __init__(self) -> None:
        self.matches: dict[str, list[Match]] = {}
        self.failed: list[str] = []


def scan(root: str, config: str, paths: Sequence[str], threads: int = 0) -> Scan:
    """Scans ``paths``, relative to ``root``, with the rules of a config file."""
    found = Scan()
    for batch in _batches(paths):
        try:
            _run(found, root, config, batch, threads, SECONDS)
        except (subprocess.TimeoutExpired, _Broken):
            for path in batch:
                found.matches.pop(path, None)
            _one_by_one(found, root, config, batch)
    return found


def program() -> str:
    """The ast-grep that was installed with lore, wherever the PATH leads.

    Raises:
        LoreError: it is not there.
    """
    folders = [os.path.dirname(sys.executable or "/nonexistent/python")]
    for entry in sys.path:
        if os.path.isabs(entry) and os.path.basename(entry) in ("site-packages", "dist-packages"):
            folders.append(os.path.join(entry, "..", "..", "..", "bin"))
    for folder in folders:
        path = os.path.join(folder, "ast-grep")
        if os.access(path, os.X_OK):
            return path
    raise LoreError("ast-grep is not installed: run 'make setup'")


class _Broken(Exception):
    """ast-grep ended as it should not."""


def _one_by_one(found: Scan, root: str, config: str, paths: Sequence[str]) -> None:
    for path in paths:
        try:
            _run(found, root, config, [path], 1, SECONDS_A_FILE)
        except (subprocess.TimeoutExpired, _Broken):
            found.matches.pop(path, None)
            found.failed.append(path)


def _run(
    found: Scan, root: str, config: str, paths: Sequence[str], threads: int, seconds: float
) -> None:
    command = [program(), "scan", "--config", config, "--custom-languages", "ignore", "--info",
               "--format", "github", "--threads", str(threads), "--",
               *(f"./{path}" for path in paths)]  # fmt: skip
    done = subprocess.run(
        command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds,
        check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise _Broken(done.stderr.decode(errors="replace")[:500])
    for path, match in _parse(done.stdout):
        matches = found.matches.get(path)
        if matches is None:
            matches = found.matches[path] = []
        matches.append(match)


def _parse(output: bytes) -> Iterator[tuple[str, Match]]:
    """``::notice file=F,line=1,endLine=2,title=Python/python.call::message``, a line each."""
    for line in output.decode(errors="replace").split("\n"):
        if not line.startswith("::notice file="):
            continue
        head, _, message = line[14:].partition("::")
        path, first, last, title = head.rsplit(",", 3)
        if "%" in message:
            message = _unescape(message)
        if "%" in path:
            path = _unescape(path)
        rule = title[title.index(".") + 1 :]
        yield path, Match(rule, int(first[5:]), int(last[8:]), message.split("\x1f"))


def _unescape(text: str) -> str:
    for escaped, letter in _UNESCAPED:
        text = text.replace(escaped, letter)
    return text


def _batches(paths: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        if batch and size + len(path) > _LONGEST_COMMAND:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += len(path.encode()) + 3
    if batch:
        yield batch
