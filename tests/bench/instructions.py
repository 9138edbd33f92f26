"""Instructions of some commands, which no other program's noise touches: see instructions.sh."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from random import Random

from checkouts import WORK_TREE, Checkout, checkouts, write_data
from new_words import with_new_words
from places import CACHE, ROOT, BenchmarkError
from scale_material import Text

LEDGER = ROOT / "bench" / "instructions.json"
CHANGES = ROOT / "CHANGELOG.md"
MOST_GROWTH = 3.0
"""Per cent that a command may grow by without a word of it in the changelog."""
_NODES, _EDGES_EACH = 500, 10
_IMPORTED = "import of 1,000"
_PACKAGES = ("asyncio", "email", "http", "importlib", "json", "logging", "unittest")
_QUESTION = "return the headers of a message"

Counts = dict[str, int]


@dataclass
class Base:
    """Reference counts, their source, and the changelog of that commit."""

    counts: Counts
    where: str
    changelog: str


def main() -> int:
    """Count, and print, check, or store."""
    options = _options()
    if not shutil.which("valgrind"):
        sys.stderr.write("lore: bench: instructions: skipped: valgrind is not installed\n")
        return 0
    try:
        counts, base = _count(options.base)
    except BenchmarkError as error:
        sys.stderr.write(f"lore: bench: {error}\n")
        return 1
    sys.stdout.write(_table(counts, base))
    if options.keep:
        _keep(counts)
    if not options.check or base is None:
        return 0
    excused = excuses(CHANGES.read_text(encoding="utf-8"), base.changelog)
    faults = faults_of(counts, base.counts, excused)
    sys.stderr.write("".join(f"lore: bench: instructions: {fault}\n" for fault in faults))
    return 1 if faults else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="instructions.sh", add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--base")
    return parser.parse_args()


def commands(id: str, other: str, imported: Path) -> dict[str, list[str]]:
    """Return the commands, with a question that the store knows: unknown questions are stored,
    which costs more.
    """
    asked = _QUESTION
    return {
        "search, depth 0": ["search", asked],
        "search, depth 2": ["search", asked, "--graph-depth", "2"],
        "related": ["related", id],
        "show": ["show", other],
        "context": ["context", asked, "--budget", "4000"],
        "list": ["list", "-n", "20"],
        "add": ["add", "note", with_new_words("What came of it", Random(2))],
        _IMPORTED: ["import", str(imported)],
        "--version": ["--version"],
    }


def _count(base: str | None) -> tuple[Counts, Base | None]:
    """Return the counts of this checkout, and the reference. A count is of a single process: hash
    seeds change only the fourth digit. The ledger holds for the interpreter and libraries that
    wrote it; on other machines the commit that last wrote the ledger is counted as well."""
    ledger = json.loads(LEDGER.read_text(encoding="utf-8")) if LEDGER.exists() else {}
    written = _git("log", "-1", "--format=%H", "--", str(LEDGER))
    here = ledger.get("made_with") == made_with()
    if base is None and here and written:
        with checkouts(WORK_TREE) as (own,):
            return _counts_of(own), Base(ledger["counts"], _ledger_name(), _changes(written))
    base = base or written
    if not base:
        with checkouts(WORK_TREE) as (own,):
            return _counts_of(own), None
    with checkouts(base, WORK_TREE) as (before, own):
        return _counts_of(own), Base(_counts_of(before), before.name, _changes(base))


def _counts_of(checkout: Checkout) -> Counts:
    data, thousand, text = CACHE / "instructions", CACHE / "thousand", Text.of_packages(*_PACKAGES)
    ids = write_data(data, text, _NODES, _EDGES_EACH)
    write_data(thousand, text, 1000, _EDGES_EACH)
    kept = checkout.store / "search.db"
    empty, filled = (checkout.store.with_name(name) for name in ("empty.db", "filled.db"))
    checkout.call("init")
    shutil.copyfile(kept, empty)
    checkout.fill(data)
    shutil.copyfile(kept, filled)
    found: Counts = {}
    for name, words in commands(ids[0], ids[1], thousand / "nodes.jsonl").items():
        sys.stderr.write(f"bench: {checkout.name}: instructions of {name} …\n")
        for count in (False, True):  # the first run may compile modules
            for file in checkout.store.iterdir():
                file.unlink()
            shutil.copyfile(empty if name == _IMPORTED else filled, kept)
            if count:
                found[name] = instructions_of(checkout, words)
            else:
                checkout.call(*words)
    return found


def instructions_of(checkout: Checkout, words: list[str]) -> int:
    """Return all instructions of a command, including the shell before Python.

    A process prints no summary on exec, so the dump is requested before.
    """
    dumps = checkout.store.with_name("dumps")
    shutil.rmtree(dumps, ignore_errors=True)
    dumps.mkdir()
    valgrind = [
        str(shutil.which("valgrind")),
        "--tool=callgrind",
        "--trace-children=yes",
        "--dump-before=execve",
        f"--callgrind-out-file={dumps}/%p",
    ]
    done = subprocess.run(
        [*valgrind, *checkout.command(*words)],
        env=checkout.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchmarkError(f"{checkout.name}: valgrind: {done.stderr.strip()[-500:]}")
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in dumps.iterdir()]
    found = [int(n) for text in texts for n in re.findall(r"^summary: (\d+)", text, re.MULTILINE)]
    if not found:
        raise BenchmarkError(f"{checkout.name}: valgrind has counted nothing")
    return sum(found)


def made_with() -> dict[str, str]:
    """Return the versions that counts depend on."""
    import apsw

    return {
        "python": " ".join(sys.version.split()),
        "apsw": apsw.apsw_version(),
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
        "shell": os.path.realpath("/bin/sh"),
        "valgrind": _version("valgrind"),
    }


def _version(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.partition("\n")[0]


def excuses(changelog: str, before: str) -> dict[str, float]:
    """Command to the growth, in per cent, that lines say of it which ``before`` has not.

    >>> excuses("- Rows are checked: instructions of `search, depth 2` +8 %.", "")
    {'search, depth 2': 8.0}
    """
    old = set(before.splitlines())
    new = " ".join(line.strip() for line in changelog.splitlines() if line not in old)
    found = re.findall(r"instructions of `([^`]+)` \+(\d+(?:\.\d+)?) ?%", new)
    return {name: float(growth) for name, growth in found}


def faults_of(counts: Counts, base: Counts, excused: dict[str, float]) -> list[str]:
    """Return the growths over the limit, a line each."""
    found = []
    for name, count in counts.items():
        if name not in base:
            continue
        growth = round((count / base[name] - 1) * 100, 2)
        if growth > max(MOST_GROWTH, excused.get(name, 0.0)):
            found.append(
                f"{name}: {growth:.1f} % more than before: make it cheaper, or name it in a line"
                f" of CHANGELOG.md: instructions of `{name}` +{ceil(growth)} %"
            )
    return found


def _table(counts: Counts, base: Base | None) -> str:
    lines = [f"{'instructions, millions':<24}{'before':>10}{'now':>10}"]
    for name, count in counts.items():
        before = base.counts.get(name) if base else None
        change = f"{(count / before - 1) * 100:>+9.2f} %" if before else ""
        then = f"{before / 1e6:>10.2f}" if before else f"{'–':>10}"
        lines.append(f"{name:<24}{then}{count / 1e6:>10.2f}{change}")
    return "\n".join(lines) + (f"\nbefore: {base.where}\n" if base else "\n")


def _keep(counts: Counts) -> None:
    LEDGER.parent.mkdir(exist_ok=True)
    kept = {"made_with": made_with(), "counts": counts}
    LEDGER.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    sys.stderr.write(f"bench: {_ledger_name()} is written anew: commit it\n")


def _ledger_name() -> str:
    return LEDGER.relative_to(ROOT).as_posix()


def _changes(commit: str) -> str:
    return _git("show", f"{commit}:{CHANGES.name}")


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main())
