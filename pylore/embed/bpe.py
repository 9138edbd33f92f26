"""A word's pieces, as the static embedder's tokenizer has them, without loading it.

The tokenizer is a byte-pair encoding: a word begins as its letters, and of all pairs of
neighbours that may be merged the one with the lowest rank becomes one piece, the leftmost
of equals first, until none may. Which pairs may, and what they become, is in a table
on disk (``bpe_table`` makes it), of which a word reads some twenty buckets of 256 bytes.
What is read of it is checked; ``token_table`` knows where there is one.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FORM = "lore-pieces-1"
"""The first bytes of a table; another layout or meaning has another number."""

HEAD = 8192
"""Bytes of the head: a line of ``FORM``, the tokenizer's stamp and numbers, then the letters."""

BUCKET = 256
BUCKETS = 4096
ENTRY = 8
"""Bytes of an entry: the pair's two pieces, and what they become with its rank above it."""

CHECK = 4
"""Bytes at the end of the head and of each bucket with which ``is_whole`` holds of it."""

LETTER_BEFORE = "\u2581"
"""The tokenizer's mark before a word, for a space."""

PRIME = (1 << 30) - 35
"""The largest that is one digit of Python's integers: so the rest is taken fastest."""

_NEVER = 1 << 32  # above every rank
_MOST_PAIRS = 1 << 17  # that are kept in memory; words have the same ones again and again
_MANY = 1_000  # words; to read all pairs takes as long as to read those of so many


class TableError(Exception):
    """A table that is not one, or damaged, or of another tokenizer, or not to be trusted."""


def is_whole(data: bytes, number: int) -> bool:
    """Return whether this is the part of a table with this number, undamaged; the head's is 0."""
    return int.from_bytes(data, "little") % PRIME == number + 1


def bucket_of(pair: int, multiplier: int) -> int:
    """Return the bucket that a pair is in, counted from 0."""
    return (pair * multiplier & 0xFFFFFFFF) >> 20  # the upper 12 of 32 bits


def stamp_of_tokenizer(path: str) -> str:
    """Return size and second of the last change: what also holds for a copy of an installation.

    Raises:
        OSError: there is none.
    """
    found = os.stat(path)
    return f"{found.st_size}-{int(found.st_mtime)}"


class PieceTable:
    """The table at ``path``, of the tokenizer with this stamp; opened when it is asked.

    One of the user's ``own`` lies where others may have been: it must be his, a plain file, and
    nobody else's to write.
    """

    def __init__(self, path: str, stamp: str, *, own: bool) -> None:
        self._path = path
        self._stamp = stamp
        self._own = own
        self._letters = ""
        self._first_letter = self._first_byte = 0
        self._begins: dict[str, int] = {}
        self._merges = _Merges()

    def encode(self, words: Iterable[str]) -> dict[str, list[int]]:
        """Return each word with its pieces' numbers. A word has no white space and no signs.

        Raises:
            OSError: the table is not there, or cannot be read.
            TableError: it is not what it should be.
        """
        file = os.open(self._path, os.O_RDONLY | (os.O_NOFOLLOW if self._own else 0))
        try:
            self._merges.file = file
            if not self._letters:
                self._read_head(file)
            words = list(words)
            if len(words) > _MANY:
                self._merges.read_all()
            return {word: self._encode(word) for word in words}
        finally:
            os.close(file)

    def _encode(self, word: str) -> list[int]:
        pieces = self._begin(LETTER_BEFORE + word)
        known = self._merges
        merges = [known[a << 16 | b] for a, b in zip(pieces, pieces[1:], strict=False)]
        while merges:
            least = min(merges)
            if least == _NEVER:
                break
            at = merges.index(least)
            pieces[at : at + 2] = [least & 0xFFFF]
            del merges[at]
            if at > 0:
                merges[at - 1] = known[pieces[at - 1] << 16 | pieces[at]]
            if at < len(merges):
                merges[at] = known[pieces[at] << 16 | pieces[at + 1]]
        return pieces

    def _begin(self, text: str) -> list[int]:
        """Return a piece for each letter; a letter that is none has a piece for each of its
        bytes."""
        try:
            return [*map(self._begins.__getitem__, text)]
        except KeyError:  # a letter that no text before had
            pass
        pieces = []
        for letter in text:
            at = self._letters.find(letter)
            if at >= 0:
                self._begins[letter] = self._first_letter + at
                pieces.append(self._first_letter + at)
            else:
                pieces += [self._first_byte + byte for byte in letter.encode()]
        return pieces

    def _read_head(self, file: int) -> None:
        found = os.fstat(file)
        if found.st_size != HEAD + BUCKETS * BUCKET:
            raise TableError("has another size")
        if self._own and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
            raise TableError("others can write it")
        head = os.pread(file, HEAD, 0)
        if not is_whole(head, 0):
            raise TableError("is damaged")
        line, _, letters = head[:-CHECK].partition(b"\n")
        form, stamp, *numbers = line.decode().split()
        if (form, stamp) != (FORM, self._stamp):
            raise TableError("is of another form or tokenizer")
        self._first_letter, self._first_byte, self._merges.multiplier = map(int, numbers)
        self._letters = letters.rstrip(b"\0").decode()


class _Merges(dict[int, int]):
    """A pair of pieces to its merge: the rank times 2**16 plus what it becomes, or ``_NEVER``.

    Read from ``file`` as they are asked for.
    """

    file = -1
    multiplier = 0
    is_complete = False

    def read_all(self) -> None:
        """Read every pair at once."""
        if self.is_complete:
            return
        from struct import unpack

        data = os.pread(self.file, BUCKETS * BUCKET, HEAD)
        for number in range(BUCKETS):
            if not is_whole(data[number * BUCKET : (number + 1) * BUCKET], number + 1):
                raise TableError("is damaged")
        numbers = unpack(f"<{len(data) // 4}I", data)
        self.update(zip(numbers[::2], numbers[1::2], strict=True))
        del self[0]  # what has no entry, and the checks
        self.is_complete = True

    def __missing__(self, pair: int) -> int:
        if self.is_complete and len(self) < _MOST_PAIRS:
            self[pair] = _NEVER
            return _NEVER
        self.is_complete = False
        number = bucket_of(pair, self.multiplier)
        entries = os.pread(self.file, BUCKET, HEAD + number * BUCKET)
        if not is_whole(entries, number + 1):
            raise TableError("is damaged")
        wanted = pair.to_bytes(4, "little")
        at = entries.find(wanted)
        while at % ENTRY and at >= 0:  # parts of two entries that happen to be the same
            at = entries.find(wanted, at + 1)
        if len(self) >= _MOST_PAIRS:
            self.clear()
        found = entries[at + 4 : at + ENTRY] if at >= 0 else b""
        self[pair] = merge = int.from_bytes(found, "little") if found else _NEVER
        return merge
