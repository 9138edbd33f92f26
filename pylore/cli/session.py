"""What a command has whose function gets its options as parameters: settings, store, output.

``add``, ``link``, ``edit``, ``fact`` and ``list`` are called in loops as a search is, so this
imports no click, numpy or json.
"""

from __future__ import annotations

from ..core.errors import UsageError
from ..store import tell_waiting
from ..terminal.output import FORMS, Output, note, other_forms
from .runtime import (
    asks_for,
    chosen_output,
    forms_in,
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
    from ..embed.endpoint import EndpointEmbedder
    from ..records.records import Change, Records
    from ..store import Store
    from ..system.plugin_files import Events
    from ..terminal.screen import Progress
    from .command import Line


_SETTING_OF = {"quiet": ("quiet", "1"), "no_pager": ("paging", "0"), "all_scopes": ("scope", "*")}
"""Shared options that set a setting."""


class Session:
    """One command's settings, output and store, from its line; each is made when it is used."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.given: dict[str, str] = options.pop("settings")
        """Settings as the line gives them; a command may add to them before it reads any."""
        names = (*(f"as_{form.name}" for form in FORMS), "jq")
        self._options = {name: options.pop(name) for name in names if name in options}
        self._settings: Settings | None = None
        self._output: Output | None = None

    @classmethod
    def of(cls, line: Line) -> Session:
        """Return the session of a command line."""
        shared, settings = {**line.shared}, {**line.settings}
        for option, (setting, value) in _SETTING_OF.items():
            if shared.pop(option, False):
                settings[setting] = value
        return cls({**shared, "settings": settings})

    @property
    def settings(self) -> Settings:
        """The settings of this command.

        Raises:
            UsageError: one of them is wrong.
        """
        if self._settings is None:
            self._settings = load_settings(self.given)
            if not self._settings.quiet:
                tell_waiting(note)
        return self._settings

    def use(self, settings: Settings) -> None:
        """Use these settings in place of the config's."""
        self._settings = settings

    @property
    def output(self) -> Output:
        """Where results go, in the form that the line or the settings name."""
        if self._output is None:
            self._output = chosen_output({**self._options}, self.settings)
        return self._output

    def form_given(self) -> str:
        """Return the form of output that the line names, ``jq`` among them; empty if none."""
        forms = [*forms_in(self._options), *(["jq"] if self._options.get("jq") else [])]
        return forms[0] if forms else ""

    def print_as_text(self, name: str) -> None:
        """Print text wherever it goes, as the option ``--NAME`` asks.

        Raises:
            UsageError: the line names another form too.
        """
        other = self.form_given()
        if other and other != "text":
            raise UsageError(f"--{name} and --{other} exclude each other: give one")
        self._options["as_text"] = True

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

    def engine(
        self,
        store: Store | None = None,
        settings: Settings | None = None,
        *,
        ahead: EndpointEmbedder | None = None,
    ) -> Engine:
        """Return the store under this command's settings; a ``with`` closes the store."""
        from ..app.engine import Engine

        store = self.open() if store is None else store
        return Engine(store, settings or self.settings, project_root(), ahead=ahead)

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

    def progress(self, label: str, total: int = 0, *, kept: str) -> Progress:
        """Return a ``with`` block that shows how far the work is, unless they want quiet.

        Args:
            kept: what an interrupt leaves.
        """
        from ..terminal.screen import Progress

        return Progress(label, total, kept=kept, on=not self.settings.quiet)

    def tell(
        self, event: str, rows: Sequence[dict[str, Any]], events: Events | None = None
    ) -> None:
        """Lets the output go out, then tells event plugins what was written, if they hear of it."""
        tell_event(self.settings, event, rows, events)

    def wipe(self, store: Store) -> None:
        """Let nothing of what was deleted for good stay in the file, or say that it does."""
        if not store.wipe():
            self.say(["what was deleted for good stays in free pages of the store, which is in use "
                      "or has no room: 'lore store reindex' wipes them"])  # fmt: skip

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
