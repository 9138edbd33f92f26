"""A hostile clone, on a machine with a home that holds secrets.

Commands run in forked processes, bounded in time and memory. ``Machine.state`` has all files but
those of the clone's ``.lore``.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path
from typing import ClassVar, NamedTuple

from forked import in_child, preload
from new_stores import copy_store
from planted import Planted
from repositories import Repository

import pylore
from pylore.core.model import Anchor, Node
from pylore.indexing.indexer import Index
from pylore.store import Store, open_store
from pylore.system import git_process as gitprocess

SECRET = "zqxjsecret"
"""A marker in every private file, indexed as a single word."""

SECONDS = 60
BYTES = 1 << 30
_PATHS = ".ssh/id_rsa .bashrc notes/secret.md notes/secret.py notes/secret.jsonl".split()
PRIVATE = {
    path: f'def {SECRET}_tokens():\n    return "{SECRET} of {path}"\n'
    for path in (*_PATHS, "notes/package.json", "notes/auth.py")
}
"""Files in the home."""

CONTEXT = ("context", "how do tokens expire", "--as", "prompt", "--budget", "8000")
TAKE_IN = (("import", "docs", ".lore/knowledge.jsonl", "--skip-bad"), ("index",))
HISTORY = ("index", "--cochanges")
JUDGE = (("search", "tokens", "--graph-depth", "1"), ("stale",), ("verify",))
COMMANDS = (
    *(*JUDGE, ("show", "decision-a"), ("related", "src/auth.py"), *TAKE_IN, CONTEXT),
    *(("export",), ("doctor",)),
)
"""Commands that a user runs in a fresh clone; the later commands print what was imported."""


class Done(NamedTuple):
    """The result of a command."""

    words: tuple[str, ...]
    code: int
    said: str


class Machine(Planted):
    """A home with secrets, ``ran`` for traces of programs, and a clone with a store."""

    markers: ClassVar[dict[str, str]] = PRIVATE

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.base = base
        self.environ |= {"LORE_EMBEDDER": "none", "PASSWORD": SECRET}
        self.trap = base / "trap.sh"
        """A program that leaves a trace when it runs, for the clone's settings to name."""
        self.trap.write_text(f"#!/bin/sh\n: >'{base}/ran/'$$\ncat 2>/dev/null\n")
        self.trap.chmod(0o755)

    @classmethod
    def make(cls, base: Path) -> Machine:
        """A machine with an honest clone."""
        preload()
        (base / "ran").mkdir(parents=True)
        machine = cls(base)
        machine._fill()
        return machine

    def copy(self, base: Path) -> Machine:
        """Return a copy of this machine."""
        shutil.copytree(self.base, base, symlinks=True, ignore=shutil.ignore_patterns("data"))
        machine = Machine(base)
        copy_store(self.base / "data", self.project, machine.project, base / "data")
        return machine

    def _fill(self) -> None:
        (self.project / ".git").rmdir()
        repository = Repository(self.project)
        shutil.rmtree(self.project / ".git/hooks", ignore_errors=True)
        repository.write(".gitignore", "*.env\n.lore\n")
        repository.write("src/auth.py", "def check(token):\n    return bool(token)\n")
        repository.write("src/keys.py", "import auth\n\n\ndef sign():\n    auth.check('tokens')\n")
        repository.write("docs/a.md", "# Tokens expire\n\nSee [code](../src/auth.py).\n")
        repository.commit("Sign tokens")
        repository.write("src/keys.py", "import auth\n\n\ndef sign():\n    auth.check('token')\n")
        repository.commit("Mend tokens")
        (self.project / ".lore").mkdir()
        with pylore.open(self.store, create=True, embedder="none") as lore:
            lore._open().store.project = str(self.project)
            lore.add("decision", "Sessions are tokens", id="decision-a", file="src/auth.py")
            lore.add("lesson", "Tokens expire", id="lesson-b", links=[("decision-a", "relates_to")])
        line = '{"id": "note-c", "type": "note", "title": "Tokens are short"}\n'
        (self.project / ".lore/knowledge.jsonl").write_text(line)

    def write(self, path: str, text: str | bytes) -> Path:
        """A file of the clone."""
        return self.put(self.clear(path), text)

    def link(self, path: str, target: str) -> None:
        """Replace a path by a link; ``~/`` is the home with secrets."""
        self.clear(path).symlink_to(self.expand(target))

    def socket(self, path: str) -> None:
        """Replace a path by a socket."""
        folder = os.getcwd()
        file = self.clear(path)
        os.chdir(file.parent)  # socket paths are short
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(file.name)
        finally:
            os.chdir(folder)

    def expand(self, text: str) -> str:
        """A text with ``~`` for the planted home, RUN for the trap."""
        return text.replace("~", str(self.home)).replace("RUN", str(self.trap))

    def git(self, *words: str) -> str:
        """Run git as the author of the clone and return stdout."""
        return Repository(self.project).git(*words)

    def config(self, *pairs: str) -> None:
        """Write settings (``key=value``) to the clone's git config."""
        for pair in pairs:
            key, _, value = pair.partition("=")
            self.git("config", key, self.expand(value))

    def names_file(self, path: str) -> None:
        """Add a node to the store whose text is in a file."""
        node = Node("file-b", "file", title="how do tokens expire", file=self.expand(path))
        node.created_at = node.updated_at = "2026-01-01T00:00:00Z"
        with self.opened() as store, store.transaction():
            store.nodes.put(node)
            Index(store).update([node])

    def anchor(self, **fields: str) -> None:
        """An anchor in the store, and the same in the export."""
        row = {"kind": "hash", "path": "gone.py", "hash": "0" * 32}
        row |= {name: self.expand(value) for name, value in fields.items()}
        with self.opened() as store, store.transaction():
            store.anchors.put(Anchor("decision-a", **row))
        row.pop("stamp", None)
        with (self.project / ".lore/knowledge.jsonl").open("a") as file:
            file.write(json.dumps({"anchor_of": "lesson-b", **row}) + "\n")

    def opened(self) -> Store:
        """The store that the person has of the clone."""
        store = open_store(str(self.store), busy_timeout=5)
        store.project = str(self.project)
        return store

    def run_each(self, *commands: tuple[str, ...], silent: float = gitprocess.SILENT) -> list[Done]:
        """Run commands in the clone in a single child; git may hang for ``silent`` seconds."""

        def run() -> list[tuple[int, str]]:
            gitprocess.SILENT = silent  # type: ignore[assignment]
            done = (self.run(*words) for words in commands)
            return [(one.code, one.out + one.err) for one in done]

        found = in_child(run, BYTES, SECONDS)
        return [Done(words, *one) for words, one in zip(commands, found, strict=True)]

    def state(self) -> dict[str, tuple[object, ...]]:
        """Return kind, size, times and link target of every file of the home outside ``.lore``."""
        found: dict[str, tuple[object, ...]] = {}
        for folder, folders, files in os.walk(self.home):
            folders[:] = [name for name in folders if name != ".lore"]
            for name in (*folders, *files):
                path = os.path.join(folder, name)
                at = os.lstat(path)
                times = () if name in folders else (at.st_size, at.st_mtime_ns)
                leads = os.readlink(path) if os.path.islink(path) else ""
                found[path] = (at.st_mode, *times, leads)
        return found

    def leaked(self) -> list[str]:
        """The files of ``.lore`` and of the store that have a secret in them."""
        folder = self.project / ".lore"
        files = [*self.store.iterdir(), *([] if folder.is_symlink() else folder.iterdir())]
        plain = [file for file in files if file.is_file() and not file.is_symlink()]
        return [file.name for file in plain if SECRET.encode() in file.read_bytes()]
