"""Running ast-grep over files, and what it says of each.

Its output for GitHub is read, a line a match, and not its JSON: that repeats the
text of every match four times, and so a class's text with each of its methods, which
made it ten times as long and its reading slower than the scan itself. A rule's
``message`` holds what is wanted of the match, with U+001F between the parts.

A call may take so much time and memory, and say so much, as suits the size of its
files. Where files together go over that, each is scanned by itself, and those that
still do are left out: a chain of calls has every shorter one within it, and so a few
kilobytes can come to gigabytes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from threading import Timer
from typing import NamedTuple

from ...core.errors import LoreError
from ...system.programs import limited

SECONDS = 120
"""Seconds for one call; what takes longer is scanned file by file."""
SECONDS_A_FILE = 20
CPU_SECONDS, CPU_SECONDS_A_MB = 2, 10
"""Of processor time, for one call and for its files; what people write takes 0.6 a megabyte."""
MEMORY_MB, MEMORY_MB_A_THREAD, MEMORY_MB_A_MB = 512, 64, 64
"""Of address space, of which a thread reserves as much and uses little."""
OUTPUT, OUTPUT_A_BYTE = 2_000_000, 16
"""Bytes that one call may print, and for each byte of its files: in large ones it takes 1 to 5."""
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
    """Matches of ast-grep in files, and why it could not read others."""

    def __init__(self) -> None:
        self.matches: dict[str, list[Match]] = {}
        self.failed: dict[str, Failure] = {}


class Failure(NamedTuple):
    """A file could not be scanned; the message says why."""

    reason: str
    """``limit`` or ``unparsed``"""
    text: str
    """The same for a person."""


def scan(root: str, config: str, paths: Sequence[str], threads: int = 1) -> Scan:
    """Scan ``paths``, relative to ``root``, with the rules of a config file."""
    found = Scan()
    for batch in _batches(paths):
        try:
            _run(found, root, config, batch, threads, SECONDS)
        except _Broken as broken:
            if len(batch) == 1:
                found.failed[batch[0]] = broken.failure
            else:
                _one_by_one(found, root, config, batch)
    return found


def program() -> str:
    """Return the ast-grep that was installed with lore, wherever the PATH leads.

    Raises:
        LoreError: it is not there.
    """
    folders = [os.path.dirname(sys.executable or "/nonexistent/file")]
    for entry in sys.path:
        if os.path.isabs(entry) and os.path.basename(entry) in ("site-packages", "dist-packages"):
            folders.append(os.path.join(entry, "..", "..", "..", "bin"))
    for folder in folders:
        path = os.path.join(folder, "ast-grep")
        if os.access(path, os.X_OK):
            return path
    raise LoreError("ast-grep is not installed: run 'make setup'")


class _Broken(Exception):
    """ast-grep ended as it should not, or was ended."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.failure = Failure(reason, text)


def _one_by_one(found: Scan, root: str, config: str, paths: Sequence[str]) -> None:
    for path in paths:
        try:
            _run(found, root, config, [path], 1, SECONDS_A_FILE)
        except _Broken as broken:
            found.failed[path] = broken.failure


def _run(
    found: Scan, root: str, config: str, paths: Sequence[str], threads: int, seconds: float
) -> None:
    command = [program(), "scan", "--config", config, "--custom-languages", "ignore", "--info",
               "--format", "github", "--threads", str(threads), "--",
               *(f"./{path}" for path in paths)]  # fmt: skip
    size = sum(_size(os.path.join(root, path)) for path in paths)
    for path, match in _parse(_output(command, root, size, threads, seconds)):
        matches = found.matches.get(path)
        if matches is None:
            matches = found.matches[path] = []
        matches.append(match)


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


_OVER_TIME = (-signal.SIGKILL, -signal.SIGXCPU)


def _output(command: list[str], root: str, size: int, threads: int, seconds: float) -> bytes:
    """Return what ast-grep prints of files of so many bytes, if it keeps to the limits.

    Raises:
        _Broken: it does not, or fails.
    """
    cpu = CPU_SECONDS + CPU_SECONDS_A_MB * size // 1_000_000
    memory = MEMORY_MB + MEMORY_MB_A_THREAD * threads + MEMORY_MB_A_MB * size // 1_000_000
    most = OUTPUT + OUTPUT_A_BYTE * size
    with subprocess.Popen(
        limited(command, cpu, memory), cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        timer = Timer(seconds, process.kill)
        timer.start()
        try:
            output = process.stdout.read(most + 1)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
        if len(output) > most:
            process.kill()
    if len(output) > most:
        raise _Broken("limit", f"its names and chains repeat to over {most // 1_000_000} MB")
    if process.returncode in _OVER_TIME:
        raise _Broken("limit", f"it takes too long, over {cpu} s")
    if process.returncode == -signal.SIGABRT:
        raise _Broken("limit", f"it takes over {memory} MB of memory")
    if process.returncode not in (0, 1):
        raise _Broken("unparsed", "it nests too deep")
    return output


def _parse(output: bytes) -> Iterator[tuple[str, Match]]:
    """Parse ``::notice file=F,line=1,endLine=2,title=Python/python.call::message``, a line each."""
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
