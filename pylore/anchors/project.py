"""The files that anchors lead to: where they are, what they hold, where they went."""

from __future__ import annotations

import os

from ..core.digests import sha256
from ..core.errors import LoreError
from ..system.file_stamps import GONE, size_in, stamp_of
from ..system.git import Git, blob_hash
from ..system.listing import FileTree
from ..system.project_files import place_within, read_plain
from .globs import glob_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LARGEST = 16 << 20
"""Bytes of the largest file that is looked into."""

_DIGITS = 32
_WORDS_AT_ONCE = 200


class Unreadable(Exception):
    """A file cannot be judged; the message says why."""


def digest(content: bytes) -> str:
    """Return the first 128 bits of SHA-256, in hexadecimal digits."""
    return sha256(content).hexdigest()[:_DIGITS]


class Project:
    """One folder with its files, each examined once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.git = Git(root)
        self._folders: dict[str, str] = {}
        """Folder to where it is, links followed."""
        self._stamps: dict[str, str] = {}
        self._last = ("", b"")
        self._paths: list[str] | None = None
        self._moves: dict[str, str | None] = {}
        self._renames: dict[str, dict[str, str]] = {}
        self._head: str | None = None

    @property
    def head(self) -> str:
        """Return the commit that is checked out; empty without one."""
        if self._head is None:
            self._head = self.git.head()
        return self._head

    def stamp(self, path: str) -> str:
        """Return the stamp of a file now.

        Raises:
            Unreadable: it cannot be examined.
        """
        if path not in self._stamps:
            try:
                self._stamps[path] = stamp_of(self._place(path))
            except OSError as error:
                raise Unreadable(f"{path}: {_reason(error)}") from None
        return self._stamps[path]

    def read(self, path: str) -> bytes:
        """Return what a file holds.

        Raises:
            Unreadable: it cannot be read, is not a plain file, or is too large.
        """
        if self._last[0] != path:
            self._last = (path, self._read(path))
        return self._last[1]

    def _read(self, path: str) -> bytes:
        try:
            content = read_plain(self._place(path), LARGEST)
        except (OSError, LoreError) as error:
            raise Unreadable(f"{path}: {_reason(error)}") from None
        if len(content) > LARGEST:
            raise Unreadable(f"{path}: is larger than {LARGEST >> 20} MB")
        return content

    def _place(self, path: str) -> str:
        """Return where a path leads; Unreadable where that is not in the project."""
        folder, _, name = path.rpartition("/")
        try:
            if folder not in self._folders:
                self._folders[folder] = place_within(self.root, folder or ".")
            full = os.path.join(self._folders[folder], name)
            return place_within(self.root, path) if _may_leave(name, full) else full
        except LoreError as error:
            raise Unreadable(f"{path}: {error}") from None

    # --- the files of the project as a whole

    def paths(self) -> list[str]:
        """Return every file that ``lore index`` would list; sorted."""
        if self._paths is None:
            self._paths = FileTree(self.root).files().paths
        return self._paths

    def matching(self, glob: str) -> list[str]:
        """Return the files that a glob matches and that are there."""
        pattern = glob_pattern(glob)
        return [path for path in self.paths() if pattern.fullmatch(path) and self._is_there(path)]

    def _is_there(self, path: str) -> bool:
        try:
            return self.stamp(path) != GONE
        except Unreadable:
            return True

    def with_words(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Map word to the files that have it somewhere in their text, for all words at once."""
        from re import compile

        in_text = compile(rb"[\w\x80-\xff]+")
        found: dict[str, list[str]] = {word: [] for word in sorted(set(words))}
        by_part: dict[bytes, list[str]] = {}
        for word in found:
            by_part.setdefault(
                max(in_text.findall(word.encode()), key=len, default=b""), []
            ).append(word)
        for path in self._candidates([part.decode() for part in by_part if part]):
            try:
                parts = set(in_text.findall(self.read(path)))
            except Unreadable:
                continue
            for part in by_part.keys() & parts:
                for word in by_part[part]:
                    found[word].append(path)
        return found

    def _candidates(self, words: Sequence[str]) -> list[str]:
        if not words or not self.head:
            return self.paths() if words else []
        found: set[str] = set()
        for start in range(0, len(words), _WORDS_AT_ONCE):
            patterns = [part for word in words[start : start + _WORDS_AT_ONCE]
                        for part in ("-e", word)]  # fmt: skip
            listed = self.git.ask(
                "grep",
                "-lzwFI",
                "--untracked",
                "--no-recurse-submodules",
                "--no-textconv",
                *patterns,
                "--",
                os.path.abspath(self.root),
            )
            found.update((listed or "").split("\0"))
        return sorted(path for path in found if path and path.isprintable())

    def as_committed(self, paths: Sequence[str]) -> set[str]:
        """Return those of ``paths`` that are as the commit that is checked out has them, or gone in
        both.

        Filters of the repository are not run; of what they do, line ends alone are known.
        """
        blobs = self.git.blobs(paths)
        return {path for path in paths if self._is_committed(path, blobs.get(path))}

    def _is_committed(self, path: str, blob: str | None) -> bool:
        try:
            content = None if self.stamp(path) == GONE else self.read(path)
        except Unreadable:
            return False
        if blob is None or content is None:
            return blob is None and content is None
        return blob in (blob_hash(content, blob), blob_hash(content.replace(b"\r\n", b"\n"), blob))

    # --- where a file went

    def moved_to(self, path: str, commit: str, hash: str, stamp: str) -> str | None:
        """Return where a file that is gone is now: renamed since ``commit``, or with its
        content."""
        if path not in self._moves:
            new = self._renames_since(commit).get(path)
            if new is None or not self._is_there(new):
                new = self._same_content(path, hash, size_in(stamp))
            self._moves[path] = new
        return self._moves[path]

    def _renames_since(self, commit: str) -> dict[str, str]:
        if commit not in self._renames:
            self._renames[commit] = self.git.renamed_since(commit)
        return self._renames[commit]

    def _same_content(self, path: str, hash: str, size: int) -> str | None:
        if not hash:  # of a stretch of it alone: git may still have the whole
            content = self.git.content(path) or b""
            size, hash = len(content), digest(content)
        if size <= 0:
            return None
        for other in self.paths():
            try:
                if other == path or size_in(self.stamp(other)) != size:
                    continue
                if digest(self.read(other)) == hash:
                    return other
            except Unreadable:
                continue
        return None


def _may_leave(name: str, full: str) -> bool:
    """Return whether a name in a folder of the project may lead out of it."""
    return name in ("", ".", "..") or "\0" in name or os.path.islink(full)


def _reason(error: OSError | LoreError) -> str:
    return (error.strerror if isinstance(error, OSError) else str(error)) or "cannot be opened"
