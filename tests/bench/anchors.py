"""How fast anchors are verified, whole process: unchanged ones, and when all must be read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from places import CACHE, ROOT, BenchmarkError, environment, lore
from report import Row, at_least

from pylore.anchors.attach import take
from pylore.anchors.definitions import Definitions
from pylore.anchors.project import Project
from pylore.code import reader
from pylore.core.errors import LoreError
from pylore.store.anchors import Anchor

FILES = 1_500
UNCHANGED_A_SECOND = 5_000
FILES_A_SECOND = 1_000
_ROUNDS = 5


def verify_rows(say: Callable[[str], None]) -> Iterator[Row]:
    """Anchors of every kind to files of the standard library, in a store of their own."""
    say("anchoring to the standard library")
    project = CACHE / "anchored"
    files = _copy_library(project)
    count = _store(project, files)
    yield Row("verify: anchors", count, "anchors")
    yield Row("verify: files", len(files), "files")
    say("verifying")
    unchanged, read = [], []
    for _ in range(_ROUNDS):
        for path in files:
            os.utime(project / path)
        read.append(len(files) / _seconds(project, count))
        unchanged.append(count / _seconds(project, count))
    yield at_least("verify: all files read", median(read), "files/s", FILES_A_SECOND)
    yield at_least("verify: unchanged", median(unchanged), "anchors/s", UNCHANGED_A_SECOND)


def _copy_library(project: Path) -> list[str]:
    shutil.rmtree(project, ignore_errors=True)
    library = Path(sysconfig.get_path("stdlib"))
    found = [path for path in sorted(library.rglob("*.py")) if "site-packages" not in path.parts]
    files = []
    for path in found[:FILES]:
        name = str(path.relative_to(library))
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, project / name)
        files.append(name)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    return files


def _store(project: Path, files: list[str]) -> int:
    """Notes with a file, a hash, a symbol and a lines anchor each; how many anchors."""
    store = project / ".lore"
    lore(store, "init")
    seen = Project(str(project))
    definitions = Definitions(seen, reader.outline)
    definitions.read("", files)
    lines = project / ".lore" / "anchors.jsonl"
    count = 0
    with lines.open("w") as out:
        for number, path in enumerate(files):
            id = f"note-{number}"
            out.write(json.dumps({"id": id, "type": "note", "body": path}) + "\n")
            text = (project / path).read_text(errors="replace")
            names = [line.split()[1].split("(")[0].rstrip(":") for line in text.splitlines()
                     if line.startswith(("def ", "class "))]  # fmt: skip
            for kind, detail in (("file", ""), ("hash", ""), ("lines", "1-20"),
                                 ("symbol", names[len(names) // 2] if names else "")):  # fmt: skip
                try:
                    anchor = take(seen, Anchor(id, kind, path, detail), definitions)
                except LoreError:
                    continue
                fields = {name: value for name, value in anchor.to_dict().items() if value}
                fields.pop("stamp", None)
                out.write(json.dumps({"anchor_of": fields.pop("node_id"), **fields}) + "\n")
                count += 1
    lore(store, "import", str(lines), "--embedder", "none")
    _seconds(project, count)
    return count


def _seconds(project: Path, count: int) -> float:
    start = perf_counter()
    done = subprocess.run(
        [str(ROOT / "lore.sh"), "verify"], cwd=project, capture_output=True,
        text=True, check=False, env=environment(project / ".lore"),
    )  # fmt: skip
    seconds = perf_counter() - start
    if f"{count} valid" not in done.stderr:
        raise BenchmarkError(f"verify printed: {done.stderr.strip()}")
    return seconds
