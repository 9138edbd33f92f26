"""The year, month by month, in real processes; exit code 1 where something is wrong."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import growth
from .clock import Clock, missing
from .knowledge import Text
from .machine import Journal, Machine
from .project import Project
from .sizes import bytes_below, bytes_of_stores, rows

_DAY = 86_400
_MONTH = 30 * _DAY
_NAMES = ("shop", "ledger", "mail", "atlas")
_UPGRADES = 3
_AT_ONCE = 5


class Year:
    """A team's repositories on two machines, under one clock."""

    def __init__(self, options: argparse.Namespace, root: Path) -> None:
        self._options = options
        self._root = root
        self.journal = Journal()
        self._clock = Clock(root, -options.months * _MONTH)
        here, there = (Machine(root / name, self._clock, self.journal)
                       for name in ("here", "there"))  # fmt: skip
        text = Text.of_packages(*options.packages.split(","))
        self._here = here
        self._projects = [Project(name, seed, text, here, there, root)
                          for seed, name in enumerate(_NAMES[: options.projects])]  # fmt: skip
        self._began = time.monotonic()

    def month(self, number: int) -> dict[str, Any]:
        """One month, and how large everything is at its end."""
        for _ in range(self._options.days):
            self._day()
        self._each(Project.month)
        if number % max(1, self._options.months // _UPGRADES) == 0:
            self._each(Project.upgrade)
        data = self._here.home / "data"
        return {
            "month": number, "seconds": round(time.monotonic() - self._began),
            "records": sum(len(project.titles) for project in self._projects),
            "state": bytes_below(self._here.state), "stores": bytes_of_stores(data),
            "cache": bytes_below(self._here.home / "cache/lore"), "rows": rows(data),
            "milliseconds": self.journal.medians(),
        }  # fmt: skip

    def _day(self) -> None:
        options = self._options
        span = _MONTH // options.days
        self._clock.advance(span, self._root)
        days = options.months * options.days
        records, sessions = (-(-count // (days * options.projects))
                             for count in (options.records, options.sessions))  # fmt: skip
        self._each(lambda one: one.day(records, sessions, -(-options.commits // days), span),
                   lambda: self._here.lore(self._root, "capture", "--from", "claude"))  # fmt: skip
        for project in self._projects:
            project.sessions.expire(time.time() - _MONTH)

    def _each(self, do: Callable[[Project], None], *beside: Callable[[], object]) -> None:
        """All projects at a time, and something beside them."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            tasks: list[Future[object]] = [pool.submit(do, project) for project in self._projects]
            for task in (*tasks, *map(pool.submit, beside)):
                task.result()


def run(options: argparse.Namespace, root: Path) -> int:
    """Prints a line of JSON a month, then what was said and what was wrong; the exit code."""
    year = Year(options, root)
    months = []
    for number in range(1, options.months + 1):
        months.append(year.month(number))
        print(json.dumps(months[-1]), flush=True)
    faults = [*year.journal.faults, *growth.faults(months)]
    print(json.dumps({"faults": faults, "said": dict(year.journal.said.most_common()),
                      "calls": dict(year.journal.calls)}))  # fmt: skip
    print(growth.table(months))
    return int(bool(faults))


def main() -> int:
    parser = argparse.ArgumentParser()
    for name, value in (("months", 12), ("days", 3), ("projects", 4), ("records", 6000),
                        ("sessions", 2000), ("commits", 400)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--packages", default="email,http,logging,asyncio,unittest")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if missing():
        print(missing(), file=sys.stderr)
        return 0
    if options.keep:
        options.keep.mkdir(parents=True)
        return run(options, options.keep)
    with tempfile.TemporaryDirectory(prefix="lore-year-") as root:
        return run(options, Path(root))


if __name__ == "__main__":
    sys.exit(main())
