"""How long a sync with a hub takes: whole processes, over a socket and from far away."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import postgres
from places import CACHE, LORE, BenchmarkError
from report import Row, as_json, as_table, at_most
from scale_material import Text
from tcp_proxy import Proxy

AWAY = 0.05
"""Seconds that each way takes longer: a round trip takes twice that."""

CHANGES = 100
_EARLY, _LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def main() -> int:
    """Prints the rows; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="hub.sh", add_help=False)
    parser.add_argument("--size", type=int, default=100_000)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--text", action="store_true")
    options = parser.parse_args()
    if postgres.missing():
        print(f"lore: {postgres.missing()}", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="lore-bench-hub-"))
    server = postgres.a_server({})  # as a hub is run: it syncs to the disk
    try:
        with Proxy(server.port, delay=AWAY) as proxy:
            rows = [*measured(folder, server, proxy, options.size)]
    finally:
        server.remove()
        shutil.rmtree(folder)
    as_text = options.text or (sys.stdout.isatty() and not options.json)
    sys.stdout.write(as_table(rows) if as_text else as_json(rows))
    return int(any(row.ok is False for row in rows))


def measured(
    folder: Path, server: postgres.Server, proxy: Proxy, size: int
) -> Iterator[Row]:  # fmt: skip
    """First send, fresh clone, and a few changes, from near and from far."""
    first = Person(folder / "first", server.url())
    first.lore("hub", "init", server.url())
    first.lore("import", str(lines(folder / "all.jsonl", size, "", _EARLY)))
    yield Row(f"first sync, {size:,} records and as many links", first.sync(), "s")
    clone = Person(folder / "clone", server.url())
    yield at_most(f"fresh clone, {size:,} records and as many links", clone.sync(), "s", 60)
    far = Person(folder / "far", server.url(port=proxy.port))
    shutil.copytree(clone.store, far.store, dirs_exist_ok=True)
    yield at_most("nothing to do", clone.sync(), "s", 1)
    for number in range(3):
        changes = lines(folder / f"{number}.jsonl", CHANGES, f"changed {number}",
                        _LATE.replace("00Z", f"{number:02}Z"))  # fmt: skip
        first.lore("import", str(changes))
        yield at_most(f"{CHANGES} changes sent", first.sync(), "s", 1)
        yield at_most(f"{CHANGES} changes read", clone.sync(), "s", 1)
        before = proxy.turns
        name = f"{CHANGES} changes read, {AWAY * 1000:g} ms added each way"
        yield at_most(name, far.sync(), "s", 2)
        yield Row("round trips of that, connecting too", proxy.turns - before, "")
    far.lore("import", str(lines(folder / "x.jsonl", CHANGES, "x", _LATE.replace("00Z", "30Z"))))
    name = f"{CHANGES} changes sent, {AWAY * 1000:g} ms added each way"
    yield at_most(name, far.sync(), "s", 2)


class Person:
    """A home with a store, and the hub as ``team``."""

    def __init__(self, folder: Path, url: str) -> None:
        self.store = folder / "store"
        path = os.environ.get("PATH", os.defpath)
        self._environment = {"PATH": path, "HOME": str(folder), "LORE_DIR": str(self.store)}
        folder.mkdir()
        self.lore("init")
        self.lore("hub", "add", "team", url)

    def sync(self) -> float:
        """Seconds that a sync takes."""
        start = perf_counter()
        self.lore("sync", "team")
        return perf_counter() - start

    def lore(self, *words: str) -> Any:
        done = subprocess.run(
            [LORE, *words], env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise BenchmarkError(f"lore {words[0]} failed: {done.stderr.strip()}")
        return json.loads(done.stdout)


def lines(path: Path, count: int, word: str, at: str) -> Path:
    """A file of so many records of real words, each with a link to another one."""
    CACHE.mkdir(exist_ok=True)
    words = [word for topic in Text.of_library(CACHE).topics for word in topic]
    with path.open("w") as file:
        for number in range(count):
            start = number * 97 % (len(words) - 200)
            text = words[start : start + 100]
            row = {"id": f"note-{number}", "title": " ".join([*text[:6], word]).strip(),
                   "body": " ".join(text), "created_at": _EARLY, "updated_at": at}  # fmt: skip
            file.write(json.dumps(row) + "\n")
        for number in range(count if not word else 0):
            other = (number * 7919 + 1) % count
            if other != number:
                row = {"from_id": f"note-{number}", "to_id": f"note-{other}",
                       "relation": "relates_to", "created_at": _EARLY}  # fmt: skip
                file.write(json.dumps(row) + "\n")
    return path


if __name__ == "__main__":
    sys.exit(main())
