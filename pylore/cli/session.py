"""What a command has whose function gets its options as parameters: settings, store, output.

``add``, ``link``, ``edit``, ``fact`` and ``list`` are called in loops as a search is, so this
imports no click, numpy or json.
"""

from __future__ import annotations

from ..core.errors import UsageError
from ..store import tell_waiting
from ..terminal.forms import other_forms
from ..terminal.output import note
from .runtime import (
    asks_for,
    chosen_output,
    load_settings,
    open_for_reading,
    project_root,
    read_stdin,
    say,
    tell_event,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..records.records import Change, Records
    from ..store import Store
    from ..system.plugin_files import Events


class Session:
    """One command's settings, output and store, from its options."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.settings: Settings = load_settings(options.pop("settings"))
        self.output = chosen_output(options, self.settings)
        if not self.settings.quiet:
            tell_waiting(note)

    def open(self) -> Store:
        """Return the store of this command's data folder."""
        return open_for_reading(self.settings)

    def open_whole(self, what: str) -> Store:
        """Return the same, for a command that is about all of it.

        Raises:
            UsageError: a scope is set.
        """
        self.require_whole(what)
        return self.open()

    def require_whole(self, what: str) -> None:
        """UsageError where a scope is set: ``what`` is about everybody's facts."""
        if self.settings.scope:
            raise UsageError(f"{what} is about the whole store, and scope is "
                             f"'{self.settings.scope}': say --all-scopes")  # fmt: skip

    def engine(self, store: Store) -> Engine:
        """Return what requests work on: this store under these settings."""
        from ..app.engine import Engine

        return Engine(store, self.settings, project_root())

    def embedder(self, store: Store) -> Embedder | None:
        """Return the embedder that the settings name."""
        from ..embed import open_embedder

        return open_embedder(self.settings.embedder, store, self.settings)

    def records(self, store: Store) -> Records:
        """Return the writing side of the store."""
        return self.engine(store).records()

    def say(self, notes: list[str]) -> None:
        """Notes for the person, unless they want quiet."""
        say(notes, self.settings)

    def tell(
        self, event: str, rows: Sequence[dict[str, Any]], events: Events | None = None
    ) -> None:
        """Lets the output go out, then tells event plugins what was written, if they hear of it."""
        tell_event(self.settings, event, rows, events)

    def wipe(self, store: Store) -> None:
        """Let nothing of what was deleted for good stay in the file, or say that it does."""
        if not store.wipe():
            self.say(["what was deleted for good stays in free pages of the store, which is in use "
                      "or has no room: 'lore reindex' wipes them"])  # fmt: skip

    def print_change(self, change: Change) -> None:
        """What a write did, as one thing."""
        self.output.one({"id": change.id, "state": change.state}, _text)

    def print_changes(self, changes: Sequence[Change]) -> None:
        """What a write did to each of many."""
        rows = [{"id": change.id, "state": change.state} for change in changes]
        self.output.list(rows, lambda rows: "".join(map(_text, rows)))


def changed_rows(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return what event plugins are told of changes: of those that changed something."""
    return [
        {"id": change.id, "state": change.state}
        for change in changes if change.state != "unchanged"
    ]  # fmt: skip


def split_list(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of an option that takes a list and may be given several times."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def one_line_each(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a command that prints a line each: text, wherever it goes.

    Raises:
        UsageError: they ask for another form too.
    """
    for other in (*other_forms("text"), "jq"):
        if asks_for(options, other):
            raise UsageError(f"--oneline and --{other} exclude each other: give one")
    return {**options, "as_text": True}


def _text(row: dict[str, Any]) -> str:
    from ..terminal.text import change_text

    return change_text(row)


__all__ = ["Session", "project_root", "read_stdin", "say"]
