"""The command doctor: checks of the machine, the settings and the store, each with its fix."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..code.rules import program
from ..core.errors import DONE, FAILURE, LoreError, UsageError, first_of
from ..core.settings import Settings
from ..core.vocabulary import CODE_IDS
from ..embed import open_embedder
from ..graph.ontology import misfits
from ..indexing.similar import Plan, stale
from ..store import FILE, open_store, scratch_store
from ..store.backup import copies_kept
from ..store.check import sqlite_version, vector_extension
from ..store.connection import TO_WIPE
from ..system import config
from ..system.programs import find_program
from .command import command, option
from .runtime import data_folder

if TYPE_CHECKING:
    from ..store import Store
    from .session import Session

SETUP = "run 'make setup', or install lore again"
REINDEX = "run 'lore store reindex'"
EMBED = "run 'lore store embed --all'"
IMPORT = "move search.db away and import your last export: lore init && lore import FILE"
FEW = 5
"""Maximum number of findings of a check that are listed."""


class Check(NamedTuple):
    """The result of a check; ok with a fix is a warning."""

    detail: str
    ok: bool = True
    fix: str | None = None


@dataclass
class Subject:
    """The folder, settings and store that are checked."""

    folder: str
    settings: Settings
    full: bool
    store: Store = field(init=False)


@command("doctor [--full]", needs_config=False)
def doctor(session: Session, *, full: bool = option("--full", "check every index")) -> int:
    """Check what lore needs and what it keeps, and print how to mend it.

    Prints {id, ok, detail, fix}; ok with a fix is a warning. Exits 1 if a check fails.

    \b
    lore doctor --jq '.[] | select(.fix) | .fix'
    """
    config.find_store(os.environ)
    settings = _settings(session.given)
    session.use(settings)
    session.require_whole("doctor")
    rows = []
    total = len(MACHINE) + len(STORE)
    with session.progress("checking", total, kept="nothing was changed") as advance:
        for id, check in examine(data_folder(), settings, full=full):
            rows.append({"id": id, "ok": check.ok, "detail": check.detail, "fix": check.fix})
            advance(1)
    session.output.list(rows, checks_text)
    return DONE if all(row["ok"] for row in rows) else FAILURE


def _settings(given: Mapping[str, str]) -> Settings:
    """Return the settings without broken lines and values; its problems are about these."""
    problems = []
    try:
        config.load(os.environ)
    except UsageError as error:
        problems.append(str(error))
    try:
        settings = Settings.load(given, lenient=True)
    except UsageError as error:
        settings = Settings()
        problems.append(str(error))
    settings.problems = [*problems, *settings.problems]
    return settings


def examine(folder: str, settings: Settings, *, full: bool = False) -> Iterator[tuple[str, Check]]:
    """Yield every check that can be made, by name, in the order in which to mend what fails.

    ``full`` compares the store's indexes with its tables, which reads it all.
    """
    it = Subject(folder, settings, full)
    for row in MACHINE:
        yield row[0], _checked(it, *row[1:])
    try:
        it.store = open_store(folder, busy_timeout=settings.busy_timeout)
    except LoreError as error:
        yield "store", _failed(error, IMPORT)
        return
    with it.store as store:
        for row in STORE:
            yield row[0], _checked(it, *row[1:], store.checks.faults, store.faults)
            if row[0] == "integrity" and not store.checks.is_sound():
                return  # statements may find no end in such a file


def checks_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each check, with the way to mend it below."""
    text = ""
    for row in rows:
        mark = "FAIL" if not row["ok"] else "warn" if row["fix"] else "ok"
        text += f"{mark:<6}{row['id']:<13} {row['detail']}\n"
        text += f"{'':<19} mend: {row['fix']}\n" if row["fix"] else ""
    return text


Look = Callable[[Subject], "str | list[str] | Check"]
"""Returns what is fine, or findings."""

Row = tuple[str, Look, str, bool]
"""Name of a check, its function, the way to mend findings, and False if they only warn."""


def _checked(
    it: Subject, look: Look, fix: str, fails: bool, *faults: AbstractContextManager[object]
) -> Check:
    """Return the finding of a function; a failed check if it raises."""
    try:
        with ExitStack() as stack:
            for one in faults:
                stack.enter_context(one)
            found = look(it)
    except (LoreError, OSError) as error:
        return _failed(error, fix)
    if isinstance(found, list):
        found = Check(first_of(found, FEW), not fails, fix)
    return Check(found) if isinstance(found, str) else found


def _failed(error: Exception, fix: str) -> Check:
    """Return a failed check; the last part of a LoreError is its fix."""
    what, _, advice = str(error).rpartition(": ")
    if isinstance(error, LoreError) and what:
        return Check(what, False, fix if advice.startswith("run 'lore doctor'") else advice)
    return Check(str(error), False, fix)


# --- the machine


def _embedder(it: Subject) -> str:
    embedder = open_embedder(it.settings.embedder, scratch_store(), it.settings)
    if embedder is None:
        return "none: search is by full text alone"
    embedder.embed(["a word"])
    return f"{embedder.name}, {embedder.dimension} dimensions"


def _config(it: Subject) -> str | list[str] | Check:
    if it.settings.problems:
        return ["; ".join(it.settings.problems)]
    if it.settings.warnings:
        return Check("; ".join(it.settings.warnings), True, "correct these lines")
    return "every line is valid"


def _data_folder(it: Subject) -> str | list[str] | Check:
    folder, path = it.folder, os.path.join(it.folder, FILE)
    if not os.path.isdir(folder):
        return Check(f"{folder}: there is no such folder", False, "run 'lore init'")
    for place in filter(os.path.exists, (folder, path)):
        if not os.access(place, os.R_OK | os.W_OK):
            return [f"{place} cannot be read and written"]
    return folder


MACHINE: tuple[Row, ...] = (
    ("python", lambda _: f"Python {sys.version.partition(' ')[0]}, {sys.executable}", SETUP, True),
    ("sqlite", lambda _: sqlite_version(), SETUP, True),
    ("sqlite-vec", lambda _: vector_extension(), SETUP, True),
    ("embedder", _embedder, SETUP, True),
    ("ast-grep", lambda _: program(), SETUP, True),
    ("jq", lambda _: find_program("jq") or ["--jq does not work"], "install jq", False),
    ("config", _config, "correct these lines", True),
    ("data-folder", _data_folder, "change its permissions", True),
)


# --- the store


def _tables(it: Subject) -> str | Check:
    checks = it.store.checks
    replaced = checks.replaced_tables()
    missing = [] if replaced else checks.missing_tables()
    if not replaced and not missing:
        return "all there"
    fix = REINDEX if missing and checks.derived.issuperset(missing) else IMPORT
    found = [*replaced, *(f"{name} is missing" for name in missing)]
    return Check(first_of(found, FEW), False, fix)


def _vectors(it: Subject) -> str | Check:
    store, settings = it.store, it.settings
    held = store.meta.get("embedder")
    wanted = open_embedder(settings.embedder, store, settings)
    if held is None:
        if wanted is None or not store.nodes.count_by_type():
            return "none"
        return Check("none: search is by full text alone", True, EMBED)
    if wanted is not None and wanted.name != held:
        return Check(f"of {held}, the embedder is {wanted.name}", False, EMBED)
    lacking = store.checks.unembedded()
    if lacking:
        fix = "run 'lore store embed --missing'" if store.checks.only_without_vectors() else REINDEX
        return Check(first_of(lacking, FEW), False, fix)
    begun = store.staged_vectors.embedder
    if begun is not None:
        return Check(f"of {held}, one a passage; those of {begun} are unfinished", True, EMBED)
    return f"of {held}, one a passage"


def _edges(it: Subject) -> str | list[str]:
    # A clone may lack files that its records link to; an import may complete other edges.
    ends = ((a, b, relation) for a, b, relation in it.store.edges.dangling()
            if not a.startswith(CODE_IDS) and not b.startswith(CODE_IDS))  # fmt: skip
    return [f"{a} {relation} {b}" for a, b, relation in ends] or "every live edge joins live nodes"


def _passages(it: Subject) -> str | list[str]:
    wrong = it.store.ratings.wrong()
    ratings = [f"{wrong} nodes have other ratings than their edges say"] if wrong else []
    return it.store.checks.unindexed() + ratings or "every live node is indexed"


def _similar(it: Subject) -> str | list[str]:
    plan = Plan.of(it.store)
    why = stale(it.store, plan) if plan else ""
    return [why] if why else "up to date" if plan else "none"


STORE: tuple[Row, ...] = (
    ("store", lambda it: f"{it.store.path}, version {it.store.checks.version}", IMPORT, True),
    ("tables", _tables, IMPORT, True),
    ("integrity", lambda it: it.store.checks.damage(full=it.full) or "sound", IMPORT, True),
    ("values", lambda it: it.store.checks.wrong_values() or "as lore writes them", IMPORT, True),
    ("made-values", lambda it: it.store.checks.wrong_values(made=True) or "as lore makes them",
        REINDEX, True),
    ("fulltext", lambda it: it.store.checks.fulltext_damage()
        or f"{it.store.fulltext.engine.name}, sound", REINDEX, True),
    ("foreign-keys", lambda it: it.store.checks.foreign_key_violations()
        or "every type and relation is known", IMPORT, True),
    ("passages", _passages, REINDEX, True),
    ("vectors", _vectors, REINDEX, True),
    ("edges", _edges, "import the missing nodes, or remove the edges: lore link --remove FROM "
        "RELATION TO", False),
    ("ontology", lambda it: [" ".join(row[:3]) for row in misfits(it.store)]
        or "every live edge joins types that its relation does", "use a relation that fits, or "
        "confirm: lore link --force FROM RELATION TO", False),
    ("similar", _similar, "run 'lore graph similar'", False),
    ("purged", lambda it: ["what was purged is still in free pages"] if it.store.meta.get(TO_WIPE)
        else "nothing that was purged is left in the file", REINDEX, False),
    ("copies", lambda it: [f"{path} is kept from before a restore"
        for path in copies_kept(it.store.path)] or "none is kept from before a restore",
        "delete them when you no longer need them", False),
)  # fmt: skip
