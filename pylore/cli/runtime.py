"""What every command of the engine shares: its settings, data folder, store, stdin, notes.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os
import sys

from ..core.errors import LoreError, NoStore, UsageError, first_of
from ..core.settings import from_environment
from ..terminal.output import FORMS, Output, flush, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..app.engine import Engine
    from ..context.build import Context
    from ..core.model import Hits
    from ..core.settings import Settings
    from ..store import Store
    from ..system.plugin_files import Events


def load_settings(given: Mapping[str, str], *, lenient: bool = False) -> Settings:
    """Return the settings under those of a command line; say what is wrong in a config file."""
    settings = from_environment(given, lenient=lenient)
    for warning in settings.warnings:
        note(warning)
    if settings.problems:
        note(first_of(settings.problems))
    return settings


def forms_in(options: Mapping[str, Any]) -> list[str]:
    """Return the forms of output that these options name."""
    return [form.name for form in FORMS if options.get(f"as_{form.name}")]


def asks_for(options: Mapping[str, Any], name: str) -> bool:
    """Return whether the options have a form of output, a switch, or a value for ``name``."""
    return options.get(name, options.get(f"as_{name}")) not in (None, False)


def chosen_output(options: dict[str, Any], settings: Settings | None = None) -> Output:
    """Return the output that these options ask for, and take them out of ``options``."""
    forms = [form.name for form in FORMS if options.pop(f"as_{form.name}", False)]
    return Output.choose(forms, options.pop("jq", None), settings)


def data_folder() -> str:
    """Return the folder of the store that ``config.load`` found."""
    folder = os.environ.get("LORE_STORE") or os.environ.get("LORE_DIR")
    if not folder:
        raise LoreError("no data folder: set HOME, XDG_DATA_HOME or LORE_DIR")
    return require_utf8(folder, "the data folder")


def project_folder() -> str:
    """Return the folder of the project in use; empty outside of one, and under ``LORE_DIR``."""
    return os.environ.get("LORE_PROJECT", "")


def project_root() -> str:
    """Return the folder that paths in the store start from: the project's, or the working one."""
    return project_folder() or os.getcwd()


def shared_folder() -> str:
    """Return the folder of what is shared and set: the project's ``.lore``, or the data folder."""
    project = project_folder()
    return os.path.join(project, ".lore") if project else data_folder()


def require_utf8(text: str, what: str) -> str:
    """``text`` if it is UTF-8; UsageError if not. What is not reaches Python as half surrogates."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"{what} '{text}' is not UTF-8: convert or rename it")
    return text


def open_for_reading(settings: Settings) -> Store:
    """Open the store in use; at its first use a project's is made of what the project shares.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    from ..store import open_store

    folder = data_folder()
    try:
        store = open_store(folder, busy_timeout=settings.busy_timeout)
        store.project = project_folder() or store.project
    except NoStore:
        project = project_folder()
        if not project:
            raise NoStore(_where_to_init(folder)) from None
        from ..app.sync import first_store

        store = first_store(project, settings, note)
        os.environ["LORE_STORE"] = os.path.dirname(store.path)
    if settings.scope:
        store.keep_to(settings.scope)
    return store


def require_store(folder: str) -> None:
    """Raise NoStore where a folder has no store, and say where to make one."""
    from ..store import FILE

    if not os.path.lexists(os.path.join(folder, FILE)):
        raise NoStore(_where_to_init(folder))


def _where_to_init(folder: str) -> str:
    if os.environ.get("LORE_DIR"):
        return f"no store in {folder}: run 'lore init'"
    project = project_folder()
    if project:
        return f"no store for {project}: run 'lore init' there"
    return "no store for this folder: run 'lore init' in your project"


def say(notes: Iterable[str], settings: Settings) -> None:
    """Notes for the person, unless they want quiet."""
    if not settings.quiet:
        for text in notes:
            note(text)


def events_of(settings: Settings) -> Events | None:
    """Return the event plugins of this command; None where there are none."""
    from ..system.files import has_event_plugins

    if not has_event_plugins(settings.plugin_dir):
        return None
    from ..system.plugin_files import Events

    return Events(settings)


def tell_event(
    settings: Settings,
    event: str,
    rows: Sequence[Mapping[str, object]],
    events: Events | None = None,
) -> None:
    """Lets the output go out, then tells event plugins what was written, if they hear of it."""
    if not rows:
        return
    events = events or events_of(settings)
    if events is not None and events.hear_of(event):
        flush()
        say(events.tell(event, rows), settings)


_MOST_LEFT_OUT = 20


def say_left_out(places: Sequence[tuple[str, str]], settings: Settings) -> None:
    """Names what was left out, and why: the first ones."""
    say([f"{place} was left out: {why}" for place, why in places[:_MOST_LEFT_OUT]], settings)
    if len(places) > _MOST_LEFT_OUT:
        say([f"{len(places) - _MOST_LEFT_OUT} more were left out"], settings)


def read_stdin(longest: int = 0, limit: str = "the limit") -> str:
    """Return all of stdin as text, of so many bytes at most; ``limit`` is what says so.

    Raises:
        LoreError: it is longer, not UTF-8, or has a NUL byte.
    """
    from ..core.lines import STDIN

    longest = longest or STDIN
    data = sys.stdin.buffer.read(longest + 1)
    if len(data) > longest:
        raise LoreError(f"stdin is too long, {limit} is {longest} bytes: give a shorter text")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise LoreError(f"stdin is not UTF-8 (byte {error.start}): convert it first") from None
    if "\0" in text:
        raise LoreError("stdin has a NUL byte: give text")
    return text


def ids_from(words: Sequence[str], command: str) -> list[str]:
    """Return the ids on the command line; ``-`` stands for those on stdin, one a line."""
    ids = []
    for word in words:
        ids.extend(read_stdin().split("\n") if word == "-" else [word])
    ids = [id.strip() for id in ids if id.strip()]
    if not ids and "-" not in words:
        raise UsageError(f"{command} needs an id: see 'lore list --ids'")
    return ids


_AGENTS = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI")
"""Variables that agents set in the shells they run: what is read there no person has read."""


def record_shown(engine: Engine, query: str, found: Hits) -> None:
    """Lets the results go out, then records them in the run of the settings, if there is one."""
    if engine.settings.run:
        flush()
        from ..app.search import record_shown as record

        say(record(engine, query, found), engine.settings)


def record_context(engine: Engine, context: Context) -> None:
    """Lets a context go out, then records what it held as shown in a run, and as read."""
    flush()
    from ..app.search import keep_question, record_ids

    keep_question(engine, "context", context.question, context.hits)
    ids = [entry["id"] for entry in context.included]
    say(record_ids(engine, context.question, ids), engine.settings)
    record_accesses(engine, ids)


def record_accesses(engine: Engine, ids: Sequence[str]) -> None:
    """Lets the output go out, then counts that these nodes were read, where a person has."""
    flush()
    if any(name in os.environ for name in _AGENTS):
        return
    from ..app.show import record_accesses as record

    say(record(engine, ids), engine.settings)


REPORTS = 1 << 20
"""Bytes of a log of bugs, of which there are two: one in a hook comes hundreds of times a day."""


def report_bug(error: BaseException, command: str) -> str:
    """Keeps a report; the line that says where it is. Where it cannot be kept, stderr has it."""
    from platform import python_version

    from .. import __version__
    from ..core.times import now
    from ..system.bug_reports import report_of
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
