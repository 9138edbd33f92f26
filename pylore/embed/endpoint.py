"""Ask an endpoint of the OpenAI form for vectors: Ollama, TEI, llama.cpp, vLLM, OpenAI.

The URL may end at the host, at ``/v1``, or at ``/embeddings``. The key is read from the
environment, and never stored or printed.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from math import hypot, isfinite
from struct import error as StructError  # noqa: N812
from struct import pack, unpack
from time import sleep
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..core.errors import EmbedderError
from ..core.text import one_line, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MAX_TEXT = 20_000
"""Maximum characters of a text: ten times a passage, and more than models read."""

MAX_RESPONSE = 1 << 28
"""Maximum response size in bytes; larger responses are an error."""

TRIES = 3
"""Tries for a batch, if a retry may help. A query is tried once."""

AGAIN = (408, 429, 500, 502, 503, 504)
"""Status codes after which a retry may help."""

LONGEST_WAIT = 30.0
"""Maximum seconds before the next try."""

BATCH = 32
"""Maximum texts of a request. Not measured: endpoints differ."""

PATIENCE = 10.0
"""Seconds to wait for a response, and a second more for each text: models may run on a CPU."""


class EndpointEmbedder:
    """Ask an endpoint for vectors.

    >>> EndpointEmbedder("http://localhost:11434/v1", environ={}).path
    '/v1/embeddings'

    Raises:
        EmbedderError: the URL has no host or no valid port, or the key is invalid.
    """

    def __init__(self, url: str, model: str = "", environ: Mapping[str, str] = os.environ) -> None:
        # A model has the same vectors on every host; without a model name, the URL names them.
        self.name = f"endpoint:{model or url.partition('?')[0]}"
        self.dimension = 0
        """Of the store's vectors, if they are this embedder's; else 0 until the first answer."""
        self._model = model
        try:
            parts = urlsplit(url)
            self.host, port = parts.hostname or "", parts.port
        except ValueError:
            self.host, port = "", None
        if not self.host or port == 0:
            raise EmbedderError(f"{url}: has no host, or a wrong port: mend the embedder's URL")
        self.is_secure = parts.scheme == "https"
        self.port = port or (443 if self.is_secure else 80)
        path = parts.path.rstrip("/")
        if not path.endswith("/embeddings"):
            path = (path or "/v1") + "/embeddings"
        self.path = f"{path}?{parts.query}" if parts.query else path
        self._key = _key(environ, is_secure=self.is_secure)

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a unit vector for each text; None for a text without words.

        Raises:
            EmbedderError: no response, or an invalid response.
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
        model = {"model": self._model} if self._model else {}
        body = json.dumps({"input": texts, "encoding_format": "base64", **model}).encode()
        status, answer = self._answer(body, TRIES if bulk else 1, PATIENCE + len(texts))
        if status in (401, 403):
            raise EmbedderError(
                f"{self.name} refused the key (HTTP {status}): set LORE_ENDPOINT_KEY"
            )
        if status != 200:
            said = one_line(answer[:2000].decode(errors="replace"))
            said = said.replace(self._key, "…") if self._key else said  # some repeat the key
            what = f"{self.name} answered HTTP {status} ({said[:200]})"
            raise EmbedderError(f"{what}: check the URL and endpoint_model")
        try:
            vectors = vectors_in(answer, len(texts))
        except EmbedderError as error:
            raise EmbedderError(f"{self.name} {error}: check the URL and endpoint_model") from None
        self.dimension = checked_dimension(self.name, vectors, self.dimension)
        return vectors

    def _answer(self, body: bytes, tries: int, timeout: float) -> tuple[int, bytes]:
        """Return status and body of the response, after some tries."""
        for attempt in range(1, tries + 1):
            wait = 0.5 * 2**attempt
            try:
                status, answer, later = self.post(body, timeout)
                if attempt == tries or status not in AGAIN:
                    return status, answer
                wait = float(later) if later.isdecimal() else wait
            except (OSError, HTTPException) as error:
                if attempt == tries or isinstance(error, ConnectionRefusedError):
                    what = f"{self.name} cannot be asked ({_reason(error)})"
                    hint = "start the server, or set a different embedder"
                    raise EmbedderError(f"{what}: {hint}") from None
            sleep(min(wait, LONGEST_WAIT))
        raise AssertionError("the last try returns or raises")

    def post(self, body: bytes, timeout: float) -> tuple[int, bytes, str]:
        """Return status, body and ``Retry-After`` of the response.

        Raises:
            OSError, HTTPException: no server, no response in time, or an incomplete response.
        """
        kind = HTTPSConnection if self.is_secure else HTTPConnection
        connection = kind(self.host, self.port, timeout=timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request("POST", self.path, body, headers)
            response = connection.getresponse()
            answer = response.read(MAX_RESPONSE)
            if response.length or len(answer) == MAX_RESPONSE:
                raise HTTPException("incomplete or too long")
            return response.status, answer, response.headers.get("Retry-After", "")
        finally:
            connection.close()


def _key(environ: Mapping[str, str], *, is_secure: bool) -> str:
    """Return the user's key. Other programs also set OPENAI_API_KEY: send that over TLS only."""
    names = ("LORE_ENDPOINT_KEY", "OPENAI_API_KEY") if is_secure else ("LORE_ENDPOINT_KEY",)
    name = next((name for name in names if environ.get(name)), "")
    key = environ.get(name, "")
    if not (key.isascii() and key.isprintable()):
        raise EmbedderError(f"{name} is not a valid key: set a key without line breaks")
    return key


def _reason(error: Exception) -> str:
    if isinstance(error, HTTPException):
        return f"the answer is not HTTP: {error or type(error).__name__}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error)


def vectors_in(answer: bytes, count: int) -> list[bytes]:
    """Return the ``count`` unit vectors of a response, in the order of the texts.

    Raises:
        EmbedderError: unexpected form, number of vectors, numbers or lengths.
    """
    try:
        rows = sorted(json.loads(answer)["data"], key=lambda row: int(row.get("index", 0)))
        given = [_numbers(row["embedding"]) for row in rows]
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise EmbedderError("sent no response in the form of /v1/embeddings") from None
    if len(given) != count:
        raise EmbedderError(f"gave {len(given)} vectors for {count} texts")
    vectors = [unit(numbers) for numbers in given]
    if len({len(vector) for vector in vectors}) != 1:
        raise EmbedderError("gave vectors of different lengths")
    return vectors


def _numbers(item: Any) -> Sequence[float]:
    """Return the numbers of a vector: a list, or base64 of float32."""
    if isinstance(item, str):
        data = b64decode(item)
        item = list(unpack(f"<{len(data) // 4}f", data)) if len(data) % 4 == 0 else None
    if not isinstance(item, list) or not item:
        raise ValueError
    return item


def unit(numbers: Sequence[float]) -> bytes:
    """Return little-endian float32 of length 1, padded with zeros to a multiple of 8.

    Zeros change no cosine, and eight dimensions are a byte of signs.

    Raises:
        EmbedderError: a value is not a number, or all are 0.
    """
    try:
        length = hypot(*numbers)
        if not isfinite(length) or not length:
            raise EmbedderError("gave a vector that has no direction (NaN, infinite, or zeros)")
        padded = [number / length for number in numbers] + [0.0] * (-len(numbers) % 8)
        return pack(f"<{len(padded)}f", *padded)
    except (TypeError, OverflowError, StructError):
        raise EmbedderError("gave a vector with invalid numbers") from None


def checked_dimension(name: str, vectors: Sequence[bytes], expected: int) -> int:
    """Return the vectors' dimension; EmbedderError if the store's vectors have a different one."""
    dimension = len(vectors[0]) // 4  # float32
    if expected and dimension != expected:
        what = f"{name} gave {dimension} dimensions, the store's vectors have {expected}"
        raise EmbedderError(f"{what}: run 'lore store embed --all'")
    return dimension
