"""The same files give the same edges, whatever chance has a hand in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import sleep

from facts import edges, file

from pylore.code.extract import extract
from pylore.code.facts import FileFacts, Import
from pylore.code.heads import Source
from pylore.code.pool import MOST_HELD, Pool
from pylore.code.resolve import resolve
from pylore.code.rules import load_rules
from pylore.code.scan import Match

CHAIN = 40
MODULES = 12


def passed_along() -> list[FileFacts]:
    """Each function calls what it is given, and gives it to the next one.

    How far that is followed hangs on the order in which the functions are looked at.
    """
    links = [
        file(f"f{n}.py", "python", [f"function f{n}(a)"],
             [Import(f"f{n + 1}", f"f{n + 1}")],
             [(f"f{n}", f"f{n + 1}", "a"), (f"f{n}", "a")])
        for n in range(CHAIN)
    ]  # fmt: skip
    names = [f"f{n}" for n in range(CHAIN)]
    main = file("main.py", "python", ["function target", "function other"],
                [Import(name, name) for name in names],
                [*(("", name, "other") for name in names), ("", "f0", "target")])  # fmt: skip
    return [*links, main]


def claimed_twice(root: Path) -> list[FileFacts]:
    """Modules of Go that all say they are the same one."""
    found = [file("main.go", "go", ["function main"],
                  [Import("main", kind="package"), Import("example.org/one")],
                  [("main", "one.Run")])]  # fmt: skip
    for n in range(MODULES):
        folder = root / f"m{n:02}"
        folder.mkdir(exist_ok=True)
        (folder / "go.mod").write_text("module example.org/one\n")
        found.append(file(f"m{n:02}/a.go", "go", ["function Run"],
                          [Import("one", kind="package")]))  # fmt: skip
    return found


def _print_edges(root: str) -> None:
    # What stays in memory moves what is made after it to other addresses.
    for one in [*passed_along(), None]:
        kept = [object() for _ in range(hash(str(one)) % 1000)]
    print(edges(*passed_along(), *claimed_twice(Path(root)), root=root), file=sys.stdout)
    del kept


def _run(seed: int, root: Path) -> str:
    here = os.path.dirname(__file__)
    environ = {**os.environ, "PYTHONHASHSEED": str(seed),
               "PYTHONPATH": os.pathsep.join((os.path.dirname(here), here))}  # fmt: skip
    return subprocess.run(
        [sys.executable, __file__, str(root)], env=environ, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip


def test_hash_seeds_do_not_change_the_edges(tmp_path: Path) -> None:
    found = {_run(seed, tmp_path) for seed in range(1, 5)}
    assert len(found) == 1
    assert "m00/a.go::Run" in next(iter(found))


def test_addresses_do_not_change_the_edges() -> None:
    files, kept, found = passed_along(), [], set()
    for n in range(8):
        found.add(repr(edges(*files)))
        kept.append([FileFacts(str(m), "python") for m in range(37 * n)])
    assert len(found) == 1
    assert "main.py::target" in found.pop()


def test_the_order_of_the_files_does_not_change_the_edges() -> None:
    files = {one.path: one for one in passed_along()}
    backwards = dict(reversed(files.items()))
    assert resolve(files, "/nowhere") == resolve(backwards, "/nowhere")


def test_the_order_of_the_matches_does_not_change_the_facts() -> None:
    matches = [
        Match("class.1", 1, 9, ["A", ""]), Match("class.2", 1, 9, ["A", "Base"]),
        Match("function.1", 2, 3, ["f", ""]), Match("function.2", 2, 3, ["f", "x, y"]),
        Match("call.1", 4, 4, ["g"]), Match("call.decorator", 4, 4, ["g"]),
    ]  # fmt: skip
    source = Source("\n" * 9, load_rules().languages["javascript"])
    one = extract("a.js", "javascript", source, matches)
    assert one == extract("a.js", "javascript", source, matches[::-1])
    assert [(s.bases, s.params) for s in one.symbols] == [(("Base",), ()), ((), ("x", "y"))]


def _late_first(job: int) -> int:
    sleep(0.2 if job == 0 else 0)
    return job


def test_results_come_in_the_order_of_the_jobs() -> None:
    count = 3 * MOST_HELD
    with Pool(_late_first, 3) as pool:
        assert list(pool.run(range(count))) == list(range(count))


if __name__ == "__main__":
    _print_edges(sys.argv[1])
