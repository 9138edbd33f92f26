"""``lore mcp``: the server's process; a client waits for it to start, so no click here."""

from __future__ import annotations

import gc
import os
import sys

from ..core.errors import UsageError
from ..core.settings import BY_NAME, from_environment
from ..terminal.output import note, write
from .bugs import report_bug
from .reader import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .declaration import Command
    from .reader import Arguments


def mcp_command(argv: Sequence[str], command: Command) -> None:
    """``lore mcp``."""
    given = parse(argv, command)
    for word in given.positionals:
        raise UsageError(f"mcp takes no '{word}': see --help")
    folder = given.last("store")
    settings = from_environment(given.flags)
    if given.last("install") is not None:
        _install(given, folder)
        return
    if "write-config" in given.switches:
        raise UsageError("--write-config goes with --install CLIENT: see --help")
    for warning in settings.warnings:
        note(warning)
    from ..mcp.current_store import CurrentStore
    from ..mcp.server import serve

    gc.enable()  # a hot command does without: it has one question to live for
    current = CurrentStore(os.environ, os.getcwd(), given.flags)
    if folder is not None:
        current.use_folder(folder)
    if sys.stdin.isatty():
        note("this speaks the Model Context Protocol, a JSON object a line: a client starts it "
             "(see 'lore mcp --help')")  # fmt: skip
    serve(current, write="write" in given.switches, report=lambda error: report_bug(error, "mcp"))


def _install(given: Arguments, folder: str | None) -> None:
    """Prints a client's configuration, or puts it where the client reads it."""
    from ..mcp.clients import CLIENTS, configuration, write_configuration

    name = given.last("install") or ""
    if name not in CLIENTS:
        raise UsageError(f"--install is '{name}': give one of {', '.join(CLIENTS)}")
    words = ["lore", "mcp"]
    words += ["--write"] if "write" in given.switches else []
    words += ["--store", os.path.abspath(folder)] if folder else []
    words += [f"--{BY_NAME[name].option}={text}" for name, text in given.flags.items()]
    if "write-config" not in given.switches:
        write(configuration(CLIENTS[name], words))
        return
    place, changed = write_configuration(CLIENTS[name], words, os.getcwd())
    note(f"{place}: {'written' if changed else 'is as it should be'}")
