"""Taking the fingerprint of the code that a node is about."""

from __future__ import annotations

from copy import copy
from itertools import islice

from ..core.errors import LoreError
from ..core.model import Anchor
from ..core.times import now
from ..system.files import GONE
from .project import Project, Unreadable, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .definitions import Definition, FindSymbol

NO_MATCH = "none"
"""The stamp of a glob that matches nothing; of one that does, it is a file that matches."""

_MOST_HASHED = 1_000_000
"""Lines that are examined for a stretch whose first line is everywhere."""

_FIRST = 8  # digits of a stretch's fingerprint that are its first line's


def take(project: Project, anchor: Anchor, find_symbol: FindSymbol) -> Anchor:
    """Return ``anchor`` with the fingerprint of what it leads to now; it holds.

    Raises:
        LoreError: there is nothing to anchor to, or it cannot be read.
    """
    try:
        taken = _taken(project, anchor, find_symbol)
    except Unreadable as error:
        raise LoreError(f"{error}: anchor to a file that can be read") from None
    taken.commit_id = project.head
    taken.verdict, taken.reason = "valid", ""
    taken.verified_at = now()
    taken.created_at = anchor.created_at or taken.verified_at
    return taken


def _taken(project: Project, anchor: Anchor, find_symbol: FindSymbol) -> Anchor:
    taken = copy(anchor)
    path, kind = anchor.path, anchor.kind
    if kind == "glob":
        found = project.matching(path)
        if not found:
            raise LoreError(f"{path}: matches no file: check the pattern, and quote it")
        taken.stamp = found[0]
        return taken
    taken.stamp = project.stamp(path)
    if taken.stamp == GONE:
        raise LoreError(f"{path}: there is no such file: check its name")
    if kind == "file":
        taken.hash = content_hash(project, path)
    elif kind == "hash":
        taken.hash = digest(project.read(path))
    elif kind == "symbol":
        definition = _the_one(path, anchor.detail, definitions(project, path, anchor.detail,
                                                               find_symbol))  # fmt: skip
        taken.detail = definition.qualified
        lines = lines_of(project.read(path))
        taken.hash = stretch_hash(definition.lines(lines))
    else:
        taken.hash = _stretch(path, lines_of(project.read(path)), anchor.detail)
    return taken


def _the_one(path: str, name: str, found: list[Definition]) -> Definition:
    if not found:
        raise LoreError(f"{path}: defines no {name}: check the name")
    names = sorted({definition.qualified for definition in found})
    if len(names) > 1:
        raise LoreError(f"{path}: {name} may be {' or '.join(names[:5])}: give one of them")
    return found[0]


def _stretch(path: str, lines: list[bytes], detail: str) -> str:
    first, last = line_numbers(detail)
    if not 1 <= first <= last:
        raise LoreError(f"lines {detail}: give FIRST-LAST, counted from 1")
    if last > len(lines):
        raise LoreError(f"{path}: has {len(lines)} lines, not {last}: give lines that are there")
    if not any(line.strip() for line in lines[first - 1 : last]):
        raise LoreError(f"{path}: lines {detail} are empty: give lines with text")
    return stretch_hash(lines[first - 1 : last])


def definitions(
    project: Project, path: str, name: str, find_symbol: FindSymbol
) -> list[Definition]:
    """Return the definitions of a name in a file; Unreadable where it cannot be read."""
    return find_symbol(path, project.read(path).decode("utf-8", "replace"), name)


def content_hash(project: Project, path: str) -> str:
    """Return the hash of a file's content, to know it again elsewhere; none of what cannot be
    read."""
    try:
        return digest(project.read(path))
    except Unreadable:
        return ""


def line_numbers(detail: str) -> tuple[int, int]:
    """Turn ``10-20`` into (10, 20); (0, 0) where it is not such a pair."""
    first, _, last = detail.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal() and len(detail) < 24):
        return 0, 0
    return int(first), int(last or first)


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a file, without what ends them."""
    lines = content.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def stretch_hash(lines: list[bytes]) -> str:
    """Return the fingerprint of some lines, whatever is before them all and after each.

    A stretch that is indented as a whole, or gets other line ends, is the same. The
    first digits are the first line's, so that it is soon found at another place.
    """
    lines = [line.rstrip().expandtabs() for line in lines]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    cut = [line[indent:] for line in lines]
    return digest(cut[0].strip())[:_FIRST] + digest(b"\n".join(cut))[_FIRST:] if cut else ""


def find_stretch(lines: list[bytes], hash: str, first: int, count: int) -> int | None:
    """Return the number of the line, nearest to ``first``, where a stretch of ``count`` begins."""
    if count < 1:
        return None
    starts = sorted(range(1, len(lines) - count + 2), key=lambda start: abs(start - first))
    alike = (
        start for start in starts
        if digest(lines[start - 1].expandtabs().strip())[:_FIRST] == hash[:_FIRST]
    )  # fmt: skip
    tries = islice(alike, max(1, _MOST_HASHED // count))
    return next((at for at in tries if stretch_hash(lines[at - 1 : at - 1 + count]) == hash), None)
