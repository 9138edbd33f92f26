"""What ``lore doctor`` checks: the machine, the settings, the store; and how to mend each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from shlex import quote
from struct import unpack
from subprocess import run
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import EmbedderError, LoreError
from ..core.settings import Settings, from_environment
from ..core.text import one_line
from ..core.times import is_within
from ..core.vocabulary import CODE_IDS, CODE_TYPES
from ..embed import open_embedder
from ..graph.ontology import misfits
from ..indexing.similar import Plan, stale
from ..store import FILE, open_store, scratch_store
from ..store.check import sqlite_features, sqlite_version, vector_extension
from ..store.connection import TO_WIPE
from ..system.parts import part
from ..system.programs import find_program
from ..terminal.text import bold, dim

if TYPE_CHECKING:
    from ..embed import Embedder
    from ..store import Store

SETUP = "run 'make setup', or install lore again"
REINDEX = "run 'lore reindex'"
EMBED = "run 'lore embed --all'"
SIMILAR = "run 'lore graph similar'"
COCHANGES = "run 'lore graph analyze-cochanges'"
IMPORT = "move search.db away and import your last export: lore init && lore import FILE"
PURGE = ("see 'lore show ID --history'; what is a secret: change it where it is used, then"
         " lore forget --purge ID")  # fmt: skip
DANGLING = "import the missing nodes, or take the edges away: lore unlink FROM RELATION TO"
MISFITS = ("link them by a relation that fits, or keep one that is meant: lore link --force"
           " FROM RELATION TO; lore unlink FROM RELATION TO takes one away")  # fmt: skip
FEW = 5
"""How many findings of one kind are named."""
BATCH = 1000
"""Texts that are looked at for secrets together."""
SAME = 0.99
"""The cosine from which two vectors of one text are one model's, whatever it rounds."""
LARGE_WAL = 64 << 20
"""Bytes of a write-ahead log from which something must be keeping it from being emptied."""


class Check(NamedTuple):
    """One finding. A check that is ``ok`` and yet has a ``fix`` is a warning."""

    id: str
    ok: bool
    detail: str
    fix: str | None = None


def examine(folder: str, *, full: bool = False, config_problem: str = "") -> list[Check]:
    """Every check that can be made, in the order in which to mend what fails.

    Args:
        folder: the data folder.
        full: check that the store's indexes agree with its tables, which reads it all.
        config_problem: what the reader of the config files stumbled over, if it did.
    """
    config, settings = _read_settings(config_problem)
    checks = [
        _python(),
        _guarded("sqlite", SETUP, _sqlite),
        _guarded("sqlite-vec", SETUP, lambda: Check("sqlite-vec", True, vector_extension())),
        _guarded("embedder", SETUP, lambda: _embedder(settings)),
        _guarded("ast-grep", SETUP, _ast_grep),
        _jq(),
        config,
        _data_folder(folder),
    ]
    try:
        store = open_store(folder, busy_timeout=settings.busy_timeout)
    except LoreError as error:
        return [*checks, _failed("store", error)]
    with store:
        return [*checks, *_store_checks(store, settings, full)]


def checks_text(rows: Sequence[dict[str, Any]]) -> str:
    """One check a line, with the way to mend it below."""
    lines = []
    for row in rows:
        mark = "FAIL" if not row["ok"] else "warn" if row["fix"] else "ok"
        lines.append(f"{bold(mark) if row['fix'] else mark}{' ' * (6 - len(mark))}"
                     f"{row['id']:<13} {row['detail']}")  # fmt: skip
        if row["fix"]:
            lines.append(dim(f"      {'':<13} mend: {row['fix']}"))
    return "\n".join(lines) + "\n"


def _guarded(id: str, fix: str, look: Callable[[], Check]) -> Check:
    """Return what ``look`` finds; a failed check where it cannot look."""
    try:
        return look()
    except EmbedderError as error:
        return _failed(id, error)
    except (LoreError, OSError) as error:
        return _failed(id, error, fix)


def _failed(id: str, error: Exception, fix: str | None = None) -> Check:
    """Return a failed check; of lore's own errors the last part is what to do."""
    what, _, mend = str(error).rpartition(": ")
    if isinstance(error, LoreError) and what:
        mend = IMPORT if mend.startswith("run 'lore doctor'") else mend  # that is what runs
        return Check(id, False, what, fix or mend)
    return Check(id, False, str(error), fix or SETUP)


def _found(id: str, findings: Sequence[str], fine: str, fix: str) -> Check:
    """Fails with the findings, if there are any."""
    if not findings:
        return Check(id, True, fine)
    more = f" and {len(findings) - FEW} more" if len(findings) > FEW else ""
    return Check(id, False, ", ".join(findings[:FEW]) + more, fix)


# --- the machine


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    supported = sys.version_info >= (3, 10)
    fix = None if supported else "make clean && make setup PYTHON=python3.12"
    return Check("python", supported, f"Python {version}, {sys.executable}", fix)


def _ast_grep() -> Check:
    from ..code.rules import program

    done = run([program(), "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LoreError(f"ast-grep does not run: {one_line(done.stderr)[:200]}")
    return Check("ast-grep", True, done.stdout.strip())


def _sqlite() -> Check:
    features = sqlite_features()
    usable = features["json"] and (features["fts5"] or features["fts4"])
    has = ", ".join(f"{'' if there else 'no '}{name}" for name, there in features.items())
    return Check("sqlite", usable, f"{sqlite_version()}: {has}", None if usable else SETUP)


def _embedder(settings: Settings) -> Check:
    embedder = open_embedder(settings.embedder, scratch_store(), settings)
    if embedder is None:
        return Check("embedder", True, "none: search is by full text alone")
    vector = embedder.embed(["a word"])[0] or b""
    length = len(vector) // 4  # float32
    if length != embedder.dimension:
        wrong = f"{embedder.name} gives {length} dimensions, not {embedder.dimension}"
        return Check("embedder", False, wrong, SETUP)
    return Check("embedder", True, f"{embedder.name}, {length} dimensions")


def _jq() -> Check:
    path = find_program("jq")
    if path:
        return Check("jq", True, path)
    return Check("jq", True, "not on the PATH: --jq does not work", "install jq")


# --- the settings


def _read_settings(problem: str) -> tuple[Check, Settings]:
    """Return the settings, or the defaults where they cannot be read."""
    if problem:
        return Check("config", False, problem, "mend that line"), Settings()
    try:
        settings = from_environment({})
    except LoreError as error:
        return _failed("config", error), Settings()
    if settings.warnings:
        return Check("config", True, "; ".join(settings.warnings), "mend those lines"), settings
    origins = sorted({_source(origin) for origin in settings.origins.values()})
    return Check("config", True, "from " + (", ".join(origins) or "defaults alone")), settings


def _source(origin: str) -> str:
    """``user:/a/config:3`` -> ``/a/config``; ``env:LORE_LIMIT`` -> ``LORE_LIMIT``."""
    kind, _, place = origin.partition(":")
    return place if kind == "env" else place.rpartition(":")[0]


# --- the store


def _data_folder(folder: str) -> Check:
    if not os.path.isdir(folder):
        return Check("data-folder", False, f"{folder}: there is no such folder", "run 'lore init'")
    path = os.path.join(folder, FILE)
    for place in [folder, *([path] if os.path.exists(path) else [])]:
        if not os.access(place, os.R_OK):
            return Check("data-folder", False, f"{place} cannot be read", "change its permissions")
        if not os.access(place, os.W_OK):
            detail = f"{place} cannot be written: search works, nothing can be added"
            return Check("data-folder", False, detail, "change its permissions")
    shared = [*_shared(folder, 0o022, "700"), *_shared(path, 0o077, "600")]
    if shared:
        return Check("data-folder", True, "; ".join(detail for detail, _ in shared),
                     f"unless you share it: {' && '.join(fix for _, fix in shared)}")  # fmt: skip
    return Check("data-folder", True, folder)


def _shared(path: str, more: int, private: str) -> Iterator[tuple[str, str]]:
    """Yield what other users may do with a file or a folder, and the command that ends it."""
    mode = os.stat(path).st_mode if os.path.exists(path) else 0
    if mode & more:
        what = "write to" if mode & 0o022 else "read"
        yield f"others may {what} {path}", f"chmod {private} {quote(path)}"


def _store_checks(store: Store, settings: Settings, full: bool) -> Iterator[Check]:
    def looked(id: str, fix: str, look: Callable[[], Check]) -> Check:
        def within_faults() -> Check:
            with store.checks.faults, store.faults:
                return look()

        return _guarded(id, fix, within_faults)

    yield Check("store", True, f"{store.path}, schema version {store.checks.version}")
    yield looked("tables", IMPORT, lambda: _tables(store))
    yield looked("integrity", IMPORT, lambda: _integrity(store, full))
    if not store.checks.is_sound():
        return  # statements may find no end in such a file
    yield looked("values", IMPORT, lambda: _values(store))
    yield looked("fulltext", REINDEX, lambda: _fulltext(store))
    yield looked("foreign-keys", IMPORT, lambda: _foreign_keys(store))
    yield looked("passages", REINDEX, lambda: _passages(store))
    yield looked("vectors", REINDEX, lambda: _vectors(store, settings))
    yield looked("edges", IMPORT, lambda: _edges(store))
    yield looked("ontology", MISFITS, lambda: _ontology(store))
    yield looked("ratings", REINDEX, lambda: _ratings(store))
    yield looked("similar", SIMILAR, lambda: _similar(store))
    yield looked("cochanges", COCHANGES, lambda: _cochanges(store))
    yield looked("purged", REINDEX, lambda: _purged(store))
    yield looked("wal", IMPORT, lambda: _wal(store))
    if full:
        yield looked("secrets", PURGE, lambda: _secrets(store, settings))


def _tables(store: Store) -> Check:
    replaced = store.checks.replaced_tables()
    if replaced:
        return _found("tables", replaced, "", IMPORT)
    missing = store.checks.missing_tables()
    fix = REINDEX if store.checks.derived.issuperset(missing) else IMPORT
    return _found("tables", [f"{name} is missing" for name in missing], "all there", fix)


def _integrity(store: Store, full: bool) -> Check:
    fine = "sound" if full else "sound (quick check; --full checks the indexes too)"
    return _found("integrity", store.checks.damage(full=full), fine, IMPORT)


def _values(store: Store) -> Check:
    written = store.checks.wrong_values()
    found = written or store.checks.wrong_values(made=True)
    wrong = [f"{place} not of a kind that lore writes" for place in found]
    return _found(
        "values", wrong, "all of the kinds that lore writes", IMPORT if written else REINDEX
    )


def _fulltext(store: Store) -> Check:
    engine = store.fulltext.engine
    return _found("fulltext", store.checks.fulltext_damage(), f"{engine}, sound", REINDEX)


def _foreign_keys(store: Store) -> Check:
    wrong = store.checks.foreign_key_violations()
    return _found("foreign-keys", wrong, "every type and relation is known", IMPORT)


def _passages(store: Store) -> Check:
    return _found("passages", store.checks.unindexed(), "every live node is indexed", REINDEX)


def _vectors(store: Store, settings: Settings) -> Check:
    held = store.meta.get("embedder")
    wanted = open_embedder(settings.embedder, store, settings)
    begun = store.staged_vectors.embedder
    if held is None:
        if wanted is None or not store.nodes.count_by_type():
            return Check("vectors", True, "none")
        return Check("vectors", True, "none: search is by full text alone", EMBED)
    if wanted is not None and wanted.name != held:
        return Check("vectors", False, f"of {held}, the embedder is {wanted.name}", EMBED)
    found = _found("vectors", store.checks.unembedded(), f"of {held}, one a passage", REINDEX)
    if store.checks.only_without_vectors():
        found = found._replace(fix="run 'lore embed --missing'")
    if found.ok and wanted is not None and not _same_vectors(store, wanted):
        return Check("vectors", False, f"{held} gives others now than the store has", EMBED)
    if found.ok and begun is not None:
        detail = f"{found.detail}; those of {begun} are unfinished"
        return found._replace(detail=detail, fix=EMBED)
    return found


def _same_vectors(store: Store, embedder: Embedder) -> bool:
    """Return whether a passage's vector is what the embedder gives for it; endpoints change
    models."""
    passage = store.checks.any_embedded() if embedder.name.startswith("endpoint:") else None
    if passage is None:
        return True
    text, vector = passage
    now = embedder.embed([text])[0] or b""
    if len(now) != len(vector):
        return False
    form = f"<{len(now) // 4}f"
    cosine = sum(a * b for a, b in zip(unpack(form, now), unpack(form, vector), strict=True))
    return bool(cosine > SAME)


def _edges(store: Store) -> Check:
    dangling = [" ".join((a, relation, b)) for a, b, relation in _broken(store)]
    found = _found("edges", dangling, "every live edge joins two live nodes", DANGLING)
    if not found.ok:  # a plain search does not mind, and an import may complete them
        detail = f"{len(dangling)} lead to no live node: {found.detail}"
        return found._replace(ok=True, detail=detail)
    return found


def _broken(store: Store) -> list[tuple[str, str, str]]:
    """Dangling edges, but for those that lead from what is here to code that is not indexed here:
    files stay where they are, and links to them travel."""
    found = store.edges.dangling()
    ends = {id for row in found for id in row[:2] if not id.startswith(CODE_IDS)}
    nodes = store.nodes.get_many(ends)
    lives = {id for id, node in nodes.items() if node.invalidated_at is None}
    return [
        row for row in found
        if row[0].startswith(CODE_IDS) == row[1].startswith(CODE_IDS) or lives.isdisjoint(row[:2])
    ]  # fmt: skip


def _ontology(store: Store) -> Check:
    wrong = misfits(store)
    rows = [f"{a} {relation} {b}" + (f" (and {number - 1} like it)" if number > 1 else "")
            for a, relation, b, number in wrong]  # fmt: skip
    found = _found("ontology", rows, "every live edge joins types that its relation does", MISFITS)
    if not found.ok:  # an import brings what others have, and the walk does not mind
        number = sum(row[3] for row in wrong)
        detail = f"{number} of other types than their relations join: {found.detail}"
        return found._replace(ok=True, detail=detail)
    return found


def _ratings(store: Store) -> Check:
    wrong = store.ratings.wrong()
    found = [f"{wrong} nodes have other ratings than their edges say"] if wrong else []
    return _found("ratings", found, "as the edges to runs say", REINDEX)


def _similar(store: Store) -> Check:
    plan = Plan.of(store)
    if plan is None:
        return Check("similar", True, "no similar_to edges are kept up to date")
    why = stale(store, plan)
    if why:
        return Check("similar", True, f"similar_to edges: {why}", SIMILAR)
    return Check("similar", True, f"similar_to edges from a cosine of {plan.least:g}, up to date")


COCHANGE_DAYS = 7
"""Days after which co-changes are old."""


def _cochanges(store: Store) -> Check:
    analysed = store.meta.get("cochanges_analyzed_at") or ""
    if not analysed:
        return Check("cochanges", True, "no history was analysed")
    if not is_within(analysed, COCHANGE_DAYS):
        return Check("cochanges", True, f"the co-changes are of {analysed[:10]}", COCHANGES)
    return Check("cochanges", True, f"as of {analysed[:10]}")


def _purged(store: Store) -> Check:
    at = store.meta.get(TO_WIPE)
    if at:
        return Check("purged", True, f"what was purged on {at[:10]} stays in free pages", REINDEX)
    return Check("purged", True, "nothing of what was purged stays in the file")


def _secrets(store: Store, settings: Settings) -> Check:
    """Warn of records that say, or said, what redaction would take out of a session."""
    redaction = part("capture", "redaction")
    if redaction is None:
        return Check("secrets", True, "not looked for: installed without pylore/capture")
    programs = redaction.own_redactors(settings.plugin_dir)
    redactor = redaction.Redactor(programs, settings.plugin_timeout)
    ids: dict[str, None] = {}
    said = _said(store)
    while some := [*islice(said, BATCH)]:
        for (id, text), clean in zip(some, redactor.texts([text for _, text in some]), strict=True):
            if clean != text:
                ids[id] = None
    found = _found("secrets", [*ids], "no record has what looks like one", PURGE)
    return found._replace(ok=True)  # it may be none


def _said(store: Store) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of all that records say and have said, but for what files say."""
    files = set()
    for node in store.nodes.all():
        if node.source == "file" or node.type in CODE_TYPES:
            files.add(node.id)
        else:
            yield node.id, "\n".join((node.title, node.body, node.data))
    for id, _, (_, value) in store.history.former():
        if id not in files:
            yield id, value


def _wal(store: Store) -> Check:
    size = store.checks.log_size()
    detail = f"write-ahead log of {size / 1e6:.1f} MB"
    if size <= LARGE_WAL:
        return Check("wal", True, detail)
    return Check("wal", True, detail, "end the programs that keep the store open; "
                 "the next one to close it empties the log")  # fmt: skip
