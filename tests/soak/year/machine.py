"""Somebody's machine: a home, clones, and lore's commands in processes of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any

from .clock import Clock

ROOT = Path(__file__).resolve().parents[3]
_LORE = str(ROOT / "lore.sh")
_VARIES = re.compile(r"'[^']*'|[a-z]+-[0-9a-f]{8}\b|\b[0-9a-f]{7,40}\b|[\d,.]*\d|(?<= )/?\S+/\S+")


class Journal:
    """Keep what commands took and said, of all machines, and each fault."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.faults: list[str] = []
        self.said: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._milliseconds: dict[str, list[float]] = defaultdict(list)

    def note(self, name: str, milliseconds: float, stderr: str) -> None:
        with self._lock:
            self.calls[name] += 1
            self._milliseconds[name].append(milliseconds)
            for line in stderr.splitlines():
                self.said[f"{name}: {_VARIES.sub('…', line)}"] += 1

    def fault(self, text: str) -> None:
        with self._lock:
            self.faults.append(text)
            print(text, file=sys.stderr, flush=True)

    def medians(self) -> dict[str, int]:
        """The processor's milliseconds of each command since this was asked last."""
        with self._lock:
            found = {name: round(median(took)) for name, took in self._milliseconds.items()}
            self._milliseconds.clear()
        return found


class Machine:
    """The home of one person; every command of it is looked at."""

    def __init__(self, home: Path, clock: Clock, journal: Journal) -> None:
        self.home = home
        self.clock = clock
        self.journal = journal
        (home / "bin").mkdir(parents=True)
        (home / "bin/lore").symlink_to(_LORE)

    @property
    def state(self) -> Path:
        return self.home / "state/lore"

    def environment(self) -> dict[str, str]:
        """Nothing of who runs this."""
        folders = {f"XDG_{kind}_HOME": str(self.home / kind.lower())
                   for kind in ("CONFIG", "DATA", "STATE", "CACHE")}  # fmt: skip
        person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                  for what, value in (("NAME", "n"), ("EMAIL", "n@example.org"))}  # fmt: skip
        return {
            "PATH": f"{self.home / 'bin'}:{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1",
            **folders, **person, **self.clock.environment,
        }  # fmt: skip

    def git(self, folder: Path, *words: str, data: bytes = b"") -> str:
        """Return what git prints.

        Raises:
            RuntimeError: it failed.
        """
        code, out, err, _ = self._run(["git", *words], folder, data, {})
        if code:
            raise RuntimeError(f"git {' '.join(words)}: {err}{out}")
        if err:
            self.journal.note("git " + words[0], 0, err)
        return out

    def lore(
        self, folder: Path, *words: str, data: str = "", name: str = "",
        codes: Sequence[int] = (0,), settings: Mapping[str, str] | None = None,
    ) -> str:  # fmt: skip
        """Return what a command prints; another exit code than these is a fault."""
        code, out, err, took = self._run([_LORE, *words], folder, data.encode(), settings or {})
        name = name or words[0]
        self.journal.note(name, took, err)
        if code not in codes:
            self.journal.fault(f"{self.clock.text()} lore {' '.join(words)}: {code}: {err.strip()}")
        return out

    def json(self, folder: Path, *words: str, empty: bool = False, **options: Any) -> Any:
        """Return what a command prints, parsed; nothing is a fault, unless it may be."""
        at = words.index("--") if "--" in words else len(words)
        out = self.lore(folder, *words[:at], "--json", *words[at:], **options)
        try:
            found = json.loads(out)
        except ValueError:
            self.journal.fault(f"lore {' '.join(words)}: no JSON: {out[:200]!r}")
            return {}
        if not found and not empty:
            self.journal.fault(f"{self.clock.text()} lore {' '.join(words)}: empty")
        return found

    def _run(
        self, words: list[str], folder: Path, data: bytes, more: Mapping[str, str]
    ) -> tuple[int, str, str, float]:
        """Exit code, stdout, stderr, and milliseconds of the processor, those of children too."""
        environment = {**self.environment(), **more}
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:  # fmt: skip
            given.write(data)
            given.seek(0)
            process = subprocess.Popen(
                words, cwd=folder, env=environment, stdin=given, stdout=out, stderr=err
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            took = 1000 * (used.ru_utime + used.ru_stime)
            return (process.returncode, out.read().decode("utf-8", "replace"),
                    err.read().decode("utf-8", "replace"), took)  # fmt: skip
