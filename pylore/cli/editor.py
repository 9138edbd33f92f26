"""Records in an editor: ``lore edit`` and ``lore add`` without a text, on a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError
from ..formats.markdown import import_markdown
from ..formats.mdfile import FIELDS, NEW_FIELDS, draft_of, fields_of, read_draft
from ..records.fields import source_of
from ..records.records import Change
from ..store.resolve_id import complete_id
from ..system.atomic_write import write_whole
from ..system.files import make_private_folder, state_folder
from ..system.programs import opening, own_editor
from ..system.project_files import place_within
from ..terminal.output import note
from .runtime import data_folder, project_root
from .session import Session

if TYPE_CHECKING:
    from ..core.model import Node
    from ..store import Store

NO_CHANGE = "nothing was changed: save another text, or give an option"


@contextmanager
def draft(
    name: str, head: str, fields: Mapping[str, str], names: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Yield the fields of a draft that a person has edited; keep its file if the block fails.

    A kept draft of the same text is edited further. Raise LoreError, which names the kept file,
    if nothing was changed, the editor failed or the draft is wrong.
    """
    text = draft_of(head, fields, names)
    path = _path_of_draft(name, text)
    if path.exists():
        note(f"goes on with the draft that was kept in {path}")
    else:
        write_whole(str(path), [text], private=True)
    try:
        _open_editor(str(path))
        yield read_draft(_saved_text(path, text), names)
    except LoreError as error:
        if path.exists() and path.read_bytes() not in (b"", text.encode()):
            error.args = (f"{error}; the draft is kept in {path}: the same command goes on "
                          "with it",)  # fmt: skip
        else:
            path.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)


def _path_of_draft(name: str, text: str) -> Path:
    plain = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in name)
    digest = sha256(f"{data_folder()}\n{text}".encode()).hexdigest()[:8]
    folder = os.path.join(state_folder(), "drafts")
    make_private_folder(folder)
    return Path(folder, f"{plain[:60]}-{digest}.md")


def _open_editor(path: str) -> None:
    editor = own_editor()
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the editor's
    try:
        done = subprocess.run(opening(editor, path), check=False)
    finally:
        signal.signal(signal.SIGINT, former)
    if done.returncode:
        raise LoreError(f"{editor} failed (exit {done.returncode}): set EDITOR to yours")


def _saved_text(path: Path, before: str) -> str:
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise LoreError("the draft is not UTF-8: convert it") from None
    if text in ("", before):
        raise LoreError(NO_CHANGE)
    return text


@contextmanager
def new_by_editor(type: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of a new record that a person has written, as ``lore add`` has them."""
    head = (
        f"A new {type}: its text goes below the second line of dashes.\n"
        "tags: auth, api    file: src/a.py:10-20    links: decision-1a2b3c4d:relates_to"
    )
    fields = {
        name: value if isinstance(value, str) else ", ".join(value)
        for name, value in given.items() if name in NEW_FIELDS
    }  # fmt: skip
    with draft(f"new-{type}", head, fields, NEW_FIELDS) as written:
        found: dict[str, Any] = dict.fromkeys(NEW_FIELDS, "") | written
        if not found["text"].strip():
            raise LoreError("there is no text: nothing was added")
        yield {**found, "tags": _words(found["tags"]), "links": _words(found["links"])}


def edit_by_editor(session: Session, store: Store, id: str, *, force: bool) -> Change:
    """Return the change of a record that a person has edited, or of the document's file."""
    node = store.nodes.require(complete_id(store, id))
    file = "" if force else source_of(store, node, project_root())
    if file:
        return _import_edited(session, store, node, file)
    head = f"{node.id}, changed {node.updated_at}. These fields and the text below may be changed."
    before = fields_of(node)
    with draft(node.id, head, before, FIELDS) as after:
        changes = _changes(before, after)
        return session.records(store).edit(node.id, force=force, **changes)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    """Return the changes of a draft, as parameters of ``Records.edit``."""
    changed: dict[str, Any] = {
        name: value for name, value in after.items()
        if value != before[name] and (name != "text" or value.strip() != before[name].strip())
    }  # fmt: skip
    if not changed:
        raise LoreError(NO_CHANGE)
    if "title" in changed and not changed["title"]:
        raise LoreError("the title is empty: give a line to call the record by")
    if "tags" in changed:
        changed["tags"] = _words(changed["tags"])
    if "confidence" in changed:
        changed["confidence"] = float(changed["confidence"])
    return changed


def _words(text: str) -> Sequence[str]:
    return tuple(text.replace(",", " ").split())


def _import_edited(session: Session, store: Store, node: Node, file: str) -> Change:
    """Open the file of a document and import it."""
    root = project_root()
    path = place_within(root, file)
    _open_editor(path)
    result = import_markdown(
        store, session.settings, session.embedder(store), [path], root, type=node.type
    )
    changed = result.added + result.updated + result.invalidated
    return Change(node.id, "updated" if changed else "unchanged", result.notes)
