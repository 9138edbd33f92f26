"""Find the token table that ``bpe`` reads, or make it.

It lies beside the packages, where the set-up has put it, or in the user's cache: never in a
store or a project, which may have come from anywhere.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..system.private_files import user_folder
from .bpe import PieceTable, TableError, stamp_of_tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_opened: dict[str, PieceTable] = {}
_temporary: dict[str, object] = {}
"""Tables of this process alone, each to its folder, which goes with it."""


def encode(words: Iterable[str], tokenizer: str) -> dict[str, list[int]]:
    """Return each word with its pieces' numbers. ``tokenizer`` is the path of the tokenizer's file.

    Raises:
        LoreError: there is no table, and none can be made.
    """
    words = list(words)
    try:
        stamp = stamp_of_tokenizer(tokenizer)
        own = own_table(stamp)
        for path in (installed_table(tokenizer), own, *_temporary):
            try:
                return _table(path, stamp, own=path == own).encode(words)
            except (OSError, TableError):
                _opened.pop(path, None)
        return _table(_made(own, tokenizer), stamp, own=True).encode(words)
    except (OSError, TableError) as error:
        raise LoreError(f"the table of the embedder's pieces cannot be made ({error}): "
                        "run 'make setup', or set 'embedder=none'") from None  # fmt: skip


def _made(own: str, tokenizer: str) -> str:
    """Return the path of a new table: in the user's cache, or for this process alone."""
    from .bpe_table import write_table

    try:
        write_table(own, tokenizer)
    except (OSError, LoreError):
        from tempfile import TemporaryDirectory

        folder = TemporaryDirectory(prefix="lore-pieces-")
        own = os.path.join(folder.name, os.path.basename(own))
        write_table(own, tokenizer)
        _temporary[own] = folder
    return own


def install_table(tokenizer: str) -> str:
    """Put a table beside the packages, if there is none that works; return its path.

    Raises:
        OSError, LoreError: as ``write_table``.
    """
    path = installed_table(tokenizer)
    try:
        PieceTable(path, stamp_of_tokenizer(tokenizer), own=False).encode(["word"])
    except (OSError, TableError):
        from .bpe_table import write_table

        write_table(path, tokenizer, private=False)
    return path


def installed_table(tokenizer: str) -> str:
    """Return where the set-up puts the table of a tokenizer: beside the packages."""
    packages = os.path.dirname(os.path.dirname(os.path.dirname(tokenizer)))
    return os.path.join(packages, "lore-pieces.table")


def own_table(stamp: str) -> str:
    """Return where the user's own is, for whom no set-up has made one."""
    return os.path.join(user_folder("XDG_CACHE_HOME", ".cache"), f"pieces-{stamp}.table")


def _table(path: str, stamp: str, *, own: bool) -> PieceTable:
    if path not in _opened:
        _opened[path] = PieceTable(path, stamp, own=own)
    return _opened[path]
