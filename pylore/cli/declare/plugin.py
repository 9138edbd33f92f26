"""lore plugin, whose verbs are declared beside it."""

from __future__ import annotations

from ..declaration import Command

COMMAND = Command(
    "plugin",
    "list | new | test",
    "executables of your own that lore calls: list them, begin one, try one",
    """\
lore-NAME is a command, lore-retriever-NAME one more retriever, lore-import-FORMAT and
lore-export-FORMAT are formats, lore-redact-NAME takes secrets out of texts, and
lore-hook-EVENT or lore-hook-EVENT.NAME is told of an event: pre-add and pre-promote, which
it may refuse, post-add, post-edit, post-link, post-forget, post-promote, post-index,
post-import and post-sync. They lie in ~/.config/lore/commands, or where the setting
plugin_dir says; all but event plugins may lie on PATH too. None comes from a project.""",
    verbs=("list", "new", "test"),
)
