"""A process that does one command after the other, as long as each leaves it as it was.

Each takes place in the folder, the environment, the mask, the streams and the limits of its
caller. What a process keeps beyond that ends it: open files, children, threads, handlers of
signals, limits that are not its own. So does what loads much (``ENDS``), a bug, and the number
``MOST``. lore's modules keep little, by the paths of files; the SDK's processes live as long.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import socket
import sys
import tempfile
import threading
import time

import each
from served.caller import LAST_STREAM, CannotServe, forget_streams, limits, take_over, told

REFUSED = 99
"""The exit code of a worker that cannot do a command: the caller does it itself."""

BUG = 3
EACH = ["each"]
"""The words of support/each.sh."""

MOST = 200
"""Commands of one process."""

ENDS = ("index", "embed")
"""Commands after which a process has forked others, or loaded what other commands do not."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD)


def work(orders: socket.socket, folder: str, root: str) -> None:
    """Does the command of each process whose number comes, and answers with its exit code.

    It ends by that code instead where it cannot do another one after it.
    """
    own = fcntl.fcntl(orders.fileno(), fcntl.F_DUPFD_CLOEXEC, LAST_STREAM + 1)
    orders = socket.socket(fileno=own)
    os.closerange(3, LAST_STREAM + 1)
    own_limits = limits(0)
    for left in reversed(range(MOST)):
        number = orders.recv(16)
        if not number:
            return
        try:
            words, handed = become(int(number), folder, root)
        except (CannotServe, OSError, ValueError):
            os._exit(REFUSED)
        handlers = [*map(signal.getsignal, SIGNALS)]
        code = do(words)
        let_go(handed)
        unlike = limits(0) != own_limits or handlers != [*map(signal.getsignal, SIGNALS)]
        ends = code == BUG or not left or words[0] in ENDS
        if unlike or ends or not has_let_go(own):
            os._exit(code)
        orders.sendall(b"%d" % code)


def become(number: int, folder: str, root: str) -> tuple[list[str], list[int]]:
    """Takes the place of the process of this number.

    Returns:
        The words of its command, and the open files that it has handed over besides its streams.
    """
    said = os.path.join(folder, f"said.{number}.")
    for name in ("1", "2"):
        if os.path.exists(said + name):  # of an earlier process of that number
            os.unlink(said + name)
    words, environment = told(f"/proc/{number}")
    os.environ.clear()
    os.environ.update(environment, LORE_ROOT=root)
    time.tzset()
    tempfile.tempdir = None
    return words, take_over(number, said)


def do(words: list[str]) -> int:
    """The exit code of a command."""
    from pylore.cli.main import run

    sys.argv = ["-c", *words]
    if words == EACH:
        return each.main()
    try:
        return run(words)
    except SystemExit as asked:
        return asked.code if isinstance(asked.code, int) else 1


def let_go(handed: list[int]) -> None:
    """Closes what is of the caller: who reads its output waits for that.

    What was printed and not flushed is lost, as it is where a process just ends.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    for number in (nowhere, *handed):
        os.close(number)
    forget_streams()
    os.chdir("/")


def has_let_go(own: int) -> bool:
    """Whether the command has left no thread, no child and no open file behind."""
    if threading.active_count() > 1:
        return False
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass
    else:
        return False
    gc.enable()
    if open_files() != {0, 1, 2, own}:
        gc.collect()  # what an error has left in a cycle
    return open_files() == {0, 1, 2, own}


def open_files() -> set[int]:
    """The numbers of this process's open files."""
    numbers = set(map(int, os.listdir("/proc/self/fd")))
    return {number for number in numbers if os.path.exists(f"/proc/self/fd/{number}")}
