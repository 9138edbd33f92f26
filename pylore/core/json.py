"""JSON without importing ``json``, and lines of input with their limits.

``json`` loads ``re`` and ``enum``, which takes a fourth of a search. Parser and encoder are in a C
module; error messages are as in ``json``.
"""

from __future__ import annotations

from _json import encode_basestring, make_encoder, make_scanner
from math import isfinite

from .errors import LoreError
from .text import CONTROLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import IO, Any

STDIN = 64_000_000  # bytes of a question or of ids on stdin; of a text to keep: ``max_text``
DEEPEST = 100  # levels of JSON in a line; Python and SQLite fail somewhere below 1000
_ENDLESS, _PART = 1 << 28, 1 << 20  # bytes of the rest of a line: the maximum, and at a time
_IN_MEMORY = 8_000_000  # bytes of a pipe that are held in memory; more go to a file


class _Options:
    """Options of ``json``'s scanner."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(name: str) -> Any:
        """Refuse NaN and infinities."""
        raise ValueError(f"{name} is not a JSON number")


_scan = make_scanner(_Options)  # type: ignore[arg-type]


def loads(text: str) -> Any:
    """Return the value; raise ValueError with the message of ``json`` if it is not JSON."""
    try:
        return _scanned(text)
    except (StopIteration, ValueError, SystemError):
        from json import JSONDecoder  # before Python 3.12 the scanner raises less

        return JSONDecoder(parse_constant=_Options.parse_constant).decode(text)


def _scanned(text: str) -> Any:
    bare = text.strip(" \t\n\r")
    value, end = _scan(bare, 0)
    if end < len(bare):
        raise ValueError
    return value


def is_json(text: str) -> bool:
    """Return True if ``loads`` reads it."""
    try:
        _scanned(text)
    except (StopIteration, ValueError, RecursionError, SystemError):
        return False
    return True


# JSON allows DEL, C1 controls and bidirectional characters, but a terminal may obey them. C0
# controls are in values of other programs only; between values some of them are white space.
_ESCAPED = {code: f"\\u{code:04x}" for code in CONTROLS} | dict.fromkeys(map(ord, "\t\n\r"), " ")


def harmless(json: str) -> str:
    """Return the same JSON on one line, without characters that a terminal obeys."""
    return json if json.isprintable() else json.translate(_ESCAPED)


def _formless(value: object) -> None:
    raise TypeError(f"no JSON form for {type(value).__name__}")


# The encoders of ``json``, without the check for cycles.
_WRITING, _SORTING = (
    make_encoder(None, _formless, encode_basestring, None, ":", ",", sort_keys, False, True)
    for sort_keys in (False, True)
)


def dumps(value: Any) -> str:
    """Return JSON on one line, without characters that a terminal obeys; TypeError as ``json``."""
    return harmless("".join(_WRITING(value, 0)))


def canonical(value: Any) -> str:
    """Return JSON as ``dumps`` does, with the keys of objects in order."""
    return harmless("".join(_SORTING(value, 0)))


def with_fields(text: str, fields: Mapping[str, Any]) -> str:
    """Return a JSON object with these fields set, in order; None removes one."""
    kept = {name: value for name, value in loads(text).items() if name not in fields}
    return canonical(kept | {name: value for name, value in fields.items() if value is not None})


def decoded(line: bytes, longest: int) -> str:
    """Return a line without byte order mark; raise LoreError if longer, not UTF-8, or with NUL."""
    if len(line) > longest:
        raise LoreError(f"longer than {longest} bytes")
    try:
        text = line.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise LoreError(f"not UTF-8 (byte {error.start})") from None
    if "\0" in text:
        raise LoreError("has a NUL byte")
    return text


def parse_object(line: bytes, longest: int, *, storable: bool = True) -> dict[str, Any]:
    """Return the JSON object on a line; raise LoreError if it is invalid, long, or not storable."""
    text = decoded(line, longest)
    try:
        value = loads(text)
    except (ValueError, RecursionError) as error:
        raise LoreError(f"not JSON ({str(error).split(':')[0]})") from None
    if not isinstance(value, dict):
        raise LoreError("not a JSON object")
    if storable:
        require_storable(value)
    return value


def require_storable(value: object, levels: int = DEEPEST) -> None:
    """Raise LoreError if a text within ``value`` has a NUL or half a surrogate pair, a number is
    not finite, or there are more ``levels``."""
    if isinstance(value, str):
        if "\0" in value:
            raise LoreError("a text has a NUL byte: remove the byte")
        try:
            value.isascii() or value.encode()
        except UnicodeEncodeError:
            raise LoreError("a text has half a surrogate pair: give characters") from None
    elif isinstance(value, float):
        if not isfinite(value):
            raise LoreError("a number is not finite: give a finite number")
    elif isinstance(value, (dict, list)):
        if not levels:
            raise LoreError(f"nested more than {DEEPEST} deep")
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            require_storable(item, levels - 1)


def record_line(max_text: int) -> int:
    """Return the most bytes of a JSON line with a record: JSON may spell a byte with six."""
    return 6 * max_text + 4_000_000


def lines_of(stream: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield the lines of a stream without delay; of a longer one ``longest`` bytes and one more,
    and no line after one that may be endless."""
    while line := stream.readline(longest + 1):
        yield line
        room = _ENDLESS
        while line[-1:] not in (b"", b"\n"):  # skip the rest of it
            line, room = stream.readline(_PART), room - _PART
            if room < 0:
                return


def set_aside(lines: Iterable[bytes]) -> Iterable[bytes]:
    """Read lines to their end, and return them again from an unnamed temporary file."""
    from tempfile import SpooledTemporaryFile

    kept = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
    for line in lines:
        kept.write(line.removesuffix(b"\n") + b"\n")
    kept.seek(0)
    return kept
