"""Which event plugins there are: one look at the user's own folder, and nowhere else.

``add``, ``edit``, ``link`` and ``forget`` import this module: it imports nothing heavy.
"""

from __future__ import annotations

import os

from .private_files import user_folder

PREFIX = "lore-hook-"
GUARD = "LORE_IN_PLUGIN"
"""The variable that names the plugin which has started this process; then none is run."""

REFUSING = ("pre-add", "pre-promote")
"""Events before a change, which a plugin may refuse."""
AFTERWARDS = (
    "post-add", "post-edit", "post-link", "post-forget", "post-promote", "post-index",
    "post-import", "post-sync",
)  # fmt: skip
EVENTS = (*REFUSING, *AFTERWARDS)


def own_folder(plugin_dir: str) -> str:
    """The user's own folder of commands and plugins: the setting ``plugin_dir``, or the usual."""
    return plugin_dir or os.path.join(user_folder("XDG_CONFIG_HOME", ".config"), "commands")


def event_plugins(plugin_dir: str) -> list[str]:
    """The names of the event plugins in the user's own folder, sorted; none within a plugin.

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
    """Whether the plugin ``lore-hook-EVENT`` or ``lore-hook-EVENT.NAME`` hears of an event.

    >>> is_for("lore-hook-post-add.mail", "post-add")
    True
    """
    return plugin.partition(".")[0] == PREFIX + event
