"""The settings, output and store of one command.

It is on the path of every search: it imports no click, numpy or json.
"""

from __future__ import annotations

import os

from ..core.errors import UsageError
from ..core.settings import Settings
from ..store import tell_waiting
from ..terminal.output import FORMS, Output, flush, note
from .runtime import open_for_reading, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..core.settings import Settings
    from ..embed import Embedder
    from ..embed.endpoint import EndpointEmbedder
    from ..records.records import Records
    from ..store import Store
    from ..system.plugin_files import Events
    from ..terminal.screen import Progress

_AGENTS = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI")
"""Variables that agents set in the shells they run, where no person reads the output."""

_MOST_LEFT_OUT = 20


class Session:
    """One command's settings, output and store, from its options; each is made when it is used."""

    def __init__(self, given: dict[str, str]) -> None:
        self._forms = {form.name: form.name for form in FORMS if given.pop(form.name, "")}
        """Forms of output, each with the option that asks for it."""
        self._jq = given.pop("jq", None)
        if given.pop("no_pager", ""):
            given["paging"] = "0"
        if given.pop("all_scopes", ""):
            given["scope"] = "*"
        self.given = given
        """Settings as the line gives them; a command may add to them before it reads any."""
        self._settings: Settings | None = None
        self._output: Output | None = None

    @property
    def settings(self) -> Settings:
        """The settings of this command; reading them prints what is wrong in a config file.

        Raises:
            UsageError: one of them is wrong.
        """
        if self._settings is None:
            settings = self._settings = Settings.load(self.given)
            for text in settings.warnings:
                note(text)
            if not settings.quiet:
                tell_waiting(note)
        return self._settings

    def use(self, settings: Settings) -> None:
        """Use these settings in place of the config's."""
        self._settings = settings

    @property
    def output(self) -> Output:
        """Where results go, in the form that the line or the settings name."""
        if self._output is None:
            self._output = Output.choose(self._forms, self._jq, self.settings)
        return self._output

    def form_given(self) -> str:
        """Return the form of output that the line names, ``jq`` among them; empty if none."""
        return next(iter(self._forms), "jq" if self._jq else "")

    def print_as(self, form: str, option: str) -> None:
        """Print in a form, as an option asks; raise UsageError if the line has another."""
        self._forms.setdefault(form, option)
        self._output = Output.choose(self._forms, self._jq, self.settings)

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
        """Raise UsageError where a scope is set: ``what`` is about everybody's facts."""
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

    def say(self, notes: Iterable[str]) -> None:
        """Print notes on stderr, unless the line has --quiet."""
        if not self.settings.quiet:
            for text in notes:
                note(text)

    def say_left_out(self, places: Sequence[tuple[str, str]]) -> None:
        """Print the first places that were left out, and why."""
        self.say(f"{place} was left out: {why}" for place, why in places[:_MOST_LEFT_OUT])
        if len(places) > _MOST_LEFT_OUT:
            self.say([f"{len(places) - _MOST_LEFT_OUT} more were left out"])

    def progress(self, label: str, total: int = 0, *, kept: str) -> Progress:
        """Return a ``with`` block that shows how far the work is, unless the line has --quiet.

        Args:
            kept: what an interrupt leaves.
        """
        from ..terminal.screen import Progress

        return Progress(label, total, kept=kept, on=not self.settings.quiet)

    def events(self) -> Events | None:
        """Return the event plugins; None where there are none."""
        from ..system.files import own_folder

        if not os.path.isdir(own_folder(self.settings.plugin_dir)):
            return None
        from ..system.plugin_files import Events

        return Events(self.settings)

    def tell(
        self, event: str, rows: Sequence[dict[str, Any]], events: Events | None = None
    ) -> None:
        """Let the output go out, then call the plugins of an event with rows, if there are any."""
        events = (events or self.events()) if rows else None
        if events is not None and events.hear_of(event):
            flush()
            self.say(events.tell(event, rows))

    def record_reads(self, engine: Engine, ids: Sequence[str]) -> None:
        """Let the output go out, then count that a person has read these nodes."""
        flush()
        if not any(name in os.environ for name in _AGENTS):
            from ..app.find import record_accesses

            self.say(record_accesses(engine, ids))

    def wipe(self, store: Store) -> None:
        """Let nothing of what was deleted for good stay in the file, or say that it does."""
        from ..store.connection import TO_WIPE

        if store.meta.get(TO_WIPE) is None:
            return
        if not store.wipe():
            self.say(["what was deleted for good stays in free pages of the store, which is in use "
                      "or has no room: 'lore store reindex' wipes them"])  # fmt: skip
        from ..store.backup import copies_kept

        self.say(f"{path}: kept from before a restore, may still hold what was deleted for good: "
                 "delete it" for path in copies_kept(store.path))  # fmt: skip
