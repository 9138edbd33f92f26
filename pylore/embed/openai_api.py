"""The OpenAI form of ``/v1/embeddings``: what is asked, and the vectors in the answer.

Asked: ``{"input": [text, …], "model": name, "encoding_format": "base64"}``. Answered:
``{"data": [{"embedding": […] or base64 of float32, "index": n}, …]}``. An endpoint that
knows no base64 sends lists; both are read.

The answer to a query, one vector, is read without ``json``, whose import costs more
than the question.
"""

from __future__ import annotations

from math import isfinite, sqrt
from struct import error as StructError  # noqa: N812
from struct import pack, unpack

from ..core.errors import EmbedderError
from ..system.json_encode import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


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
