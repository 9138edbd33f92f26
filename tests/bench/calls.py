"""Calls against PyCG's micro-benchmark: ``python tests/bench/calls.py FOLDER``.

FOLDER holds snippets, each a folder with ``callgraph.json``: the callees of each
function (PyCG, ICSE 2021; github.com/vitsalis/PyCG, ``micro-benchmark/snippets``).
A node ``a.b.C.f`` of theirs is the symbol ``C.f`` of ``a/b.py``, and a module alone
is its top level. Edges count whose two ends are files or symbols of the snippet:
calls of what is external or built in, and of lambdas, have no symbol here (the last
row has all edges of theirs, those too). Ours are the edges ``calls`` of at least
MIN_CONFIDENCE; an instantiation counts by the constructor that it calls, as theirs.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from codefacts import facts_of

from pylore.code.resolve.resolve import resolve

MIN_CONFIDENCE = 0.5

Pairs = set[tuple[str, str]]


class Score:
    def __init__(self) -> None:
        self.right = self.found = self.true = 0

    def add(self, found: Pairs, truth: Pairs) -> None:
        self.right += len(found & truth)
        self.found += len(found)
        self.true += len(truth)

    def row(self, name: str) -> str:
        precision = self.right / self.found if self.found else 1.0
        recall = self.right / self.true if self.true else 1.0
        return f"{name:<16}{self.true:>6}{self.found:>7}{precision:>11.3f}{recall:>8.3f}"


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.stderr.write("usage: calls.py FOLDER (of PyCG's micro-benchmark/snippets)\n")
        return 2
    base = Path(sys.argv[1])
    scores: dict[str, Score] = defaultdict(Score)
    total, every = Score(), Score()
    for graph in sorted(base.rglob("callgraph.json")):
        found, nodes = _found(graph.parent)
        truth = {(one, other) for one, others in json.loads(graph.read_text()).items()
                 for other in others}  # fmt: skip
        inner = {pair for pair in truth if nodes.issuperset(pair)}
        for score in (scores[graph.relative_to(base).parts[0]], total):
            score.add(found, inner)
        every.add(found, truth)
        _differences(graph.parent.relative_to(base), found, inner)
    print(f"{'category':<16}{'true':>6}{'found':>7}{'precision':>11}{'recall':>8}")
    for name, score in scores.items():
        print(score.row(name))
    print(total.row("all"))
    print(every.row("with externals"))
    return 0 if total.right >= 0.9 * total.found and total.right >= 0.6 * total.true else 1


def _differences(place: Path, found: Pairs, truth: Pairs) -> None:
    if os.environ.get("VERBOSE"):
        for one, other in sorted(truth - found):
            print(f"missed {place}: {one} -> {other}")
        for one, other in sorted(found - truth):
            print(f"wrong  {place}: {one} -> {other}")


def _found(folder: Path) -> tuple[Pairs, set[str]]:
    """Our edges in their names, and the names of all nodes."""
    files = facts_of(folder)
    nodes = {_name(f"file-{path}") for path in files}
    nodes |= {
        _name(f"symbol-{path}::{symbol.qualified}")
        for path, facts in files.items()
        for symbol in facts.symbols
    }
    found = {
        (_name(one), _name(other))
        for (one, other, relation), (sure, _) in resolve(files, str(folder)).edges.items()
        if relation == "calls" and sure >= MIN_CONFIDENCE
    }
    return found, nodes


def _name(id: str) -> str:
    """``symbol-a/b.py::C.f`` → ``a.b.C.f``."""
    path, _, qualified = id.partition("-")[2].partition("::")
    parts = list(Path(path).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join([*parts, *([qualified] if qualified else [])])


if __name__ == "__main__":
    sys.exit(main())
