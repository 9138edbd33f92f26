"""One process that has loaded all of lore, and is forked for each command of the bats files.

The shell's part of a command runs as ever. In place of the interpreter that it ends in there is
the script ``python`` of this folder, which tells this process its number: from what Linux says of
it in ``/proc`` the forked one has the words, the environment, the folder, the limits and the
streams of a command, and goes on where ``pylore.launch`` does. That saves each the start of an
interpreter and the imports. The answer is a line: the exit code, or minus a signal, and then
those of the streams 1 and 2 whose text is in a file. No answer: do it yourself.

    server.py <lore's folder> <site-packages> <a folder, its file "server" says where to ask>
"""

from __future__ import annotations

import gc
import io
import os
import resource
import secrets
import selectors
import signal
import socket
import stat
import sys
import time
from pathlib import Path

SECONDS = 10
"""How often it looks whether anybody may still ask: until its folder is gone."""

BEFORE_WORDS = (b"-I", b"-S", b"-X", b"utf8", b"-c")
"""After which come two places on Python's path, and then the words of the command."""


ASKS = 9
"""The number of the stream by which a process asks."""


class CannotServe(Exception):
    """The command needs a process that was started by the shell."""


def main(root: str, site: str, folder: str) -> None:
    """Answers until the folder is gone."""
    sys.path += [root, site]
    load()
    word = secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        port = listener.getsockname()[1]
        says = os.path.join(folder, "server")
        Path(f"{says}.new").write_text(f"{port} {word} {sys.executable}\n")
        Path(f"{says}.new").chmod(0o600)
        os.rename(f"{says}.new", says)
        Server(listener, word, folder, root).serve()


def load() -> None:
    """All of lore's modules, as a start finds them."""
    import importlib
    import pkgutil

    from pylore.launch import Finder

    sys.meta_path.insert(0, Finder)
    import pylore

    for module in pkgutil.walk_packages(pylore.__path__, "pylore."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()  # a child that collects garbage would copy every page


class Server:
    """Who asks, and the process that works for each."""

    def __init__(self, listener: socket.socket, word: str, folder: str, root: str) -> None:
        self._listener = listener
        self._word = word
        self._folder = folder
        self._root = root
        self._waiting = selectors.DefaultSelector()

    def serve(self) -> None:
        """Until nobody can ask any more."""
        self._waiting.register(self._listener, selectors.EVENT_READ, self._asked)
        while os.path.isdir(self._folder):
            for key, _ in self._waiting.select(SECONDS):
                key.data()

    def _asked(self) -> None:
        asks, _ = self._listener.accept()
        asks.settimeout(SECONDS)
        word, _, number = asks.makefile().readline().strip().partition(" ")
        if word != self._word or not number.isdigit():
            asks.close()
            return
        child = os.fork()
        if child == 0:
            code = 1
            try:
                become(int(number), self._folder, self._root)
                code = 0
            finally:
                os._exit(code)
        self._follow(asks, child, int(number))

    def _follow(self, asks: socket.socket, child: int, number: int) -> None:
        process = os.pidfd_open(child)

        def ended() -> None:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            self._waiting.unregister(process)
            self._waiting.unregister(asks)
            os.close(process)
            if not os.path.exists(self._path(number, "refused")):
                kept = [stream for stream in (1, 2) if self._has_said(number, stream)]
                asks.sendall(" ".join(map(str, [status, *kept])).encode() + b"\n")
            asks.close()

        def left() -> None:  # who asked was killed
            os.kill(child, signal.SIGKILL)

        self._waiting.register(process, selectors.EVENT_READ, ended)
        self._waiting.register(asks, selectors.EVENT_READ, left)

    def _has_said(self, number: int, stream: int) -> bool:
        said = Path(self._path(number, stream))
        return said.exists() and said.stat().st_size > 0

    def _path(self, number: int, stream: object) -> str:
        return os.path.join(self._folder, f"said.{number}.{stream}")


def become(number: int, folder: str, root: str) -> None:
    """Does what the process of this number was started for."""
    said = os.path.join(folder, f"said.{number}.")
    for name in ("1", "2", "refused"):
        if os.path.exists(said + name):  # of an earlier process of that number
            os.unlink(said + name)
    try:
        words, environment = told(f"/proc/{number}")
        os.closerange(3, 256)
        take_over(number, said)
    except (CannotServe, OSError, ValueError):
        Path(f"{said}refused").touch()
        return
    os.environ.clear()
    os.environ.update(environment)
    os.environ["LORE_ROOT"] = root
    time.tzset()
    sys.argv = ["-c", *words]
    from pylore.cli.main import main

    main()


def told(process: str) -> tuple[list[str], dict[str, str]]:
    """The words of the command, and its environment."""
    words = Path(process, "cmdline").read_bytes().split(b"\0")[2:-1]
    if tuple(words[: len(BEFORE_WORDS)]) != BEFORE_WORDS:
        raise CannotServe
    pairs = (pair.partition(b"=") for pair in Path(process, "environ").read_bytes().split(b"\0"))
    environment = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name}
    return [os.fsdecode(word) for word in words[len(BEFORE_WORDS) + 3 :]], environment


def take_over(number: int, said: str) -> None:
    """The folder, the limits, what is ignored and the streams of a process."""
    process = f"/proc/{number}"
    while os.readlink(f"{process}/fd/1") == os.readlink(f"{process}/fd/{ASKS}"):
        time.sleep(0.001)  # it still writes to us
    os.chdir(f"{process}/cwd")
    status = fields(f"{process}/status")
    os.umask(int(status["Umask"], 8))
    ignored = int(status["SigIgn"], 16)
    if not ignored >> (signal.SIGINT - 1) & 1:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for limit in (getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")):
        own, theirs = resource.getrlimit(limit), resource.prlimit(number, limit)
        if own != theirs:
            resource.setrlimit(limit, theirs)
    files: dict[tuple[int, int], int] = {}
    for stream in (0, 1, 2):
        take_stream(f"{process}/fd/{stream}", f"{process}/fdinfo/{stream}", stream, said, files)
    for other in map(int, os.listdir(f"{process}/fd")):
        if 9 < other < 255 and stat.S_ISFIFO(os.stat(f"{process}/fd/{other}").st_mode):
            move(os.open(f"{process}/fd/{other}", os.O_RDONLY | os.O_NONBLOCK), other)
    streams()


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


if __name__ == "__main__":
    main(*sys.argv[1:])
