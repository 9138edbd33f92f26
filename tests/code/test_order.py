"""The same files give the same edges in any order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

from facts import edges, file, resolve

from pylore.code.extract import extract
from pylore.code.facts import FileFacts, Import
from pylore.code.rules import load_rules
from pylore.code.scan import Match
from pylore.code.source import Source


def in_circles() -> list[FileFacts]:
    """Return functions and variables with circular values."""
    found = []
    for n in range(6):
        a, b = (n + 1) % 6, (n * 3 + 2) % 6
        imports = [Import(f"m{a}", f"f{a}"), Import(f"m{b}", f"f{b}"), Import(f"m{a}", "*")]
        calls = f": f{n}().m; f{n}: f{a}().m; : v{a}.m"
        assigned = f"f{n}.return = C{n}() f{a}() f{b}(); v{n} = v{a} f{n}()"
        symbols = f"function f{n}; class C{n}; method C{n}.m"
        found.append(file(f"m{n}.py", symbols, imports, calls=calls, assigned=assigned))
    return found


def claimed_twice(root: Path) -> list[FileFacts]:
    """Return modules of Go with the same declared name."""
    imports = [Import("main", kind="package"), Import("example.org/one")]
    found = [file("main.go", "function main", imports, calls="main: one.Run")]
    for n in range(12):
        folder = root / f"m{n:02}"
        folder.mkdir(exist_ok=True)
        (folder / "go.mod").write_text("module example.org/one\n")
        found.append(file(f"m{n:02}/a.go", "function Run", [Import("one", kind="package")]))
    return found


def _print_edges(root: str) -> None:
    print(edges(*in_circles(), *claimed_twice(Path(root)), root=root))


def _run(seed: int, root: Path) -> str:
    project = Path(__file__).parents[2]
    path = os.pathsep.join((str(project), str(project / "tests/support")))
    environ = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
    command = [sys.executable, __file__, str(root)]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout


def test_hash_seeds_do_not_change_the_edges(tmp_path: Path) -> None:
    found = {_run(seed, tmp_path) for seed in (1, 2)}
    assert len(found) == 1
    assert "m00/a.go::Run" in next(iter(found))


def test_the_order_of_the_files_does_not_change_the_edges() -> None:
    files = {one.path: one for one in in_circles()}
    found = resolve(files, "/nowhere")
    names = list(files)
    for seed in range(5):
        Random(seed).shuffle(names)
        assert resolve({name: files[name] for name in names}, "/nowhere") == found


def test_the_order_of_the_matches_does_not_change_the_facts() -> None:
    matches = [
        Match("class.1", 1, 9, ["A", ""]),
        Match("class.2", 1, 9, ["A", "Base"]),
        Match("function.1", 2, 3, ["f", ""]),
        Match("function.2", 2, 3, ["f", "{x, k: y}, ...z"]),
        Match("call.1", 4, 4, ["g"]),
        Match("call.decorator", 4, 4, ["g"]),
    ]
    source = Source("\n" * 9, load_rules().languages["javascript"])
    one = extract("a.js", "javascript", source, matches)
    assert one == extract("a.js", "javascript", source, matches[::-1])
    assert [(s.bases, s.params) for s in one.symbols] == [(("Base",), ()), ((), ("x", "y", "z"))]


if __name__ == "__main__":
    _print_edges(sys.argv[1])
