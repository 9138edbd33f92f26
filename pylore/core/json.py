"""``json.loads``, and ``json.dumps`` as columns of the store have it, without importing ``json``.

That package loads ``re`` and ``enum``, which takes a fourth of a search; what it reads and
writes with is one module in C. Whatever is wrong in a text is left to ``json`` to say.
"""

from __future__ import annotations

from _json import encode_basestring, make_encoder, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Reading:
    """Options of ``json``'s scanner. ``constant`` makes NaN and its likes."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int

    def __init__(self, constant: Callable[[str], Any]) -> None:
        self.parse_constant = constant
        self._scan = make_scanner(self)  # type: ignore[arg-type]

    def read(self, text: str) -> tuple[Any] | None:
        """Return the value; None where it is not JSON."""
        bare = text.strip(" \t\n\r")
        try:
            value, end = self._scan(bare, 0)
        except (StopIteration, ValueError, SystemError):
            return None  # before Python 3.12 the scanner finds no error to raise without json
        return (value,) if end == len(bare) else None

    def loads(self, text: str) -> Any:
        """Return what ``json.loads`` gives.

        Raises:
            ValueError: it is not JSON; as ``json`` says it.
        """
        found = self.read(text)
        if found:
            return found[0]
        from json import JSONDecoder  # which says what is wrong

        return JSONDecoder(parse_constant=self.parse_constant).decode(text)


def _refused(value: object) -> object:
    raise TypeError(f"no JSON form for {type(value).__name__}")


# What a store holds has come from JSON: there are no circles in it to look for.
_READING = Reading(lambda name: float(name.replace("Infinity", "inf")))
_WRITING: Any = make_encoder(
    None, _refused, encode_basestring, None, ": ", ", ", False, False, True
)


def loads(text: str) -> Any:
    """Return what ``json.loads`` gives, with its errors.

    >>> loads('{"a": [1, 0.5, null]}')
    {'a': [1, 0.5, None]}
    """
    return _READING.loads(text)


def is_json(text: str) -> bool:
    """Return whether ``loads`` reads it.

    >>> is_json("[1]"), is_json("me")
    (True, False)
    """
    return _READING.read(text) is not None


def dumps(value: object) -> str:
    """Return what ``json.dumps(value, ensure_ascii=False)`` gives.

    >>> dumps({"why": "no state", "sure": True})
    '{"why": "no state", "sure": true}'
    """
    return "".join(_WRITING(value, 0))
