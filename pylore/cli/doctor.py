"""The command doctor: checks of the machine, the settings and the store, each with its fix."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from subprocess import run
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import DONE, FAILURE, EmbedderError, LoreError, UsageError
from ..core.settings import Settings
from ..core.text import one_line
from ..core.vocabulary import CODE_IDS
from ..embed import open_embedder
from ..graph.ontology import misfits
from ..indexing.similar import Plan, stale
from ..store import FILE, open_store, scratch_store
from ..store.check import sqlite_features, sqlite_version, vector_extension
from ..store.connection import TO_WIPE
from ..system import config
from ..system.programs import find_program
from ..terminal.text import bold, dim
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
    """The folder, settings and store that are checked; ``problem`` is an error of the config."""

    folder: str
    settings: Settings
    problem: str
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
    settings, problem = _settings(session.given)
    session.use(settings)
    session.require_whole("doctor")
    rows = []
    total = len(MACHINE) + len(STORE)
    with session.progress("checking", total, kept="nothing was changed") as advance:
        for id, check in examine(data_folder(), settings, problem, full=full):
            rows.append({"id": id, "ok": check.ok, "detail": check.detail, "fix": check.fix})
            advance(1)
    session.output.list(rows, checks_text)
    return DONE if all(row["ok"] for row in rows) else FAILURE


def _settings(given: Mapping[str, str]) -> tuple[Settings, str]:
    """Return the settings without broken lines and values, and the messages about these."""
    problems = []
    try:
        config.load(os.environ)
    except UsageError as error:
        problems.append(str(error))
    try:
        settings = Settings.load(given, lenient=True)
    except UsageError as error:
        return Settings(), "; ".join([*problems, str(error)])
    return settings, "; ".join([*problems, *settings.problems])


def examine(
    folder: str, settings: Settings, problem: str = "", *, full: bool = False
) -> Iterator[tuple[str, Check]]:
    """Yield every check that can be made, by name, in the order in which to mend what fails.

    Args:
        problem: what is wrong in the config.
        full: compare the store's indexes with its tables, which reads it all.
    """
    it = Subject(folder, settings, problem, full)
    for row in MACHINE:
        yield row[0], _checked(it, *row[1:])
    try:
        it.store = open_store(folder, busy_timeout=settings.busy_timeout)
    except LoreError as error:
        yield "store", _failed(error)
        return
    with it.store as store:
        for row in STORE:
            yield row[0], _checked(it, *row[1:])
            if row[0] == "integrity" and not store.checks.is_sound():
                return  # statements may find no end in such a file


def checks_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each check, with the way to mend it below."""
    text = ""
    for row in rows:
        mark = "FAIL" if not row["ok"] else "warn" if row["fix"] else "ok"
        mark = f"{bold(mark) if row['fix'] else mark}{' ' * (6 - len(mark))}"
        text += f"{mark}{row['id']:<13} {row['detail']}\n"
        text += dim(f"      {'':<13} mend: {row['fix']}") + "\n" if row["fix"] else ""
    return text


Look = Callable[[Subject], "str | list[str] | Check"]
"""Returns what is fine, or findings."""

Row = tuple[str, Look, str, bool]
"""Name of a check, its function, the way to mend findings, and False if they only warn."""


def _checked(it: Subject, look: Look, fix: str, fails: bool) -> Check:
    """Return what a function finds; a failed check if it raises."""
    try:
        with ExitStack() as faults:
            if hasattr(it, "store"):
                faults.enter_context(it.store.checks.faults)
                faults.enter_context(it.store.faults)
            found = look(it)
    except EmbedderError as error:
        return _failed(error)
    except (LoreError, OSError) as error:
        return _failed(error, fix)
    if isinstance(found, list):
        found = Check(_few(found), not fails, fix)
    return Check(found) if isinstance(found, str) else found


def _failed(error: Exception, fix: str = "") -> Check:
    """Return a failed check; the last part of a LoreError is its fix."""
    what, _, advice = str(error).rpartition(": ")
    if isinstance(error, LoreError) and what:
        advice = IMPORT if advice.startswith("run 'lore doctor'") else advice  # that is running
        return Check(what, False, fix or advice)
    return Check(str(error), False, fix or SETUP)


def _few(findings: Sequence[str]) -> str:
    more = f" and {len(findings) - FEW} more" if len(findings) > FEW else ""
    return ", ".join(findings[:FEW]) + more


# --- the machine


def _sqlite(it: Subject) -> str | list[str]:
    features = sqlite_features()
    has = ", ".join(f"{'' if there else 'no '}{name}" for name, there in features.items())
    detail = f"{sqlite_version()}: {has}"
    return detail if features["json"] and (features["fts5"] or features["fts4"]) else [detail]


def _embedder(it: Subject) -> str:
    embedder = open_embedder(it.settings.embedder, scratch_store(), it.settings)
    if embedder is None:
        return "none: search is by full text alone"
    embedder.embed(["a word"])
    return f"{embedder.name}, {embedder.dimension} dimensions"


def _ast_grep(it: Subject) -> str | list[str]:
    from ..code.rules import program

    done = run([program(), "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"ast-grep does not run: {one_line(done.stderr)[:200]}"]
    return done.stdout.strip()


def _config(it: Subject) -> str | list[str] | Check:
    if it.problem:
        return [it.problem]
    if it.settings.warnings:
        return Check("; ".join(it.settings.warnings), True, "correct these lines")
    origins = it.settings.origins.values()
    places = {one.partition(":")[2].rpartition(":")[0] or one for one in origins}
    return "from " + (", ".join(sorted(places)) or "defaults alone")


def _data_folder(it: Subject) -> str | list[str] | Check:
    folder, path = it.folder, os.path.join(it.folder, FILE)
    if not os.path.isdir(folder):
        return Check(f"{folder}: there is no such folder", False, "run 'lore init'")
    for place in [folder, *([path] if os.path.exists(path) else [])]:
        if not os.access(place, os.R_OK):
            return [f"{place} cannot be read"]
        if not os.access(place, os.W_OK):
            return [f"{place} cannot be written: search works, nothing can be added"]
    return folder


MACHINE: tuple[Row, ...] = (
    ("python", lambda _: f"Python {sys.version.partition(' ')[0]}, {sys.executable}", SETUP, True),
    ("sqlite", _sqlite, SETUP, True),
    ("sqlite-vec", lambda _: vector_extension(), SETUP, True),
    ("embedder", _embedder, SETUP, True),
    ("ast-grep", _ast_grep, SETUP, True),
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
    return Check(_few([*replaced, *(f"{name} is missing" for name in missing)]), False, fix)


def _integrity(it: Subject) -> str | list[str]:
    fine = "sound" if it.full else "sound (quick check; --full checks the indexes too)"
    return it.store.checks.damage(full=it.full) or fine


def _values(it: Subject) -> str | Check:
    written = it.store.checks.wrong_values()
    wrong = [f"{place} not of a kind that lore writes"
             for place in written or it.store.checks.wrong_values(made=True)]  # fmt: skip
    if not wrong:
        return "all of the kinds that lore writes"
    return Check(_few(wrong), False, IMPORT if written else REINDEX)


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
        return Check(_few(lacking), False, fix)
    begun = store.staged_vectors.embedder
    if begun is not None:
        return Check(f"of {held}, one a passage; those of {begun} are unfinished", True, EMBED)
    return f"of {held}, one a passage"


def _edges(it: Subject) -> str | list[str]:
    # A clone may lack files that its records link to; an import may complete other edges.
    ends = ((a, b, relation) for a, b, relation in it.store.edges.dangling()
            if not a.startswith(CODE_IDS) and not b.startswith(CODE_IDS))  # fmt: skip
    return [f"{a} {relation} {b}" for a, b, relation in ends] or "every live edge joins live nodes"


def _ontology(it: Subject) -> str | list[str]:
    rows = [f"{a} {relation} {b}" + (f" (and {number - 1} like it)" if number > 1 else "")
            for a, relation, b, number in misfits(it.store)]  # fmt: skip
    return rows or "every live edge joins types that its relation does"


def _passages(it: Subject) -> str | list[str]:
    wrong = it.store.ratings.wrong()
    ratings = [f"{wrong} nodes have other ratings than their edges say"] if wrong else []
    return it.store.checks.unindexed() + ratings or "every live node is indexed"


def _similar(it: Subject) -> str | list[str]:
    plan = Plan.of(it.store)
    if plan is None:
        return "no similar_to edges are kept up to date"
    why = stale(it.store, plan)
    return [why] if why else f"similar_to edges from a cosine of {plan.least:g}, up to date"


def _purged(it: Subject) -> str | list[str]:
    at = it.store.meta.get(TO_WIPE)
    left = [f"what was purged on {at[:10]} is still in free pages"] if at else []
    return left or "nothing that was purged is left in the file"


STORE: tuple[Row, ...] = (
    ("store", lambda it: f"{it.store.path}, version {it.store.checks.version}", IMPORT, True),
    ("tables", _tables, IMPORT, True),
    ("integrity", _integrity, IMPORT, True),
    ("values", _values, IMPORT, True),
    ("fulltext", lambda it: it.store.checks.fulltext_damage()
        or f"{it.store.fulltext.engine}, sound", REINDEX, True),
    ("foreign-keys", lambda it: it.store.checks.foreign_key_violations()
        or "every type and relation is known", IMPORT, True),
    ("passages", _passages, REINDEX, True),
    ("vectors", _vectors, REINDEX, True),
    ("edges", _edges, "import the missing nodes, or remove the edges: lore link --remove FROM "
        "RELATION TO", False),
    ("ontology", _ontology, "use a relation that fits, or confirm: lore link --force FROM "
        "RELATION TO", False),
    ("similar", _similar, "run 'lore graph similar'", False),
    ("purged", _purged, REINDEX, False),
)  # fmt: skip
