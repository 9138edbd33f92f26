"""What ``lore edit`` does without a text or an option: the person's editor."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import click

from ...core.errors import LoreError
from ...records.records import Change
from ...records.sources import source_of
from ...store.resolve_id import typed
from ...system.editor import opening, own_editor
from ...system.project_files import place_within
from .shared import Session, project_root

if TYPE_CHECKING:
    from ...store import Store


def edited(store: Store, id: str) -> str | None:
    """The text of a record as the person left it; None where there is no such record.

    Raises:
        LoreError: nothing was changed.
    """
    node = store.nodes.get(typed(store, id))
    if node is None:
        return None  # the edit itself says that there is no such node
    try:
        text: str | None = click.edit(node.body, extension=".md")
    except click.ClickException as error:
        raise LoreError(f"{error.message.rstrip('.')}: nothing was changed") from None
    if text is None or text.strip() == node.body.strip():
        raise LoreError("nothing was changed: give an option, or save another text")
    return text


def import_edited(session: Session, store: Store, id: str, *, force: bool) -> Change | None:
    """Opens the file that a document comes from, and imports what was saved.

    None where there is no such file, or the person wants a text of this store alone.
    """
    from ...formats.markdown import import_markdown

    root = project_root()
    node = store.nodes.get(typed(store, id))
    file = source_of(store, node, root) if node and not force else ""
    if node is None or not file:
        return None
    path = place_within(root, file)
    editor = own_editor()
    done = subprocess.run(opening(editor, path), check=False)
    if done.returncode:
        raise LoreError(f"{editor} failed (exit {done.returncode}): nothing was imported")
    result = import_markdown(
        store, session.settings, session.embedder(store), [path], root, type=node.type
    )
    changed = result.added + result.updated + result.invalidated
    return Change(node.id, "updated" if changed else "unchanged", result.notes)
