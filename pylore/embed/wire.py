"""One HTTP request to an endpoint, and its answer.

A Unix socket and this machine's own addresses are asked over plain sockets: to
import ``http.client`` takes longer than all of a search, and ``socket`` alone a
third of one. Elsewhere the network takes longer than either, and TLS, proxies'
peculiarities and long answers are what ``http.client`` is there for.
"""

from __future__ import annotations

from time import monotonic

from ..core.errors import EmbedderError
from ..core.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Connection(Protocol):
        """What is used of a socket."""

        def settimeout(self, seconds: float) -> None: ...
        def recv(self, size: int) -> bytes: ...
        def close(self) -> None: ...


LONGEST_ANSWER = 1 << 28
"""Bytes of an answer from which it is none."""


JSON = {"Content-Type": "application/json", "Accept": "application/json"}


class Place(Record):
    """Where an endpoint is: a host with its port, or the path of a Unix socket."""

    __slots__ = ("host", "path", "port", "scheme", "socket")

    def __init__(self, scheme: str, host: str, port: int, path: str, socket: str = "") -> None:
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.socket = socket

    @property
    def is_near(self) -> bool:
        """Whether nothing leaves this machine on the way there."""
        own = self.host in ("localhost", "::1") or self.host.startswith("127.")
        return bool(self.socket) or (self.scheme == "http" and own)


class Response(Record):
    """The status of an HTTP answer, when it may be asked again (seconds), and its body."""

    __slots__ = ("body", "retry_after", "status")

    def __init__(self, status: int, body: bytes, retry_after: str = "") -> None:
        self.status = status
        self.body = body
        self.retry_after = retry_after


def parse_place(url: str) -> Place:
    """The place that a URL names; ``/v1/embeddings`` is put behind what has no path.

    >>> parse_place("http://localhost:11434/v1").path
    '/v1/embeddings'

    Raises:
        EmbedderError: it has no host, or its port is not a valid one.
    """
    if url.startswith("unix:"):
        return Place("http", "localhost", 80, "/v1/embeddings", url.removeprefix("unix:"))
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


def post(place: Place, body: bytes, headers: dict[str, str], timeout: float) -> Response:
    """Sends ``body`` as JSON and waits for the answer, ``timeout`` seconds at most.

    Raises:
        OSError: nobody is there, or no answer comes in time.
        EmbedderError: what comes is not HTTP.
    """
    if place.is_near:
        return PendingResponse(place, body, headers, timeout).answer()
    return _post_far(place, body, headers, timeout)


class PendingResponse:
    """A question on its way to a place that is near; raises as ``post`` does."""

    def __init__(self, place: Place, body: bytes, headers: dict[str, str], timeout: float) -> None:
        self._deadline = monotonic() + timeout
        self._connection = _send(place, body, headers, timeout)

    def answer(self) -> Response:
        """The answer, once."""
        try:
            return _read(self._connection, self._deadline)
        finally:
            self._connection.close()


def _send(place: Place, body: bytes, headers: dict[str, str], timeout: float) -> Connection:
    import _socket  # what the module socket is made of

    # HTTP/1.0: the answer ends where the connection does, and comes in one piece.
    lines = [f"POST {place.path} HTTP/1.0", f"Host: {place.host}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (JSON | headers).items()]
    request = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
    found: tuple[Any, ...] = (_socket.AF_UNIX, place.socket)
    if not place.socket:
        host = place.host.encode()  # a str would be taken for an international name
        found = _socket.getaddrinfo(host, place.port, 0, _socket.SOCK_STREAM)[0]
    connection = _socket.socket(found[0], _socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect(found[-1])
        connection.sendall(request)
    except BaseException:
        connection.close()
        raise
    return connection


def _read(connection: Connection, deadline: float) -> Response:
    """The whole answer: up to its Content-Length, or else to the end of the connection."""
    received = bytearray()
    length = None
    while length is None or len(received) < length:
        connection.settimeout(max(0.001, deadline - monotonic()))
        part = connection.recv(1 << 18)
        if monotonic() > deadline:
            raise TimeoutError("timed out")
        if not part:
            break
        received += part
        if length is None and b"\r\n\r\n" in received:
            length = _whole_length(received)
        if len(received) > LONGEST_ANSWER:
            raise EmbedderError("the answer has no end")
    if length is not None and len(received) < length < LONGEST_ANSWER:
        raise EmbedderError("the answer breaks off")
    return _answer(bytes(received))


def _whole_length(received: bytes | bytearray) -> int:
    """Bytes of the head and of the body that it announces."""
    head, blank, _ = bytes(received).partition(b"\r\n\r\n")
    announced = _field(head, b"content-length")
    return len(head) + len(blank) + int(announced) if announced.isdigit() else LONGEST_ANSWER


def _field(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return b""


def _answer(received: bytes) -> Response:
    head, blank, body = received.partition(b"\r\n\r\n")
    version, _, rest = head.partition(b" ")
    status = rest[:3]
    if not blank or not version.startswith(b"HTTP/1.") or not status.isdigit():
        raise EmbedderError("the answer is not HTTP")
    if _field(head, b"transfer-encoding").lower() == b"chunked":
        body = _unchunked(body)
    return Response(int(status), body, _field(head, b"retry-after").decode("latin-1"))


def _unchunked(body: bytes) -> bytes:
    """What was sent in chunks all the same, put together."""
    whole = bytearray()
    while True:
        size, blank, body = body.partition(b"\r\n")
        try:
            length = int(size.partition(b";")[0], 16)
        except ValueError:
            length = -1
        if not blank or length < 0 or len(body) < length:
            raise EmbedderError("the answer breaks off")
        if not length:
            return bytes(whole)
        whole += body[:length]
        body = body[length + 2 :]


def _post_far(place: Place, body: bytes, headers: dict[str, str], timeout: float) -> Response:
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
    connection = kind(place.host, place.port, timeout=timeout)
    try:
        connection.request("POST", place.path, body, JSON | headers)
        answer = connection.getresponse()
        text = answer.read(LONGEST_ANSWER)
        return Response(answer.status, text, answer.headers.get("Retry-After", ""))
    except HTTPException as error:
        raise EmbedderError(f"the answer is not HTTP ({type(error).__name__})") from None
    finally:
        connection.close()
