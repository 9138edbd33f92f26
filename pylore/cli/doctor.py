"""The command doctor: checks of the machine, the settings and the store, with fixes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from ..app.sync import reported_lines
from ..code.scan import program
from ..core.errors import DONE, FAILURE, LoreError, first_of
from ..core.settings import Settings
from ..core.vocabulary import CODE_IDS
from ..embed import open_embedder
from ..graph.ontology import misfits
from ..store import open_store, scratch_store
from ..store.backup import copies_kept
from ..store.check import sqlite_version, vector_extension
from ..store.connection import TO_WIPE, is_sound
from ..store.opening import SCHEMA_VERSION, missing_statements, other_statements
from ..system.programs import find_program
from .command import command, option
from .session import data_folder
from .store import lenient_settings

if TYPE_CHECKING:
    from ..store import Store
    from .session import Session

SETUP = "run 'make setup', or install lore again"
REINDEX = "run 'lore store reindex'"
EMBED = "run 'lore store embed --all'"
VECTORS = "run 'lore store embed', or 'lore store reindex'"
IMPORT = "move search.db away and import your last export: lore init && lore import FILE"
RELINK = "import the missing nodes, or remove the edges: lore link --remove FROM RELATION TO"
FIT = "use a relation that fits, or confirm: lore link --force FROM RELATION TO"
COPIES = "delete what is kept from before a restore when you no longer need it"
SYNC = "correct these lines, then run 'lore sync'"
PURGED = "purged text is in free pages"
FEW = 5  # maximum findings of a check that are listed


class Check(NamedTuple):
    """The result of a check; ok with a fix is a warning."""

    detail: str
    ok: bool = True
    fix: str | None = None


class Exam(NamedTuple):
    """A check: ``look`` returns findings, or a text if there are none, or a result."""

    id: str
    look: Callable[[], str | Sequence[str] | Check]
    fix: str
    fails: bool = True  # false if findings are warnings


@command("doctor [--full]", needs_config=False)
def doctor(session: Session, *, full: bool = option("--full", "check all indexes")) -> int:
    """Check the installation and the store, and print fixes.

    Prints {id, ok, detail, fix}; ok with a fix is a warning. Exits 1 if a check fails.

    \b
    lore doctor --jq '.[] | select(.fix) | .fix'
    """
    session.use(settings := lenient_settings(session.given))
    session.require_whole("doctor")
    rows = []
    with session.progress("checking", kept="the store is unchanged") as advance:
        for id, check in examine(data_folder(), settings, full=full):
            rows.append({"id": id, "ok": check.ok, "detail": check.detail, "fix": check.fix})
            advance(1)
    session.output.list(rows, checks_text)
    return DONE if all(row["ok"] for row in rows) else FAILURE


def examine(folder: str, settings: Settings, *, full: bool = False) -> Iterator[tuple[str, Check]]:
    """Yield the name and result of each check, in the order for fixing failures. ``full`` compares
    all indexes with the tables."""
    for row in of_machine(settings):
        yield row.id, _checked(row)
    try:
        store = open_store(folder, busy_timeout=settings.busy_timeout)
    except LoreError as error:
        yield "store", _failed(error, IMPORT)
        return
    with store:
        for row in of_store(store, settings, full=full):
            yield row.id, _checked(row, store.faults)
            if row.id == "integrity" and not is_sound(store.path):
                return  # statements may find no end in such a file


def _checked(row: Exam, faults: AbstractContextManager[object] | None = None) -> Check:
    """Return the result of a check; a failed result if the check raises."""
    try:
        with faults or nullcontext():
            found = row.look() or "fine"
    except (LoreError, OSError) as error:
        return _failed(error, row.fix)
    if isinstance(found, str):
        return Check(found)
    if isinstance(found, Check):
        return found
    return Check(first_of([*found], FEW), not row.fails, row.fix)


def _failed(error: Exception, fix: str) -> Check:
    """Return a failed check; the last part of a LoreError is the fix."""
    what, _, advice = str(error).rpartition(": ")
    if isinstance(error, LoreError) and what:
        return Check(what, False, fix if advice.startswith("run 'lore doctor'") else advice)
    return Check(str(error), False, fix)


def checks_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each check, with the way to mend it below."""
    text = ""
    for row in rows:
        mark = "FAIL" if not row["ok"] else "warn" if row["fix"] else "ok"
        text += f"{mark:<6}{row['id']:<13} {row['detail']}\n"
        text += f"{'':<19} mend: {row['fix']}\n" if row["fix"] else ""
    return text


def of_machine(settings: Settings) -> list[Exam]:
    """Return the checks of the machine and the settings."""

    def embedder() -> str:
        found = open_embedder(settings.embedder, scratch_store(), settings)
        if found is None:
            return "none: search is by full text alone"
        found.embed(["a word"])
        return f"{found.name}, {found.dimension} dimensions"

    python = f"Python {sys.version.partition(' ')[0]}, {sys.executable}"
    lines = [*settings.problems, *settings.warnings]
    return [
        Exam("python", lambda: python, SETUP),
        Exam("sqlite", sqlite_version, SETUP),
        Exam("sqlite-vec", vector_extension, SETUP),
        Exam("embedder", embedder, SETUP),
        Exam("ast-grep", program, SETUP),
        Exam("jq", lambda: find_program("jq") or ["--jq does not work"], "install jq", fails=False),
        Exam("config", lambda: lines, "correct these lines", fails=bool(settings.problems)),
    ]


def of_store(store: Store, settings: Settings, *, full: bool) -> list[Exam]:
    """Return the checks of a store, the file itself first."""
    checks = store.checks

    def replaced() -> list[str]:
        return [f"{name} is not lore's" for name in other_statements(store.connection)]

    def missing(*, derived: bool) -> list[str]:
        names = missing_statements(store.connection)
        return [f"{name} is missing" for name in names if (name in checks.derived) is derived]

    def vectors() -> str | Sequence[str] | Check:
        held = store.meta.get("embedder")
        wanted = open_embedder(settings.embedder, store, settings)
        if held is None:
            needed = wanted is not None and store.nodes.count_by_type()
            return Check("none: search is by full text alone", True, EMBED) if needed else "none"
        if wanted is not None and wanted.name != held:
            return Check(f"of {held}, the embedder is {wanted.name}", False, EMBED)
        return checks.unembedded() or f"of {held}, one a passage"

    def edges() -> list[str]:
        # A clone may lack files that its records link to; an import may complete other edges.
        return [
            f"{a} {relation} {b}"
            for a, b, relation in store.edges.dangling()
            if not a.startswith(CODE_IDS) and not b.startswith(CODE_IDS)
        ]

    unwritable = [] if store.writable else ["it cannot be written"]
    return [
        Exam("store", lambda: f"{store.path}, version {SCHEMA_VERSION}", IMPORT),
        Exam("data-folder", lambda: unwritable, "change its permissions"),
        Exam("tables", lambda: replaced() + missing(derived=False), IMPORT),
        Exam("indexes", lambda: missing(derived=True), REINDEX),
        Exam("integrity", lambda: checks.damage(full=full), IMPORT),
        Exam("values", checks.unreadable, IMPORT),
        Exam("fulltext", lambda: checks.fulltext_damage() or store.fulltext.engine, REINDEX),
        Exam("foreign-keys", checks.foreign_key_violations, IMPORT),
        Exam("passages", checks.unindexed, REINDEX),
        Exam("vectors", vectors, VECTORS),
        Exam("edges", edges, RELINK, fails=False),
        Exam("ontology", lambda: [" ".join(row[:3]) for row in misfits(store)], FIT, fails=False),
        Exam("purged", lambda: [PURGED] if store.meta.get(TO_WIPE) else [], REINDEX, fails=False),
        Exam("shared-file", lambda: reported_lines(store), SYNC, fails=False),
        Exam("copies", lambda: copies_kept(store.path), COPIES, fails=False),
    ]
