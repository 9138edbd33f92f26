"""lore commands."""

from __future__ import annotations

from ..declaration import Command

COMMAND = Command(
    "commands",
    "",
    "the names of all commands, a line each",
    """\
The built-ins, then the user's own: executables called lore-<command> in the
folder that the setting plugin_dir names, or else ~/.config/lore/commands,
then on PATH. A built-in cannot be replaced.

Such a command finds in its environment LORE_ROOT (where lore lives),
LORE_STORE (the folder of search.db), LORE_PROJECT (the project's folder, or nothing) and
LORE_<SETTING> for each setting of the config files, of a project's for those that a project
may set; the comment at its head is its help, its '# Summary:' line is listed.""",
    hot="help:commands_command",
)
