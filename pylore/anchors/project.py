"""The files of anchors: places, contents, moves, and fingerprints of stretches of lines."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.ids import sha256
from ..system.files import GONE, is_known, leads_down, size_in, spelled, stamp_of
from ..system.git import Git, is_commit
from ..system.git_process import Process
from ..system.project_files import FileTree, is_below, place_within, read_plain
from .globs import Glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import Anchor
    from ..store import Store


LARGEST = 16 << 20  # bytes of a file to read
_WORDS_AT_ONCE = 200
NO_MATCH = "none"  # the stamp of a glob without matches; otherwise it is a file that matches
_MOST_HASHED = 200_000  # lines that are hashed in search of a stretch


class Unreadable(Exception):
    """A file cannot be judged; the message gives the reason."""


def digest(content: bytes) -> str:
    """Return the first 128 bits of SHA-256, in hexadecimal digits."""
    return sha256(content).hexdigest()[:32]


def line_numbers(detail: str) -> tuple[int, int]:
    """Turn ``10-20`` into (10, 20); (0, 0) if it is not such a pair."""
    first, _, last = detail.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal() and len(detail) < 24):
        return 0, 0
    return int(first), int(last or first)


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a file without line ends."""
    lines = content.split(b"\n" if b"\n" in content else b"\r")
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
    return digest(b"\n".join([line[indent:] for line in lines])) if lines else ""


def find_stretch(lines: list[bytes], hash: str, detail: str) -> str:
    """Return the lines, as ``10-20``, nearest to ``detail`` with its number of lines and this hash;
    "" if there are no such lines."""
    first, last = line_numbers(detail)
    count = max(1, last - first + 1)
    most, end = max(1, _MOST_HASHED // count), len(lines) - count + 1
    near = range(max(1, min(first, end) - most), min(end, first + most) + 1)
    for start in sorted(near, key=lambda start: abs(start - first))[:most]:
        if stretch_hash(lines[start - 1 : start - 1 + count]) == hash:
            return f"{start}-{start + count - 1}"
    return ""


class Project:
    """A folder with files, each examined once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.git = Git(root)
        self._folders: dict[str, str] = {}  # folder to real path
        self._stamps: dict[str, str] = {}
        self._last = ("", b"")
        self._paths: list[str] | None = None
        self._moves: dict[tuple[str, str], str | None] = {}
        self._sizes: dict[int, list[str]] = {}  # size to the files
        self._renames: dict[str, dict[str, str]] = {}
        self._head: str | None = None

    @property
    def head(self) -> str:
        """Return the commit that is checked out; empty without a commit."""
        if self._head is None:
            self._head = self.git.head()
        return self._head

    def stamp(self, path: str) -> str:
        """Return the stamp of a file now; raise Unreadable if it cannot be examined."""
        if path not in self._stamps:
            try:
                self._stamps[path] = stamp_of(self._place(path))
            except OSError as error:
                raise Unreadable(f"{path}: {error.strerror}") from None
        return self._stamps[path]

    def has(self, path: str) -> bool:
        """Return False if a file is missing."""
        try:
            return self.stamp(path) != GONE
        except Unreadable:
            return True

    def read(self, path: str) -> bytes:
        """Return the content of a plain file of at most ``LARGEST`` bytes; raise Unreadable."""
        if self._last[0] != path:
            try:
                self._last = (path, read_plain(self._place(path), LARGEST))
            except (OSError, LoreError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                raise Unreadable(f"{path}: {reason}") from None
        return self._last[1]

    def text(self, path: str) -> bytes:
        """Return the content of a file, empty if it cannot be read."""
        try:
            return self.read(path)
        except Unreadable:
            return b""

    def lines(self, path: str) -> list[bytes]:
        """Return the lines of a file without line ends; raise Unreadable."""
        return lines_of(self.read(path))

    def digest(self, path: str) -> str:
        """Return the digest of a file's content; raise Unreadable."""
        return digest(self.read(path))

    def hash(self, path: str) -> str:
        """Return the digest of a file's content, "" without any."""
        return digest(self.text(path)) if self.text(path) else ""

    def _place(self, path: str) -> str:
        """Return the real path; raise Unreadable if it is outside the project."""
        folder, _, name = path.rpartition("/")
        try:
            if folder not in self._folders:
                self._folders[folder] = place_within(self.root, folder or ".")
            full = os.path.join(self._folders[folder], name)
            may_leave = name in ("", ".", "..") or "\0" in name or os.path.islink(full)
            return place_within(self.root, path) if may_leave else full
        except LoreError as error:
            raise Unreadable(f"{path}: {error}") from None

    # --- all files of the project

    def paths(self) -> list[str]:
        """Return every file that ``lore index`` would list; sorted."""
        if self._paths is None:
            self._paths = FileTree(self.root).files().paths
        return self._paths

    def matching(self, glob: str) -> list[str]:
        """Return the present files that a glob matches."""
        return [path for path in filter(Glob(glob).matches, self.paths()) if self.has(path)]

    def files_with(self, words: Sequence[str]) -> list[str]:
        """Return the files that may have any of these words of letters, digits and ``_``."""
        # git searches no folder that it ignores; a file may have the attribute of binary files
        if not self.head or Process(self.root, "check-ignore", "-q", ".").out() is not None:
            wanted = [word.encode() for word in words]
            return [one for one in self.paths() if any(w in self.text(one) for w in wanted)]
        found: set[str] = set()
        for start in range(0, len(words), _WORDS_AT_ONCE):
            some = words[start : start + _WORDS_AT_ONCE]
            options = ["-lzwFa", "--untracked", "--no-recurse-submodules", "--no-textconv"]
            options += [part for word in some for part in ("-e", word)]
            listed = self.git.ask("grep", *options, "--", os.path.abspath(self.root))
            found.update((listed or "").split("\0"))
        return sorted(path for path in found if path and path.isprintable())

    # --- where a file went

    def moved_to(self, path: str, commit: str, hash: str, stamp: str) -> str | None:
        """Return the new path of a file: renamed since ``commit``, or with the same content."""
        key = commit or path  # an imported anchor has no commit
        if key not in self._renames:
            since = commit or (self.head and self.git.before_last(path))
            if since not in self._renames:
                self._renames[since] = self.git.renamed_since(since)
            self._renames[key] = self._renames[since]
        if (new := self._renames[key].get(path)) and self.has(new):
            return new
        if (path, hash) not in self._moves:
            self._moves[path, hash] = self._same_content(path, hash, size_in(stamp))
        return self._moves[path, hash]

    def _same_content(self, path: str, hash: str, size: int) -> str | None:
        if not hash:  # the hash of a part of the file: git may still have the file
            content = self.git.contents(self.head, [path]).get(path, b"")
            size, hash = len(content), digest(content)
        if not self._sizes:
            for other in filter(self.has, self.paths()):
                self._sizes.setdefault(size_in(self._stamps.get(other, GONE)), []).append(other)
        same = (one for one in self._sizes.get(size, ()) if one != path and self.hash(one) == hash)
        return next(same, None) if size > 0 else None


def fault_of(anchor: Anchor) -> str:
    """Return why an anchor of any author must not be followed, the root aside; or ""."""
    way = anchor.stamp if anchor.kind == "glob" else anchor.path
    if not leads_down(anchor.path) or not (leads_down(way) or way == ""):
        return f"path '{anchor.path}' leads out of the project"
    if len(anchor.path) + len(anchor.detail) > 10_000:
        return "path and detail are longer than 10000 characters"
    if anchor.commit_id and not is_commit(anchor.commit_id):
        return f"commit_id '{anchor.commit_id}' is not the hash of a commit"
    return ""


def is_open(root: str) -> bool:
    """Return True if lore may read files below an anchor's root: the store's, or this user's."""
    return root == "" or is_known(root)


def root_to_keep(store: Store, root: str) -> str:
    """Return the root that an anchor stores for a folder: "" for the project of the store, which
    can be moved."""
    full = os.path.realpath(root)
    return "" if full == os.path.realpath(store.project) else full


def relative(root: str, path: str, written: str = "") -> str:
    """Return a path, which a person has ``written``, from the root and with ``/``; raise LoreError
    if it is outside, or has characters that no id may have."""
    below = _below(root, os.path.realpath(spelled(path)), written or path)
    if not below.isprintable():
        raise LoreError(f"{written or path!r}: has characters that cannot be printed: rename it")
    return below


def relative_glob(root: str, start: str, pattern: str) -> str:
    """Return a glob that starts at the folder ``start`` from the root; raise LoreError outside."""
    full = os.path.normpath(os.path.join(os.path.realpath(start), pattern))
    return _below(root, full, pattern)


def _below(root: str, full: str, written: str) -> str:
    base = os.path.realpath(root)
    if not is_below(base, full):
        raise LoreError(f"{written}: leads outside the project {base}: give a path within it")
    return os.path.relpath(full, base).replace(os.sep, "/")
