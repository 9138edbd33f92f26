"""Fingerprints of files and of stretches of lines."""

from __future__ import annotations

from .project import digest

NO_MATCH = "none"  # the stamp of a glob without matches; otherwise it is a file that matches
_MOST_HASHED = 200_000  # lines that are hashed in search of a stretch


def line_numbers(detail: str) -> tuple[int, int]:
    """Turn ``10-20`` into (10, 20); (0, 0) if it is not such a pair."""
    first, _, last = detail.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal() and len(detail) < 24):
        return 0, 0
    return int(first), int(last or first)


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a file without line ends."""
    lines = content.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def last_name(name: str) -> str:
    """Return the last part of a qualified name.

    >>> last_name("Login::check"), last_name("Login.check"), last_name("check")
    ('check', 'check', 'check')
    """
    return name.replace("::", ".").replace("#", ".").rpartition(".")[2]


def stretch_hash(lines: list[bytes]) -> str:
    """Return the fingerprint of some lines, without common indentation and line ends."""
    lines = [line.rstrip().expandtabs() for line in lines]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    cut = [line[indent:] for line in lines]
    return digest(b"\n".join(cut)) if cut else ""


def find_stretch(lines: list[bytes], hash: str, first: int, count: int) -> int | None:
    """Return the number of the line, nearest to ``first``, where a stretch of ``count`` begins."""
    if count < 1:
        return None
    starts = sorted(range(1, len(lines) - count + 2), key=lambda start: abs(start - first))
    tries = starts[: max(1, _MOST_HASHED // count)]
    return next((at for at in tries if stretch_hash(lines[at - 1 : at - 1 + count]) == hash), None)
