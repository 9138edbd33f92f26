"""The line before a shell's prompt, which ``lib/prompt.bash`` caches."""

from __future__ import annotations

from ..app.find import related
from ..core.errors import LoreError
from ..core.text import counted, one_line, printable
from ..core.vocabulary import BROKEN, RECORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..app.engine import Engine

LONGEST = 160
"""Maximum characters of a line."""


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
    return printable(one_line(text))[:LONGEST] + "\n"
