"""The agents whose transcripts are read, and where they keep them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from .claude import Claude
from .codex import Codex
from .recorder import EventLines, Recorder

if TYPE_CHECKING:
    from collections.abc import Callable


class Kind(NamedTuple):
    """A kind of transcripts: its recorder by path, and the agent's folder.

    ``home`` has the variable that names the folder, the usual one in HOME, and the one within.
    """

    name: str
    recorder: Callable[[str], Recorder]
    home: tuple[str, str, str] | None = None

    @property
    def folder(self) -> str:
        """The folder of the agent's transcripts; empty without an agent."""
        if self.home is None:
            return ""
        variable, usual, below = self.home
        base = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), usual)
        return os.path.join(base, below)


TRANSCRIPTS = {
    kind.name: kind
    for kind in (
        Kind("claude", lambda path: Recorder(Claude(), path),
             ("CLAUDE_CONFIG_DIR", ".claude", "projects")),
        Kind("codex", lambda path: Recorder(Codex(), path), ("CODEX_HOME", ".codex", "sessions")),
        Kind("jsonl", EventLines),
    )
}  # fmt: skip
