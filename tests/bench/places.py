"""Paths of benchmarks, and calls of lore."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".bench"
LORE = str(ROOT / "lore.sh")
PYTHON = str(ROOT / ".venv" / "bin" / "python")
FLOOR = [PYTHON, "-I", "-c", "import apsw"]


class BenchmarkError(Exception):
    """A measured command failed."""


def environment(store: Path) -> dict[str, str]:
    """Return a process environment with this store and without user settings."""
    home = CACHE / "home"
    home.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(home), "LORE_DIR": str(store)}


def call(store: Path, *words: str, folder: Path | None = None, **settings: str) -> str:
    """Return the output of a command, run in ``folder``; raise BenchmarkError if it fails."""
    store.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [LORE, *words],
        cwd=folder,
        env={**environment(store), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchmarkError(f"lore {words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON lines file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def percentile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 100) * len(ordered) // 100) - 1)]
