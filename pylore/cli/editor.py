"""The text of a record in an editor: ``lore edit`` and ``lore add`` without a text, on a
terminal."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..formats.import_documents import import_documents
from ..records.fields import source_of
from ..records.records import Change
from ..store.resolve_id import complete_id
from ..system.files import make_private_folder, state_folder
from ..system.programs import opening, own_editor
from ..system.project_files import place_within
from .runtime import project_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..store import Store
    from .session import Session


@contextmanager
def edited(text: str) -> Iterator[str]:
    """Yield a text as a person has edited it; a LoreError in the block keeps and names its file."""
    folder = os.path.join(state_folder(), "drafts")
    make_private_folder(folder)
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".md", dir=folder, delete=False) as file:
        file.write(f"{text}\n")
    try:
        _open_editor(file.name)
        try:
            saved = Path(file.name).read_text("utf-8")
        except UnicodeDecodeError:
            raise LoreError("the text is not UTF-8: convert it") from None
        yield saved.rstrip("\n")
    except LoreError as error:
        error.args = (f"{error}; the text is kept in {file.name}",)
        raise
    os.unlink(file.name)


def _open_editor(path: str) -> None:
    editor = own_editor()
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the editor's
    try:
        done = subprocess.run(opening(editor, path), check=False)
    finally:
        signal.signal(signal.SIGINT, former)
    if done.returncode:
        raise LoreError(f"{editor} failed (exit {done.returncode}): set EDITOR to yours")


def edit_by_editor(session: Session, store: Store, id: str, *, force: bool) -> Change:
    """Let a person edit the text of a record, or the file of a document; return the change."""
    node, root = store.nodes.require(complete_id(store, id)), project_root()
    file = "" if force else source_of(store, node, root)
    if not file:
        with edited(node.body) as text:
            return session.records(store).edit(node.id, text=text, force=force)
    path = place_within(root, file)
    _open_editor(path)
    result = import_documents(
        store, session.settings, session.embedder(store), [path], root, type=node.type
    )
    changed = result.added + result.updated + result.invalidated
    return Change(node.id, "updated" if changed else "unchanged", result.notes)
