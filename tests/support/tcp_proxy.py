"""A proxy between a client and a server that is far away, cut off, or says nothing."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable


class Proxy:
    """Passes bytes on to ``127.0.0.1:target``, each ``delay`` seconds later than they came.

    What it is told holds for connections that are open, too.
    """

    def __init__(self, target: int, delay: float = 0) -> None:
        self.target = target
        self.delay = delay
        self.sent = 0
        """Bytes from clients."""
        self.received = 0
        """Bytes from the server."""
        self.turns = 0
        """How often the clients waited for the server: round trips, but for pipelined ones."""
        self.before: tuple[bytes, Callable[[], None]] | None = None
        """What it does before it passes on what a client sends with these bytes in it."""
        self.after: tuple[bytes, Callable[[], None]] | None = None
        """The same before it passes on the answer to that."""
        self._awaited: Callable[[], None] | None = None
        self._going = threading.Event()
        self._going.set()
        self._refuses = False
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends what is open and refuses what comes, until ``mend``."""
        self._refuses = True
        self._end_all()

    def stall(self) -> None:
        """Passes nothing on, until ``mend``; connections stay open, and new ones are taken."""
        self._going.clear()

    def mend(self) -> None:
        self.before = self.after = self._awaited = None
        self._refuses = False
        self._going.set()

    def close(self) -> None:
        self._listener.close()
        self._end_all()
        self._going.set()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                client, _ = self._listener.accept()
                if self._refuses:
                    client.close()
                else:
                    threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            client.close()
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.append(end)
        last = [False]  # whether the last bytes were the client's
        self._pass(client, server, True, last)
        self._pass(server, client, False, last)

    def _pass(
        self, source: socket.socket, target: socket.socket, of_client: bool, last: list[bool]
    ) -> None:
        """Two threads: what is on its way must not keep from being read what comes after it."""
        on_its_way: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

        def read() -> None:
            data = b"."
            while data:
                try:
                    data = source.recv(1 << 16)
                except OSError:
                    data = b""
                if of_client:
                    self.sent += len(data)
                    if self.before and self.before[0] in data:
                        self.before[1]()
                    if self.after and self.after[0] in data:
                        self._awaited = self.after[1]
                    self.turns += bool(data) and not last[0]
                else:
                    self.received += len(data)
                    if self._awaited:
                        self._awaited()
                last[0] = of_client
                on_its_way.put((time.monotonic() + self.delay, data))

        def write() -> None:
            data = b"."
            while data:
                due, data = on_its_way.get()
                time.sleep(max(0.0, due - time.monotonic()))
                self._going.wait()
                with contextlib.suppress(OSError):
                    if data:
                        target.sendall(data)
                    else:
                        target.shutdown(socket.SHUT_WR)

        threading.Thread(target=read, daemon=True).start()
        threading.Thread(target=write, daemon=True).start()

    def _end_all(self) -> None:
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()
