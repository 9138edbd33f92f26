"""What the click commands share: their session, and a bar for what takes a while."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from ...system.interrupts import Tidying
from ..runtime import project_root, read_stdin, say
from ..session import Session, chosen_output

__all__ = [
    "Session", "chosen_output", "progress_bar", "project_root", "read_stdin", "say",
]  # fmt: skip


class progress_bar:  # noqa: N801 (used as a statement)
    """A bar on stderr where that is a terminal, and nothing elsewhere.

    ``with progress_bar("importing", size) as advance: advance(n)``
    """

    def __init__(self, label: str, length: int | None) -> None:
        self._bar = (
            click.progressbar(length=length, label=label, file=sys.stderr)
            if length and sys.stderr.isatty()
            else None
        )
        self._tidying = Tidying()

    def __enter__(self) -> Callable[[int], None]:
        if self._bar is None:
            return lambda step: None
        self._tidying.__enter__()  # the bar hides the cursor, and __exit__ brings it back
        self._bar.__enter__()
        return self._bar.update

    def __exit__(self, *error: Any) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)
            self._tidying.__exit__(*error)
