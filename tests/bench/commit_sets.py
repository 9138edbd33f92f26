"""Makes a set of queries of a repository: messages of commits, and the source files they changed.

Run as ``.venv/bin/python tests/bench/commit_sets.py REPOSITORY NAME SETS [--queries N]``, where
REPOSITORY is a clone, NAME is owner/name of it, and SETS the folder that gets a folder with
``snapshot.json`` and ``queries.jsonl`` as ``quality.sh`` reads them.

The snapshot to index is a commit of the main line. No commit in its history is asked for, and
none whose first line one of these has too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pylore.core.paths import is_test

SOURCE = frozenset(
    "bash c cc cpp cs cxx go h hh hpp java js jsx kt mjs php py pyi rb rs scala sh swift ts tsx"
    " vue".split()
)
"""Endings of files that count as answers; tests do not, which the message seldom asks for."""
FEWEST, MOST = 2, 8
"""Source files of a commit that is asked for."""
SHORTEST = 20
"""Letters of a message that says something."""


def main() -> None:
    """Writes one set."""
    parser = argparse.ArgumentParser(prog="commit_sets.py")
    parser.add_argument("repository", type=Path)
    parser.add_argument("name")
    parser.add_argument("sets", type=Path)
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    made = make(options.repository, options.queries)
    folder = options.sets / options.name.rpartition("/")[2]
    folder.mkdir(parents=True, exist_ok=True)
    snapshot, queries = made
    about = {"repository": options.name, "commit": snapshot}
    (folder / "snapshot.json").write_text(json.dumps(about) + "\n")
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(query, ensure_ascii=False) + "\n" for query in queries)
    sys.stderr.write(f"bench: {folder}: {len(queries)} queries, snapshot {snapshot[:12]}\n")


def make(repository: Path, wanted: int) -> tuple[str, list[dict[str, object]]]:
    """The snapshot, and the queries whose answers it has.

    The snapshot is the newest commit of the main line after which there are enough queries, and
    before which there is as much history as after it.
    """
    line = _git(repository, "rev-list", "--first-parent", "HEAD").split()
    whole = len(_git(repository, "rev-list", "HEAD").split())
    commits = [*_commits(repository)]
    found: tuple[str, list[dict[str, object]]] = "", []
    back = max(1.0, wanted / 2)
    while int(back) < len(line):
        snapshot = line[int(back)]
        newer = {*_git(repository, "rev-list", f"{snapshot}..HEAD").split()}
        if len(newer) > whole / 2:
            break
        found = snapshot, [*_answered(repository, snapshot, commits, newer)]
        if len(found[1]) >= wanted:
            break
        back *= 1.2
    step = max(1.0, len(found[1]) / wanted)
    chosen = [found[1][int(number * step)] for number in range(min(wanted, len(found[1])))]
    return found[0], chosen


def _answered(
    repository: Path, snapshot: str, commits: list[tuple[str, str, list[str]]], newer: set[str]
) -> Iterator[dict[str, object]]:
    files = {*_git(repository, "ls-tree", "-r", "--name-only", snapshot).splitlines()}
    history = _git(repository, "log", "-z", "--format=%B", snapshot).split("\0")
    said = {message.strip().partition("\n")[0] for message in history}
    for hash, message, paths in commits:
        if hash not in newer or len(message) < SHORTEST:
            continue
        source = [path for path in paths if _is_source(path)]
        there = [path for path in source if path in files]
        repeats = message.partition("\n")[0] in said
        if len(source) <= MOST and len(there) >= FEWEST and not repeats:
            yield {
                "id": hash[:12], "query": message[:3000],
                "relevant": [f"file-{path}" for path in there], "exclude": [],
            }  # fmt: skip


def _commits(repository: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Hash, message and changed files of the commits that are no merges, newest first."""
    log = _git(repository, "log", "--no-merges", "-z", "--name-only", "--no-renames",
               "--format=%x01%H%n%B%x02", "HEAD")  # fmt: skip
    for entry in log.split("\x01")[1:]:
        head, _, names = entry.partition("\x02")
        hash, _, message = head.partition("\n")
        paths = [name.strip("\n") for name in names.split("\0")]
        yield hash, message.strip(), [path for path in paths if path]


def _is_source(path: str) -> bool:
    return path.rpartition(".")[2].lower() in SOURCE and not is_test(path)


def _git(repository: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(repository), *words], capture_output=True, check=True
    ).stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
