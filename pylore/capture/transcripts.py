"""The agents whose transcripts are read, and where they keep them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from .claude import Claude
from .codex import Codex

if TYPE_CHECKING:
    from collections.abc import Callable

    from .recorder import Reader


class Kind(NamedTuple):
    """An agent: its reader, the variable that names its folder, the usual folder in HOME, and
    the folder of the transcripts within."""

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
