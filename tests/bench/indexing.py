"""Time of an index: against ast-grep, and against ``git status``.

The repository is this interpreter's standard library in a git work tree, or a copy of the folder
``LORE_BENCH_TREE``.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from places import CACHE, LORE, ROOT, BenchmarkError, environment
from report import Row, against_floor

FIRST_TARGET = 4
SECOND_TARGET = 3
ROUNDS = 3
_CONFIG = """
import sys
sys.path.insert(0, sys.argv[1])
from pylore.code.rules import load_rules
rules = load_rules()
rules.choose_shared(sys.argv[3:])
print(rules.write(sys.argv[2], rules.require(()), {}))
"""


def index_rows() -> Iterator[Row]:
    """Yield a first index and an index without changes, each with the floor, in turns."""
    tree = _tree()
    store = CACHE / "index-store"
    command = [*_ast_grep(), "--config", _config(tree), "--info", "--format", "github", "."]
    scans, firsts, statuses, seconds = [], [], [], []
    for _ in range(ROUNDS):
        shutil.rmtree(store, ignore_errors=True)
        _run([LORE, "init"], tree, store)
        scans.append(_ms(lambda: _run(command, tree, store)))
        firsts.append(_ms(lambda: _run([LORE, "index"], tree, store)))
    for _ in range(5 * ROUNDS):
        statuses.append(_ms(lambda: _run(["git", "status", "--porcelain"], tree, store)))
        seconds.append(_ms(lambda: _run([LORE, "index"], tree, store)))
    files = len(_run(["git", "ls-files"], tree, store).splitlines())
    yield Row("index: files in the tree", files, "files")
    yield Row("index: ast-grep scan alone", round(median(scans), 1), "ms")
    yield against_floor("index: the first time", median(firsts), median(scans), FIRST_TARGET)
    yield Row("index: git status", round(median(statuses), 1), "ms")
    yield against_floor("index: nothing changed", median(seconds), median(statuses), SECOND_TARGET)


def _tree() -> Path:
    tree = CACHE / "tree"
    if not (tree / ".git").exists():
        shutil.rmtree(tree, ignore_errors=True)
        source = Path(os.environ.get("LORE_BENCH_TREE") or Path(ast.__file__).parent)
        left_out = shutil.ignore_patterns(".git", "site-packages", "__pycache__", "*.so", "*.a")
        shutil.copytree(source, tree, symlinks=True, ignore=left_out)
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "b"],
        ):
            _run(["git", *words], tree, CACHE)  # fmt: skip
    return tree


def _config(tree: Path) -> str:
    folder = CACHE / "index-rules"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = [str(path.relative_to(tree)) for path in tree.rglob("*.[ch]*")][:2000]
    return _run(
        [sys.executable, "-c", _CONFIG, str(ROOT), str(folder), *names], tree, CACHE
    ).strip()


def _ast_grep() -> list[str]:
    return [str(ROOT / ".venv" / "bin" / "ast-grep"), "scan"]


def _run(words: list[str], folder: Path, store: Path) -> str:
    done = subprocess.run(words, cwd=folder, env=environment(store), capture_output=True,
                          text=True, errors="replace", check=False)  # fmt: skip
    if done.returncode:
        raise BenchmarkError(f"{' '.join(words[:2])} failed: {done.stderr.strip()[:300]}")
    return done.stdout


def _ms(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return 1000 * (perf_counter() - start)
