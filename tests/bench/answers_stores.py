"""Stores of repositories at a commit, with their code, history and documents."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from places import BenchmarkError, call

from pylore.app import Engine
from pylore.core.settings import Settings
from pylore.store import open_store

DOCUMENTS = ("docs", "doc", "README*", "CHANGES*", "CHANGELOG*")


class NoCloneError(BenchmarkError):
    """A repository without a clone, or without the commit."""


class Stores:
    """Stores in a folder, created on first use, and their engines.

    A name is a kind and a repository: ``p-click`` has click with pages of documentation,
    ``q-click`` all documents, ``c-click`` none.
    """

    def __init__(self, clones: Path, folder: Path, settings: Settings) -> None:
        self.clones = clones
        self.folder = folder
        self.settings = settings
        self.engines: dict[str, Engine] = {}

    def of_repositories(self, kind: str, commits: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Yield repositories with the names of their stores; report those without a clone.

        Raises:
            BenchmarkError: none has a clone.
        """
        left_out = 0
        for repository, commit in commits.items():
            name = f"{kind}-{repository}"
            try:
                self.make(name, commit)
            except NoCloneError as error:
                sys.stderr.write(f"bench: {repository} is left out: {error}\n")
                left_out += 1
                continue
            yield repository, name
        if left_out == len(commits):
            raise BenchmarkError(f"{self.clones} has no clone of {', '.join(commits)}")

    def make(self, name: str, commit: str) -> None:
        """Make a store unless it exists."""
        store = self.folder / "stores" / name
        if not (store / "done").exists():
            clone = self._clone(name, commit)
            sys.stderr.write(f"bench: making {name} …\n")
            shutil.rmtree(store, ignore_errors=True)
            call(store, "init", folder=clone)
            call(store, "index", folder=clone)
            if documents := _documents(name[0], clone):
                call(store, "import", *documents, folder=clone)
            (store / "done").touch()

    def engine(self, name: str) -> Engine:
        """Return the engine of an existing store."""
        if name not in self.engines:
            root = self.folder / "clones" / name
            self.engines[name] = self.opened(self.folder / "stores" / name, root)
        return self.engines[name]

    def with_records(
        self, name: str, records: Iterable[dict[str, Any]], place: Path
    ) -> tuple[Engine, Engine]:
        """Return engines of a copy of a store with these records, and of only the records."""
        clone = self.folder / "clones" / name
        rows = place / "records.jsonl"
        fields = ("id", "type", "title", "body")
        rows.write_text(
            "".join(json.dumps({key: row[key] for key in fields}) + "\n" for row in records),
            "utf-8",
        )
        shutil.copytree(self.folder / "stores" / name, place / "mixed")
        call(place / "alone", "init", folder=clone)
        for store in ("mixed", "alone"):
            call(place / store, "import", str(rows), folder=clone)
        return self.opened(place / "mixed", clone), self.opened(place / "alone", clone)

    def opened(self, store: Path, root: Path) -> Engine:
        """Return a new engine of a store."""
        return Engine(open_store(str(store)), self.settings, str(root))

    def _clone(self, name: str, commit: str) -> Path:
        source, target = self.clones / name[2:], self.folder / "clones" / name
        shutil.rmtree(target, ignore_errors=True)
        git = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(source), str(target)]
        checkout = ["git", "-C", str(target), "checkout", "--quiet", "--detach", commit]
        for words in (git, checkout):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NoCloneError(done.stderr.strip())
        return target


def _documents(kind: str, clone: Path) -> list[str]:
    found = [path.name for pattern in DOCUMENTS for path in sorted(clone.glob(pattern))]
    return {"p": found, "q": ["."]}.get(kind, [])
