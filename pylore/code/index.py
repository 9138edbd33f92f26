"""Indexing a tree."""

from __future__ import annotations

import os
from time import perf_counter

from ..anchors.definitions import Definition, Outlined, find_definitions
from ..core.errors import LoreError
from ..core.text import identifier_parts
from ..indexing.embed import embed_missing
from ..system.atomic_write import temporary_folder
from ..system.listing import FileTree
from ..system.project_files import read_plain
from .extract import KINDS, WHOLE_LENGTH, Source, extract
from .rules import Match, Rules, load_rules, scan
from .write import OWED, RULES, TOTALS, changes, packed_totals, unpacked_totals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..anchors.definitions import FindSymbol
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from ..system.listing import Listing
    from .worker import FileOutcome, Job


_DEFINING = frozenset((*KINDS, "scope"))
"""Kinds of rules that say what is defined."""

_LARGEST = 1_000_000
"""Bytes of a file that is parsed."""


def find_by_grammar(root: str, paths: Sequence[str]) -> FindSymbol:
    """Return what finds symbols in these files; ast-grep reads all of them at once.

    It finds nothing in files of other languages, and in ones that do not parse.

    Raises:
        LoreError: ast-grep is not installed.
    """
    rules = load_rules()
    matches = _matches(rules, root, [path for path in paths if _is_code(rules, root, path)])

    def find(path: str, text: str, name: str) -> list[Definition]:
        if path not in matches:
            return []
        language = rules.language_of(path)
        try:
            source = Source(text, rules.languages[language])
            symbols = extract(path, language, source, matches[path]).symbols
        except RecursionError:
            return []
        wanted = name.replace("::", ".").replace("#", ".")
        exact = [symbol for symbol in symbols if symbol.qualified == wanted]
        return [
            Definition(symbol.qualified, symbol.line_start, symbol.line_end, symbol.others)
            for symbol in exact or [symbol for symbol in symbols if symbol.name == wanted]
        ]

    return find


def find_best(root: str, path: str) -> FindSymbol:
    """Return what finds symbols in one file: by its grammar, or else by the look of its lines."""
    by_grammar = find_by_grammar(root, [path])
    return lambda path, text, name: (
        by_grammar(path, text, name) or find_definitions(path, text, name)
    )


def outline(texts: Mapping[str, bytes]) -> dict[str, list[Outlined]]:
    """Return everything that each of these texts defines, by keys that end as names of files do.

    One run of ast-grep reads all of them. A text that is no known language's, is too large,
    or does not parse defines nothing.

    Raises:
        LoreError: ast-grep is not installed.
    """
    rules = load_rules()
    languages = {
        key: rules.language_of(key) for key, text in texts.items() if len(text) <= _LARGEST
    }
    found: dict[str, list[Outlined]] = {key: [] for key in texts}
    with temporary_folder() as folder:
        files: dict[str, str] = {}
        for key, language in languages.items():
            if language:
                files[f"{len(files)}{key[key.rindex('.') :]}"] = key
        if not files:
            return found
        for name, key in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(texts[key])
        os.mkdir(os.path.join(folder, "_"))
        config = rules.write(os.path.join(folder, "_"), rules.languages_of(files), {}, _DEFINING)
        matches = scan(folder, config, sorted(files)).matches
    for name, key in files.items():
        text = texts[key].decode("utf-8", "replace")
        try:
            source = Source(text, rules.languages[languages[key]])
            symbols = extract(key, languages[key], source, matches.get(name, ())).symbols
        except RecursionError:
            continue
        found[key] = [
            Outlined(one.qualified, one.line_start, one.line_end, one.others, one.kind)
            for one in symbols
        ]
    return found


def _matches(rules: Rules, root: str, paths: Sequence[str]) -> dict[str, Sequence[Match]]:
    if not paths:
        return {}
    with temporary_folder() as folder:
        config = rules.write(folder, rules.languages_of(paths), {})
        found = scan(root, config, paths)
    return {path: found.matches.get(path, ()) for path in paths if path not in found.failed}


def _is_code(rules: Rules, root: str, path: str) -> bool:
    full = os.path.join(root, path)
    return (
        rules.language_of(path) != ""
        and os.path.isfile(full)
        and not os.path.islink(full)
        and os.path.getsize(full) <= _LARGEST
    )


_MOST_BYTES = 4 * WHOLE_LENGTH
_BATCH = 200


def add_lacking(store: Store, root: str) -> None:
    """Add the texts of files that were indexed, and are as they were, and have none."""
    known = store.code.languages_of_all()
    lacking = sorted(known.keys() - store.whole_files.paths())
    for start in range(0, len(lacking), _BATCH):
        some = lacking[start : start + _BATCH]
        read = [(path, _text(os.path.join(root, path))) for path in some]
        with store.transaction():
            store.whole_files.put((path, text, identifier_parts(text)) for path, text in read)


def _text(path: str) -> str:
    """Return what can be read of a file: nothing of one that is gone, which an index will say."""
    try:
        return read_plain(path, _MOST_BYTES).decode(errors="replace")[:WHOLE_LENGTH]
    except (OSError, LoreError):
        return ""


_CHUNK = 60
_CHUNK_BYTES = 500_000
"""So many files a worker takes at once, or fewer large ones: all are to end together."""
_FIRST_LINE = 200
"""Bytes of a file that may name its interpreter."""
_FEW = 24
"""So few files are read by this process alone."""


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
    """Bring the store in step with the files under ``root``/``below``; what it holds then.

    ``left_out`` is told of each file that goes over a limit, and why.

    Raises:
        LoreError: ast-grep is missing.
    """
    began = perf_counter()
    tree = FileTree(root, below)  # git lists while the store is asked
    rules, fingerprint, anew = _rules(store)
    stamps = store.code.stamps()
    found = changes(stamps, tree, root, below, anew=anew)
    kept = store.meta.get(TOTALS)
    if not (found.read or found.gone or anew or store.meta.get(OWED)) and kept:
        totals = unpacked_totals(kept)
        done = {"read": 0, "added": 0, "changed": 0, "removed": 0, "unchanged": found.unchanged}
    else:
        from .rules import load_rules
        from .worker import Job
        from .write import Writer

        rules = rules or load_rules()
        known = store.code.known([*found.read, *found.gone])
        found.gone = [path for path in found.gone if path in known]  # but for another run's
        writer = Writer(store, settings, root, known, found)
        rules.choose_shared(found.listing.paths)
        job = Job(root, "", [], settings.index_max_file, 1)
        hashes = {} if anew else {path: hash for path, (hash, _) in known.items()}
        for outcomes in _read(job, rules, found.read, hashes, progress):
            for outcome in outcomes:
                if outcome.why:
                    left_out(outcome.path, outcome.why)
            writer.take(outcomes)
        totals = writer.finish()
        with store.transaction():
            store.meta.set(TOTALS, packed_totals(totals))
            store.meta.set(RULES, fingerprint)
            if store.meta.get(OWED) == writer.token:  # else another run has begun since
                store.meta.set(OWED, None)
        done = {**writer.done, "unchanged": writer.done["unchanged"] + found.unchanged}
    embed_missing(store, embedder(), bulk=True)
    if store.whole_files.stored() < sum(totals["languages"].values()):
        add_lacking(store, root)
    return _summary(totals, done, found.listing, perf_counter() - began)


def _rules(store: Store) -> tuple[Rules | None, str, bool]:
    """Return the rules, if they had to be read; what tells them apart; whether they are other ones.

    Where the files are as they were, they say what they said.
    """
    from .rules import rules_stamp

    stamp = rules_stamp()
    held, _, held_stamp = (store.meta.get(RULES) or "").partition(" ")
    if held_stamp == stamp:
        return None, f"{held} {stamp}", False
    from .rules import load_rules

    rules = load_rules()
    fingerprint = rules.fingerprint()
    return rules, f"{fingerprint} {stamp}", fingerprint != held


def _summary(
    totals: dict[str, Any], done: dict[str, int], listing: Listing, seconds: float
) -> dict[str, Any]:
    skipped = dict(totals["skipped"])
    for reason, count in listing.skipped.items():
        skipped[reason] = skipped.get(reason, 0) + count
    return {
        "files": totals["files"],
        "symbols": totals["symbols"],
        "languages": totals["languages"],
        "edges": totals["edges"],
        "unresolved": totals["unresolved"],
        **done,
        "skipped": dict(sorted(skipped.items())),
        "seconds": round(seconds, 3),
    }


def _read(
    job: Job, rules: Rules, sizes: dict[str, int], hashes: dict[str, str],
    progress: Callable[[int, int], None],
) -> Iterator[list[FileOutcome]]:  # fmt: skip
    """Yield what became of these files, a chunk at a time, read by as many processes as help."""
    if not sizes:
        return
    from ..system.atomic_write import temporary_folder

    with temporary_folder() as folder:
        scripts = _scripts(job.root, rules, sizes)
        # Each call of ast-grep reads all rules: those of ten languages take it 30 ms.
        present = rules.languages_of(sizes).union(scripts)
        config = rules.write(folder, present, scripts)
        jobs = [
            job._replace(config=config, paths=[(path, hashes.get(path, "")) for path in piece])
            for piece in _pieces(sizes)
        ]
        done = 0
        for outcomes in _work(jobs, rules, len(sizes)):
            done += len(outcomes)
            progress(done, len(sizes))
            yield outcomes


def _pieces(sizes: dict[str, int]) -> Iterator[list[str]]:
    piece: list[str] = []
    room = _CHUNK_BYTES
    for path, size in sizes.items():
        if piece and (size > room or len(piece) == _CHUNK):
            yield piece
            piece, room = [], _CHUNK_BYTES
        piece.append(path)
        room -= size
    yield piece


def _work(jobs: Sequence[Job], rules: Rules, count: int) -> Iterator[list[FileOutcome]]:
    from .worker import work

    processes = min(os.cpu_count() or 1, 8, len(jobs))
    if count <= _FEW or processes == 1:
        for job in jobs:
            yield work(job._replace(threads=min(os.cpu_count() or 1, 8)), rules)
        return
    from .worker import Pool

    pool: Pool[Job, list[FileOutcome]] = Pool(lambda job: work(job, rules), processes)
    with pool:
        yield from pool.run(jobs)


def _scripts(root: str, rules: Rules, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return files without an extension that are scripts of a known language."""
    found: dict[str, list[str]] = {}
    for path in paths:
        if "." in path.rpartition("/")[2]:
            continue
        try:
            line = read_plain(os.path.join(root, path), _FIRST_LINE).partition(b"\n")[0]
        except (OSError, LoreError):
            continue
        language = rules.language_of(path, line.decode(errors="replace"))
        if language:
            found.setdefault(language, []).append(path)
    return found


def below_root(root: str, path: str) -> str:
    """Return ``path`` relative to the root, ``""`` for the root itself.

    Raises:
        LoreError: it is not a folder inside the root.
    """
    full, base = os.path.realpath(path), os.path.realpath(root)
    if not os.path.isdir(full):
        raise LoreError(f"{path}: is not a folder: give one inside {root}")
    if full == base:
        return ""
    if not full.startswith(base.rstrip(os.sep) + os.sep):
        raise LoreError(f"{path}: lies outside of {root}: run 'lore init' there, and index that")
    return os.path.relpath(full, base).replace(os.sep, "/")
