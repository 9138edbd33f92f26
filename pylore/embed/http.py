"""POST requests to an endpoint, and its responses.

A Unix socket and this machine's own addresses are asked over a plain socket, and what a
server commonly answers is read without a library: importing ``http.client`` takes 65 ms
(``_socket``: 2 ms), longer than the rest of a search. All else is left to ``http.client``.
"""

from __future__ import annotations

from time import monotonic

from ..core.errors import EmbedderError
from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPResponse
    from typing import Any, Protocol

    class Connection(Protocol):
        """The methods of a socket that are used here."""

        def settimeout(self, seconds: float) -> None: ...
        def recv(self, size: int) -> bytes: ...
        def close(self) -> None: ...


MAX_RESPONSE = 1 << 28
"""Maximum response size in bytes; larger responses are an error."""


JSON = {"Content-Type": "application/json", "Accept": "application/json"}


class Place(Record):
    """Say where an endpoint is: a host with its port, or the path of a Unix socket."""

    __slots__ = ("host", "path", "port", "scheme", "socket")

    def __init__(self, scheme: str, host: str, port: int, path: str, socket: str = "") -> None:
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.socket = socket

    @property
    def is_near(self) -> bool:
        """Tell if a request stays on this machine, unencrypted."""
        own = self.host in ("localhost", "::1") or self.host.startswith("127.")
        return bool(self.socket) or (self.scheme == "http" and own)


def unix_place(socket: str, path: str = "/v1/embeddings") -> Place:
    """Return the place behind a Unix socket."""
    return Place("http", "localhost", 80, path, socket)


def parse_place(url: str) -> Place:
    """Parse a URL; ``/v1/embeddings`` is appended where it has no path.

    >>> parse_place("http://localhost:11434/v1").path
    '/v1/embeddings'

    Raises:
        EmbedderError: it has no host, or its port is not a valid one.
    """
    if url.startswith("unix:"):
        return unix_place(url.removeprefix("unix:"))
    scheme, _, rest = url.partition("://")
    where, slash, path = rest.partition("/")
    host, colon, port = where.rpartition(":")
    if not colon or where.endswith("]"):
        host, port = where, "443" if scheme == "https" else "80"
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise EmbedderError(f"{url}: has no host, or a wrong port: mend the embedder's URL")
    return Place(scheme, host, int(port), _full_path(slash + path))


def _full_path(path: str) -> str:
    plain, mark, query = path.partition("?")
    plain = plain.rstrip("/")
    if not plain.endswith("/embeddings"):
        plain = (plain or "/v1") + "/embeddings"
    return plain + mark + query


class Response(Record):
    """Hold the status of a response, its ``Retry-After`` in seconds, and its body."""

    __slots__ = ("body", "retry_after", "status")

    def __init__(self, status: int, body: bytes, retry_after: str = "") -> None:
        self.status = status
        self.body = body
        self.retry_after = retry_after


class EndpointClient:
    """Post JSON to one place."""

    def __init__(self, place: Place, headers: dict[str, str] | None = None) -> None:
        self.place = place
        self.headers = headers or {}
        self._sent: tuple[bytes, Callable[[], Response]] | None = None

    def post_ahead(self, body: bytes, timeout: float) -> None:
        """Send a request to a near place now; ``post`` of the same body reads the response.

        Raises:
            OSError: there is no server.
        """
        if self.place.is_near:
            self._sent = (body, self._send(body, timeout))

    def post(self, body: bytes, timeout: float) -> Response:
        """Send ``body`` and wait for the response, at most ``timeout`` seconds.

        Raises:
            OSError: there is no server, or no response in time.
            EmbedderError: the response is not HTTP.
        """
        sent, self._sent = self._sent, None
        if sent is not None and sent[0] == body:
            return sent[1]()
        if self.place.is_near:
            return self._send(body, timeout)()
        return self._post_far(body, timeout)

    def _send(self, body: bytes, timeout: float) -> Callable[[], Response]:
        import _socket  # the C part of the module socket

        deadline = monotonic() + timeout
        place = self.place
        # HTTP/1.0: the response ends where the connection does, and comes in one piece.
        lines = [f"POST {place.path} HTTP/1.0", f"Host: {place.host}"]
        fields = {**JSON, **self.headers, "Content-Length": str(len(body)), "Connection": "close"}
        lines += [f"{name}: {value}" for name, value in fields.items()]
        found: tuple[Any, ...] = (_socket.AF_UNIX, place.socket)
        if not place.socket:
            host = place.host.encode()  # a str would be taken for an international name
            found = _socket.getaddrinfo(host, place.port, 0, _socket.SOCK_STREAM)[0]
        connection = _socket.socket(found[0], _socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout)
            connection.connect(found[-1])
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        except BaseException:
            connection.close()
            raise
        return lambda: _parse(_read(connection, deadline))

    def _post_far(self, body: bytes, timeout: float) -> Response:
        from http.client import HTTPConnection, HTTPSConnection

        kind = HTTPSConnection if self.place.scheme == "https" else HTTPConnection
        connection = kind(self.place.host, self.place.port, timeout=timeout)

        def respond() -> HTTPResponse:
            connection.request("POST", self.place.path, body, JSON | self.headers)
            return connection.getresponse()

        try:
            return _by_library(respond)
        finally:
            connection.close()


def _read(connection: Connection, deadline: float) -> bytes:
    """Read up to the end of the connection, and close it."""
    received = bytearray()
    try:
        while True:
            connection.settimeout(max(0.001, deadline - monotonic()))
            part = connection.recv(1 << 18)
            if monotonic() > deadline:
                raise TimeoutError("timed out")
            if not part:
                return bytes(received)
            received += part
            if len(received) > MAX_RESPONSE:
                raise EmbedderError("the answer has no end")
    finally:
        connection.close()


def _parse(received: bytes) -> Response:
    head, blank, body = received.partition(b"\r\n\r\n")
    if not blank:
        raise EmbedderError("the answer is not HTTP")
    status, *fields = head.lower().split(b"\r\n")
    lengths = [line for line in fields if line.startswith((b"content-length:", b"transfer-"))]
    plain = not lengths or lengths == [b"content-length: %d" % len(body)]
    if plain and status.startswith((b"http/1.0 200 ", b"http/1.1 200 ")):
        return Response(200, body)
    return _by_library(lambda: _begun(received))


def _begun(received: bytes) -> HTTPResponse:
    from http.client import HTTPResponse
    from io import BytesIO

    class Received(BytesIO):
        def makefile(self, mode: str) -> BytesIO:
            return self

    response = HTTPResponse(Received(received))  # type: ignore[arg-type] # no more is asked of it
    response.begin()
    return response


def _by_library(respond: Callable[[], HTTPResponse]) -> Response:
    from http.client import HTTPException, IncompleteRead

    try:
        response = respond()
        body = response.read(MAX_RESPONSE)
        if response.length:  # of what it announced, this is still to come
            raise IncompleteRead(body)
        return Response(response.status, body, response.headers.get("Retry-After", ""))
    except IncompleteRead:
        raise EmbedderError("the answer breaks off") from None
    except HTTPException as error:
        raise EmbedderError(f"the answer is not HTTP ({type(error).__name__})") from None
