"""Ask git about a repository without running any program that the repository names."""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError
from ..core.model import Node
from ..core.times import time_of
from ..core.vocabulary import COMMIT_IDS
from .git_process import Process, run_git
from .project_files import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOG = tuple(
    "--no-ext-diff --no-textconv --no-color --no-show-signature --no-notes --no-mailmap"
    " --ignore-submodules=all -l1000".split()
)
"""Options that every call of ``git log`` takes."""
_NAMES = ("-z", "--name-only", "--relative", "--no-renames", "--ignore-submodules=all")
"""Options of a comparison that prints only paths."""
_STATUS = ("-z", "-M", "-l1000", "--name-status", "--relative", "--no-ext-diff")
"""Options of a comparison that prints paths with their changes."""
_LITERAL = "--literal-pathspecs"
LONGEST_SUBJECT = 200
_LARGEST_LIST = 1 << 24
"""Bytes of git's list of the commits at which a clone was cut off."""


def is_commit(text: str) -> bool:
    """Return True if a text can be a commit's hash, or a prefix; other texts may be options."""
    return 4 <= len(text) <= 64 and not text.strip("0123456789abcdefABCDEF")


class Git:
    """The git that a folder belongs to."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def ask(self, *words: str) -> str | None:
        """Return the output of a command, without the last line break; None if it fails."""
        found = Process(self.folder, _LITERAL, *words).out()
        return None if found is None else _text(found).removesuffix("\n")

    def head(self) -> str:
        """Return the hash of the commit that is checked out; empty without any."""
        return self.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or ""

    def require(self) -> str:
        """Return ``head``; raise LoreError without any, without git, or in a repository of a
        different user."""
        if not os.path.isdir(self.folder):
            raise LoreError(f"{self.folder}: no such folder: check the name")
        status, _, errors = run_git(self.folder, "rev-parse", "--is-inside-work-tree")
        if status:
            raise LoreError(f"{self.folder}: {_why(errors)}")
        head = self.head()
        if not head:
            raise LoreError(f"{self.folder}: the repository has no commit yet: make one first")
        return head

    def fields(self, *words: str) -> Iterator[str]:
        """Yield the output of a command, split at NUL bytes, without delay; bytes that are not
        UTF-8 become lone surrogates. Raise LoreError if it failed, TimeoutError as ``Process``."""
        process, rest = Process(self.folder, _LITERAL, *words), b""
        try:
            for block in process.blocks():
                *whole, rest = (rest + block).split(b"\0")
                if whole:
                    yield from _text(b"\0".join(whole)).split("\0")
        except BaseException:
            process.end()
            raise
        failed = process.wait()
        if rest.strip(b"\n"):
            yield _text(rest)
        if failed:  # once more, for the reason
            why = _why(run_git(self.folder, _LITERAL, *words)[2])
            raise LoreError(f"git {words[0]} failed: {why}")

    def commit(self, hash: str) -> Node:
        """Return the commit with this complete hash as a node."""
        if not is_commit(hash):
            raise LoreError(f"'{hash}' is not a commit: check the repository")
        text = self.ask("log", "-1", *LOG, "--no-patch", "--format=%ct%n%B", hash, "--") or ""
        seconds, _, message = text.partition("\n")
        return commit_node(hash, int(seconds) if seconds.isdigit() else 0, message)

    def contents(
        self, revision: str, paths: Sequence[str], largest: int = sys.maxsize
    ) -> dict[str, bytes]:
        """Map path to content in a commit (``HEAD``, a hash, or with ``^`` its first parent) of the
        files that git can read, of at most ``largest`` bytes."""
        if revision != "HEAD" and not is_commit(revision.removesuffix("^")):
            return {}
        asked = [path for path in paths if "\n" not in path]
        sizes = self._cat_file("--batch-check", [f"{revision}:./{path}" for path in asked])
        small = {}
        for path, line in zip(asked, sizes.split(b"\n"), strict=False):
            words = line.decode("ascii", "replace").split(" ")  # else the name, and "missing"
            is_blob = len(words) == 3 and words[1] == "blob" and words[2].isdecimal()
            if is_blob and int(words[2]) <= largest:
                small[path] = words[0]
        return dict(_batch([*small], self._cat_file("--batch", [*small.values()])))

    def _cat_file(self, how: str, names: Sequence[str]) -> bytes:
        """Return the output of ``git cat-file`` for these names; empty if it fails."""
        if not names:
            return b""
        asked = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        try:
            return run_git(self.folder, "cat-file", how, input=asked)[1]
        except (LoreError, TimeoutError):
            return b""

    def versions(self, path: str, since: str, most: int, names: Sequence[str]) -> list[str]:
        """Return the commits after ``since``, if that is one, that changed lines of a file with one
        of the names; newest first."""
        commits = f"{since}..HEAD" if is_commit(since) else "HEAD"
        pattern = "|".join(names) if all(name.isidentifier() for name in names) else "."
        words = ("log", f"-n{most}", *LOG, f"-G{pattern}", "--no-patch", "--format=%H")
        found = self.ask(*words, commits, "--", path)
        if found is None:  # the history was rewritten: the first commit is missing
            found = self.ask(*words, "HEAD", "--", path)
        return (found or "").split()

    def changes_of(self, commit: str) -> list[tuple[str, str]]:
        """Return (path before, path after) of the files that a commit changed; empty for none."""
        words = ("diff-tree", "-r", *_STATUS, "--ignore-submodules=all", f"{commit}^", commit, "--")
        fields = iter((self.ask(*words) or "").split("\0"))
        found = []
        for status in fields:
            if status:
                path = next(fields, "")
                new = next(fields, "") if status[0] in "RC" else path
                found.append(("" if status[0] in "AC" else path, "" if status[0] == "D" else new))
        return found

    def last_commits(self, since: str, paths: set[str]) -> dict[str, str]:
        """Map path to the newest commit after ``since`` (empty: all), no merge, that changed it."""
        found: dict[str, str] = {}
        if since and not is_commit(since):
            return found
        commits, hash = f"{since}..HEAD" if since else "HEAD", ""
        words = self.fields("log", *_NAMES, *LOG, "--format=\x01%H", commits, "--")
        try:
            for word in words:
                word = word.lstrip("\n")
                if word.startswith("\x01") and is_commit(word[1:]):  # else it is a file's name
                    hash = word[1:]
                elif hash and word in paths:
                    found.setdefault(word, hash)
                    if len(found) == len(paths):
                        break
        except LoreError:  # the history was rewritten: the first commit is missing
            pass
        return found

    def renamed_since(self, commit: str) -> dict[str, str]:
        """Map path to new path in the index of the files renamed since a commit, or if git does not
        know that, since HEAD."""
        words = ("diff-index", "--cached", *_STATUS, "--diff-filter=R")
        listed = None
        for since in dict.fromkeys((commit if is_commit(commit) else "HEAD", "HEAD")):
            listed = listed or self.ask(*words, since, "--")
        fields = (listed or "").split("\0")
        return dict(zip(fields[1::3], fields[2::3], strict=False))

    def before_last(self, path: str) -> str:
        """Return the commit before the newest that changed a file; "" if there is none."""
        words = ("-n1", *LOG, "--no-patch", "--full-history", "--no-merges", "--format=%P")
        return (self.ask("log", *words, "HEAD", "--", path) or "").partition(" ")[0].strip()

    def changed(self) -> list[str]:
        """Return the staged, changed, deleted and untracked files below the folder. Raise LoreError
        without a work tree, or if a filter cannot be switched off."""
        if self.ask("rev-parse", "--is-inside-work-tree") != "true":
            self.require()
            raise LoreError(f"{self.folder}: is not in a git work tree: name the files")
        staged = ("diff-index", "--cached", *_NAMES, "HEAD", "--")
        found = {*self.fields(*(staged if self.head() else ("ls-files", "-z", "--cached")))}
        found.update(self.fields(*self._filters_off(), "diff-files", *_NAMES))
        # Fails in a partial clone that lacks a .gitignore, since git may not fetch.
        untracked = self.ask("ls-files", "-z", "--others", "--exclude-standard") or ""
        return sorted({*found, *untracked.split("\0")} - {""})

    def _filters_off(self) -> list[str]:
        """Return options that switch off the filters of the repository's config, which git runs
        even to compare. Raise LoreError for a name that an option cannot have."""
        asked = self.ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.") or ""
        names = sorted({key.rpartition(".")[0] for key in asked.split("\0") if key})
        found = []
        for name in names:
            if "=" in name:
                raise LoreError(f"{self.folder}: git's {name} cannot be switched off: rename it")
            for key in ("clean=", "smudge=", "process=", "required=false"):
                found += ["-c", f"{name}.{key}"]
        return found

    def is_partial(self) -> bool:
        """Return True if it is a clone without the contents of all files."""
        return self.ask("config", "--get-regexp", r"^remote\..*\.promisor$") is not None

    def shallow_commits(self) -> frozenset[str]:
        """Return the commits at which a shallow clone was cut off."""
        path = self.ask("rev-parse", "--git-path", "shallow")
        try:
            held = read_plain(os.path.join(self.folder, path or ""), _LARGEST_LIST)
            return frozenset(held.decode("ascii").split())
        except (OSError, LoreError, UnicodeDecodeError):
            return frozenset()


def _batch(paths: Sequence[str], said: bytes) -> Iterator[tuple[str, bytes]]:
    start = 0
    for path in paths:
        end = said.find(b"\n", start)
        if end < 0:
            return
        about = said[start:end].rsplit(b" ", 2)
        start = end + 1
        if about[-1].isdigit():
            size = int(about[-1])
            if about[-2] == b"blob":
                yield path, said[start : start + size]
            start += size + 1


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _why(said: bytes) -> str:
    text = said.decode("utf-8", "replace")
    if "not a git repository" in text:
        return "is not a git repository: run this in one"
    if "dubious ownership" in text:
        return "belongs to another user: see safe.directory in git's own help"
    line = next((line for line in text.splitlines() if line.startswith(("fatal:", "error:"))), "")
    return f"git reports '{line.partition(': ')[2] or 'nothing'}': check the repository"


def commit_node(hash: str, seconds: int, message: str) -> Node:
    """Return a commit as a node: subject as title, message as body, the date as both times."""
    text = message.strip().encode("utf-8", "replace").decode().replace("\0", "")
    title = text.split("\n", 1)[0].strip()[:LONGEST_SUBJECT]
    node = Node(f"{COMMIT_IDS}{hash}", "commit", title=title or hash, body=text, source="system")
    node.created_at = time_of(max(0, seconds))
    node.updated_at = node.created_at
    return node
