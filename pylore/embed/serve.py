"""Keeps a sentence-transformers model warm, behind the OpenAI form on a Unix socket.

A foreground process that the user starts and stops. The socket has mode 0600 in a
folder of mode 0700, and a lock beside it says whether a server lives: one that was
killed leaves a socket, and no lock.
"""

from __future__ import annotations

import fcntl
import json
import os
import socketserver
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ..core.errors import EmbedderError, LoreError
from ..system.files import make_private_folder
from .endpoint import EndpointClient, unix_place
from .sentence_transformers import LONGEST_SOCKET, is_own_folder, is_own_socket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST_QUESTION = 1 << 26
"""Bytes of a request."""

MOST_TEXTS = 2048
"""Texts of a request; the OpenAI form's own limit."""


class Serveable(Protocol):
    """The methods of a model that a server uses."""

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Return a unit vector for each text."""


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Serve one model until it is told to stop, or has been idle for long enough.

    Raises:
        LoreError: the socket cannot be made, or another server has it.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, path: str, name: str, load: Callable[[], Serveable], idle: float = 0.0
    ) -> None:
        self._load = load
        self.path = path
        self.name = name
        self.one_at_a_time = threading.Lock()
        self.last_used = monotonic()
        self._idle = idle
        self._lock = _lock_beside(path)
        super().__init__(path, Handler, bind_and_activate=False)

    def open(self) -> int:
        """Load the model, which takes seconds, then listen; the vectors' dimension."""
        self.model = self._load()
        dimension = len(self.model.vectors(["a word"])[0]) // 4  # float32
        if is_own_socket(self.path):
            os.unlink(self.path)  # of a server that was killed: the lock was free
        mask = os.umask(0o177)
        try:
            self.server_bind()
            self.server_activate()
        except OSError as error:
            raise LoreError(
                f"{self.path}: {error.strerror}: choose another with --socket"
            ) from None
        finally:
            os.umask(mask)
        self.last_used = monotonic()
        return dimension

    def service_actions(self) -> None:
        """End a server that nobody asks; called twice a second."""
        if self._idle and monotonic() - self.last_used > self._idle:
            self.stop()

    def stop(self) -> None:
        """End ``serve_forever``; called from any thread."""
        threading.Thread(target=self.shutdown, daemon=True).start()

    def server_close(self) -> None:
        """Take the socket away; the lock goes with the process."""
        super().server_close()
        if is_own_socket(self.path):
            os.unlink(self.path)
        os.close(self._lock)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that went away."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    timeout = 30  # seconds for a client to say what it wants
    server_version = "lore"
    sys_version = ""

    def do_POST(self) -> None:
        """Answer with vectors or the model's name, or stop."""
        if self.path == "/lore/status":
            self._send(200, {"model": self.server.name})
        elif self.path == "/lore/stop":
            self._send(200, {"model": self.server.name})
            self.server.stop()
        elif self.path == "/v1/embeddings":
            self._embed()
        else:
            self._refuse(404, f"there is no {self.path} here")

    def _embed(self) -> None:
        self.server.last_used = monotonic()
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LONGEST_QUESTION:
            self._refuse(413, f"give a Content-Length of at most {LONGEST_QUESTION} bytes")
            return
        try:
            asked = json.loads(self.rfile.read(int(length)))
            texts = _texts(asked)
        except (ValueError, RecursionError):
            self._refuse(400, 'give {"input": text or [text, …], "model": name}')
            return
        if asked.get("model", self.server.name) != self.server.name:
            self._refuse(404, f"this serves {self.server.name}")
            return
        try:
            with self.server.one_at_a_time:
                vectors = self.server.model.vectors(texts)
        except EmbedderError as error:
            self._refuse(400, str(error))
            return
        self._send(200, _answer(vectors, self.server.name, asked.get("encoding_format")))
        self.server.last_used = monotonic()

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: queries are private."""


def _texts(asked: Any) -> list[str]:
    """Return the texts of a request; ValueError if it has none."""
    texts = asked.get("input") if isinstance(asked, dict) else None
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not 0 < len(texts) <= MOST_TEXTS:
        raise ValueError
    if not all(isinstance(text, str) and text for text in texts):
        raise ValueError
    return texts


def _answer(vectors: list[bytes], model: str, form: object) -> dict[str, Any]:
    from struct import unpack

    def written(vector: bytes) -> Any:
        if form == "base64":
            return b64encode(vector).decode()
        return list(unpack(f"<{len(vector) // 4}f", vector))

    data = [
        {"object": "embedding", "index": index, "embedding": written(vector)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": model, "usage": usage}


def _lock_beside(path: str) -> int:
    """Return an open, locked file; the folder is made, for this user alone."""
    folder = os.path.dirname(path)
    if not path.startswith("/") or len(os.fsencode(path)) > LONGEST_SOCKET:
        raise LoreError(f"the socket {path}: give a whole path of at most {LONGEST_SOCKET} bytes")
    try:
        make_private_folder(folder)
        if not is_own_folder(folder):
            raise LoreError(f"{folder}: others may write there: choose another with --socket")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(path + ".lock", flags, 0o600)
        os.fchmod(lock, 0o600)
    except OSError as error:
        raise LoreError(f"{folder}: {error.strerror}: choose another with --socket") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise LoreError(f"a server has {path} already: 'lore embed --stop' ends it") from None
    return lock


def served(path: str) -> str | None:
    """Return the model that a running server serves at this socket; None if there is no server."""
    return _told(path, "/lore/status")


def stop(path: str) -> str | None:
    """End the server at this socket: the model that it served; None if there was none."""
    return _told(path, "/lore/stop")


def _told(path: str, what: str) -> str | None:
    if not is_own_socket(path):
        return None
    try:
        answer = EndpointClient(unix_place(path, what)).post(b"{}", 5.0)
        return str(json.loads(answer.body)["model"])
    except (OSError, EmbedderError, ValueError, KeyError, TypeError):
        return None
