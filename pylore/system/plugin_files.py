"""Plugins: executables called ``lore-*`` in the user's folder and on ``PATH``; event plugins."""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, nearest
from ..core.model import Record
from .files import GUARD, own_folder
from .plugin_process import API, is_name, run_all
from .programs import whole_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from ..core.settings import Settings

    Row = Mapping[str, object]

BEGINNING = "lore-"
KINDS = ("retriever", "import", "export", "redact", "hook")
"""Kinds whose name stands between ``lore-`` and the plugin's own; any other file is a command."""
COMMAND = "command"
READY = "ready"
_MOST_HEAD = 1 << 16
"""Bytes of a file that are looked at for its head."""


class Plugin(Record):
    """One file that is called as a plugin. ``state`` is ``ready``, or why it is not used."""

    __slots__ = ("api", "file", "id", "kind", "name", "state", "summary")

    def __init__(self, file: str) -> None:
        self.id = os.path.basename(file)
        self.kind, self.name = kind_of(self.id)
        self.file = file
        self.summary, self.api = head_of(file)
        self.state = READY


def kind_of(file: str) -> tuple[str, str]:
    """Return the kind of a plugin by its file's name, and its own name.

    >>> kind_of("lore-import-adr-tools"), kind_of("lore-unproven")
    (('import', 'adr-tools'), ('command', 'unproven'))
    """
    rest = file.removeprefix(BEGINNING)
    kind, dash, name = rest.partition("-")
    return (kind, name) if dash and kind in KINDS else (COMMAND, rest)


def file_name(kind: str, name: str) -> str:
    """Return what a plugin's file is called.

    Raises:
        UsageError: there is no such kind or event, or the name is none.
    """
    if kind not in (COMMAND, *KINDS):
        near = nearest(kind, [COMMAND, *KINDS])
        raise UsageError(f"there is no kind '{kind}'{near}: see 'lore plugin --help'")
    event, dot, rest = name.partition(".")
    if kind == "hook":
        if event not in EVENTS:
            raise UsageError(f"there is no event '{event}'{nearest(event, [*EVENTS])}: "
                             f"give one of {', '.join(EVENTS)}")  # fmt: skip
        event = rest or ("" if dot else "x")
    elif dot:
        event = ""
    if not is_name(event):
        raise UsageError(f"'{name}' is not a valid name: give lower-case letters, digits and -")
    return BEGINNING + (name if kind == COMMAND else f"{kind}-{name}")


def head_of(file: str) -> tuple[str, str]:
    """Return the ``# Summary:`` and the ``# Lore-API:`` of the comment at a file's head, or
    nothing.
    """
    found = {"Summary": "", "Lore-API": ""}
    try:
        with open(file, "rb") as opened:
            lines = opened.read(_MOST_HEAD).decode(errors="replace").splitlines()
    except OSError:
        return "", ""
    for line in lines:
        if not line.startswith("#"):
            break
        key, colon, text = line[1:].strip().partition(":")
        if colon and not found.get(key, "x"):
            found[key] = text.strip()
    return found["Summary"], found["Lore-API"]


def all_plugins(plugin_dir: str, built_in: Container[str]) -> list[Plugin]:
    """Every plugin in the user's own folder, then on ``PATH``.

    Args:
        plugin_dir: the setting.
        built_in: the names of lore's own commands.
    """
    own = own_folder(plugin_dir)
    found: list[Plugin] = []
    seen: set[str] = set()
    for folder in dict.fromkeys([own, *whole_entries().split(":")]):
        for path in _files(folder):
            plugin = Plugin(path)
            plugin.state = _state(plugin, built_in, seen, is_own=folder == own)
            if plugin.state == READY:
                seen.add(plugin.id)
            found.append(plugin)
    return found


def find_file(text: str, plugin_dir: str) -> str:
    """Return the whole path of a plugin's file: a path, or the name of one in the user's own
    folder.

    Raises:
        LoreError: there is none, or it cannot be run.
    """
    for path in (text, os.path.join(own_folder(plugin_dir), text)):
        if os.path.isfile(path):
            if not os.path.basename(path).startswith(BEGINNING):
                raise UsageError(f"{text}: its name does not begin with {BEGINNING}: see "
                                 "'lore plugin --help'")  # fmt: skip
            if not os.access(path, os.X_OK):
                raise LoreError(f"{text} is not executable: chmod +x it")
            return os.path.abspath(path)
    raise LoreError(f"{text}: there is no such file: check its name")


def _files(folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith(BEGINNING) and os.path.isfile(path):
            yield path


def _state(
    plugin: Plugin, built_in: Container[str], seen: Container[str], *, is_own: bool
) -> str:  # fmt: skip
    try:
        file_name(plugin.kind, plugin.name)
    except UsageError:
        return "no such event" if plugin.kind == "hook" else "not a valid name"
    if not os.access(plugin.file, os.X_OK):
        return "not executable"
    if plugin.kind in ("hook", "redact") and not is_own:
        return "not in your own folder"
    if plugin.kind == COMMAND and plugin.name in built_in:
        return "a command of lore's has this name"
    if plugin.id in seen:
        return "another one comes first"
    return READY if plugin.api in ("", API) else f"made for Lore-API {plugin.api}"


PREFIX = "lore-hook-"

REFUSING = ("pre-add", "pre-promote")
"""Events before a change, which a plugin may refuse."""
AFTERWARDS = (
    "post-add", "post-edit", "post-link", "post-forget", "post-promote", "post-index",
    "post-import", "post-sync",
)  # fmt: skip
EVENTS = (*REFUSING, *AFTERWARDS)


def event_plugins(plugin_dir: str) -> list[str]:
    """Return the names of the event plugins in the user's own folder, sorted; none within a plugin.

    Raises:
        OSError: the folder is there and cannot be listed.
    """
    if os.environ.get(GUARD):
        return []
    folder = own_folder(plugin_dir)
    try:
        return sorted([name for name in os.listdir(folder) if name.startswith(PREFIX)])
    except OSError:
        if not os.path.isdir(folder):
            return []
        raise


def is_for(plugin: str, event: str) -> bool:
    """Return whether the plugin ``lore-hook-EVENT`` or ``lore-hook-EVENT.NAME`` hears of an event.

    >>> is_for("lore-hook-post-add.mail", "post-add")
    True
    """
    return plugin.partition(".")[0] == PREFIX + event


class Events:
    """The event plugins of one command, in the order of their names.

    ``store`` and ``root`` are the data folder and the folder that plugins run in, where the
    environment and the working directory do not say so.
    """

    def __init__(self, settings: Settings, store: str = "", root: str = "") -> None:
        self._settings = settings
        self._store = store
        self._root = root
        self._fault = ""
        try:
            self._plugins = event_plugins(settings.plugin_dir)
        except OSError as error:
            folder = own_folder(settings.plugin_dir)
            self._plugins = []
            self._fault = f"{folder} cannot be read ({error.strerror}), so no event plugin can run"

    def hear_of(self, event: str) -> bool:
        """Return whether there are plugins of an event, or nobody can tell."""
        return bool(self._fault) or any(is_for(name, event) for name in self._plugins)

    def ask(self, event: str, rows: Sequence[Row]) -> None:
        """Let the plugins of an event refuse what is about to be written.

        Raises:
            LoreError: one of them refuses, fails, cannot run, or takes too long.
        """
        if self._fault:
            raise LoreError(f"{self._fault}: nothing was written")
        for plugin, why in self._run(event, rows):
            raise LoreError(f"{plugin}: {why}: nothing was written")

    def tell(self, event: str, rows: Sequence[Row]) -> list[str]:
        """Tell the plugins of an event what was written; a note for each that failed."""
        if not rows:
            return []
        if self._fault:
            return [self._fault]
        failed = self._run(event, rows)
        return [f"{plugin}: {why}: what was written stands" for plugin, why in failed]

    def _run(self, event: str, rows: Sequence[Row]) -> list[tuple[str, str]]:
        """Return the plugins that failed, each with why."""
        plugins = [name for name in self._plugins if is_for(name, event)]
        if not plugins:
            return []
        return run_all(plugins, event, rows, self._settings, self._store, self._root)
