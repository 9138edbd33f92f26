"""add, fact, link, unlink, list, edit, forget, restore, undo."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import click

from ...core.errors import LoreError, UsageError
from ...core.times import parse_since
from ...records.records import Change
from ...records.sources import source_of
from ...store.filter import Scope, require_statuses
from ...system.json_lines import parse_object
from ...system.project_files import place_within
from ...terminal.text import changes_text, list_text
from ..runtime import ids_from
from .shared import Session, project_root, read_stdin

if TYPE_CHECKING:
    from ...core.model import Node
    from ...store import Store


def add(type: str, text: tuple[str, ...], tags: tuple[str, ...], links: tuple[str, ...],
        **options: Any) -> None:  # fmt: skip
    session = Session(options)
    body = _text_on_stdin(session) if not text or text == ("-",) else " ".join(text)
    with session.open() as store:
        change = session.records(store).add(
            type, body, tags=_split(tags), links=[_link_target(link) for link in links], **options
        )
    session.say(change.notes)
    _print_change(session, change)


def fact(subject: str, predicate: str, object: str, **options: Any) -> None:
    session = Session(options)
    with session.open() as store:
        change = session.records(store).fact(subject, predicate, object, **options)
    session.say(change.notes)
    _print_change(session, change)


def link(from_id: str, relation: str, to_id: str, meta: tuple[str, ...], **options: Any) -> None:
    session = Session(options)
    fields = dict(map(_meta_field, meta))
    with session.open() as store:
        change = session.records(store).link(from_id, relation, to_id, metadata=fields, **options)
    _print_change(session, change)


def unlink(from_id: str, relation: str, to_id: str, **options: Any) -> None:
    session = Session(options)
    with session.open() as store:
        change = session.records(store).unlink(from_id, relation, to_id)
    _print_change(session, change)


def list_records(types: tuple[str, ...], tags: tuple[str, ...], statuses: tuple[str, ...],
                 files: tuple[str, ...], since: str, until: str, limit: int | None,
                 forgotten: bool, oldest: bool, **options: Any) -> None:  # fmt: skip
    session = Session(options)
    with session.open() as store, store.faults:
        scope = Scope(
            types=store.types.require(_split(types)), tags=_split(tags), files=_split(files),
            since=parse_since(since) if since else "", until=parse_since(until) if until else "",
            statuses=require_statuses(_split(statuses)),
        )  # fmt: skip
        found = store.nodes.select(scope, limit or -1, forgotten=forgotten, oldest_first=oldest)
        count = session.output.stream(map(_listed, found), list_text)
        if scope.tags and not count and not forgotten:
            session.say(store.nodes.unknown_tags(scope.tags))


def _listed(node: Node) -> dict[str, Any]:
    row = node.to_dict()
    del row["body"], row["data"], row["changed_at"]
    return row


def edit(id: str, words: tuple[str, ...], tags: tuple[str, ...] | None, force: bool,
         **options: Any) -> None:  # fmt: skip
    session = Session(options)
    with session.open() as store:
        text = _text_on_stdin(session) if words == ("-",) else " ".join(words) if words else None
        if text is None and not tags and not any(value is not None for value in options.values()):
            node = store.nodes.get(id)
            file = source_of(store, node, project_root()) if node and not force else ""
            if node and file:
                _edit_file(session, store, node, file)
                return
            text = _edited_by_hand(node)
        changes = {**options, "text": text, "tags": _split(tags) if tags else None}
        change = session.records(store).edit(id, force=force, **changes)
    session.say(change.notes)
    _print_change(session, change)


def forget(ids: tuple[str, ...], purge: bool, **options: Any) -> None:
    session = Session(options)
    wanted = ids_from(ids, "forget")
    with session.open() as store:
        changes = session.records(store).forget(wanted, purge=purge)
    _print_changes(session, changes)


def restore(ids: tuple[str, ...], at: str | None, **options: Any) -> None:
    session = Session(options)
    wanted = ids_from(ids, "restore")
    with session.open() as store:
        changes = session.records(store).restore(wanted, at=at or "")
    session.say([note for change in changes for note in change.notes])
    _print_changes(session, changes)


def undo(ids: tuple[str, ...], last: bool, **options: Any) -> None:
    session = Session(options)
    if last and ids:
        raise UsageError("--last and an ID exclude each other: give one")
    wanted = ids_from(ids, "undo") if ids else []
    with session.open() as store:
        changes = session.records(store).undo(wanted) if wanted or not ids else []
    session.say([note for change in changes for note in change.notes])
    _print_changes(session, changes)


def _text_on_stdin(session: Session) -> str:
    return read_stdin(session.settings.max_text, "max_text")


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def _link_target(text: str) -> tuple[str, str]:
    id, colon, relation = text.rpartition(":")
    if not colon or not id or not relation:
        raise UsageError(f"--link '{text}': give ID:RELATION, as decision-1a2b3c4d:derived_from")
    return id, relation


def _meta_field(text: str) -> tuple[str, Any]:
    """``KEY=VALUE``: the value as JSON where it is that, else as text."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--meta '{text}': give KEY=VALUE, as by=review or sure=true")
    try:
        json.loads(value)
        return key.strip(), parse_object(f'{{"it":{value}}}'.encode(), 8 + len(text) * 4)["it"]
    except (ValueError, RecursionError, LoreError):
        return key.strip(), value


def _edited_by_hand(node: Any) -> str | None:
    if node is None:
        return None  # the edit itself says that there is no such node
    text: str | None = click.edit(node.body, extension=".md")
    if text is None or text.strip() == node.body.strip():
        raise LoreError("nothing was changed: give an option, or save another text")
    return text


def _edit_file(session: Session, store: Store, node: Node, file: str) -> None:
    """Opens the file that a document comes from, and imports what was saved."""
    from ...formats.markdown import import_markdown

    root = project_root()
    path = place_within(root, file)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    # As git does it: the variable is the person's command line, the path a word of its own.
    done = subprocess.run(["/bin/sh", "-c", f'{editor} "$@"', editor, path], check=False)
    if done.returncode:
        raise LoreError(f"{editor} failed (exit {done.returncode}): nothing was imported")
    result = import_markdown(
        store, session.settings, session.embedder(store), [path], root, type=node.type
    )
    session.say(result.notes)
    changed = result.added + result.updated + result.invalidated
    _print_change(session, Change(node.id, "updated" if changed else "unchanged"))


def _print_change(session: Session, change: Change) -> None:
    session.output.one({"id": change.id, "state": change.state}, lambda row: changes_text([row]))


def _print_changes(session: Session, changes: list[Change]) -> None:
    session.output.list(
        [{"id": change.id, "state": change.state} for change in changes], changes_text
    )
