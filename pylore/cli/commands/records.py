"""unlink, forget, restore, undo, confirm, retract, sweep; what is called in loops is above."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import UsageError
from ...core.text import counted
from ...records.canonical import withheld
from ...records.fact_review import Facts, ReviewOutcome
from ...system.parts import require_part
from ...terminal.text import bold, change_text, dim, each
from ..runtime import ids_from
from ..session import Session, changed_rows


def unlink(from_id: str, relation: str, to_id: str, **options: Any) -> None:
    session = Session(options)
    with session.open() as store:
        change = session.records(store).unlink(from_id, relation, to_id)
    session.print_change(change)


def forget(ids: tuple[str, ...], purge: bool, proposed: bool, **options: Any) -> None:
    session = Session(options)
    if proposed and (ids or not purge):
        raise UsageError("--proposed goes with --purge, and without an ID")
    wanted = [] if proposed else ids_from(ids, "forget")
    with session.open() as store:
        wanted = sorted(withheld(store)) if proposed else wanted
        changes = session.records(store).forget(wanted, purge=purge)
        session.wipe(store)
    session.print_changes(changes)
    session.tell("post-forget", changed_rows(changes))


def restore(ids: tuple[str, ...], at: str | None, **options: Any) -> None:
    session = Session(options)
    wanted = ids_from(ids, "restore")
    with session.open() as store:
        changes = session.records(store).restore(wanted, at=at or "")
    session.say([note for change in changes for note in change.notes])
    session.print_changes(changes)


def undo(ids: tuple[str, ...], last: bool, **options: Any) -> None:
    session = Session(options)
    if last and ids:
        raise UsageError("--last and an ID exclude each other: give one")
    wanted = ids_from(ids, "undo") if ids else []
    with session.open() as store:
        changes = session.records(store).undo(wanted) if wanted or not ids else []
    session.say([note for change in changes for note in change.notes])
    session.print_changes(changes)


def confirm(words: tuple[str, ...], **options: Any) -> None:
    _change(Facts.confirm, words, "confirm", options)


def retract(words: tuple[str, ...], **options: Any) -> None:
    _change(Facts.retract, words, "retract", options)


def sweep(words: tuple[str, ...], dry_run: bool, telemetry: bool, **options: Any) -> None:
    session = Session(options)
    if words:
        raise UsageError(f"sweep takes no '{words[0]}': see 'lore sweep --help'")
    if telemetry:
        require_part("capture", "commands").sweep.run(session, dry_run=dry_run)
        return
    with session.open_whole("sweep") as store:
        facts = Facts(store, session.settings)
        faded = facts.sweep(dry_run=dry_run)
        states = facts.sweep_history(dry_run=dry_run)
    if states:
        how = "due" if dry_run else "dropped"
        session.say([f"{counted(states, 'state')} of the history {how}: left before the last "
                     f"{session.settings.history_days} days"])  # fmt: skip
    session.output.list(
        [{"id": one.id, "state": one.state, "confidence": one.confidence,
          "recency": one.recency, "accesses": one.accesses} for one in faded],
        each(_faded_text, "nothing to sweep\n"),
    )  # fmt: skip


def _change(
    change: Callable[[Facts, list[str]], list[ReviewOutcome]], words: tuple[str, ...], command: str,
    options: dict[str, Any],
) -> None:  # fmt: skip
    """Makes the change to what the words name, and prints what became of each."""
    session = Session(options)
    wanted = ids_from(words, command)
    with session.open() as store:
        outcomes = change(Facts(store, session.settings, session.embedder(store)), wanted)
        session.output.list([outcome.to_dict() for outcome in outcomes], each(change_text))


def _faded_text(row: dict[str, Any]) -> str:
    return f"{row['state']}  {bold(row['id'])}" + dim(
        f"  confidence {row['confidence']:.2g}, recency {row['recency']:.2g},"
        f" accesses {row['accesses']}\n"
    )
