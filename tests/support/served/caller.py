"""A process that asks to have its command done: what Linux says of it, and taking its place."""

from __future__ import annotations

import io
import os
import resource
import signal
import stat
import sys
import time
from pathlib import Path

BEFORE_WORDS = (b"-I", b"-S", b"-X", b"utf8", b"-c")
"""After which come two places on Python's path, and then the words of the command."""

ASKS = 9
"""The number of the stream by which a process asks."""

LAST_STREAM = 255
"""Open files of a greater number are this process's own."""

LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})


class CannotServe(Exception):
    """The command needs a process that was started by the shell."""


def told(process: str) -> tuple[list[str], dict[str, str]]:
    """The words of the command, and its environment."""
    words = Path(process, "cmdline").read_bytes().split(b"\0")[2:-1]
    if tuple(words[: len(BEFORE_WORDS)]) != BEFORE_WORDS:
        raise CannotServe
    if words[len(BEFORE_WORDS) + 3 :][:1] == [b"-"]:  # another program takes its place
        raise CannotServe
    pairs = (pair.partition(b"=") for pair in Path(process, "environ").read_bytes().split(b"\0"))
    environment = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name}
    return [os.fsdecode(word) for word in words[len(BEFORE_WORDS) + 3 :]], environment


def take_over(number: int, said: str) -> list[int]:
    """The folder, the mask, the limits, what is ignored and the streams of a process.

    Returns:
        The numbers of further files that are open now, as those of ``<(...)`` are.
    """
    process = f"/proc/{number}"
    while os.readlink(f"{process}/fd/1") == os.readlink(f"{process}/fd/{ASKS}"):
        time.sleep(0.001)  # it still writes to us
    os.chdir(f"{process}/cwd")
    status = fields(f"{process}/status")
    os.umask(int(status["Umask"], 8))
    ignores = int(status["SigIgn"], 16) >> (signal.SIGINT - 1) & 1
    signal.signal(signal.SIGINT, signal.SIG_IGN if ignores else signal.SIG_DFL)
    limit_as(number)
    files: dict[tuple[int, int], int] = {}
    for stream in (0, 1, 2):
        take_stream(f"{process}/fd/{stream}", f"{process}/fdinfo/{stream}", stream, said, files)
    handed = []
    for other in map(int, os.listdir(f"{process}/fd")):
        if 9 < other < LAST_STREAM and stat.S_ISFIFO(os.stat(f"{process}/fd/{other}").st_mode):
            move(os.open(f"{process}/fd/{other}", os.O_RDONLY | os.O_NONBLOCK), other)
            handed.append(other)
    streams()
    return handed


def limits(number: int) -> list[tuple[int, int]]:
    """The limits of a process; 0 is this one."""
    return [resource.prlimit(number, limit) for limit in LIMITS]


def limit_as(number: int) -> None:
    """Has the limits of a process."""
    for limit, own, theirs in zip(LIMITS, limits(0), limits(number), strict=True):
        if own != theirs:
            resource.setrlimit(limit, theirs)


def take_stream(
    path: str, info: str, stream: int, said: str, files: dict[tuple[int, int], int]
) -> None:
    """Opens what a stream of another process leads to as our own."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        os.close(stream)
        return
    if stat.S_ISSOCK(found.st_mode):
        raise CannotServe
    of_file = fields(info)
    if not stat.S_ISREG(found.st_mode) or stream == 0:
        how = int(of_file["flags"], 8) & os.O_ACCMODE
        opened = os.open(path, how | os.O_NOCTTY | os.O_NONBLOCK)
        move(opened, stream)
        if stat.S_ISREG(found.st_mode):
            os.lseek(stream, int(of_file["pos"]), os.SEEK_SET)
        return
    same = files.setdefault((found.st_dev, found.st_ino), stream)
    if same == stream:
        move(os.open(f"{said}{stream}", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), stream)
    else:
        os.dup2(same, stream)


def fields(path: str) -> dict[str, str]:
    """What a file of ``/proc`` says, a line each."""
    lines = (line.partition(":\t") for line in Path(path).read_text().splitlines())
    return {name: value for name, _, value in lines}


def move(opened: int, to: int) -> None:
    """Has an open file at this number, blocking and inherited."""
    os.set_blocking(opened, True)
    if opened != to:
        os.dup2(opened, to)
        os.close(opened)
    os.set_inheritable(to, True)


def streams() -> None:
    """Python's streams, as it makes them at its start with ``-X utf8``."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = None
        try:
            os.fstat(number)
        except OSError:
            pass
        else:
            raw = io.FileIO(number, "rb" if number == 0 else "wb", closefd=False)
            held = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
            errors = "backslashreplace" if number == 2 else "surrogateescape"
            stream = io.TextIOWrapper(
                held, "utf-8", errors, line_buffering=number == 2 or raw.isatty()
            )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def forget_streams() -> None:
    """Ends Python's streams: what was printed and not flushed goes where they lead now."""
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)
