"""The processes that have loaded all of lore, and do the commands of the bats files.

The shell's part of a command runs as ever. In place of the interpreter that it ends in there is
the script ``python`` of this folder, which tells this process its number. A worker, forked from
this process, takes its place (``caller.py``) and goes on where ``pylore.launch`` does. That
saves each the start of an interpreter and the imports; a worker that a command has left as it
was does the next one, which saves a fork and its copies of pages. The answer is a line: the
exit code, or minus a signal, and then those of the streams 1 and 2 whose text is in a file. No
answer: do it yourself.

    server.py <lore's folder> <site-packages> <a folder, its file "server" says where to ask>
"""

from __future__ import annotations

import contextlib
import gc
import os
import secrets
import selectors
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from served.worker import REFUSED, work

del sys.path[0]

SECONDS = 10
"""How often it looks whether anybody may still ask: until its folder is gone."""


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


class Worker:
    """A forked process, and the socket by which it is told what to do."""

    def __init__(self, server: Server) -> None:
        self.orders, theirs = socket.socketpair()
        self.number = os.fork()
        if self.number == 0:
            try:
                server.leave()
                self.orders.close()
                work(theirs, server.folder, server.root)
            finally:
                os._exit(1)
        theirs.close()
        self.process = os.pidfd_open(self.number)

    def answer(self) -> tuple[int, bool]:
        """The exit code of the command, or minus a signal; whether this process does another."""
        try:
            code = self.orders.recv(16, socket.MSG_DONTWAIT)
        except BlockingIOError:  # a process of its own holds the socket, and goes on
            code = b""
        if code:
            return int(code), True
        return self.end(), False

    def end(self) -> int:
        """Tells it to end, if it has not; the exit code, or minus the signal."""
        self.orders.close()
        os.close(self.process)
        return os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])


class Server:
    """Who asks, and the worker that works for each."""

    def __init__(self, listener: socket.socket, word: str, folder: str, root: str) -> None:
        self.folder = folder
        self.root = root
        self._listener = listener
        self._word = word
        self._idle: list[Worker] = []
        self._waiting = selectors.DefaultSelector()

    def serve(self) -> None:
        """Until nobody can ask any more, or TERM comes; then the idle workers end too."""
        self._waiting.register(self._listener, selectors.EVENT_READ, self._asked)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        try:
            while os.path.isdir(self.folder):
                for key, _ in self._waiting.select(SECONDS):
                    if self._waiting.get_map().get(key.fileobj) is key:  # not just unregistered
                        key.data()
        finally:
            for worker in self._idle:
                worker.end()

    def leave(self) -> None:
        """Forgets what is of this process alone, in one that was forked."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._waiting.close()
        self._listener.close()

    def _asked(self) -> None:
        asks, _ = self._listener.accept()
        asks.settimeout(SECONDS)
        word, _, number = asks.makefile().readline().strip().partition(" ")
        if word != self._word or not number.isdigit():
            asks.close()
            return
        worker = self._idle.pop() if self._idle else Worker(self)
        worker.orders.sendall(number.encode())
        self._follow(asks, worker, int(number))

    def _follow(self, asks: socket.socket, worker: Worker, number: int) -> None:
        sources = (worker.orders, worker.process, asks)

        def done() -> None:
            for source in sources:
                if source in self._waiting.get_map():
                    self._waiting.unregister(source)
            code, stays = worker.answer()
            if stays:
                self._idle.append(worker)
            if code != REFUSED:
                kept = [stream for stream in "12" if self._has_said(number, stream)]
                with contextlib.suppress(OSError):
                    asks.sendall(" ".join([str(code), *kept]).encode() + b"\n")
            asks.close()

        def left() -> None:  # who asked was killed
            os.kill(worker.number, signal.SIGKILL)
            self._waiting.unregister(asks)

        self._waiting.register(worker.orders, selectors.EVENT_READ, done)
        self._waiting.register(worker.process, selectors.EVENT_READ, done)
        self._waiting.register(asks, selectors.EVENT_READ, left)

    def _has_said(self, number: int, stream: str) -> bool:
        said = Path(self.folder, f"said.{number}.{stream}")
        return said.exists() and said.stat().st_size > 0


if __name__ == "__main__":
    main(*sys.argv[1:])
