"""The ledger of speed: ``bench/history.jsonl``, a line a run, the newest last.

A line says what was run (``bench``), at which commit, whether the work tree was another
one (``dirty``), on which day, on what machine, under which load when it began, and each
ratio by its name. Ratios are to a floor of the same run: they can be held against each
other over time on one kind of machine, and with care between two. Times in ms cannot, so
they are not kept; nor is anything that names a person or a computer.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from places import ROOT

HISTORY = ROOT / "bench" / "history.jsonl"


def keep(bench: str, ratios: Mapping[str, float | None], history: Path = HISTORY) -> None:
    """Adds a line for this run; what has no ratio is left out, and a run without any."""
    kept = {name: round(ratio, 3) for name, ratio in ratios.items() if ratio is not None}
    if not kept:
        return
    line = {
        "bench": bench,
        "commit": _commit,
        "dirty": _dirty,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": machine(),
        "load": _load,
        "ratios": kept,
    }
    history.parent.mkdir(exist_ok=True)
    with history.open("a", encoding="utf-8", newline="\n") as lines:
        lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stderr.write(f"bench: {len(kept)} ratios are in {history.relative_to(ROOT)}\n")


def machine() -> str:
    """The kind of machine: processor, how many, system, Python. Never its name."""
    count = os.cpu_count()
    return (
        f"{_processor()} x {count}, {platform.system()} {platform.machine()},"
        f" Python {platform.python_version()}"
    )


def _processor() -> str:
    if sys.platform == "darwin":
        return _said("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _git(*words: str) -> str:
    return _said("git", "-C", str(ROOT), *words)


def _said(*words: str) -> str:
    """What a program prints; nothing where it fails, as git does in a source archive."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# As the run began: somebody may commit while it goes on, and it adds to the load itself.
_commit = _git("rev-parse", "--short=12", "HEAD")
_dirty = bool(_git("status", "--porcelain", "--untracked-files=no"))
_load = round(os.getloadavg()[0], 1)
