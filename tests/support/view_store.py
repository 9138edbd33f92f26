"""A store for tests of the graph page, with texts that try to leave the data block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from homes import move_home

import pylore

OWNED = "document.documentElement.dataset.owned='yes'"
HOSTILE = (
    f"</script><script>{OWNED}</script>",
    f"<img src=x onerror={OWNED}>",
    f"<!--<script>{OWNED}\u2028//",
    f'"-->`;{OWNED};//',
    f"]]></style><svg onload={OWNED}>",
    "tokens \x1b[2J\u202e backwards",
)


@contextmanager
def view_store(folder: Path) -> Iterator[pylore.Lore]:
    """A store with a decision, code, a lone note and hostile lessons."""
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, folder)
        with pylore.open(folder / ".lore", create=True) as lore:
            text = "Sessions are signed tokens\n\nThe server keeps no state."
            lore.add("decision", text, id="decision-a")
            lore.add("file", "auth.py", id="file-auth.py", links=[("decision-a", "implements")])
            lore.add("file", "web.py", id="file-web.py", links=[("file-auth.py", "imports")])
            lore.add("note", "Of nothing else", id="note-alone")
            for name in ("check_login", "log_in"):
                lore.add("symbol", f"{name}()", id=f"symbol-auth.py::{name}")
                lore.link("file-auth.py", "defines", f"symbol-auth.py::{name}")
            lore.link("file-web.py", "calls", "symbol-auth.py::log_in")
            links = [("decision-a", "relates_to")]
            for number, text in enumerate(HOSTILE):
                lore.add("lesson", text, id=f"lesson-{number}", links=links)
            yield lore
