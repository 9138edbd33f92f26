"""A real HTTP server in a thread that speaks the OpenAI form, for tests of endpoints."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from struct import pack
from typing import Any

from pylore.core.settings import Settings


def letters(text: str) -> list[float]:
    """A vector of 12 numbers that depends on the text alone."""
    return [1.0 + text.count(letter) for letter in "abcdefghijkl"]


class Endpoint:
    """Requests that an endpoint has received, and the responses that it sends."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.statuses: list[int] = []  # of the next answers; then 200
        self.base64 = True
        self.vector: Callable[[str], list[Any]] = letters
        self.answer: Callable[[list[dict[str, Any]]], bytes] | None = None
        self.raw: bytes | None = None  # all that is sent, head and body
        self.url = ""

    def body(self, texts: list[str], base64: bool) -> bytes:
        def written(vector: list[Any]) -> Any:
            return b64encode(pack(f"<{len(vector)}f", *vector)).decode() if base64 else vector

        rows = [
            {"object": "embedding", "index": index, "embedding": written(self.vector(text))}
            for index, text in enumerate(texts)
        ]
        if self.answer is not None:
            return self.answer(rows)
        return json.dumps({"object": "list", "data": rows, "model": "letters"}).encode()


class Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint

    def do_POST(self) -> None:
        endpoint = self.endpoint
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        endpoint.asked.append(asked)
        endpoint.headers.append(dict(self.headers))
        endpoint.paths.append(self.path)
        status = endpoint.statuses.pop(0) if endpoint.statuses else 200
        if endpoint.raw is not None:
            self.wfile.write(endpoint.raw)
            return
        as_base64 = endpoint.base64 and asked.get("encoding_format") == "base64"
        body = endpoint.body(asked["input"], as_base64) if status == 200 else b"no, not now"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serving(state: Endpoint) -> Iterator[Endpoint]:
    """Serve on a free port in a thread while the iterator is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), bound(state))
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield state
    server.shutdown()
    server.server_close()


def bound(state: Endpoint) -> type[Handler]:
    """Handle requests to an endpoint."""
    return type("Bound", (Handler,), {"endpoint": state})


def chosen(url: str, **values: Any) -> Settings:
    """Settings with this endpoint for an embedder."""
    settings = Settings()
    settings.embedder = f"endpoint:{url}"
    for name, value in values.items():
        setattr(settings, name, value)
    return settings
