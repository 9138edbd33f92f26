"""A hostile clone, on a machine with a home that holds secrets.

Commands run in forked processes, bounded in time and memory. ``Machine.harm`` lists changes outside
the clone's ``.lore``.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import NamedTuple

from commands import run_here
from forked import in_child, preload
from new_stores import copy_store, store_folder
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
LORE = Path(pylore.__file__).resolve().parent.parent / "lore.sh"

CONTEXT = ("context", "how do tokens expire", "--as", "prompt", "--budget", "8000")
TAKE_IN = (("import", "docs", ".lore/knowledge.jsonl", "--skip-bad"), ("index",))
HISTORY = ("index", "--cochanges")
JUDGE = (("search", "tokens", "--graph-depth", "1"), ("stale",), ("verify",))
COMMANDS = (
    *JUDGE,
    ("show", "decision-a"),
    ("related", "src/auth.py"),
    *TAKE_IN,
    CONTEXT,
    ("export",),
    ("doctor",),
)
"""Commands that a user runs in a fresh clone; the later commands print what was imported."""


class Done(NamedTuple):
    """The result of a command."""

    words: tuple[str, ...]
    code: int
    said: str


class Machine:
    """Three folders: ``home`` with secrets, ``ran`` for traces of programs, and ``clone``."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = base / "home"
        self.root = base / "clone"
        self.trap = base / "trap.sh"
        """Write a program that leaves a trace when it runs, for the clone's settings to name."""

    @classmethod
    def make(cls, base: Path) -> Machine:
        """A machine with an honest clone."""
        preload()
        machine = cls(base)
        (base / "ran").mkdir(parents=True)
        machine._relocate()
        for path in (
            ".ssh/id_rsa",
            ".bashrc",
            "notes/secret.md",
            "notes/secret.py",
            "notes/secret.jsonl",
            "notes/package.json",
            "notes/auth.py",
        ):
            file = machine.home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f'def {SECRET}_tokens():\n    return "{SECRET} of {path}"\n')
        machine._fill()
        return machine

    def copy(self, base: Path) -> Machine:
        """Return a copy of this machine."""
        shutil.copytree(self.base, base, symlinks=True, ignore=shutil.ignore_patterns("data"))
        machine = Machine(base)
        copy_store(self.base / "data", self.root, machine.root, base / "data")
        machine._relocate()
        return machine

    def _relocate(self) -> None:
        self.trap.write_text(f"#!/bin/sh\n: >'{self.base}/ran/'$$\ncat 2>/dev/null\n")
        self.trap.chmod(0o755)

    def _fill(self) -> None:
        repository = Repository(self.root)
        shutil.rmtree(self.root / ".git/hooks", ignore_errors=True)
        repository.write(".gitignore", "*.env\n.lore\n")
        repository.write("src/auth.py", "def check(token):\n    return bool(token)\n")
        repository.write("src/keys.py", "import auth\n\n\ndef sign():\n    auth.check('tokens')\n")
        repository.write("docs/a.md", "# Tokens expire\n\nSee [code](../src/auth.py).\n")
        repository.commit("Sign tokens")
        repository.write("src/keys.py", "import auth\n\n\ndef sign():\n    auth.check('token')\n")
        repository.commit("Mend tokens")
        (self.root / ".lore").mkdir()
        with pylore.open(self.folder, create=True, embedder="none") as lore:
            lore._open().store.project = str(self.root)
            lore.add("decision", "Sessions are tokens", id="decision-a", file="src/auth.py")
            lore.add("lesson", "Tokens expire", id="lesson-b", links=[("decision-a", "relates_to")])
        (self.root / ".lore/knowledge.jsonl").write_text(
            '{"id": "note-c", "type": "note", "title": "Tokens are short"}\n'
        )

    def write(self, path: str, text: str | bytes) -> Path:
        """A file of the clone."""
        file = self.clear(path)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def link(self, path: str, target: str) -> None:
        """Replace a path by a link; ``~/`` is the home with secrets."""
        self.clear(path).symlink_to(self.expand(target))

    def pipe(self, path: str) -> None:
        """Replace a path by a named pipe."""
        os.mkfifo(self.clear(path))

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

    def clear(self, path: str) -> Path:
        """Return the free path of a file; make the folder."""
        file = self.root / path
        if file.is_symlink() or file.is_file():
            file.unlink()
        elif file.is_dir():
            shutil.rmtree(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def expand(self, text: str) -> str:
        """A text with ``~`` for the planted home, RUN for the trap."""
        return text.replace("~", str(self.home)).replace("RUN", str(self.trap))

    def git(self, *words: str) -> str:
        """Run git as the author of the clone and return stdout."""
        return Repository(self.root).git(*words)

    def config(self, *pairs: str) -> None:
        """Write settings (``key=value``) to the clone's git config."""
        for pair in pairs:
            key, _, value = pair.partition("=")
            self.git("config", key, self.expand(value))

    def names_file(self, path: str) -> None:
        """Add a node to the store whose text is in a file."""
        at = "2026-01-01T00:00:00Z"
        node = Node(
            "file-b",
            "file",
            title="how do tokens expire",
            file=self.expand(path),
            created_at=at,
            updated_at=at,
        )
        with self.store() as store, store.transaction():
            store.nodes.put(node)
            Index(store).update([node])

    def anchor(self, **fields: str) -> None:
        """An anchor in the store, and the same in the export."""
        row = {
            "kind": "hash",
            "path": "gone.py",
            "hash": "0" * 32,
            **{name: self.expand(value) for name, value in fields.items()},
        }
        with self.store() as store, store.transaction():
            store.anchors.put(Anchor("decision-a", **row))
        row.pop("stamp", None)
        with (self.root / ".lore/knowledge.jsonl").open("a") as file:
            file.write(json.dumps({"anchor_of": "lesson-b", **row}) + "\n")

    def store(self) -> Store:
        """The store that the person has of the clone."""
        store = open_store(str(self.folder), busy_timeout=5)
        store.project = str(self.root)
        return store

    @property
    def folder(self) -> Path:
        """The folder of that store."""
        return store_folder(self.base / "data", self.root)

    def run(self, *commands: tuple[str, ...], silent: float = gitprocess.SILENT) -> list[Done]:
        """Run commands of lore in the clone in a single process; git may hang for ``silent``
        seconds.
        """
        done = in_child(lambda: self._run(commands, silent), BYTES, SECONDS)
        return [Done(words, *one) for words, one in zip(commands, done, strict=True)]

    def _run(self, commands: tuple[tuple[str, ...], ...], silent: float) -> list[tuple[int, str]]:
        os.chdir(self.root)
        variables = self.environment()
        os.environ.clear()
        os.environ.update(variables)
        os.environ.update(
            LORE_STORE=str(self.folder), LORE_STORE_SCOPE="project", LORE_PROJECT=str(self.root)
        )
        gitprocess.SILENT = silent  # type: ignore[assignment]
        done = map(run_here, commands)
        return [(one.code, one.out + one.err) for one in done]

    def run_whole(self, *words: str) -> Done:
        """Run commands through ``lore.sh``, as a user does."""
        done = subprocess.run(
            ["bash", LORE, *words],
            cwd=self.root,
            env=self.environment(),
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            errors="replace",
            check=False,
        )
        return Done(words, done.returncode, done.stdout)

    def environment(self) -> dict[str, str]:
        """Return the environment of the person who cloned."""
        folders = {
            f"XDG_{kind}_HOME": f"{self.base.parent}/xdg" for kind in ("CONFIG", "STATE", "CACHE")
        }
        folders["XDG_DATA_HOME"] = f"{self.base}/data"
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LORE_EMBEDDER": "none",
            "PASSWORD": SECRET,
            **folders,
        }

    def state(self) -> dict[str, tuple[object, ...]]:
        """Return kind, size, times and link target of every file outside ``.lore`` and store."""
        found: dict[str, tuple[object, ...]] = {}
        for folder, folders, files in os.walk(self.base):
            folders[:] = [name for name in folders if name not in (".lore", "data")]
            for name in (*folders, *files):
                path = os.path.join(folder, name)
                at = os.lstat(path)
                times = () if name in folders else (at.st_size, at.st_mtime_ns)
                leads = os.readlink(path) if os.path.islink(path) else ""
                found[path] = (at.st_mode, *times, leads)
        return found

    def leaked(self) -> list[str]:
        """The files of ``.lore`` and of the store that have a secret in them."""
        folder = self.root / ".lore"
        files = [*self.folder.iterdir(), *([] if folder.is_symlink() else folder.iterdir())]
        return [
            file.name
            for file in files
            if file.is_file() and not file.is_symlink() and SECRET.encode() in file.read_bytes()
        ]
