"""Transcripts of coding agents, read as events: a module an agent."""

from __future__ import annotations

import os

from . import claude, codex, jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Reader(Protocol):
        """Reads the lines of one transcript, from the first on."""

        skipped: dict[str, int]
        """Lines that say nothing of what happened, by type."""
        known: int
        """Lines of a form that it knows."""

        @property
        def unfinished(self) -> int:
            """Calls whose result was not seen."""

        def read(self, line: bytes, number: int) -> None:
            """One line; ValueError where it is no JSON object."""

        def taken(self) -> list[dict[str, Any]]:
            """The events since this was last asked, with texts that are not cut yet."""


class Kind:
    """A kind of transcripts: how one is read, and where its agent keeps them."""

    __slots__ = ("head_of", "home", "name", "reader")

    def __init__(
        self,
        name: str,
        reader: Callable[[str], Reader],
        head_of: Callable[[bytes, str], tuple[str, bool]],
        home: tuple[str, str, str] | None = None,
    ) -> None:
        self.name = name
        self.reader = reader
        """From the path of a transcript."""
        self.head_of = head_of
        """From the first bytes of a file and its path: its session, and whether it is a side
        chain alone."""
        self.home = home
        """The variable that names the agent's folder, the usual one in HOME, the one in it."""

    @property
    def folder(self) -> str:
        """Where its agent keeps them; empty where there is no agent."""
        if self.home is None:
            return ""
        variable, usual, below = self.home
        base = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), usual)
        return os.path.join(base, below)


TRANSCRIPTS = {
    kind.name: kind
    for kind in (
        Kind("claude", claude.Claude, claude.head_of,
             ("CLAUDE_CONFIG_DIR", ".claude", "projects")),
        Kind("codex", codex.Codex, codex.head_of, ("CODEX_HOME", ".codex", "sessions")),
        Kind("jsonl", jsonl.EventLines, jsonl.head_of),
    )
}  # fmt: skip
