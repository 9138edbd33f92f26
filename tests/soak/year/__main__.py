"""Live the year month by month; exit 1 for a fault."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .clock import Clock, missing
from .machine import Journal, Machine
from .material import Text
from .project import DAY, Project

_MONTH = 30 * DAY
_NAMES = ("shop", "ledger", "mail", "atlas")
_UPGRADES = 3
_AT_ONCE = 5
_LEAST = 1 << 20  # bytes of state that may grow
_MOST = 1.3  # of the size in the middle of the year, in its last month


class Year:
    """A team's repositories on two machines, under the same clock."""

    def __init__(self, options: argparse.Namespace, root: Path) -> None:
        self._options = options
        self._root = root
        self.journal = Journal()
        self._clock = Clock(root, -options.months * _MONTH)
        here = Machine(root / "here", self._clock, self.journal)
        there = Machine(root / "there", self._clock, self.journal)
        text = Text.of_packages(*options.packages.split(","))
        self._here = here
        self._projects = [
            Project(name, seed, text, here, there, root)
            for seed, name in enumerate(_NAMES[: options.projects])
        ]

    def month(self, number: int) -> dict[str, Any]:
        """Live a month; return sizes in bytes and times in milliseconds at the end."""
        for _ in range(self._options.days):
            self._day()
        self._each(Project.month)
        if number % max(1, self._options.months // _UPGRADES) == 0:
            self._each(Project.upgrade)
        home = self._here.home
        return {
            "month": number,
            "records": sum(len(project.titles) for project in self._projects),
            "stores": _bytes(home / "data"),
            "state": _bytes(home / "state/lore"),
            "cache": _bytes(home / "cache/lore"),
            "milliseconds": self.journal.medians(),
        }

    def _day(self) -> None:
        options = self._options
        span = _MONTH // options.days
        self._clock.advance(span, self._root)
        days = options.months * options.days
        records, sessions = (
            -(-count // (days * options.projects)) for count in (options.records, options.sessions)
        )
        self._each(
            lambda one: one.day(records, sessions, -(-options.commits // days), span),
            lambda: self._here.lore(self._root, "capture", "--from", "claude"),
        )
        for project in self._projects:
            project.sessions.expire(time.time() - _MONTH)

    def _each(self, do: Callable[[Project], None], *beside: Callable[[], object]) -> None:
        """Run ``do`` for all projects, and more calls, in parallel."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            tasks: list[Future[object]] = [pool.submit(do, project) for project in self._projects]
            for task in (*tasks, *map(pool.submit, beside)):
                task.result()


def _bytes(folder: Path) -> int:
    return sum(
        os.lstat(os.path.join(place, name)).st_size
        for place, _, names in os.walk(folder)
        for name in names
    )


def faults(months: Sequence[dict[str, Any]]) -> list[str]:
    """Name the sizes that grow from the middle of the year on; stores count per record."""
    if len(months) < 6:
        return []
    middle, last = months[len(months) // 2], months[-1]
    found = []
    for name in ("stores", "state", "cache"):
        by = ("records", 0) if name == "stores" else ("one", _LEAST)
        before, after = (month[name] / month.get(by[0], 1) for month in (middle, last))
        if after > max(_MOST * before, by[1]):
            found.append(f"{name} grows beyond its bound: from {before:.0f} to {after:.0f}")
    return found


def run(options: argparse.Namespace, root: Path) -> int:
    """Print a line of JSON for each month, then messages and faults; return the exit code."""
    year = Year(options, root)
    months = []
    for number in range(1, options.months + 1):
        months.append(year.month(number))
        print(json.dumps(months[-1]), flush=True)
    found = [*year.journal.faults, *faults(months)]
    print(json.dumps({"faults": found, "messages": dict(year.journal.messages.most_common())}))
    return int(bool(found))


def main() -> int:
    parser = argparse.ArgumentParser()
    defaults = {"months": 12, "days": 3, "projects": 4}
    defaults |= {"records": 6000, "sessions": 2000, "commits": 400}
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--packages", default="email,http,logging,asyncio,unittest")
    options = parser.parse_args()
    if missing():
        print(missing(), file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="lore-year-") as root:
        return run(options, Path(root))


if __name__ == "__main__":
    sys.exit(main())
