"""The same files give the same edges, whatever chance has a hand in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import sleep

from facts import edges, file

from pylore.code.extract import Source, extract
from pylore.code.facts import FileFacts, Import
from pylore.code.resolve.resolve import resolve
from pylore.code.rules import Match, load_rules
from pylore.code.worker import MOST_HELD, Pool

CHAINS = 20
LINKS = 6
MODULES = 12


def passed_along() -> list[FileFacts]:
    """Chains of functions that give what they are given to the next one; the last calls it.

    How far that is followed hangs on the order in which the functions are looked at.
    """
    links, starts, calls = [], [], []
    for chain in range(CHAINS):
        names = [f"c{chain}_{n}" for n in range(LINKS)]
        for name, after in zip(names, names[1:], strict=False):
            links.append(file(f"{name}.py", "python", [f"function {name}(a)"],
                              [Import(after, after)], [(name, after, "a")]))  # fmt: skip
        links.append(file(f"{names[-1]}.py", "python", [f"function {names[-1]}(a)"],
                          calls=[(names[-1], "a")]))  # fmt: skip
        starts += [Import(name, name) for name in names]
        calls += [("", name, "other") for name in names[:-1]]
        calls.append(("", names[0], "target"))
    main = file("main.py", "python", ["function target", "function other"], starts, calls)
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


def _clutter(count: int) -> list[bytes]:
    """What, while it is kept, has what is made after it stand at other addresses."""
    return [bytes(size) for size in range(64, 200, 8) for _ in range(count)]


def _print_edges(root: str) -> None:
    kept = _clutter(hash("any") % 100)
    print(edges(*passed_along(), *claimed_twice(Path(root)), root=root))
    kept.clear()


def _run(seed: int, root: Path) -> str:
    project = Path(__file__).parents[2]
    path = os.pathsep.join((str(project), str(project / "tests/support")))
    environ = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, __file__, str(root)], env=environ, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip


def test_hash_seeds_do_not_change_the_edges(tmp_path: Path) -> None:
    found = {_run(seed, tmp_path) for seed in (1, 2)}
    assert len(found) == 1
    assert "m00/a.go::Run" in next(iter(found))


def test_addresses_do_not_change_the_edges() -> None:
    files, kept, found = passed_along(), [], set()
    for n in range(8):
        found.add(repr(edges(*files)))
        kept.append(_clutter(3 + n))
    assert len(found) == 1
    assert "main.py::target" in found.pop()


def test_the_order_of_the_files_does_not_change_the_edges() -> None:
    files = {one.path: one for one in passed_along()}
    backwards = dict(reversed(files.items()))
    assert resolve(files, "/nowhere") == resolve(backwards, "/nowhere")


def test_the_number_of_processes_does_not_change_the_edges() -> None:
    files = {one.path: one for one in passed_along()}
    alone = resolve(files, "/nowhere", processes=1)
    assert resolve(files, "/nowhere", processes=3) == alone
    assert ("symbol-c0_5.py::c0_5", "symbol-main.py::target", "calls") in alone.edges


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
