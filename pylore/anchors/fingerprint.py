"""Take the fingerprint of the code that a node is about."""

from __future__ import annotations

from copy import copy

from ..core.errors import LoreError
from ..core.model import Anchor
from ..core.times import now
from ..system.files import GONE
from .project import Project, Unreadable, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .definitions import Definitions

NO_MATCH = "none"  # the stamp of a glob without matches; otherwise it is a file that matches
_MOST_HASHED = 200_000  # lines that are hashed in search of a stretch


def take(project: Project, anchor: Anchor, definitions: Definitions | None = None) -> Anchor:
    """Return ``anchor`` as valid, with the fingerprint of today's code.

    A symbol needs the project's ``definitions``; its hash is that of the symbol and of the file.

    Raises:
        LoreError: there is no such code, or it cannot be read.
    """
    taken = copy(anchor)
    try:
        if anchor.kind == "glob":
            taken.stamp = next(iter(project.matching(anchor.path)), "")
            if not taken.stamp:
                raise LoreError(f"{anchor.path}: matches no file: check the pattern, and quote it")
        else:
            taken.stamp = project.stamp(anchor.path)
            if taken.stamp == GONE:
                raise LoreError(f"{anchor.path}: there is no such file: check its name")
            taken.detail, taken.hash = _fingerprint(project, anchor, definitions)
    except Unreadable as error:
        raise LoreError(f"{error}: anchor to a file that can be read") from None
    taken.commit_id = project.head
    taken.verdict, taken.reason = "valid", ""
    taken.verified_at = now()
    taken.created_at = anchor.created_at or taken.verified_at
    return taken


def _fingerprint(
    project: Project, anchor: Anchor, definitions: Definitions | None
) -> tuple[str, str]:
    """Return the detail and the hash of an anchor to a file that is there."""
    path, detail = anchor.path, anchor.detail
    if anchor.kind == "file":
        return detail, content_hash(project, path)
    content = project.read(path)
    if anchor.kind == "hash":
        return detail, digest(content)
    lines = lines_of(content)
    if anchor.kind == "symbol":
        found = definitions.find("", path, detail) if definitions else []
        names = sorted({one.qualified for one in found})
        if not found:
            raise LoreError(f"{path}: defines no {detail}: check the name, or give lines")
        if len(names) > 1:
            named = " or ".join(names[:5])
            raise LoreError(f"{path}: {detail} may be {named}: give one of them")
        return names[0], f"{found[0].hash} {digest(content)}"
    first, last = line_numbers(detail)
    if not 1 <= first <= last:
        raise LoreError(f"lines {detail}: give FIRST-LAST, counted from 1")
    if last > len(lines):
        raise LoreError(f"{path}: has {len(lines)} lines, not {last}: give lines that are there")
    if not any(line.strip() for line in lines[first - 1 : last]):
        raise LoreError(f"{path}: lines {detail} are empty: give lines with text")
    return detail, stretch_hash(lines[first - 1 : last])


def content_hash(project: Project, path: str) -> str:
    """Return the hash of a file's content, "" if it cannot be read."""
    try:
        return digest(project.read(path))
    except Unreadable:
        return ""


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
