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

MODULES = 12


def in_circles() -> list[FileFacts]:
    """Return functions and variables with circular values."""
    found = []
    for n in range(6):
        others = [(n + 1) % 6, (n * 3 + 2) % 6]
        found.append(
            file(
                f"m{n}.py",
                [f"function f{n}", f"class C{n}", f"method C{n}.m"],
                [Import(f"m{other}", f"f{other}") for other in others]
                + [Import(f"m{others[0]}", "*")],
                calls=f": f{n}().m; f{n}: f{others[0]}().m; : v{others[0]}.m",
                assigned={
                    f"f{n}.return": f"C{n}() f{others[0]}() f{others[1]}()",
                    f"v{n}": f"v{others[0]} f{n}()",
                },
            )
        )
    return found


def claimed_twice(root: Path) -> list[FileFacts]:
    """Return modules of Go with the same declared name."""
    found = [
        file(
            "main.go",
            "function main",
            [Import("main", kind="package"), Import("example.org/one")],
            calls="main: one.Run",
        )
    ]
    for n in range(MODULES):
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
    return subprocess.run(
        [sys.executable, __file__, str(root)],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


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
        Match("function.2", 2, 3, ["f", "x, y"]),
        Match("call.1", 4, 4, ["g"]),
        Match("call.decorator", 4, 4, ["g"]),
    ]
    source = Source("\n" * 9, load_rules().languages["javascript"])
    one = extract("a.js", "javascript", source, matches)
    assert one == extract("a.js", "javascript", source, matches[::-1])
    assert [(s.bases, s.params) for s in one.symbols] == [(("Base",), ()), ((), ("x", "y"))]


if __name__ == "__main__":
    _print_edges(sys.argv[1])
