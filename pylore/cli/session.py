"""The settings, output and store of a command; stdin, accesses, and the log of bugs.

This module is on the path of every search and imports no heavy module.
"""

from __future__ import annotations

import os
import sys

from ..app import Engine
from ..core.errors import LoreError, NoStore, UsageError, first_of
from ..core.json import STDIN, decoded
from ..core.settings import Settings
from ..store import open_store
from ..store.connection import TO_WIPE
from ..system.files import nearest_with, own_folder, spelled
from ..terminal import FORMS, Output, flush, note
from .command import require_utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..store import Store
    from ..system.plugins import Events
    from ..terminal.screen import Progress

AGENTS = "CLAUDECODE CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID CURSOR_AGENT GEMINI_CLI".split()
"""Variables that agents set in the shells they run, where no person reads the output."""


class Session:
    """The settings, output and store of a command; each is made on first use."""

    def __init__(self, given: dict[str, str]) -> None:
        self._forms = {form.name: form.name for form in FORMS if given.pop(form.name, "")}
        """Forms of output, each with the option that selects it."""
        self._jq = given.pop("jq", None)
        self.quiet = bool(given.pop("quiet", ""))
        if given.pop("all_scopes", ""):
            given["scope"] = "*"
        self.given = given
        """Settings as the line gives them; a command may add to them before it reads any."""
        self._settings: Settings | None = None
        self._output: Output | None = None

    @property
    def settings(self) -> Settings:
        """The settings of this command; the first use prints warnings about config files. Raises
        UsageError for an invalid value."""
        if self._settings is None:
            settings = self._settings = Settings.load(self.given)
            self.say(settings.warnings)
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
        """Select a form of output for an option; raise UsageError for a conflict."""
        self._forms.setdefault(form, option)
        self._output = Output.choose(self._forms, self._jq, self.settings)

    def open(self, whole: str = "") -> Store:
        """Return the store in use; at its first use a project's is made of what it shares.

        Args:
            whole: names a command about all of it, which no scope may limit.

        Raises:
            StoreError: the store is missing, or cannot be read.
        """
        if whole:
            self.require_whole(whole)
        folder, project = data_folder(), project_folder()
        try:
            store = open_store(folder, busy_timeout=self.settings.busy_timeout)
        except NoStore:
            if not project:
                place = f"in {folder}" if os.environ.get("LORE_DIR") else "for this folder"
                raise NoStore(f"no store {place}: run 'lore init'") from None
            from ..app.sync import first_store

            store = first_store(project, self.settings, self.say)
            os.environ["LORE_STORE"] = os.path.dirname(store.path)
        store.project = project or store.project
        if self.settings.scope:
            store.keep_to(self.settings.scope)
        return store

    def require_whole(self, what: str) -> None:
        """Raise UsageError if a scope is set: ``what`` needs the facts of all scopes."""
        if scope := self.settings.scope:
            needs = f"{what} needs the complete store, but scope is '{scope}'"
            raise UsageError(f"{needs}: add --all-scopes")

    def engine(self, store: Store | None = None) -> Engine:
        """Return the store under this command's settings; a ``with`` closes the store."""
        return Engine(store or self.open(), self.settings, project_root())

    def say(self, notes: Iterable[str]) -> None:
        """Print notes on stderr, unless the line has --quiet."""
        if not self.quiet:
            for text in notes:
                note(text)

    def say_skipped(self, places: Sequence[tuple[str, str]]) -> None:
        """Print the first skipped places, with reasons."""
        if places:
            self.say([first_of([f"{place} was left out: {why}" for place, why in places])])

    def progress(self, label: str, total: int = 0, *, kept: str) -> Progress:
        """Return a ``with`` block that shows the progress; an interrupt prints ``kept``."""
        from ..terminal.screen import Progress

        return Progress(label, total, kept=kept, on=not self.quiet)

    def events(self) -> Events | None:
        """Return the event plugins; None without plugins."""
        if not os.path.isdir(own_folder(self.settings.plugin_dir)):
            return None
        from ..system.plugins import Events

        return Events(self.settings)

    def tell(self, name: str, rows: Sequence[dict[str, Any]], events: Events | None = None) -> None:
        """Let the output go out, then call the plugins of an event with rows, if there are any."""
        events = (events or self.events()) if rows else None
        if events is not None and events.has_plugins(name):
            flush()
            self.say(events.tell(name, rows))

    def record_reads(self, engine: Engine, ids: Sequence[str]) -> None:
        """Let the output go out, then count that a person has read these nodes."""
        flush()
        if not any(name in os.environ for name in AGENTS):
            self.say(count_accesses(engine.store, engine.settings, ids))

    def wipe(self, store: Store) -> None:
        """Overwrite purged text in the file, or print that it remains."""
        if store.meta.get(TO_WIPE) is None:
            return
        if not store.wipe():
            pages = "purged text stays in free pages of the store, which is in use or has no room"
            self.say([f"{pages}: 'lore store reindex' wipes them"])
        from ..store.backup import copies_kept

        why = "kept from before a restore, may still hold purged text"
        self.say(f"{path}: {why}: delete it" for path in copies_kept(store.path))


def data_folder() -> str:
    """Return the folder of the store that ``config.load`` found."""
    folder = os.environ.get("LORE_STORE") or os.environ.get("LORE_DIR")
    if not folder:
        raise LoreError("no data folder: set HOME, XDG_DATA_HOME or LORE_DIR")
    return require_utf8(folder, "the data folder")


def project_folder() -> str:
    """Return the folder of the present project; empty without one, and with ``LORE_DIR``."""
    return os.environ.get("LORE_PROJECT", "")


def project_root() -> str:
    """Return the folder that stored paths start from: project, repository or working folder."""
    return project_folder() or nearest_with(os.getcwd(), (".git",)) or os.getcwd()


def from_root(globs: Iterable[str]) -> tuple[str, ...]:
    """Return globs with those that start from the working folder as globs from the root."""
    found = []
    for glob in map(spelled, globs):
        here, root = os.path.abspath(glob), project_root()
        is_path = glob[:1] in (".", "/") or os.path.lexists(here)
        if is_path and (here + os.sep).startswith(root + os.sep):
            glob = "**" if here == root else os.path.relpath(here, root)
        found.append(glob)
    return tuple(found)


def read_stdin(longest: int = STDIN) -> str:
    """Read stdin; raise LoreError unless it is short enough, UTF-8 and without NUL bytes."""
    try:
        return decoded(sys.stdin.buffer.read(longest + 1), longest)
    except LoreError as error:
        raise LoreError(f"stdin: {error}") from None


def ids_from(words: Sequence[str], command: str) -> list[str]:
    """Return the ids on the command line; ``-`` reads ids from stdin, one per line."""
    lists = [read_stdin().split("\n") if word == "-" else [word] for word in words]
    ids = [id.strip() for some in lists for id in some if id.strip()]
    if not ids and "-" not in words:
        raise UsageError(f"{command} needs an id: see 'lore list --ids'")
    return ids


def count_accesses(store: Store, settings: Settings, ids: Sequence[str]) -> list[str]:
    """Count a read of each node; return a note for each staged record that this confirmed.

    Never fails or waits: a busy or read-only store counts no reads. Call this after the output.
    """
    if not ids or not store.writable:
        return []
    from ..core.times import now
    from ..records.facts import promote

    ids = [*dict.fromkeys(ids)]
    try:
        with store.faults, store.aside():
            store.review.count_access(ids, now())
            promoted = promote(store, settings, ids)
    except LoreError:
        return []
    return [f"confirmed, since it is read often: {what}" for what in promoted]


REPORTS = 1 << 20
"""Maximum size of a log of bugs in bytes; there are two. A bug in a hook may occur hundreds of
times a day."""


def report_bug(error: BaseException, command: str) -> str:
    """Append a report to the log, or else print it; return the line that says where it is."""
    from platform import python_version

    from .. import __version__
    from ..core.errors import report_of
    from ..core.times import now
    from ..system.files import append_line, state_folder

    head = f"{now()} lore {__version__}, Python {python_version()}, {sys.platform}: {command}"
    report = f"{head}\n{report_of(error)}\n"
    path = os.path.join(state_folder(), "error.log")
    try:
        append_line(path, f"{report}\n".encode("utf-8", "backslashreplace"), REPORTS)
    except OSError:
        sys.stderr.write(report)
        return f"a bug in lore, and {path} cannot be written: please report the lines above"
    return f"a bug in lore: what happened is in {path}: please report it"
