"""An endpoint that speaks the OpenAI form: Ollama, TEI, llama.cpp, vLLM, OpenAI itself.

The URL may end at the host, at ``/v1``, or at ``/embeddings``. A key is taken from the
environment alone, and nothing keeps or prints it.
"""

from __future__ import annotations

import os
from math import isfinite, sqrt
from struct import error as StructError  # noqa: N812
from struct import pack, unpack
from time import monotonic, sleep

from ..core.errors import EmbedderError
from ..core.json import dumps
from ..core.model import Record
from ..core.text import one_line, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from http.client import HTTPResponse
    from typing import Any, Protocol

    from ..core.settings import Settings


if TYPE_CHECKING:

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


MAX_TEXT = 20_000
"""Characters of one text: passages have a tenth of it, and a model reads no more."""


def question(texts: Sequence[str], model: str) -> bytes:
    """Return the body of a request for the vectors of these texts."""
    asked: dict[str, Any] = {"input": list(texts), "encoding_format": "base64"}
    if model:
        asked["model"] = model
    return dumps(asked).encode()


def vectors_in(answer: bytes, count: int) -> list[bytes]:
    """Return the ``count`` unit vectors of an answer, in the order in which they were asked for.

    Raises:
        EmbedderError: it is of another form, or has another number of vectors, numbers
            that are none, or vectors of different lengths.
    """
    only = _only(answer) if count == 1 else None
    given = _all(answer) if only is None else [only]
    if len(given) != count:
        raise EmbedderError(f"gave {len(given)} vectors for {count} texts")
    vectors = [unit(numbers) for numbers in given if numbers]
    if len({len(vector) for vector in vectors}) != 1 or len(vectors) != count:
        raise EmbedderError("gave vectors of different lengths")
    return vectors


def unit(numbers: Sequence[float]) -> bytes:
    """Return little-endian float32 of length 1, with zeros behind it up to a multiple of 8.

    Zeros change no cosine, and each eight dimensions are a byte of signs.

    Raises:
        EmbedderError: one is not a number, or all of them are 0.
    """
    try:
        largest = max(map(abs, numbers))  # the square of a tiny number is 0, or a few bits
        if not isfinite(largest) or not largest:
            raise EmbedderError("gave a vector that has no direction (NaN, infinite, or zeros)")
        scaled = [number / largest for number in numbers]
        length = sqrt(sum([number * number for number in scaled]))
        if not isfinite(length):
            raise EmbedderError("gave a vector that has no direction (NaN, infinite, or zeros)")
        padded = [number / length for number in scaled] + [0.0] * (-len(numbers) % 8)
        return pack(f"<{len(padded)}f", *padded)
    except (TypeError, OverflowError, StructError):
        raise EmbedderError("gave a vector with something else than numbers in it") from None


def _only(answer: bytes) -> Sequence[float] | None:
    """Return the numbers of an answer with one vector; None where it takes ``json`` to tell."""
    # "embedding" is the kind of the object too, and no key there.
    parts = [part.lstrip() for part in answer.split(b'"embedding"')[1:]]
    values = [part[1:].lstrip() for part in parts if part[:1] == b":"]
    if len(values) != 1:
        return None
    text, quote, _ = values[0][1:].partition(b'"')
    if values[0][:1] == b'"' and quote:
        return _decoded(text)
    try:
        listed = values[0][1 : values[0].index(b"]")] if values[0][:1] == b"[" else b""
        return [float(number) for number in listed.split(b",")]
    except ValueError:
        return None


def _all(answer: bytes) -> list[Sequence[float]]:
    import json

    try:
        rows = sorted(json.loads(answer)["data"], key=lambda row: int(row.get("index", 0)))
        places = [row.get("index", 0) for row in rows]
        given = [row["embedding"] for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise EmbedderError("did not answer in the form of /v1/embeddings") from None
    if any(places) and places != list(range(len(places))):
        raise EmbedderError("numbered its vectors wrongly")
    return [_decoded(item.encode()) if isinstance(item, str) else _listed(item) for item in given]


def _listed(item: Any) -> Sequence[float]:
    if not isinstance(item, list) or not item:
        raise EmbedderError("did not answer in the form of /v1/embeddings")
    return item


def _decoded(text: bytes) -> Sequence[float]:
    from binascii import Error, a2b_base64

    try:
        data = a2b_base64(text.replace(b"\\/", b"/"))
    except (Error, ValueError):
        data = b""
    if not data or len(data) % 4:
        raise EmbedderError("gave a vector that is not base64 of float32")
    return unpack(f"<{len(data) // 4}f", data)


TRIES = 3
"""Tries for a batch, where a retry may help. A query has one."""

AGAIN = (408, 429, 500, 502, 503, 504)
"""Status codes after which a retry may help."""

LONGEST_WAIT = 30.0
"""Seconds before the next try, whatever the endpoint asks for."""


BATCH = 32
"""Maximum texts of one request. Not measured: endpoints differ."""

PATIENCE = 10.0
"""Seconds to wait for an answer; a model on a CPU gets one more for each text."""


class EndpointEmbedder:
    """Ask an endpoint for vectors."""

    def __init__(
        self, url: str, settings: Settings, environ: Mapping[str, str] = os.environ
    ) -> None:
        place = parse_place(url)
        self._client = EndpointClient(place, _key_header(place, environ))
        self._model = settings.endpoint_model
        # A model has the same vectors wherever it runs; without a name, the place stands for it.
        self.name = f"endpoint:{self._model or url.partition('?')[0]}"
        self.dimension = 0
        """Of the store's vectors, if they are this embedder's; else 0 until the first answer."""

    def ask_ahead(self, text: str) -> None:
        """Send a near endpoint a text that ``embed`` will want: it works meanwhile."""
        text = text[:MAX_TEXT]
        try:
            if words(text):
                self._client.post_ahead(question([text], self._model), PATIENCE + 1)
        except OSError:
            return  # embed finds out again, and says so

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a unit vector for each text; None for a text without words.

        Raises:
            EmbedderError: nobody answers, or not with what was asked for.
        """
        found: list[bytes | None] = [None] * len(texts)
        asked = [number for number, text in enumerate(texts) if words(text[:MAX_TEXT])]
        for start in range(0, len(asked), BATCH):
            batch = asked[start : start + BATCH]
            vectors = self._ask([texts[number][:MAX_TEXT] for number in batch], len(texts) > 1)
            for number, vector in zip(batch, vectors, strict=True):
                found[number] = vector
        return found

    def _ask(self, texts: list[str], bulk: bool) -> list[bytes]:
        answer = self._send(
            question(texts, self._model), TRIES if bulk else 1, PATIENCE + len(texts)
        )
        if answer.status != 200:
            raise EmbedderError(f"{self.name} {self._refusal(answer)}")
        try:
            vectors = vectors_in(answer.body, len(texts))
        except EmbedderError as error:
            raise EmbedderError(f"{self.name} {error}: check the URL and endpoint_model") from None
        self.dimension = checked_dimension(self.name, vectors, self.dimension)
        return vectors

    def _refusal(self, answer: Response) -> str:
        """Return what the endpoint refused with, and what to do."""
        if answer.status in (401, 403):
            return f"refused the key (HTTP {answer.status}): set LORE_ENDPOINT_KEY"
        said = one_line(answer.body[:2000].decode(errors="replace"))
        for header in self._client.headers.values():  # some endpoints say what they were sent
            said = said.replace(header.removeprefix("Bearer "), "…")
        return f"answered HTTP {answer.status} ({said[:200]}): check the URL and endpoint_model"

    def _send(self, body: bytes, tries: int, timeout: float) -> Response:
        for attempt in range(1, tries + 1):
            wait = 0.5 * 2**attempt
            try:
                answer = self._client.post(body, timeout)
            except (OSError, EmbedderError) as error:
                if attempt == tries or isinstance(error, ConnectionRefusedError):
                    raise EmbedderError(f"{self.name} cannot be asked ({_reason(error)}): start "
                                        "it, or choose another embedder") from None  # fmt: skip
            else:
                if attempt == tries or answer.status not in AGAIN:
                    break
                if answer.retry_after.isdigit():
                    wait = float(answer.retry_after)
            sleep(min(wait, LONGEST_WAIT))
        return answer


def checked_dimension(name: str, vectors: Sequence[bytes], expected: int) -> int:
    """Return the vectors' dimension.

    Raises:
        EmbedderError: the store's vectors of this embedder have another one.
    """
    dimension = len(vectors[0]) // 4  # float32
    if expected and dimension != expected:
        raise EmbedderError(f"{name} gave {dimension} dimensions, the store's vectors have "
                            f"{expected}: run 'lore store embed --all'")  # fmt: skip
    return dimension


def _key_header(place: Place, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the header with the user's key, if there is one.

    OPENAI_API_KEY is set for many programs: it goes over TLS alone.
    """
    key = environ.get("LORE_ENDPOINT_KEY", "")
    name = "LORE_ENDPOINT_KEY"
    if not key and place.scheme == "https":
        key, name = environ.get("OPENAI_API_KEY", ""), "OPENAI_API_KEY"
    if not (key.isascii() and key.isprintable()):
        raise EmbedderError(f"{name} has letters that no key has: set it again")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error)
