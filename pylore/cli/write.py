"""Commands that write records and links, and take writes back: add, edit, link, fact, confirm,
forget, undo.

They are called in loops as a search is: they load no click, numpy or json.
"""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError, UsageError, nearest
from ..core.ids import link_parts
from ..core.text import counted, one_line
from ..core.vocabulary import LEARNING
from ..terminal.text import change_text, columns, each
from . import command as shared
from .command import argument, command, exclusive, option
from .session import Session, ids_from, read_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ..records.records import Change
    from ..store import Store

    Kept = TypeVar("Kept")

_QUOTED = 60
"""Characters of a text that a message quotes."""


@command("add [options] TYPE [TEXT… | TITLE BODY]", settings=("duplicate_similarity", "scope"))
def add(
    session: Session,
    type: str = argument("TYPE", complete="types"),
    words: tuple[str, ...] = argument("[TEXT…]"),
    *,
    body: str | None = option("-m, --body TEXT", "text below the title; - is stdin"),
    title: str = option("--title TITLE", "title", ""),
    why: str = option("--why TEXT", "reason", ""),
    tags: tuple[str, ...] = option("--tags, --tag TAG,…", "tags"),
    file: str = option(
        "--file PATH", "src/a.py, src/a.py:10-20, src/a.py::f", "", complete="files"
    ),
    links: tuple[str, ...] = option("--link ID:RELATION…", "link to a record", complete="ids"),
    status: str | None = shared.STATUS,
    source: str | None = shared.SOURCE,
    confidence: float | None = shared.CONFIDENCE,
    category: str | None = shared.CATEGORY,
    id: str = option("--id ID", "id, for example decision-use-jwt", ""),
    new_type: bool = option("--new-type", "declare a new type"),
) -> None:
    """Add a record: a decision, a lesson, a note.

    Two arguments are title and body. One text is split: its first sentence is the title. Without
    an argument the text is read from stdin. Adding the same text again changes only given fields.

    Types: decision, pattern, lesson, failure, observation, goal, note, doc, concept, entity,
    task.

    \b
    lore add decision "Use JWT for sessions" -m "No state on the server." --tags auth
    git log -1 --format=%B | lore add lesson --link decision-1a2b3c4d:learned_from
    """
    text = " ".join(words) if words else None
    if body is None and not title and len(words) == 2:
        text, body = words
    titled = text is not None and body is not None and bool(body.strip())
    if titled:
        exclusive(title=title, TEXT=True)
        title = one_line(text or "")
    if text is None or titled:
        text = body
    fields: dict[str, Any] = {
        "title": title,
        "why": why,
        "tags": tags,
        "status": status,
        "file": "" if "::" in file else file,
        "source": source or "user_edit",
        "links": [link_parts(link) for link in links],
        "confidence": 1.0 if confidence is None else confidence,
        "category": category,
        "id": id,
    }
    if text is None and sys.stdin.isatty():
        raise UsageError("add needs a text: lore add TYPE TEXT, or - for stdin")
    events = session.events()
    with session.engine() as engine:
        if not new_type:
            _require_type(engine.store, type, text or "")
        text = read_stdin(session.settings.max_text) if text in (None, "-") else text
        if events is not None:
            events.ask("pre-add", [{"type": type, "body": text, **fields}])
        key = f"{title}\n\n{text}" if titled else ""  # the id depends on the title, too
        records = engine.records()
        with records.writing("add"):
            change = records.add(type, text, key=key, new_type=new_type, **fields)
            if "::" in file:
                from ..app.code import anchor

                anchor(engine, change.id, file, here=os.getcwd())
    session.tell("post-add", _print(session, change), events)


def _require_type(store: Store, type: str, text: str) -> None:
    known = [LEARNING, *store.types.all()]
    if type not in known:
        from shlex import quote

        line = quote(one_line(f"{type} {text}")[:_QUOTED])
        hint = nearest(type, known) or f": write lore add note {line}"
        error = f"unknown type '{one_line(type)[:_QUOTED]}'{hint}"
        raise UsageError(f"{error}; 'lore add --help' lists the types, --new-type adds others")


@command("edit [options] ID [TEXT…]")
def edit(
    session: Session,
    id: str = argument("ID", complete="ids"),
    words: tuple[str, ...] = argument("[TEXT…]"),
    *,
    title: str | None = option("--title TITLE", "title"),
    why: str | None = option("--why TEXT", "reason; '' removes it"),
    tags: tuple[str, ...] | bool = option("--tags, --tag TAG,…", "tags; '' removes all", False),
    file: str | None = option("--file PATH", "file; '' removes it", complete="files"),
    status: str | None = shared.STATUS,
    source: str | None = shared.SOURCE,
    confidence: float | None = shared.CONFIDENCE,
    category: str | None = shared.CATEGORY,
    force: bool = option("--force", "change the text of a document here only"),
) -> None:
    """Change a record; the id stays the same.

    A lone - reads the text from stdin. Without text and options, opens the text in $EDITOR. The
    text of a document comes from a file: edit that file.

    \b
    lore edit decision-1a2b3c4d --status superseded
    lore edit note-5e6f7a8b - <note.md
    """
    text = " ".join(words) if words else None
    text = read_stdin(session.settings.max_text) if text == "-" else text
    fields: dict[str, Any] = {
        "text": text,
        "title": title,
        "why": why,
        "file": file,
        "status": status,
        "tags": None if isinstance(tags, bool) else tags,
        "source": source,
        "confidence": confidence,
        "category": category,
    }
    by_editor = all(value is None for value in fields.values())
    if by_editor and not (sys.stdin.isatty() and sys.stdout.isatty()):
        needs = "edit needs a text or an option without a terminal"
        raise UsageError(f"{needs}: lore edit ID TEXT, or - for stdin")
    with session.engine() as engine:
        records = engine.records()
        if by_editor:
            body = engine.store.nodes.require(engine.store.complete_id(id)).body
            records.edit(id, text=body, force=force)  # refuses a document before the editor opens
            change = in_editor(body, lambda text: records.edit(id, text=text, force=force))
        else:
            change = records.edit(id, force=force, **fields)
    session.tell("post-edit", _print(session, change))


def in_editor(text: str, keep: Callable[[str], Kept]) -> Kept:
    """Return ``keep`` of the text that a person edited; a failure keeps and names the file."""
    from signal import SIGINT, signal
    from tempfile import NamedTemporaryFile

    import click

    from ..system.files import make_private_folder, state_folder

    folder = os.path.join(state_folder(), "drafts")
    make_private_folder(folder)
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".md", dir=folder, delete=False) as file:
        file.write(f"{text}\n")
    before = signal(SIGINT, lambda *_: None)  # Ctrl-C is for the editor
    try:
        click.edit(filename=file.name)
        with open(file.name, encoding="utf-8") as edited:
            kept = keep(edited.read().rstrip("\n"))
    except (LoreError, click.ClickException, ValueError, OSError) as error:  # or a stray quote
        raise LoreError(f"{error}; the text is kept in {file.name}") from None
    finally:
        signal(SIGINT, before)
    os.unlink(file.name)
    return kept


@command("link [options] A RELATION B")
def link(
    session: Session,
    from_id: str = argument("A", complete="ids"),
    relation: str = argument("RELATION", complete="relations"),
    to_id: str = argument("B", complete="ids"),
    *,
    remove: bool = option("--remove", "remove the link"),
    weight: float | None = option("--weight X", "0 to 1 (default: 1)", low=0.0, high=1.0),
    metadata: tuple[str, ...] = option("--meta KEY=VALUE…", "set to JSON or text; null removes"),
    status: str | None = shared.STATUS,
    source: str | None = shared.SOURCE,
    force: bool = option("--force", "allow types that the relation does not join"),
    new_relation: bool = option("--new-relation", "declare a new relation"),
) -> None:
    """Link two records, from A to B, or remove a link.

    'lore graph relations' lists the relations and the types that they join.

    \b
    lore link lesson-1a2b3c4d learned_from failure-5e6f7a8b --weight 0.4 --meta by=review
    """
    if remove and (metadata or force or new_relation or {weight, status, source} != {None}):
        raise UsageError("--remove excludes options that describe a link: leave them out")
    fields = dict(map(_meta_field, metadata))
    with session.engine() as engine:
        records = engine.records()
        if remove:
            _print(session, records.unlink(from_id, relation, to_id))
            return
        change = records.link(
            from_id,
            relation,
            to_id,
            weight=weight,
            metadata=fields,
            status=status or "confirmed",
            source=source or "user_edit",
            force=force,
            new_relation=new_relation,
        )
    session.tell("post-link", _print(session, change))


@command("fact [options] SUBJECT PREDICATE OBJECT", settings=("single_valued",))
def fact(
    session: Session,
    subject: str = argument("SUBJECT", complete="ids"),
    predicate: str = argument("PREDICATE", complete="relations"),
    object: str = argument("OBJECT", complete="ids"),
    *,
    confidence: float | None = shared.CONFIDENCE,
    literal: bool = option("--literal", "the object is a value"),
    source: str | None = shared.SOURCE,
    status: str | None = shared.STATUS,
    single: bool = option("--single", "the predicate has one value at a time"),
) -> None:
    """State a fact: a subject, a predicate, an object.

    Subject and object are ids or names. A new name becomes an entity, a value becomes a concept, a
    new predicate becomes a relation. If a predicate has one value at a time, a confirmed fact
    supersedes the former fact.

    \b
    lore fact "billing service" uses postgresql --confidence 0.9
    """
    with session.engine() as engine:
        change = engine.records().fact(
            subject,
            predicate,
            object,
            confidence=1.0 if confidence is None else confidence,
            source=source or "user_edit",
            status=status,
            literal=literal,
            single=single,
        )
    session.tell("post-link", _print(session, change))


@command("confirm [options] ID… | SUBJECT PREDICATE OBJECT")
def confirm(
    session: Session,
    words: tuple[str, ...] = argument("ID…", complete="ids"),
    *,
    retract: bool = option("--retract", "mark them as wrong"),
) -> None:
    """Confirm records or a fact, or retract them.

    Confirmed records rank higher. Retracted records are found only with --status retracted. A lone
    - reads ids from stdin.

    \b
    lore list --status staged --ids | lore confirm -
    lore confirm --retract "billing service" uses mysql
    """
    wanted = ids_from(words, "confirm")
    with session.engine() as engine:
        changes = engine.records().confirm(wanted, retract=retract)
    _print(session, *changes, listed=True)


@command("forget [options] ID… | --faded | --purge --proposed")
def forget(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]", complete="ids"),
    *,
    purge: bool = option("--purge", "delete permanently; needs complete ids"),
    proposed: bool = option("--proposed", "records that were purged in a shared file"),
    faded: bool = option("--faded", "faded records, and states before history_days"),
    dry_run: bool = option("--dry-run", "with --faded: list only"),
) -> None:
    """Hide records and their links from searches.

    'lore undo ID' restores them, unless --purge deleted them. A record has faded if it is staged,
    comes from a conversation, was read fewer than 5 times, and confidence times recency is below
    0.2. A lone - reads ids from stdin.

    \b
    lore list --type observation --until 1y --ids | lore forget -
    lore forget --faded --dry-run
    """
    exclusive(faded=faded, ID=ids, proposed=proposed)
    exclusive(faded=faded, purge=purge)
    if (dry_run and not faded) or (proposed and not purge):
        raise UsageError("--dry-run needs --faded, and --proposed needs --purge")
    if faded:
        _forget_faded(session, dry_run=dry_run)
        return
    wanted = [] if proposed else ids_from(ids, "forget")
    with session.engine() as engine:
        store = engine.store
        if proposed:
            wanted = sorted(store.nodes.get_many(store.changes.proposed_purges()))
        changes = engine.records().forget(wanted, purge=purge)
        session.wipe(store)
    session.tell("post-forget", _print(session, *changes, listed=True))


def _forget_faded(session: Session, *, dry_run: bool) -> None:
    from ..records.undo import sweep

    with session.open(whole="forget --faded") as store:
        found, states = sweep(store, session.settings, dry_run=dry_run)
    if states:
        dropped = f"{counted(states, 'state')} of the history {'due' if dry_run else 'dropped'}"
        session.say([f"{dropped}: older than {session.settings.history_days} days"])
    text = each(columns("state id confidence recency accesses"), "nothing has faded\n")
    session.output.list(found, text)


@command("undo [options] [ID…]")
def undo(
    session: Session,
    ids: tuple[str, ...] = argument("[ID…]", complete="forgotten"),
    *,
    at: str | None = option("--at N|TIME", "state N, or the state at 2026-01-31, 7d ago"),
    restore: bool = option("--restore", "restore forgotten records"),
    redo: bool = option("--redo", "repeat the command that was undone last"),
) -> None:
    """Undo the last command, or the last change of records.

    Each repetition undoes one change more; --redo goes forward. A forgotten record is restored with
    its links. A lone - reads ids from stdin.

    \b
    lore undo && lore undo --redo
    lore undo decision-1a2b3c4d --at 2
    """
    if at is not None and not (at and ids):
        raise UsageError("--at needs an ID and a state: see --help")
    exclusive(redo=redo, ID=ids or restore)
    wanted = ids_from(ids, "restore" if restore else "undo") if ids or restore else []
    with session.engine() as engine:
        records = engine.records()
        if at is not None or restore:
            changes = records.restore(wanted, at=at or "")
        else:
            changes = records.undo(wanted, redo=redo) if wanted or not ids else []
            session.say(() if changes else records.notes)
    _print(session, *changes, listed=True)


def _print(session: Session, *changes: Change, listed: bool = False) -> list[dict[str, Any]]:
    """Print notes and the new states; return rows of changed records, for event plugins."""
    session.say(note for change in changes[:1] for note in change.notes)
    rows = [{"id": change.id, "state": change.state} for change in changes]
    if listed:
        session.output.list(rows, each(change_text))
    else:
        session.output.one(rows[0], change_text)
    return [row for row in rows if row["state"] != "unchanged"]


def _meta_field(text: str) -> tuple[str, Any]:
    """Return key and value of ``KEY=VALUE``; a value that is no JSON is a text."""
    from ..core.json import is_json, parse_object

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--meta '{text}': give KEY=VALUE, as by=review or sure=true")
    if not is_json(value):
        return key.strip(), value
    return key.strip(), parse_object(f'{{"it":{value}}}'.encode(), 8 + len(text) * 4)["it"]
