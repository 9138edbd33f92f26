"""Real code for a context: read from the work tree, marked when stale."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.text import printable
from ..system.file_stamps import stamp_of
from ..system.project_files import MISSING, Listed, read_plain
from . import tuning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..store import Store


class Snippet:
    """Some lines of a file. ``reason`` says why there are none, ``changed`` that they may be off.

    ``first`` counts from 1; ``language`` is the name of the file's, or nothing.
    """

    __slots__ = ("changed", "first", "language", "lines", "path", "reason")

    def __init__(self, path: str, reason: str = "") -> None:
        self.path = path
        self.reason = reason
        self.language = ""
        self.changed = False
        self.first = 1
        self.lines: list[str] = []

    @property
    def last(self) -> int:
        """The last line, counted from 1."""
        return self.first + len(self.lines) - 1

    @property
    def empty(self) -> bool:
        """Whether the file was read and has nothing here to show."""
        return not self.reason and not any(line.strip() for line in self.lines)

    def within(self, other: Snippet) -> bool:
        """Whether its lines come with another one that is short enough to come whole."""
        return (
            self.path == other.path
            and other.first <= self.first
            and self.last <= other.last
            and len(other.lines) <= tuning.SHORT
        )


class WorkTree:
    """Files below one folder, as far as ``lore index`` would list them: no others are shown."""

    def __init__(self, root: str, store: Store, paths: Iterable[str]) -> None:
        self._root = os.path.realpath(root)
        self._store = store
        self._listed = Listed(root, paths)
        self._texts: dict[str, list[str] | str] = {}
        self.refused: dict[str, str] = {}
        """Files that were wanted and must not be shown, and why."""

    def snippet(self, path: str, first: int | None, last: int | None, name: str) -> Snippet:
        """The lines ``first`` to ``last`` of a file, or its head; ``name`` stands in the first."""
        found = Snippet(path)
        text = self._read(path)
        if isinstance(text, str):
            found.reason = text
            return found
        known = self._store.code.as_read(path)
        if known is not None:
            stamp, hash, found.language = known
            found.changed = self._has_changed(path, text, stamp, hash)
        if first is None:
            first, last = head_of(text)
        found.first = first
        found.lines = [printable(line.rstrip("\r")) for line in text[first - 1 : last]]
        if not found.lines and first > 1:
            found.reason = f"{path} has fewer lines now: run 'lore index'"
        elif found.changed and name and name not in "\n".join(found.lines[: tuning.NEAR]):
            found.reason = f"{path} has changed and {name} is elsewhere now: run 'lore index'"
            found.lines = []
        return found

    def _read(self, path: str) -> list[str] | str:
        if path not in self._texts:
            self._texts[path] = self._read_file(path)
        return self._texts[path]

    def _read_file(self, path: str) -> list[str] | str:
        """The lines of a file, or why there are none."""
        why = self._listed.why_not(path)
        if why:
            if why != MISSING:
                self.refused[path] = why
            return f"{path} {why}"
        try:
            content = read_plain(os.path.join(self._root, path), tuning.LARGEST)
            if len(content) > tuning.LARGEST:
                return f"{path} is too large"
            return content.decode().split("\n")
        except (OSError, LoreError, UnicodeDecodeError):
            return f"{path} cannot be read as text"

    def _has_changed(self, path: str, lines: list[str], stamp: str, hash: str) -> bool:
        """Whether a file is another one than was indexed."""
        if stamp_of(os.path.join(self._root, path)) == stamp:
            return False
        from hashlib import sha256

        return sha256("\n".join(lines).encode()).hexdigest() != hash


_IMPORTS = (
    "import ", "from ", "#include", "use ", "using ", "package ", "require", "extern crate",
    "source ", "const {", "export *",
)  # fmt: skip
_LICENSE = ("copyright", "license", "licence", "spdx")


def head_of(lines: list[str]) -> tuple[int, int]:
    """The first and last line of what a file says first: before its imports, or after them.

    What stands before them is its own description, unless it is a licence.

    >>> head_of(["// What it does.", "", "import os", "", "x = 1"])
    (1, 1)
    >>> head_of(["import os", "", "x = 1"])
    (2, 61)
    >>> head_of(["import os", ""])
    (1, 60)
    """
    imports = [
        at for at, line in enumerate(lines[: tuning.IMPORTS_WITHIN]) if line.startswith(_IMPORTS)
    ]
    if not imports:
        return 1, tuning.HEAD
    before = "\n".join(lines[: imports[0]]).lower()
    if before.lstrip("#! \n/*") and not any(word in before for word in _LICENSE):
        last = min(imports[0], tuning.HEAD)
        while not lines[last - 1].strip():
            last -= 1
        return 1, last
    after = imports[-1] + 1
    while after < len(lines) and lines[after].strip() and after < imports[-1] + tuning.HEAD:
        after += 1  # an import may go on over lines
    if not any(line.strip() for line in lines[after : after + tuning.HEAD]):
        return 1, tuning.HEAD  # it only imports
    return after + 1, after + tuning.HEAD
