"""unlink, list, forget, restore, undo; add, link, edit and fact are in cli/writing.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...core.errors import UsageError
from ...core.model import Node
from ...core.text import counted
from ...core.times import parse_since
from ...core.vocabulary import RECORDS
from ...records.canonical import withheld
from ...records.fact_review import Facts, ReviewOutcome
from ...store.filter import Scope, require_statuses
from ...system.parts import require_part
from ...terminal.text import bold, changes_text, dim, list_text, oneline_text
from ..runtime import ids_from
from ..session import Session, changed_rows, one_line_each
from ..writing import split_list

if TYPE_CHECKING:
    from ...store import Store


def unlink(from_id: str, relation: str, to_id: str, **options: Any) -> None:
    session = Session(options)
    with session.open() as store:
        change = session.records(store).unlink(from_id, relation, to_id)
    session.print_change(change)


def list_records(types: tuple[str, ...], all_types: bool, tags: tuple[str, ...],
                 statuses: tuple[str, ...], files: tuple[str, ...], since: str, until: str,
                 limit: int | None, forgotten: bool, oldest: bool,
                 oneline: bool, **options: Any) -> None:  # fmt: skip
    if oneline:
        options = one_line_each(options)
    session = Session(options)
    if all_types and types:
        raise UsageError("--all and --type exclude each other: give one")
    named = split_list(types) or (() if all_types else (RECORDS,))
    with session.open() as store, store.faults:
        scope = Scope(
            types=store.types.require(named), tags=split_list(tags),
            files=split_list(files),
            since=parse_since(since) if since else "", until=parse_since(until) if until else "",
            statuses=require_statuses(split_list(statuses)),
        )  # fmt: skip
        found = store.nodes.select(scope, limit or -1, forgotten=forgotten, oldest_first=oldest)
        first = next(found, None)
        if first is None and not forgotten:
            session.say(_why_none(store, scope, records_only=named == (RECORDS,)))
        rows = [] if first is None else map(_listed, chain((first,), found))
        session.output.stream(rows, oneline_text if oneline else list_text)


def _why_none(store: Store, scope: Scope, *, records_only: bool) -> list[str]:
    """Return what is to be said where a list is empty."""
    if scope.tags:
        return store.nodes.unknown_tags(scope.tags)
    if not records_only or scope != Scope(types=scope.types):
        return []
    others = ", ".join(counted(n, type) for type, n in store.nodes.count_by_type().items())
    return [f"no records, only {others}: 'lore list --all' has them"] if others else []


def _listed(node: Node) -> dict[str, Any]:
    row = node.to_dict()
    del row["body"], row["data"], row["changed_at"], row["stamps"]
    return row


def forget(ids: tuple[str, ...], purge: bool, proposed: bool, **options: Any) -> None:
    session = Session(options)
    if proposed and (ids or not purge):
        raise UsageError("--proposed goes with --purge, and without an ID")
    wanted = [] if proposed else ids_from(ids, "forget")
    with session.open() as store:
        wanted = sorted(withheld(store)) if proposed else wanted
        changes = session.records(store).forget(wanted, purge=purge)
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
        require_part("capture", "commands").sweep_telemetry(session, dry_run=dry_run)
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
        _faded_text,
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
        session.output.list([outcome.to_dict() for outcome in outcomes], changes_text)


def _faded_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(
        f"{row['state']}  {bold(row['id'])}"
        + dim(f"  confidence {row['confidence']:.2g}, recency {row['recency']:.2g},"
              f" accesses {row['accesses']}\n")
        for row in rows
    ) or "nothing to sweep\n"  # fmt: skip
