"""What the click commands share: settings, the store, the form of the output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ...app.engine import Engine
from ...core.settings import SETTINGS, Settings, from_environment
from ...embed import open_embedder
from ...records.records import Records
from ...store import tell_waiting
from ...system.interrupts import Tidying
from ...terminal.output import FORMATS, Output, note
from ..runtime import open_for_reading, project_root, read_stdin, say

if TYPE_CHECKING:
    from ...embed import Embedder
    from ...store import Store

__all__ = [
    "Session", "chosen_output", "progress_bar", "project_root", "read_stdin", "say",
]  # fmt: skip


class Session:
    """One command's settings, output and store, from its options."""

    def __init__(self, options: dict[str, Any]) -> None:
        flags = {}
        for setting in SETTINGS:
            text = options.pop("setting_" + setting.name, None)
            if text is not None:
                flags[setting.name] = text
        self.settings: Settings = from_environment(flags)
        for warning in self.settings.warnings:
            note(warning)
        self.output = chosen_output(options)
        if not self.settings.quiet:
            tell_waiting(note)

    def open(self) -> Store:
        """The store of this command's data folder."""
        return open_for_reading(self.settings)

    def engine(self, store: Store) -> Engine:
        """What requests work on: this store under these settings."""
        return Engine(store, self.settings, project_root())

    def embedder(self, store: Store) -> Embedder | None:
        """The embedder that the settings name."""
        return open_embedder(self.settings.embedder, store, self.settings)

    def records(self, store: Store) -> Records:
        """The writing side of the store."""
        return Records(store, self.settings, self.embedder(store), project_root())

    def say(self, notes: list[str]) -> None:
        """Notes for the person, unless they want quiet."""
        say(notes, self.settings)


def chosen_output(options: dict[str, Any]) -> Output:
    """The form of the output that these options ask for; takes them out of ``options``."""
    forms = [form for form in FORMATS if options.pop("as_" + form, False)]
    return Output.choose(forms, options.pop("jq", None))


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
