"""Plugins: executables called ``lore-*`` in the user's folder and on ``PATH``; event plugins."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from .files import GUARD, own_folder
from .programs import is_name, whole_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.settings import Settings

    Row = Mapping[str, object]

BEGINNING = "lore-"
_KINDS = ("retriever-", "redact-", "hook-")
"""Kinds, written between ``lore-`` and the plugin's name; any other file is a command."""
_MOST_HEAD = 1 << 16
"""Maximum number of bytes of a file's head."""


def command_files(plugin_dir: str) -> dict[str, str]:
    """Return the files of the user's commands by name, from the user's folder, then ``PATH``."""
    found: dict[str, str] = {}
    for folder in dict.fromkeys([own_folder(plugin_dir), *whole_entries().split(":")]):
        try:
            files = sorted(os.listdir(folder))
        except OSError:
            continue
        for file in files:
            path = os.path.join(folder, file)
            name = file.removeprefix(BEGINNING)
            is_command = file != name and is_name(name) and not name.startswith(_KINDS)
            if is_command and os.path.isfile(path) and os.access(path, os.X_OK):
                found.setdefault(name, path)
    return found


PREFIX = "lore-hook-"


class Events:
    """The event plugins in the user's folder, sorted by name; a plugin has none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._plugins: list[str] = []
        self._faults: list[tuple[str, str]] = []
        folder = own_folder(settings.plugin_dir)
        try:
            if os.path.isdir(folder) and not os.environ.get(GUARD):
                self._plugins = sorted(os.listdir(folder))
        except OSError as error:
            self._faults = [(folder, f"cannot be read ({error.strerror}), so no plugin can run")]

    def hear_of(self, event: str) -> bool:
        """Return True if there are plugins of an event, or their folder cannot be read."""
        return bool(self._faults or self._of(event))

    def _of(self, event: str) -> list[str]:
        """Return the files called ``lore-hook-EVENT`` and ``lore-hook-EVENT.NAME``."""
        return [name for name in self._plugins if name.partition(".")[0] == PREFIX + event]

    def ask(self, event: str, rows: Sequence[Row]) -> None:
        """Raise LoreError if a plugin of an event refuses the rows, or fails."""
        for plugin, why in self._run(event, rows):
            raise LoreError(f"{plugin}: {why}: nothing was written")

    def tell(self, event: str, rows: Sequence[Row]) -> list[str]:
        """Pass written rows to the plugins of an event; return a note for each failure."""
        failed = self._run(event, rows) if rows else []
        return [f"{plugin}: {why}: what was written stands" for plugin, why in failed]

    def _run(self, event: str, rows: Sequence[Row]) -> list[tuple[str, str]]:
        plugins = self._of(event)
        if self._faults or not plugins:
            return self._faults
        from .plugin_process import run_all

        return run_all(plugins, event, rows, self._settings)
