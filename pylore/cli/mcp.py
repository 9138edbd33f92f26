"""``lore mcp``: the server's process; a client waits for it to start, so no click here."""

from __future__ import annotations

import gc
import os
import sys

from ..core.errors import UsageError
from ..terminal.output import note
from .args import parse
from .bugs import report_bug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .declaration import Command

_OUTPUT = ("json", "jsonl", "text", "ids")


def mcp_command(argv: Sequence[str], command: Command) -> None:
    """``lore mcp``."""
    given = parse(argv, command)
    for word in (*given.positionals, *(f"--{form}" for form in _OUTPUT if form in given.switches)):
        raise UsageError(f"mcp takes no '{word}': see --help")
    from ..core.settings import from_environment

    for warning in from_environment(given.flags).warnings:
        note(warning)
    from ..mcp.current_store import CurrentStore
    from ..mcp.stdio import serve

    gc.enable()  # a hot command does without: it has one question to live for
    current = CurrentStore(os.environ, os.getcwd(), given.flags)
    folder = given.last("store")
    if folder is not None:
        current.use_folder(folder)
    if sys.stdin.isatty():
        note("this speaks the Model Context Protocol, a JSON object a line: a client starts it")
    serve(current, write="write" in given.switches, report=lambda error: report_bug(error, "mcp"))
