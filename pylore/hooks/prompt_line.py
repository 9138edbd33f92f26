"""The line before a shell's prompt, in a file of the cache that ``lib/prompt.bash`` reads."""

from __future__ import annotations

import os

from ..app.find import related
from ..core.errors import LoreError
from ..core.text import counted, one_line, printable
from ..core.vocabulary import BROKEN, RECORDS
from ..system.atomic_write import write_whole
from ..system.files import make_private_folder, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..app.engine import Engine

LONGEST = 160
"""Maximum characters of a line."""


def line_file(project: str) -> str:
    """Return the file with the line of a project."""
    name = project.replace("%", "%25").replace("/", "%2F")
    return os.path.join(user_folder("XDG_CACHE_HOME", ".cache"), "prompt", name)


def write_line(path: str, text: str) -> None:
    """Write a line into its file."""
    folder = os.path.dirname(path)
    make_private_folder(os.path.dirname(folder))
    make_private_folder(folder)
    write_whole(path, [f"{text}\n"], private=True)


def line_about_changes(engine: Engine) -> str:
    """Return a line on the records of files that changed in the work tree; empty without any."""
    try:
        with engine.store.faults:
            found = related(engine, near=["@git"], types=(RECORDS,))
    except LoreError:
        return ""  # no git, or no such file in the store
    hits = sorted(found, key=lambda hit: hit.verdict not in BROKEN)
    if not hits:
        return ""
    best = hits[0]
    verdict = f" [{best.verdict}]" if best.verdict in BROKEN else ""
    text = f"lore: {counted(len(hits), 'record')} on changed files: {best.id}{verdict} {best.title}"
    return printable(one_line(text))[:LONGEST]
