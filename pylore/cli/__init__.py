"""The click commands: everything that is not on the hot path (``hot.py``).

One file a family of commands. Each command gets a ``Context`` with the settings,
opens the store itself, and prints through ``Output``.
"""

from __future__ import annotations

import click

from ..errors import DONE, UsageError


def run(words: list[str]) -> int:
    """Runs one command line; the exit code.

    Raises:
        LoreError: the command failed as commands do.
    """
    from . import (
        anchors,
        ask,
        embed,
        facts,
        graph,
        quality,
        records,
        runs,
        similar,
        system,
        transfer,
        view,
    )  # fmt: skip

    root = click.Group(name="lore", add_help_option=False)
    for family in (
        anchors, ask, embed, facts, graph, quality, records, runs, similar, system, transfer, view,
    ):  # fmt: skip
        for command in family.COMMANDS:
            root.add_command(command)
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
