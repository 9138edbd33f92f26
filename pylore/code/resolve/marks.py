"""Numbers for what a lookup looks at, the same in every process and run.

A mark is a name in a place: a top-level name of a file or a package, a member of a class, a
variable of a function. 32 bits are enough for what they are for: where two things have one
mark, what hangs on the one is looked for again when the other has changed.
"""

from __future__ import annotations

from zlib import crc32

BASES = "<bases>"
"""The bases of a class, and theirs."""
SUBCLASSES = "<subclasses>"
PARAMETERS = "<parameters>"
"""Those of all members of a class."""
STARS = "<stars>"
"""What a file takes all names of."""
WHOLE = "<whole>"
"""The classes and functions at the top level of a file."""


def place(key: str) -> int:
    """The place that a file, a package or a folder is."""
    return crc32(f"{key}\0".encode())


def inner(place: int, name: str) -> int:
    """The place that a definition is, in its file's."""
    return crc32(f"{name}.".encode(), place)


def mark(place: int, name: str) -> int:
    """The mark of a name in a place."""
    return crc32(name.encode(), place)


def scope(place: int, scope: str) -> int:
    """The mark of all variables that are seen in a scope of a file, but those of the file."""
    return crc32(f"{scope} ".encode(), place)


def top(key: str, name: str) -> int:
    """The mark of a name in a file, a package or a folder."""
    return crc32(f"{key}\0{name}".encode())


def named(family: str, name: str) -> int:
    """The mark of all methods and functions of one name."""
    return crc32(f"{family}\0\0{name}".encode())


def imported(family: str, part: str) -> int:
    """The mark of a part of what imports may name."""
    return crc32(f"{family}\0\1{part}".encode())


def mentioned(name: str) -> int:
    """The mark of what prose may name."""
    return crc32(f"\0\2{name}".encode())
