"""Run commands of lore in the process of the test, isolated like separate processes."""

from __future__ import annotations

import copy
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest
from homes import move_home
from new_stores import new_store
from repositories import GIT_VARIABLES

from pylore import cli
from pylore.cli import hooks
from pylore.cli.command import Command
from pylore.cli.main import run
from pylore.system.config import find_store
from pylore.system.stores import claim
from pylore.terminal import screen


def every_command() -> list[Command]:
    """Return all commands and verbs."""
    found = (one for name in (*cli.names(), "merge-file") for one in cli.commands_of(name).values())
    return [one for one in found if isinstance(one, Command)]


@dataclass(frozen=True)
class Done:
    """The result of a command: exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON on stdout."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[Any]:
        """The JSON lines on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def lines(self) -> list[str]:
        """The lines on stdout."""
        return self.out.splitlines()

    @property
    def notes(self) -> list[str]:
        """The lines on stderr, without their ``lore: ``."""
        return [line.removeprefix("lore: ") for line in self.err.splitlines()]


class Lore:
    """The command ``lore`` in a temporary home and project, without vectors.

    ``lore("add", "note", "text")`` runs a command in the working directory.
    """

    _folder: Path | None = None

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.home = root / "home of a user"
        self.project = root / "a project"
        self.patch = patch
        self.home.mkdir(parents=True)
        self.project.mkdir()
        move_home(patch, self.home)
        for name in ("EDITOR", "VISUAL"):
            patch.delenv(name, raising=False)
        variables = {"NO_COLOR": "1", "PAGER": "cat", "LORE_EMBEDDER": "none", **GIT_VARIABLES}
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(hooks, "end_in_time", lambda *_: None)
        patch.setattr(screen, "LINE_AFTER", 10_000.0)
        patch.setattr(os, "_exit", _Exit(os._exit))
        for name in ("execv", "execve"):
            patch.setattr(os, name, _in_children(getattr(os, name)))
        patch.chdir(self.project)

    @property
    def store(self) -> Path:
        """The folder of the project's store."""
        environ = dict(os.environ)
        find_store(environ, str(self.project))
        return Path(environ["LORE_STORE"])

    @property
    def config(self) -> Path:
        """The user's config file, whose folder exists."""
        file = self.home / "config" / "lore" / "config"
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def make_store(self) -> None:
        """Make an empty store for the project."""
        (self.project / ".lore").mkdir(exist_ok=True)
        new_store(claim(str(self.project))).close()

    def at(self, folder: Path) -> Lore:
        """Return a runner for a second folder with a store."""
        other = copy.copy(self)
        other.project = other._folder = folder
        if not (folder / ".lore").exists():
            folder.mkdir(parents=True, exist_ok=True)
            other.make_store()
        return other

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def git(self, *words: str, code: int = 0) -> str:
        """Run git in the project and return stdout and stderr."""
        done = subprocess.run(
            ["git", *words], cwd=self.project, stdout=-1, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == code, f"git {' '.join(words)}: {done.stdout}"
        return done.stdout.strip()

    def forbid_writes(self) -> None:
        """Open the store read-only, as a user without write permission would."""
        access = os.access
        self.patch.setattr(
            os, "access", lambda path, mode, **_: mode != os.W_OK and access(path, mode)
        )

    def __call__(
        self, *words: str, stdin: str | bytes = "", code: int = 0, terminal: bool = False
    ) -> Done:
        """Run a command that ends with this exit code.

        Args:
            terminal: as if stdout were a terminal.
        """
        done = self.run(words, stdin, terminal=terminal)
        assert done.code == code, f"lore {' '.join(words)}: {done}"
        return done

    def id(self, *words: str, stdin: str | bytes = "") -> str:
        """Return the id that a command prints with ``--ids``."""
        return self(*words, "--ids", stdin=stdin).out.strip()

    def refuse(self, *words: str, stdin: str | bytes = "", code: int = 2) -> str:
        """Return the error line, without ``lore: ``, of a command that fails without output."""
        done = self(*words, stdin=stdin, code=code)
        assert not done.out and done.err.count("\n") == 1 and done.err.startswith("lore: "), done
        return done.notes[0]

    def refuse_each(self, table: str) -> None:
        """Refuse each command of a table: ``words | exit code | part of the message`` a line."""
        for line in table.strip().splitlines():
            words, code, part = (cell.strip() for cell in line.split(" | "))
            refused = self.refuse(*shlex.split(words), code=int(code))
            assert part in refused, f"lore {words}: {refused}"

    def print_each(self, table: str) -> None:
        """Print the ids beside each command of a table: ``words | ids`` a line."""
        for line in table.strip().splitlines():
            words, _, ids = line.partition(" |")
            printed = self(*shlex.split(words), "--ids").out
            assert printed.split() == ids.split(), f"lore {words}: {printed}"

    def fill(self, *rows: Mapping[str, Any]) -> None:
        """Import records and edges, given as the lines of a JSON Lines file."""
        self("import", "-", "-q", stdin="".join(f"{json.dumps(row)}\n" for row in rows))

    def sql(self, *statements: str) -> None:
        """Run statements on the database of the store."""
        connection = apsw.Connection(str(self.store / "search.db"))
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def program(self, path: str | Path, *lines: str) -> Path:
        """Write an executable script, by default of sh, at a path below the test's root."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        first = () if lines[0].startswith("#!") else ("#!/bin/sh",)
        file.write_text("".join(f"{line}\n" for line in (*first, *lines)))
        file.chmod(0o700)
        return file

    def run(self, words: Sequence[str], stdin: str | bytes = "", *, terminal: bool = False) -> Done:
        """Run a command and ignore the exit code."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        folder = os.open(".", os.O_RDONLY)
        os.chdir(self._folder or folder)
        try:
            return run_here(words, data, terminal=terminal)
        finally:
            os.fchdir(folder)  # which may be deleted
            os.close(folder)


def run_here(words: Sequence[str], stdin: bytes = b"", *, terminal: bool = False) -> Done:
    """Run a command in this process and the working directory; restore the environment."""
    streams, before = (sys.stdin, sys.stdout, sys.stderr), os.environ.copy()
    given, out, err = (_Stream(io.BytesIO(one)) for one in (stdin, b"", b""))
    given.is_terminal = out.is_terminal = err.is_terminal = terminal
    sys.stdin, sys.stdout, sys.stderr = given, out, err
    try:
        code = run([*words])
    except _Exited as exited:
        code = exited.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        for name in [name for name in os.environ if name not in before]:
            del os.environ[name]
        os.environ.update(
            {name: text for name, text in before.items() if os.environ.get(name) != text}
        )
    return Done(code, out.text(), err.text())


class _Exited(BaseException):
    """Raised where a command would end the process."""

    def __init__(self, code: int) -> None:
        self.code = code


class _Exit:
    """``os._exit``, which raises ``_Exited`` in the process of the test."""

    def __init__(self, leave: Callable[[int], object]) -> None:
        self._leave = leave
        self._process = os.getpid()

    def __call__(self, code: int) -> None:
        if os.getpid() != self._process:
            self._leave(code)
        raise _Exited(code)


def _in_children(replace: Callable[..., object]) -> Callable[..., object]:
    """Return a function of ``os`` that raises instead of replacing the process."""
    process = os.getpid()

    def replace_child(*words: object) -> object:
        assert os.getpid() != process, f"{words[0]} replaces the process of the test"
        return replace(*words)

    return replace_child


class _Stream(io.TextIOWrapper):
    """A stream in memory that can pretend to be a terminal."""

    is_terminal = False

    def __init__(self, kept: io.BytesIO) -> None:
        super().__init__(kept, encoding="utf-8", errors="surrogateescape", newline="\n")
        self._kept = kept

    def isatty(self) -> bool:
        return self.is_terminal

    def text(self) -> str:
        self.flush()
        return self._kept.getvalue().decode(errors="replace")
