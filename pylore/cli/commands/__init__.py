"""The click commands: everything that is not on the hot path (``hot.py``).

One file a family of commands, imported when one of them is called. Each command gets
its settings with a ``Session``, opens the store itself, and prints through ``Output``.
"""

from __future__ import annotations

from importlib import import_module

import click

from ...core.errors import DONE, UsageError
from ...system.temporary import remove_abandoned_folders

FAMILIES: dict[str, tuple[str, ...]] = {
    "anchors": ("anchor", "verify", "stale", "graph-analyze-cochanges", "graph-analyze-imports"),
    "ask": ("ask",),
    "embed": ("embed",),
    "facts": ("confirm", "retract", "sweep"),
    "graph": (
        "graph-path", "graph-neighbors", "graph-hubs", "graph-orphans", "graph-relations",
        "graph-export",
    ),
    "quality": ("eval", "tune"),
    "records": ("add", "fact", "link", "unlink", "list", "edit", "forget", "restore"),
    "runs": ("run-start", "run-finish", "run-list", "run-show", "feedback"),
    "similar": ("graph-similar", "graph-duplicates"),
    "system": ("init", "config", "reindex", "doctor"),
    "transfer": ("import", "export"),
    "view": ("graph-view",),
}  # fmt: skip
"""The module of each family, and its commands."""

_FAMILY = {name: family for family, names in FAMILIES.items() for name in names}


def family_commands(family: str) -> dict[str, click.Command]:
    """The commands that the module of a family has, by name."""
    module = import_module(f".{family}", __name__)
    return {command.name: command for command in module.COMMANDS}


class _Root(click.Group):
    """``lore`` itself: loads the family of the command that is called, and no other."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(_FAMILY)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        family = _FAMILY.get(name)
        return None if family is None else family_commands(family)[name]


def run(words: list[str]) -> int:
    """Runs one command line; the exit code.

    Raises:
        LoreError: the command failed as commands do.
    """
    remove_abandoned_folders()
    root = _Root(name="lore", add_help_option=False)
    try:
        with root.make_context("lore", words) as context:
            code = root.invoke(context)
    except click.exceptions.NoArgsIsHelpError as error:
        raise UsageError("a command is missing: see 'lore help'") from error
    except click.ClickException as error:
        raise UsageError(_one_line(error)) from None
    return code if isinstance(code, int) else DONE


def _one_line(error: click.ClickException) -> str:
    command = error.ctx.info_name if isinstance(error, click.UsageError) and error.ctx else ""
    command = (
        (command or "").replace("graph-", "graph ").replace("run-", "run ")
    )  # how a person calls it
    message = " ".join(error.format_message().split()).rstrip(".")
    see = f"see 'lore {command} --help'" if command and command != "lore" else "see 'lore help'"
    return f"{message}: {see}"
