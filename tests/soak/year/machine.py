"""A machine of the team: a home folder and commands in real processes."""

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

from repositories import GIT_VARIABLES

from .clock import Clock

ROOT = Path(__file__).resolve().parents[3]
_LORE = str(ROOT / "lore.sh")
_VARIES = re.compile(r"'[^']*'|[a-z]+-[0-9a-f]{8}\b|\b[0-9a-f]{7,40}\b|[\d,.]*\d|(?<= )/?\S+/\S+")


class Journal:
    """The times and messages of commands on all machines, and the faults."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.faults: list[str] = []
        self.messages: Counter[str] = Counter()
        self._milliseconds: dict[str, list[float]] = defaultdict(list)

    def note(self, name: str, milliseconds: float, stderr: str) -> None:
        with self._lock:
            self._milliseconds[name].append(milliseconds)
            for line in stderr.splitlines():
                self.messages[f"{name}: {_VARIES.sub('…', line)}"] += 1

    def fault(self, text: str) -> None:
        with self._lock:
            self.faults.append(text)
            print(text, file=sys.stderr, flush=True)

    def medians(self) -> dict[str, int]:
        """Return the CPU milliseconds of each command since the last call."""
        with self._lock:
            found = {name: round(median(took)) for name, took in self._milliseconds.items()}
            self._milliseconds.clear()
        return found


class Machine:
    """The home of a person."""

    def __init__(self, home: Path, clock: Clock, journal: Journal) -> None:
        self.home, self.clock, self._journal = home, clock, journal
        (home / "bin").mkdir(parents=True)
        (home / "bin/lore").symlink_to(_LORE)

    def fault(self, text: str) -> None:
        self._journal.fault(f"{self.clock.text()} {text}")

    def git(self, folder: Path, *words: str, data: bytes = b"") -> str:
        """Return the output of git; raise RuntimeError if it failed."""
        code, out, err, _ = self._run(["git", *words], folder, data, {})
        if code:
            raise RuntimeError(f"git {' '.join(words)}: {err}{out}")
        return out

    def lore(
        self,
        folder: Path,
        *words: str,
        data: str = "",
        name: str = "",
        codes: Sequence[int] = (0,),
        settings: Mapping[str, str] | None = None,
    ) -> str:
        """Return the output of a command; an exit code not in ``codes`` is a fault."""
        code, out, err, took = self._run([_LORE, *words], folder, data.encode(), settings or {})
        self._journal.note(name or words[0], took, err)
        if code not in codes:
            self.fault(f"lore {' '.join(words)}: {code}: {err.strip()}")
        return out

    def json(self, folder: Path, *words: str, empty: bool = False, **options: Any) -> Any:
        """Return the parsed output of a command; unless it may be ``empty``, that is a fault."""
        at = words.index("--") if "--" in words else len(words)
        out = self.lore(folder, *words[:at], "--json", *words[at:], **options)
        try:
            found = json.loads(out)
        except ValueError:
            found = {}
        if not found and not empty:
            self.fault(f"lore {' '.join(words)}: no results: {out[:200]!r}")
        return found

    def _environment(self) -> dict[str, str]:
        kinds = ("CONFIG", "DATA", "STATE", "CACHE")
        return {
            **GIT_VARIABLES,
            "PATH": f"{self.home / 'bin'}:{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            **{f"XDG_{kind}_HOME": str(self.home / kind.lower()) for kind in kinds},
            **self.clock.environment,
        }

    def _run(
        self, words: list[str], folder: Path, data: bytes, more: Mapping[str, str]
    ) -> tuple[int, str, str, float]:
        """Return exit code, stdout, stderr, and CPU milliseconds with those of children."""
        file, environ = tempfile.TemporaryFile, {**self._environment(), **more}
        with file() as given, file() as out, file() as err:
            given.write(data)
            given.seek(0)
            process = subprocess.Popen(
                words, cwd=folder, env=environ, stdin=given, stdout=out, stderr=err
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for said in (out, err):
                said.seek(0)
                texts.append(said.read().decode("utf-8", "replace"))
            return process.returncode, *texts, 1000 * (used.ru_utime + used.ru_stime)  # type: ignore[return-value]
