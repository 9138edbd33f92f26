"""Asking git about a repository without running anything of that repository.

A clone brings a ``.git/config`` that can name programs: pagers, diff drivers, text
filters, file-system monitors, signers, transports. Every call here switches them off,
takes no lock and fetches nothing. Only commands that read are called.
"""

from __future__ import annotations

import os
import subprocess
import time
from tempfile import TemporaryFile

from .errors import LoreError
from .model import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SAFE = (
    "--no-pager", "--literal-pathspecs", "--no-optional-locks",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false",
    "-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "protocol.allow=never",
    "-c", "i18n.logOutputEncoding=UTF-8", "-c", "log.follow=false",
)  # fmt: skip

LOG = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature", "--no-notes",
       "--no-mailmap", "--ignore-submodules=all", "-l1000")  # fmt: skip
"""Options that every call of ``git log`` takes."""

LONGEST_SUBJECT = 200
_PATHS_AT_ONCE = 500
CHUNK = 1 << 18
"""Bytes read from git at a time."""


class Git:
    """The git that a folder belongs to."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def ask(self, *words: str) -> str | None:
        """What a command prints, without the last line's end; None where it fails."""
        found = self.ask_bytes(*words)
        return None if found is None else _text(found).removesuffix("\n")

    def ask_bytes(self, *words: str) -> bytes | None:
        """What a command prints; None where it fails."""
        try:
            done = subprocess.run(
                self._command(words), env=_environment(), stdin=subprocess.DEVNULL,
                capture_output=True, check=False,
            )  # fmt: skip
        except OSError:
            return None
        return None if done.returncode else done.stdout

    def head(self) -> str:
        """The hash of the commit that is checked out; empty without git, or without a commit."""
        return self.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or ""

    def require(self) -> str:
        """The hash of the commit that is checked out.

        Raises:
            LoreError: no git, no repository, one of another user's, or no commit yet.
        """
        if not os.path.isdir(self.folder):
            raise LoreError(f"{self.folder}: there is no such folder: check its name")
        try:
            done = subprocess.run(
                self._command(("rev-parse", "--is-inside-work-tree", "--is-bare-repository")),
                env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False,
            )  # fmt: skip
        except FileNotFoundError:
            raise LoreError("git is not installed: install it, then try again") from None
        if done.returncode:
            raise LoreError(f"{self.folder}: {_why(done.stderr)}")
        head = self.head()
        if not head:
            raise LoreError(f"{self.folder}: the repository has no commit yet: make one first")
        return head

    def fields(self, *words: str) -> Iterator[str]:
        """What a command prints, cut at each NUL byte, as it comes.

        Bytes that are no UTF-8 become lone surrogates.

        Raises:
            LoreError: it failed.
        """
        with TemporaryFile() as said:  # a pipe that nobody reads would fill up
            with subprocess.Popen(
                self._command(words), env=_environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=said,
            ) as process:  # fmt: skip
                assert process.stdout is not None
                try:
                    yield from _split(process.stdout.fileno())
                except BaseException:
                    process.kill()
                    raise
            said.seek(0)
            if process.returncode:
                raise LoreError(f"git {words[0]} failed: {_why(said.read())}")

    def commit(self, hash: str) -> Node:
        """One commit as a node."""
        text = self.ask("log", "-1", *LOG, "--no-patch", "--format=%ct%n%B", hash, "--") or ""
        seconds, _, message = text.partition("\n")
        return commit_node(hash, int(seconds) if seconds.isdigit() else 0, message)

    def content(self, path: str) -> bytes | None:
        """What a file held in the commit that is checked out; None where it was not there."""
        return self.ask_bytes("cat-file", "blob", f"HEAD:./{path}")

    def blobs(self, paths: Sequence[str]) -> dict[str, str]:
        """Path to the hash of its content in the commit that is checked out, where it is there."""
        found = {}
        for start in range(0, len(paths), _PATHS_AT_ONCE):
            some = paths[start : start + _PATHS_AT_ONCE]
            for line in (self.ask("ls-tree", "-z", "HEAD", "--", *some) or "").split("\0"):
                about, tab, path = line.partition("\t")
                if tab:
                    found[path] = about.split()[2]
        return found

    def last_commits(self, commits: str, paths: set[str]) -> dict[str, str]:
        """Path to the newest of these commits that changed it; nothing where git knows none.

        ``commits`` is a range as git has it, ``a1b2..HEAD``; merges are left out.
        """
        found: dict[str, str] = {}
        hash = ""
        words = self.fields("log", "-z", "--name-only", "--no-renames", "--relative", *LOG,
                            "--format=\x01%H", commits, "--")  # fmt: skip
        try:
            for word in words:
                word = word.lstrip("\n")
                if word.startswith("\x01"):
                    hash = word[1:]
                elif word in paths:
                    found.setdefault(word, hash)
                    if len(found) == len(paths):
                        break
        except LoreError:  # the history was rewritten: the first commit is no more
            return found
        return found

    def changed(self) -> list[str]:
        """The files below the folder that are not as in the commit that is checked out.

        Staged, changed, deleted and untracked ones, without those that git ignores.

        Raises:
            LoreError: there is no work tree, or a filter of it cannot be switched off.
        """
        if self.ask("rev-parse", "--is-inside-work-tree") != "true":
            raise LoreError(f"{self.folder}: is in no git work tree: name the files")
        options = ("-z", "--name-only", "--relative", "--no-renames", "--ignore-submodules=all")
        staged = ("diff-index", "--cached", *options, "HEAD", "--")
        questions = (
            ("ls-files", "-z", "--others", "--exclude-standard"),
            staged if self.head() else ("ls-files", "-z", "--cached"),
            (*self.filters_off(), "diff-files", *options),
        )
        return sorted({path for words in questions for path in self.fields(*words) if path})

    def filters_off(self) -> list[str]:
        """Options that switch off every filter of the repository's config.

        To tell whether a file has changed git runs its filter, even where it only
        compares the work tree to the index.

        Raises:
            LoreError: one has a name that no option can have.
        """
        asked = self.ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.") or ""
        names = sorted({key.rpartition(".")[0] for key in asked.split("\0") if key})
        found = []
        for name in names:
            if "=" in name:
                raise LoreError(f"{self.folder}: git's {name} cannot be switched off: rename it")
            for key in ("clean=", "smudge=", "process=", "required=false"):
                found += ["-c", f"{name}.{key}"]
        return found

    def shallow_commits(self) -> frozenset[str]:
        """The commits at which a shallow clone was cut off; none in a whole one."""
        path = self.ask("rev-parse", "--git-path", "shallow")
        try:
            with open(os.path.join(self.folder, path or ""), encoding="ascii") as file:
                return frozenset(file.read().split())
        except (OSError, UnicodeDecodeError):
            return frozenset()

    def _command(self, words: tuple[str, ...]) -> list[str]:
        return ["git", "-C", self.folder, *_SAFE, *words]


def _environment() -> dict[str, str]:
    # Inside a hook GIT_DIR and its like speak of another folder, or of another index.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {
        **kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
    }  # fmt: skip


def blob_hash(content: bytes, like: str) -> str:
    """The hash that git gives to this content, by the algorithm that gave ``like``."""
    from hashlib import sha1, sha256

    whole = b"blob %d\0%b" % (len(content), content)
    return sha1(whole).hexdigest() if len(like) == 40 else sha256(whole).hexdigest()


def _split(number: int) -> Iterator[str]:
    rest = b""
    while True:
        block = os.read(number, CHUNK)
        if not block:
            break
        *whole, rest = (rest + block).split(b"\0")
        if whole:
            yield from _text(b"\0".join(whole)).split("\0")
    if rest.strip(b"\n"):
        yield _text(rest)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _why(said: bytes) -> str:
    """git's own reason in one line, with what to do about it."""
    text = said.decode("utf-8", "replace")
    if "not a git repository" in text:
        return "is no git repository: run this in one"
    if "dubious ownership" in text:
        return "belongs to another user: see safe.directory in git's own help"
    line = next((line for line in text.splitlines() if line.startswith(("fatal:", "error:"))), "")
    return f"git says '{line.partition(': ')[2] or 'nothing'}': check the repository"


def commit_node(hash: str, seconds: int, message: str) -> Node:
    """A commit as a node: its subject is the title, its message the body, its date both times."""
    text = message.strip().encode("utf-8", "replace").decode().replace("\0", "")
    title = text.split("\n", 1)[0].strip()[:LONGEST_SUBJECT]
    node = Node(f"commit-{hash}", "commit", title=title or hash, body=text, source="system")
    node.created_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0, seconds)))
    node.updated_at = node.created_at
    return node
