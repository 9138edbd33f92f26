"""Index the changed files of a tree, read by several processes."""

from __future__ import annotations

import os
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from ..anchors.project import relative
from ..core.errors import LoreError
from ..core.times import now
from ..indexing.embed import embed_missing
from ..store.files import CODE_RELATIONS
from ..system.files import GONE, lstamp_of, size_in
from ..system.project_files import FileTree
from . import INDEXED, LARGEST, OWED, RULES
from .rules import load_rules, rules_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from .rules import Rules
    from .worker import FileOutcome, Job

_CHUNK = 60
_CHUNK_BYTES = 500_000  # maximum bytes and files of a job: all processes end together
_FIRST_LINE = 200  # bytes of the first line, with the interpreter
_FEW = 24  # up to this number of files this process reads them


class Changes:
    """Files of a tree to read or to forget, by stamps; all files of the sizes in ``again``."""

    def __init__(
        self, stamps: dict[str, str], tree: FileTree, root: str, below: str, again: range
    ) -> None:
        self.listing = tree.files()
        self.read: dict[str, int] = {}  # path → bytes
        prefix = f"{below}/" if below else ""
        gone = {path for path in stamps if path.startswith(prefix)}
        self.unchanged = len(gone)
        self.are_all = len(gone) == len(stamps)
        start = root.rstrip("/") + "/"
        for path in self.listing.paths:
            old = stamps.get(path)
            stamp = lstamp_of(start + path)
            if stamp == old and stamp and size_in(stamp) not in again:
                gone.discard(path)
            elif "-" in stamp:
                gone.discard(path)
                self.read[path] = size_in(stamp)
            elif stamp != GONE:
                self.listing.skip(stamp)
        self.unchanged -= len(gone) + sum(path in stamps for path in self.read)
        self.gone = sorted(gone)


def index(
    store: Store,
    settings: Settings,
    embedder: Callable[[], Embedder | None],
    root: str,
    *,
    below: str = "",
    progress: Callable[[int, int], None] = lambda done, total: None,
    left_out: Callable[[str, str], None] = lambda path, why: None,
) -> dict[str, Any]:
    """Update the store from the files under ``root``/``below``; return counts.

    ``left_out`` is called with each file over a limit, and the reason.

    Raises:
        LoreError: ast-grep is missing.
    """
    began = perf_counter()
    tree = FileTree(root, below)  # git lists while the store reads
    hash, largest = rules_hash(), settings.index_max_file
    are_other = hash != store.meta.get(RULES)  # then the same content gives other facts
    low, high = sorted((largest, store.meta.number(LARGEST) or largest))
    again = range(sys.maxsize) if are_other else range(low + 1, high + 1)
    found = Changes(store.code.stamps(), tree, root, below, again)
    if found.listing.is_walked and os.path.lexists(os.path.join(root, ".git")):
        left_out(".gitignore", "git cannot list the files: see 'git status'")
    done = {"read": 0, "added": 0, "changed": 0, "removed": 0, "unchanged": 0}
    if found.read or found.gone or again or store.meta.get(OWED):
        from .worker import Job
        from .write import Writer

        rules = load_rules()
        rules.choose_shared(found.listing.paths)
        writer = Writer(store, root, found.read, found.gone)
        job = Job(root, "", [], largest, 1)
        hashes = {} if are_other else {path: hash for path, (_, hash, _) in writer.known.items()}
        for outcomes in _read(job, rules, found.read, hashes, progress):
            for outcome in outcomes:
                if outcome.why:
                    left_out(outcome.path, outcome.why)
            writer.take(outcomes)
        writer.finish()
        with store.transaction():
            if found.are_all:
                store.meta.set(RULES, hash)
                store.meta.set(LARGEST, str(largest))
            store.meta.set(INDEXED, now())
        done = writer.done
    embed_missing(store, embedder(), bulk=True)
    done["unchanged"] += found.unchanged
    languages, skipped = store.code.counts()
    counts = store.statistics.count_by_relation()
    for reason, count in found.listing.skipped.items():
        skipped[reason] = skipped.get(reason, 0) + count
    return {
        "files": sum(languages.values()),
        "symbols": store.nodes.count_by_type().get("symbol", 0),
        "languages": dict(sorted(languages.items())),
        "edges": {name: counts[name] for name in counts if name in ("defines", *CODE_RELATIONS)},
        **done,
        "skipped": dict(sorted(skipped.items())),
        "seconds": round(perf_counter() - began, 3),
    }


def _read(
    job: Job,
    rules: Rules,
    sizes: dict[str, int],
    hashes: dict[str, str],
    progress: Callable[[int, int], None],
) -> Iterator[list[FileOutcome]]:
    """Yield the outcomes of these files, a job at a time, read by several processes."""
    if not sizes:
        return
    from ..system.atomic_write import temporary_folder
    from .scan import chunks
    from .worker import work, work_all

    with temporary_folder() as folder:
        scripts = _scripts(job.root, rules, sizes)
        # ast-grep parses all rules in each call: 30 ms for ten languages.
        present = rules.languages_of(sizes).union(scripts)
        config = rules.write(folder, present, scripts)
        jobs = [
            job._replace(config=config, paths=[(path, hashes.get(path, "")) for path in piece])
            for piece in chunks(sizes, _CHUNK_BYTES, _CHUNK)
        ]
        cpus, done = min(os.cpu_count() or 1, 8), 0
        is_small = len(sizes) <= _FEW or min(cpus, len(jobs)) == 1
        results = (work(each._replace(threads=cpus), rules) for each in jobs)
        for outcomes in results if is_small else work_all(jobs, min(cpus, len(jobs))):
            done += len(outcomes)
            progress(done, len(sizes))
            yield outcomes


def _scripts(root: str, rules: Rules, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return files without an extension that are scripts, by language."""
    from ..system.files import beginning_of

    found: dict[str, list[str]] = {}
    for path in paths:
        if "." in path.rpartition("/")[2][1:]:
            continue
        line = beginning_of(os.path.join(root, path), _FIRST_LINE).partition(b"\n")[0]
        if language := rules.language_of(path, line.decode(errors="replace")):
            found.setdefault(language, []).append(path)
    return found


def below_root(root: str, path: str) -> str:
    """Return ``path`` relative to the root, ``""`` for the root itself.

    Raises:
        LoreError: it is not a folder inside the root.
    """
    if not os.path.isdir(path):
        raise LoreError(f"{path}: is not a folder: give a folder inside {root}")
    return "" if os.path.samefile(path, root) else relative(root, path)
