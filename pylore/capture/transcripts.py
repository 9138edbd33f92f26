"""Agents with transcripts: readers and folders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from .claude import Claude
from .codex import Codex

if TYPE_CHECKING:
    from collections.abc import Callable

    from .recorder import Reader


class Kind(NamedTuple):
    """An agent: reader, variable with the folder, usual folder in HOME, and subfolder of the
    transcripts."""

    name: str
    reader: Callable[[], Reader]
    variable: str
    usual: str
    below: str

    @property
    def folder(self) -> str:
        """The folder of the agent's transcripts."""
        base = os.environ.get(self.variable) or os.path.join(os.path.expanduser("~"), self.usual)
        return os.path.join(base, self.below)


TRANSCRIPTS = {
    "claude": Kind("claude", Claude, "CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "codex": Kind("codex", Codex, "CODEX_HOME", ".codex", "sessions"),
}
