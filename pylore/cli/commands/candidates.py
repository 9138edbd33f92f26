"""candidates, promote."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ...app import promotion
from ...app.candidates import Gathered, candidate_of, gather, listed, sweep_candidates, told
from ...app.promotion import Promoted, Wanted, asked_row
from ...core.errors import LoreError, NoStore, UsageError
from ...core.text import counted, one_line
from ...core.times import parse_since
from ...hooks.sessions import AgentSession
from ...telemetry.capture import ALL
from ...terminal.text import changes_text
from ..runtime import events_of, ids_from
from .candidates_text import candidates_text
from .shared import Session, project_root

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...app.engine import Engine
    from ...system.event_plugins import Events


_BEGINNING = 100
"""Characters of texts that are set beside each other."""


def candidates(
    since: str | None, project: str | None, everything: bool, limit: int | None, kept: bool,
    titles: bool, **options: Any,
) -> None:  # fmt: skip
    """``lore candidates``."""
    session = Session(options)
    if kept and (since or project or titles):
        raise UsageError("--kept looks at no events: leave --since, --project and --titles out")
    staged: list[Promoted] = []
    with session.open() as store:
        engine = session.engine(store)
        if not kept and store.writable:
            moment = parse_since(since) if since else ""
            _look(session, gather(engine, _project(project), moment, by_model=titles))
            staged = _stage_by_rule(session, engine)
        elif not kept:
            session.say(["the store cannot be written: what was found before is listed"])
        rows = listed(engine, everything=everything)
    session.output.list(rows[:limit], candidates_text)
    session.tell("post-promote", [_row(one) for one in staged])


def _project(given: str | None) -> str:
    if given == ALL:
        return ALL
    if given and not os.path.isdir(given):
        raise UsageError(f"--project {given}: is no folder: give one, or 'all'")
    return os.path.abspath(given) if given else project_root()


def _look(session: Session, done: Gathered) -> None:
    notes = [counted(len(done.new), "new candidate")] if done.new else []
    known = sorted({*done.known})
    if known:
        notes.append(f"said once more, and known: {', '.join(known[:10])}"
                     + (", …" if len(known) > 10 else ""))  # fmt: skip
    notes += [
        f"{id}: the error that it names came up again: see 'lore show {id}'" for id in done.again
    ]
    session.say([*notes, *done.notes])


def _stage_by_rule(session: Session, engine: Engine) -> list[Promoted]:
    """Stages what ``promote_auto`` lets in; an event plugin may refuse each."""
    wanted = []
    events = events_of(session.settings)
    for id in promotion.stage_by_rule(engine):
        one = Wanted(id)
        try:
            _ask(events, engine, [one], confirm=False)
        except LoreError as refused:
            session.say([f"{id} was not staged: {refused}"])
        else:
            wanted.append(one)
    if not wanted:
        return []
    session.say(_otherwise(engine, wanted))
    staged = promotion.promote(
        engine, wanted, confirm=False, run_of=_run_of(engine),
        at_most=promotion.most_a_day(engine),
    )  # fmt: skip
    session.say([f"staged by promote_auto: {one.id} ({one.candidate})" for one in staged])
    return staged


def swept_candidates(session: Session, *, dry_run: bool) -> list[str]:
    """What ``lore sweep --telemetry`` drops of this store's; nothing where there is no store."""
    try:
        store = session.open()
    except NoStore:
        return []
    with store:
        return sweep_candidates(session.engine(store), dry_run=dry_run)


def promote(
    ids: tuple[str, ...], type: str | None, title: str | None, body: str | None, into: str | None,
    confirm: bool, refuse: bool, skip: bool, **options: Any,
) -> None:  # fmt: skip
    """``lore promote``."""
    session = Session(options)
    words = {"--as": type, "--title": title, "--body": body, "--into": into, "--confirm": confirm}
    given = [name for name, value in words.items() if value]
    for name, value in words.items():
        if isinstance(value, str) and not value.strip():
            raise UsageError(f"{name} is empty: give it something, or leave it out")
    if not ids:
        _on_a_terminal(session, [*given, *(["--refuse"] * refuse), *(["--skip"] * skip)])
        return
    wanted = list(dict.fromkeys(ids_from(ids, "promote")))
    if refuse or skip:
        if given or (refuse and skip):
            raise UsageError(f"{'--refuse' if refuse else '--skip'} takes nothing beside ids: "
                             f"leave {(given or ['--skip'])[0]} out")  # fmt: skip
        decide = promotion.refuse if refuse else promotion.skip
        with session.open() as store:
            rows = decide(session.engine(store), wanted)
        session.output.list([{"id": row.id, "state": row.status} for row in rows], changes_text)
        return
    if len(wanted) > 1 and (title or body):
        raise UsageError("--title and --body are of one candidate: give one id")
    if into and (type or title or body):
        raise UsageError("--into makes no record: leave --as, --title and --body out")
    _promote_all(session, [Wanted(id, type or "", title or "", body or "", into or "")
                           for id in wanted], confirm=confirm)  # fmt: skip


def _promote_all(session: Session, wanted: Sequence[Wanted], *, confirm: bool) -> None:
    events = events_of(session.settings)
    with session.open() as store:
        engine = session.engine(store)
        _ask(events, engine, wanted, confirm=confirm)
        otherwise = _otherwise(engine, wanted)
        done = promotion.promote(engine, wanted, confirm=confirm, run_of=_run_of(engine))
    session.say(otherwise)
    for one in done:
        session.say(one.notes)
    rows = [_row(one) for one in done]
    session.output.list(rows, changes_text)
    session.tell("post-promote", rows, events)


def _on_a_terminal(session: Session, given: Sequence[str]) -> None:
    if given:
        raise UsageError(f"{given[0]} needs candidates' ids: see 'lore candidates --ids'")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("promote needs candidates' ids where nobody can be asked: "
                         "see 'lore candidates --ids'")  # fmt: skip
    from .promote_dialog import Dialog

    with session.open() as store:
        events = events_of(session.settings)
        engine = session.engine(store)
        dialog = Dialog(engine, _run_of(engine),
                        lambda one: _ask(events, engine, [one], confirm=True))  # fmt: skip
        dialog.run()
    session.tell("post-promote", [_row(one) for one in dialog.promoted], events)


def _ask(events: Events | None, engine: Engine, wanted: Sequence[Wanted], *, confirm: bool) -> None:
    """Lets event plugins refuse what is about to be promoted."""
    if events is not None:
        rows = [told(promotion.require(engine, one.id)) for one in wanted]
        events.ask("pre-promote", [asked_row(one, row, confirm=confirm)
                                   for one, row in zip(wanted, rows, strict=True)])  # fmt: skip


def _otherwise(engine: Engine, wanted: Sequence[Wanted]) -> list[str]:
    """Confirmed records that may contradict what is about to be promoted, each beside it."""
    rows = [promotion.require(engine, one.id) for one in wanted if not one.into]
    return [
        f"{near.id} may say otherwise than {row.id}: '{_beginning(near.text)}'"
        f" beside '{_beginning(row.body)}'"
        for row in rows
        for near in promotion.beside(engine, candidate_of(row))
        if near.otherwise
    ]


def _beginning(text: str) -> str:
    return one_line(text)[:_BEGINNING]


def _run_of(engine: Engine) -> Callable[[str], str]:
    """The run that an agent's session belonged to, as the hooks keep it."""
    return lambda session: AgentSession(session, engine.root).run


def _row(one: Promoted) -> dict[str, Any]:
    return {"id": one.id, "state": one.state, "candidate": one.candidate}
