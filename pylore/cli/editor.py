"""Records in an editor: ``lore edit`` and ``lore add`` without a text, on a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..core.errors import LoreError
from ..formats.mdfile import FIELDS, NEW_FIELDS, draft_of, fields_of, read_draft
from ..records.fields import source_of
from ..records.records import Change
from ..store.resolve_id import complete_id
from ..system.files import make_private_folder, state_folder
from ..system.programs import opening, own_editor
from ..system.project_files import place_within
from ..terminal.output import note
from .runtime import data_folder, project_root
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..store import Store


_LONGEST_NAME = 60


class DraftFile:
    """``with DraftFile(name, text) as draft``: a private file, kept where the block fails.

    A kept draft of the same name and ``form`` is edited further, and the error names its path.
    """

    def __init__(self, name: str, text: str, form: str = "") -> None:
        plain = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in name)
        digest = sha256(f"{data_folder()}\n{name}\n{form}".encode()).hexdigest()[:8]
        folder = os.path.join(state_folder(), "drafts")
        make_private_folder(folder)
        self.path = os.path.join(folder, f"{plain[:_LONGEST_NAME]}-{digest}.md")
        self._text = text

    def __enter__(self) -> DraftFile:
        if os.path.exists(self.path):
            note(f"goes on with the draft that was kept in {self.path}")
        else:
            with open(self.path, "x", encoding="utf-8", newline="", opener=_private) as file:
                file.write(self._text)
        return self

    def edited(self) -> str:
        """Return the text that the editor saved.

        Raises:
            LoreError: nothing was changed, the editor failed, or the file is not UTF-8.
        """
        editor = own_editor()
        former = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the editor's
        try:
            done = subprocess.run(opening(editor, self.path), check=False)
        finally:
            signal.signal(signal.SIGINT, former)
        try:
            with open(self.path, encoding="utf-8", newline="") as file:
                text = file.read()
        except UnicodeDecodeError:
            raise LoreError("the draft is not UTF-8: convert it") from None
        if done.returncode:
            raise LoreError(f"{editor} failed (exit {done.returncode}): set EDITOR to yours")
        if text in ("", self._text):
            raise LoreError("nothing was changed: save another text, or give an option")
        return text

    def __exit__(self, kind: type[BaseException] | None, error: object, *_: object) -> None:
        if kind is None or not os.path.exists(self.path) or self._is_as_given():
            if os.path.exists(self.path):
                os.unlink(self.path)
        elif isinstance(error, LoreError):
            error.args = (f"{error}; the draft is kept in {self.path}: the same command goes on "
                          "with it",)  # fmt: skip

    def _is_as_given(self) -> bool:
        with open(self.path, "rb") as file:
            return file.read() in (b"", self._text.encode())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def draft_of_record(store: Store, id: str) -> DraftFile:
    """Return the draft of a record of the store.

    Raises:
        LoreError: unknown id.
    """
    node = store.nodes.require(complete_id(store, id))
    head = f"{node.id}, changed {node.updated_at}. These fields and the text below may be changed."
    return DraftFile(node.id, draft_of(head, fields_of(node), FIELDS))


def changes_in(store: Store, id: str, text: str) -> dict[str, Any]:
    """Return the changes of a draft, as parameters of ``Records.edit``.

    Raises:
        LoreError: the draft is wrong, or changes nothing.
    """
    before = fields_of(store.nodes.require(complete_id(store, id)))
    after = read_draft(text, FIELDS)
    if "text" in after and not after["text"].strip() and before["text"].strip():
        raise LoreError("the text is empty: 'lore forget' takes a record away")
    changed: dict[str, Any] = {
        name: value for name, value in after.items()
        if value != before[name] and (name != "text" or value.strip() != before[name].strip())
    }  # fmt: skip
    if not changed:
        raise LoreError("nothing was changed: save another text, or give an option")
    if "title" in changed and not changed["title"]:
        raise LoreError("the title is empty: give a line to call the record by")
    if "tags" in changed:
        changed["tags"] = _words(changed["tags"])
    if "confidence" in changed:
        changed["confidence"] = float(changed["confidence"])
    return changed


def draft_of_new(type: str, given: dict[str, Any]) -> DraftFile:
    """Return the draft of a new record, with the fields given as options."""
    head = (
        f"A new {type}: its text goes below the second line of dashes.\n"
        "tags: auth, api    file: src/a.py:10-20    links: decision-1a2b3c4d:relates_to"
    )
    fields = {
        name: ", ".join(value) if isinstance(value, (list, tuple)) else value or ""
        for name, value in given.items() if name in NEW_FIELDS
    }  # fmt: skip
    text = draft_of(head, fields, NEW_FIELDS)
    return DraftFile(f"new-{type}", text, text)


def new_in(text: str) -> dict[str, Any]:
    """Return the fields of a draft of a new record.

    Raises:
        LoreError: the draft is wrong, or has no text.
    """
    found: dict[str, Any] = dict.fromkeys(NEW_FIELDS, "") | read_draft(text, NEW_FIELDS)
    if not found["text"].strip():
        raise LoreError("there is no text: nothing was added")
    return {**found, "tags": _words(found["tags"]), "links": _words(found["links"])}


def _words(text: str) -> Sequence[str]:
    return tuple(text.replace(",", " ").split())


def edit_by_editor(session: Session, store: Store, id: str, *, force: bool) -> Change:
    """Return the change of a record that a person has edited, or of the document's file.

    Raises:
        LoreError: unknown id, a wrong draft, or nothing was changed.
    """
    change = None if force else _import_edited(session, store, id)
    if change is None:
        with draft_of_record(store, id) as draft:
            changes = changes_in(store, id, draft.edited())
            change = session.records(store).edit(id, force=force, **changes)
    return change


def _import_edited(session: Session, store: Store, id: str) -> Change | None:
    """Open the file of a document and import it; None if the record has no such file."""
    from ..formats.markdown import import_markdown

    root = project_root()
    node = store.nodes.get(complete_id(store, id))
    file = source_of(store, node, root) if node else ""
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
