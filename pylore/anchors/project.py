"""The files that anchors lead to: where they are, what they hold, where they went."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.ids import sha256
from ..system.files import GONE, size_in, stamp_of
from ..system.git import Git, is_commit
from ..system.listing import FileTree
from ..system.project_files import leads_down, place_within, read_plain
from ..system.projects import is_known
from .globs import parse_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.model import Anchor
    from ..store import Store


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
        found = filter(parse_glob(glob).matches, self.paths())
        return [path for path in found if self._is_there(path)]

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
        for path in self.with_any([part.decode() for part in by_part if part]):
            try:
                parts = set(in_text.findall(self.read(path)))
            except Unreadable:
                continue
            for part in by_part.keys() & parts:
                for word in by_part[part]:
                    found[word].append(path)
        return found

    def with_any(self, words: Sequence[str], revision: str = "") -> list[str]:
        """Return the files that may have one of these words, which are letters, digits and ``_``.

        With a ``revision``, as that has them.
        """
        if not words or not self.head:
            return self.paths() if words else []
        found: set[str] = set()
        where = [revision] if revision else ["--untracked"]
        for start in range(0, len(words), _WORDS_AT_ONCE):
            patterns = [part for word in words[start : start + _WORDS_AT_ONCE]
                        for part in ("-e", word)]  # fmt: skip
            listed = self.git.ask(
                "grep",
                "-lzwFI",
                "--no-recurse-submodules",
                "--no-textconv",
                *patterns,
                *where,
                "--",
                os.path.abspath(self.root),
            )
            before = f"{revision}:" if revision else ""
            found.update(path.removeprefix(before) for path in (listed or "").split("\0"))
        return sorted(path for path in found if path and path.isprintable())

    def as_committed(self, paths: Sequence[str]) -> set[str]:
        """Return those of ``paths`` that the work tree has as the commit that is checked out."""
        return {*paths} - {*self.git.changed()}

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
            content = self.git.contents("HEAD", [path]).get(path, b"")
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


def fault_of(anchor: Anchor) -> str:
    """Return why an anchor must not be followed, whoever has written it; nothing where it may be.

    Its root is examined apart: see ``is_open``.
    """
    way = anchor.stamp if anchor.kind == "glob" else anchor.path
    if not leads_down(anchor.path) or not (leads_down(way) or way == ""):
        return f"path '{anchor.path}' leads out of the project"
    if anchor.commit_id and not is_commit(anchor.commit_id):
        return f"commit_id '{anchor.commit_id}' is not the hash of a commit"
    return ""


def is_open(root: str) -> bool:
    """Return whether the root that an anchor keeps may be looked into: the store's own, or this
    user's."""
    return root == "" or is_known(root)


def root_of(store: Store, root: str) -> str:
    """Return the folder that an anchor's path starts from: ``root``, or else the store's
    project."""
    return root or store.project


def root_to_keep(store: Store, root: str) -> str:
    """Return what an anchor keeps of the folder ``root``: nothing where the store lies in it.

    So a project can be moved, and a store apart from any project tells projects apart.
    """
    full = os.path.realpath(root)
    return "" if full == os.path.realpath(root_of(store, "")) else full


def relative(root: str, path: str, written: str = "") -> str:
    """Return a person's path, which they may have ``written`` otherwise, as the store spells it.

    That is from the root, with ``/``.

    Raises:
        LoreError: it lies outside, or has letters that no id may have.
    """
    written = written or path
    if not path.isprintable():
        raise LoreError(f"{written!r}: has characters that cannot be printed: rename the file")
    base = os.path.realpath(root)
    full = os.path.realpath(path)
    if not full.startswith(base.rstrip(os.sep) + os.sep):
        raise LoreError(f"{written}: lies outside the project {base}: give a path within it")
    found = os.path.relpath(full, base).replace(os.sep, "/")
    if not found.isprintable():
        raise LoreError(f"{written!r}: has characters that cannot be printed: rename the file")
    return found


def relative_glob(root: str, start: str, pattern: str) -> str:
    """Return a glob that starts from the folder ``start`` as the store spells it: from the root.

    Raises:
        LoreError: it leads outside.
    """
    base = os.path.realpath(root)
    full = os.path.normpath(os.path.join(os.path.realpath(start), pattern))
    if not full.startswith(base.rstrip(os.sep) + os.sep):
        raise LoreError(f"{pattern}: leads outside the project {base}: give one within it")
    return os.path.relpath(full, base).replace(os.sep, "/")
