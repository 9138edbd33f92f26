"""Files in which git has left both sides of a merge, between markers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BEGIN, _BASE, _MIDDLE, _END = (mark * 7 for mark in (b"<", b"|", b"=", b">"))


def marker_of(line: bytes) -> bytes:
    """The marker that a line is, or nothing: no line of JSON begins as one.

    >>> marker_of(b"<<<<<<< HEAD\\n"), marker_of(b"=======\\r\\n"), marker_of(b"{}")
    (b'<<<<<<<', b'=======', b'')
    """
    mark = line[:7]
    whole = mark in (_BEGIN, _BASE, _MIDDLE, _END) and line[7:8] in (b"", b" ", b"\r", b"\n")
    return mark if whole else b""


def both_sides(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of both sides, without the markers and without what stood there before.

    A line that is left out becomes an empty one, so that the lines keep their numbers.
    """
    before = False
    for line in lines:
        mark = marker_of(line)
        if mark:
            before = mark == _BASE
        yield b"\n" if mark or before else line
