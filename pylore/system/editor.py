"""The person's editor."""

from __future__ import annotations

import os


def own_editor() -> str:
    """Return the editor as the person names it: a command line."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


def opening(editor: str, *words: str) -> list[str]:
    """Return the command that opens an editor with these words, each of which stays one, as git
    does."""
    return ["/bin/sh", "-c", f'{editor} "$@"', editor, *words]
