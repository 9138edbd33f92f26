"""Whole files of an index that was made before their texts were kept."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.text import identifier_parts
from ..system.project_files import read_plain
from .parse.texts import WHOLE_LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store

_MOST_BYTES = 4 * WHOLE_LENGTH
_BATCH = 200


def add_lacking(store: Store, root: str) -> None:
    """Adds the texts of files that were indexed, and are as they were, and have none."""
    known = store.code.languages_of_all()
    lacking = sorted(known.keys() - store.whole_files.paths())
    for start in range(0, len(lacking), _BATCH):
        some = lacking[start : start + _BATCH]
        read = [(path, _text(os.path.join(root, path))) for path in some]
        with store.transaction():
            store.whole_files.put((path, text, identifier_parts(text)) for path, text in read)


def _text(path: str) -> str:
    """What can be read of a file: nothing of one that is gone, which an index will say."""
    try:
        return read_plain(path, _MOST_BYTES).decode(errors="replace")[:WHOLE_LENGTH]
    except (OSError, LoreError):
        return ""
