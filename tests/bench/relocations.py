"""How well the successors of lost definitions are found, in the histories of real repositories.

``relocations.py [--most N] [--list] FOLDER…``: each folder is a clone, or a git directory, with
its history. Every case (``relocation_cases.py`` says what they are, and that no similarity made
them) is anchored as the code was before its commit and judged as it was after it, by the engine
that ``lore verify`` calls. A definition that moved as it was is told by its fingerprint and
counted apart.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from places import ROOT
from relocation_cases import Case, cases

sys.path.insert(0, str(ROOT))

from pylore.anchors.definitions import Definition, find_definitions
from pylore.anchors.fingerprint import take
from pylore.anchors.project import Project, Unreadable
from pylore.anchors.relocate import Successors
from pylore.anchors.verdict import Judge
from pylore.anchors.verdict_cache import told
from pylore.code.symbols import find_by_grammar, outline
from pylore.core.errors import LoreError
from pylore.store.anchors import Anchor

if TYPE_CHECKING:
    from pylore.anchors.definitions import FindSymbol

MOST_COMMITS = 12_000
MOST_PATHS = 300
_LARGEST = 1_000_000


class Judged(NamedTuple):
    """A case, and what the engine says of it."""

    case: Case
    same: bool
    """The new definition has the old one's body, to the letter."""
    anchor: Anchor

    @property
    def outcome(self) -> str:
        """``right`` and ``wrong`` of what is found elsewhere, ``asked`` of two, or ``invalid``."""
        if self.anchor.verdict == "invalid":
            return "asked" if "; it may be " in self.anchor.reason else "invalid"
        found = self.anchor.path, self.anchor.detail.rpartition(".")[2]
        return "right" if found == (self.case.new_path, self.case.new_name) else "wrong"


class Tree:
    """A work tree in which the files of one commit after the other are written."""

    def __init__(self, history: Path, folder: Path) -> None:
        self.root = folder
        self._run("clone", "-q", "--shared", "--no-checkout", str(history.resolve()), ".")

    def at(self, commit: str, paths: Sequence[str]) -> Project:
        """The project at a commit, with these of its files."""
        for file in self.root.iterdir():
            if file.name != ".git":
                subprocess.run(["rm", "-rf", str(file)], check=True)
        hash = self._run("rev-parse", commit).strip()
        self._run("update-ref", "--no-deref", "HEAD", hash)
        self._run("read-tree", hash)
        project = Project(str(self.root))
        for path, content in project.git.contents(hash, paths, _LARGEST).items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return project

    def _run(self, *words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(self.root), *words], check=True, capture_output=True, text=True
        ).stdout


def judged(history: Path, most: int) -> Iterator[Judged]:
    """Every case of a history that the engine can anchor; at most so many of a kind."""
    by_commit: dict[str, list[Case]] = {}
    for case in _some([*cases(history, _name(history), MOST_COMMITS)], most):
        by_commit.setdefault(case.commit, []).append(case)
    with TemporaryDirectory(prefix="lore-bench-") as folder:
        tree = Tree(history, Path(folder))
        for commit, found in by_commit.items():
            yield from _judged(tree, commit, found)


def _some(found: list[Case], most: int) -> list[Case]:
    kinds: Counter[str] = Counter()
    taken = []
    for case in Random(1).sample(found, len(found)):
        kinds[case.kind] += 1
        if kinds[case.kind] <= most:
            taken.append(case)
    return taken


def _judged(tree: Tree, commit: str, found: list[Case]) -> Iterator[Judged]:
    paths = Project(str(tree.root)).git.changes_of(commit)
    if len(paths) > MOST_PATHS:
        return
    before = tree.at(f"{commit}^", [old for old, _ in paths if old])
    find = _finder(before, [old for old, _ in paths if old])
    anchored = []
    for case in found:
        try:
            anchored.append((case, take(before, Anchor("x", "symbol", case.path, case.name), find)))
        except LoreError:
            continue  # it was no definition, or there were two of the name
    after = tree.at(commit, [new for _, new in paths if new])
    find = _finder(after, [new for _, new in paths if new])
    judge = Judge(after, find, successors=Successors(after, outline))
    for case, anchor in anchored:
        new = Anchor("x", "symbol", case.new_path, case.new_name)
        try:
            there = take(after, new, find) if case.new_path else None
            found_anchor = judge.judge(anchor, after.with_words([case.name]))
        except (LoreError, Unreadable):
            continue
        lost = found_anchor.verdict == "invalid" or told(found_anchor)["similarity"] is not None
        if lost:  # else it is there still
            yield Judged(case, there is not None and there.hash == anchor.hash, found_anchor)


def _finder(project: Project, paths: Sequence[str]) -> FindSymbol:
    by_grammar = find_by_grammar(project.root, paths)

    def find(path: str, text: str, name: str) -> list[Definition]:
        return by_grammar(path, text, name) or find_definitions(path, text, name)

    return find


def _name(history: Path) -> str:
    parts = [part for part in history.resolve().parts if part not in (".git", "repo")]
    return parts[-1]


def report(all: Sequence[Judged]) -> str:
    """Cases by kind and outcome, with precision and recall of what was not moved as it was."""
    lines = [f"{'':<18}{'right':>8}{'wrong':>8}{'asked':>8}{'invalid':>9}"]
    changed = [one for one in all if not one.same]
    groups = {kind: [one for one in changed if one.case.kind == kind]
              for kind in ("said", "used", "moved", "deleted")}  # fmt: skip
    groups["moved as it was"] = [one for one in all if one.same]
    for kind, some in groups.items():
        count = Counter(one.outcome for one in some)
        lines.append(f"{kind:<18}{count['right']:>8}{count['wrong']:>8}{count['asked']:>8}"
                     f"{count['invalid']:>9}")  # fmt: skip
    right = sum(one.outcome == "right" for one in changed)
    wrong = sum(one.outcome == "wrong" for one in changed)
    moved = sum(one.case.kind != "deleted" for one in changed)
    lines.append(f"renames and moves {moved}, precision {right / max(1, right + wrong):.3f}, "
                 f"recall {right / max(1, moved):.3f}")  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints the table of each history, and of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("histories", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=100, help="cases of a kind and history")
    parser.add_argument("--list", action="store_true", help="name what is wrong")
    options = parser.parse_args()
    all: list[Judged] = []
    for history in options.histories:
        found = [*judged(history, options.most)]
        print(f"{_name(history)}\n{report(found)}", flush=True)
        all += found
    print(f"all\n{report(all)}")
    for one in all if options.list else ():
        if one.outcome == "wrong":
            case, row = one.case, told(one.anchor)
            print(f"{case.repository} {case.commit[:10]} {case.kind} {case.path}:{case.name} -> "
                  f"{case.new_path}:{case.new_name}, found {row['path']}:{row['detail']} "
                  f"({row['similarity']})")  # fmt: skip


if __name__ == "__main__":
    main()
