"""add, fact, link, edit: the commands that write what is known, a record or a link at a time.

They are called in loops as a search is, so this imports no click, numpy or json.
"""

from __future__ import annotations

import sys

from ..core.errors import LoreError, UsageError
from ..core.ids import link_parts
from .runtime import events_of, read_stdin
from .session import Session, changed_rows, split_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..records.records import Change
    from ..store import Store


def add(type: str, text: tuple[str, ...], tags: tuple[str, ...], links: tuple[str, ...],
        **options: Any) -> None:  # fmt: skip
    """``lore add``."""
    session = Session(options)
    given = {**options, "tags": split_list(tags), "links": links}
    add_record(session, type, text, given, session.print_change)


def add_record(
    session: Session, type: str, text: tuple[str, ...], given: dict[str, Any],
    show: Callable[[Change], None], about: str = "",
) -> None:  # fmt: skip
    """Add a record and ``show`` what that did: its text is the words given, or what a person writes
    in an editor, who reads there what it is ``about``, or stdin."""
    if not text and _at_terminal():
        _add_by_editor(session, type, given, show, about)
        return
    body = _text_on_stdin(session) if not text or text == ("-",) else " ".join(text)
    _add(session, type, body, given, show)


def _add_by_editor(
    session: Session, type: str, given: dict[str, Any], show: Callable[[Change], None], about: str
) -> None:
    from .commands.editing import draft_of_new, new_in

    if not given["new_type"]:
        with session.open() as store:
            store.types.require((type,))
    with draft_of_new(type, given, about) as draft:
        fields = {**given, **new_in(draft.edited())}
        _add(session, type, fields.pop("text"), fields, show)


def _add(
    session: Session, type: str, body: str, given: dict[str, Any], show: Callable[[Change], None]
) -> None:
    fields = {**given, "links": [_link_target(link) for link in given["links"]]}
    events = events_of(session.settings)
    if events is not None:
        asked = {name: value for name, value in fields.items() if name != "new_type"}
        events.ask("pre-add", [{"type": type, "body": body, **asked}])
    with session.open() as store:
        change = session.records(store).add(type, body, **fields)
    session.say(change.notes)
    show(change)
    if events is not None:
        session.tell("post-add", changed_rows([change]), events)


def fact(subject: str, predicate: str, object: str, **options: Any) -> None:
    """``lore fact``."""
    session = Session(options)
    with session.open() as store:
        change = session.records(store).fact(subject, predicate, object, **options)
    session.say(change.notes)
    session.print_change(change)
    session.tell("post-link", changed_rows([change]))


def link(from_id: str, relation: str, to_id: str, meta: tuple[str, ...], **options: Any) -> None:
    """``lore link``."""
    session = Session(options)
    fields = dict(map(_meta_field, meta))
    with session.open() as store:
        change = session.records(store).link(from_id, relation, to_id, metadata=fields, **options)
    session.print_change(change)
    session.tell("post-link", changed_rows([change]))


def edit(id: str, words: tuple[str, ...], tags: tuple[str, ...] | None, force: bool,
         **options: Any) -> None:  # fmt: skip
    """``lore edit``; what a person writes in an editor is asked for with click."""
    session = Session(options)
    with session.open() as store:
        change: Change | None = None
        text = _text_on_stdin(session) if words == ("-",) else " ".join(words) if words else None
        if text is None and not tags and not any(value is not None for value in options.values()):
            from .commands.editing import edited, import_edited

            change = import_edited(session, store, id, force=force)
            if change is None and _at_terminal():
                change = _edit_by_editor(session, store, id, force=force)
            text = None if change else edited(store, id)
        if change is None:
            changes = {**options, "text": text, "tags": split_list(tags) if tags else None}
            change = session.records(store).edit(id, force=force, **changes)
    session.say(change.notes)
    session.print_change(change)
    session.tell("post-edit", changed_rows([change]))


def _edit_by_editor(session: Session, store: Store, id: str, *, force: bool) -> Change:
    from .commands.editing import changes_in, draft_of_record

    with draft_of_record(store, id) as draft:
        changes = changes_in(store, id, draft.edited())
        return session.records(store).edit(id, force=force, **changes)


def _at_terminal() -> bool:
    """Return whether a person sits there, who may be shown an editor."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _text_on_stdin(session: Session) -> str:
    return read_stdin(session.settings.max_text, "max_text")


def _link_target(text: str) -> tuple[str, str]:
    parts = link_parts(text)
    if parts is None:
        raise UsageError(f"--link '{text}': give ID:RELATION, as decision-1a2b3c4d:derived_from")
    return parts


def _meta_field(text: str) -> tuple[str, Any]:
    """``KEY=VALUE``: the value as JSON where it is that, else as text."""
    from ..core.json import is_json, parse_object

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--meta '{text}': give KEY=VALUE, as by=review or sure=true")
    try:
        if is_json(value):
            return key.strip(), parse_object(f'{{"it":{value}}}'.encode(), 8 + len(text) * 4)["it"]
    except (RecursionError, LoreError):
        pass
    return key.strip(), value
