"""How long co-changes take, against ``git log --name-status`` alone."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from places import CACHE, ROOT, BenchmarkError, environment, lore
from report import Row, at_most

COMMITS = 15_000
FILES = 1_200
MOST = 2.0
_ROUNDS = 5


def cochange_rows(say: Callable[[str], None]) -> Iterator[Row]:
    """On the repository that LORE_BENCH_REPOSITORY names, or else on one made for this."""
    given = os.environ.get("LORE_BENCH_REPOSITORY")
    repository = Path(given) if given else CACHE / "history"
    if not given and not (repository / "done").exists():
        say("writing a history")
        _write_history(repository)
    say("analysing co-changes")
    work = CACHE / "analysed"
    shutil.rmtree(work, ignore_errors=True)
    _git(CACHE, "clone", "-q", "--no-checkout", "--shared", str(repository), str(work))
    _index_names(work)
    floors, first, again = [], [], []
    for number in range(_ROUNDS):
        floors.append(_timed(lambda: _git(work, "log", "--name-status")))
        (first if number % 2 == 0 else again).append(_timed(lambda: _analyze(work)))
        if number % 2:
            _index_names(work)
    found = json.loads(_analyze(work))
    yield Row("cochanges: commits that are not merges", found["commits"], "commits")
    yield Row("cochanges: edges", found["edges"], "edges")
    yield Row("git log --name-status alone", round(median(floors) * 1000), "ms")
    yield at_most("cochanges: first analysis", median(first) / median(floors), "x git log", MOST)
    yield at_most("cochanges: nothing new", median(again) / median(floors), "x git log", MOST)


def _index_names(work: Path) -> None:
    """A new store with the files' nodes, as an index of the code leaves it."""
    store = work / ".lore"
    shutil.rmtree(store, ignore_errors=True)
    lore(store, "init")
    listed = subprocess.run(
        ["git", "ls-tree", "-rz", "--name-only", "HEAD"], cwd=work, capture_output=True, check=True
    ).stdout.decode()
    lines = store / "files.jsonl"
    with lines.open("w") as out:
        for path in filter(None, listed.split("\0")):
            node = {"id": f"file-{path}", "type": "file", "title": path, "file": path}
            out.write(json.dumps(node) + "\n")
    lore(store, "import", str(lines), "--skip-bad", "--embedder", "none")


def _analyze(work: Path) -> str:
    done = subprocess.run(
        [str(ROOT / "lore.sh"), "graph", "analyze-cochanges"], cwd=work, capture_output=True,
        text=True, check=False, env=environment(work / ".lore"),
    )  # fmt: skip
    if done.returncode:
        raise BenchmarkError(f"analyze-cochanges failed: {done.stderr.strip()}")
    return done.stdout


def _timed(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def _git(folder: Path, *words: str) -> None:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"git {words[0]} failed in {folder}")


def _write_history(folder: Path) -> None:
    """Commits of 1 to 8 files that belong together, now and then a rename: the same each time."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    done = subprocess.run(
        ["git", "-C", str(folder), "fast-import", "--quiet"], input=_commands().encode(),
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise BenchmarkError("git fast-import failed")
    subprocess.run(["git", "-C", str(folder), "gc", "-q"], check=True)
    (folder / "done").touch()


def _commands() -> str:
    chance = random.Random(1)
    names = [f"src/part{number % 40}/file{number}.py" for number in range(FILES)]
    texts = dict.fromkeys(names, "")
    lines = []
    for number in range(COMMITS):
        lines.append(f"commit refs/heads/main\ncommitter n <n@example.org> {1_600_000_000 + number}"
                     f" +0000\ndata 6\nchange")  # fmt: skip
        start = chance.randrange(FILES)
        count = min(8, 1 + int(chance.expovariate(0.5)))
        for index in {(start + 40 * step) % FILES for step in range(count)}:
            name = names[index]
            if number % 50 == 0 and texts[name]:
                names[index] = f"src/moved{number}/file{index}.py"
                lines.append(f"R {name} {names[index]}")
                texts[names[index]] = texts.pop(name)
                name = names[index]
            texts[name] = (texts[name] + f"line {number}\n" * 8)[-1500:]
            lines.append(f"M 644 inline {name}\ndata {len(texts[name])}\n{texts[name]}")
    return "\n".join(lines) + "\n"
