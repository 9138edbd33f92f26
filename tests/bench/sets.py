"""Sets of queries with known results, each with a store of the documents."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from places import CACHE, ROOT, BenchmarkError, call, read_lines

STORES = CACHE / "quality"
_INDEXING = (
    "pylore/indexing/indexer.py pylore/core/text.py pylore/core/query.py pylore/core/scoring.py"
    " pylore/embed pylore/store pylore/code pylore/formats graph/rules"
).split()
"""Sources that determine the store of a set."""


CITATIONS = {"pep": re.compile(r"(?i)\bpep(?:s?[ _-]*|:`|-)0*(\d+)")}
"""Set to the citation of a document by the number at the end of the id: edges without places get
them."""


class LeftOut(Exception):
    """A set cannot be measured here, and why."""


def sets(folder: Path, only: list[str]) -> list[Path]:
    """The sets of a folder, by name; all of them unless some are named."""
    found = sorted(path.parent for path in folder.glob("*/queries.jsonl"))
    unknown = set(only) - {path.name for path in found}
    if unknown or not found:
        raise BenchmarkError(f"{folder}: no set {', '.join(sorted(unknown)) or 'at all'}")
    return [path for path in found if not only or path.name in only]


def types_of(queries: Path, store: Path) -> list[str]:
    """Return the types of the relevant nodes, if the store has more types."""
    relevant = {id.partition("-")[0] for row in read_lines(queries) for id in row["relevant"]}
    present = {row["type"] for row in json.loads(call(store, "list", "--all"))}
    return sorted(relevant) if present - relevant else []


def store_of(folder: Path) -> Path:
    """The store of a set, from the cache if it is there.

    Raises:
        LeftOut: it is a set that must be indexed, and cannot be.
    """
    snapshot = folder / "snapshot.json"
    key = hashlib.sha256("\n".join(_fingerprint(folder)).encode()).hexdigest()[:12]
    store = STORES / f"{folder.name}-{key}"
    if (store / "done").exists():
        return store
    checkout = _checkout(snapshot) if snapshot.exists() else None
    for old in STORES.glob(f"{folder.name}-*"):
        shutil.rmtree(old)
    call(store, "init")
    if checkout:
        call(store, "index", folder=checkout)
    else:
        files = [folder / name for name in ("nodes.jsonl", "edges.jsonl")]
        if folder.name in CITATIONS:
            files[1] = _with_places(*files, CITATIONS[folder.name], store / "placed.jsonl")
        call(store, "import", "--skip-bad", *(str(file) for file in files if file.exists()))
    (store / "done").touch()
    return store


def _with_places(nodes: Path, edges: Path, citation: re.Pattern[str], target: Path) -> Path:
    """Return the edges, with the places of citations in the documents."""
    cited: dict[tuple[str, int], list[int]] = {}
    for node in _good_lines(nodes):
        for found in citation.finditer(node["body"]):
            cited.setdefault((node["id"], int(found[1])), []).append(found.start())
    with target.open("w", encoding="utf-8") as lines:
        for edge in _good_lines(edges):
            number = edge["to_id"].rpartition("-")[2]
            places = cited.get((edge["from_id"], int(number)) if number.isdigit() else ("", 0))
            if places:
                edge["metadata"] = {**edge.get("metadata", {}), "at": places}
            lines.write(json.dumps(edge) + "\n")
    return target


def _good_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the valid lines, as ``--skip-bad`` does."""
    for line in path.read_text("utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _fingerprint(folder: Path) -> Iterator[str]:
    for part in (folder, *(ROOT / name for name in _INDEXING)):
        for path in [part, *sorted(part.rglob("*"))]:
            if path.is_file() and path.name != "queries.jsonl" and path.suffix != ".pyc":
                state = path.stat()
                yield f"{path} {state.st_size} {state.st_mtime_ns}"


def _checkout(snapshot: Path) -> Path:
    """Return a clone of the set's repository at the commit, so that no user's clone changes."""
    wanted: dict[str, Any] = json.loads(snapshot.read_text())
    place = os.environ.get("LORE_SETS_CHECKOUTS")
    if not place:
        raise LeftOut("LORE_SETS_CHECKOUTS names no folder with clones")
    name = wanted["repository"].rpartition("/")[2]
    source = next((path for path in (Path(place) / name, Path(place)) if _is_clone(path)), None)
    if source is None:
        raise LeftOut(f"there is no clone of {wanted['repository']} in {place}")
    target = STORES / "checkouts" / name
    shutil.rmtree(target, ignore_errors=True)
    _git("clone", "--quiet", "--shared", "--no-checkout", str(source), str(target))
    _git("-C", str(target), "checkout", "--quiet", "--detach", wanted["commit"])
    return target


def _is_clone(path: Path) -> bool:
    return (path / ".git").exists() or (path / "HEAD").exists()


def _git(*words: str) -> None:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LeftOut(f"git {words[0]}: {done.stderr.strip()}")
