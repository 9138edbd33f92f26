"""A proxy between a client and a server that is cut off or stalls."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable


class Proxy:
    """Pass bytes on to ``127.0.0.1:target``; ``cut`` and ``stall`` affect open connections, too."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.before: tuple[bytes, Callable[[], None]] | None = None
        """Called before data from a client that contain these bytes are passed on."""
        self.after: tuple[bytes, Callable[[], None]] | None = None
        """Called before the response to these data is passed on."""
        self._awaited: Callable[[], None] | None = None
        self._going = threading.Event()
        self._going.set()
        self._refuses = False
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close open connections and refuse new connections until ``mend``."""
        self._refuses = True
        self._end_all()

    def stall(self) -> None:
        """Pass on no data until ``mend``; old connections stay open, new ones are accepted."""
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
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=self._pass, args=(source, target, client), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, client: socket.socket) -> None:
        data = b"."
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            if source is not client and self._awaited:
                self._awaited()
            elif source is client and self.before and self.before[0] in data:
                self.before[1]()
            elif source is client and self.after and self.after[0] in data:
                self._awaited = self.after[1]
            self._going.wait()
            with contextlib.suppress(OSError):
                if data:
                    target.sendall(data)
                else:
                    target.shutdown(socket.SHUT_WR)

    def _end_all(self) -> None:
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()
