"""``lore mcp``: the server's process; a client waits for it to start, so it imports little."""

from __future__ import annotations

import gc
import os
import sys

from ..core.errors import UsageError
from ..core.settings import BY_NAME, from_environment
from ..terminal.output import note, write
from .runtime import report_bug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mcp(**given: Any) -> None:
    """``lore mcp``."""
    folder = given["store"]
    settings = from_environment(given["settings"])
    if given["install"] is not None:
        _install(given, folder)
        return
    if given["write_config"]:
        raise UsageError("--write-config goes with --install CLIENT: see --help")
    for warning in settings.warnings:
        note(warning)
    from ..mcp.current_store import CurrentStore
    from ..mcp.server import serve

    gc.enable()  # a hot command does without: it has one question to live for
    current = CurrentStore(os.environ, os.getcwd(), given["settings"])
    if folder is not None:
        current.use_folder(folder)
    if sys.stdin.isatty():
        note("this speaks the Model Context Protocol, a JSON object a line: a client starts it "
             "(see 'lore mcp --help')")  # fmt: skip
    serve(current, write=given["write"], report=lambda error: report_bug(error, "mcp"))


def _install(given: dict[str, Any], folder: str | None) -> None:
    """Prints a client's configuration, or puts it where the client reads it."""
    from ..mcp.clients import CLIENTS, configuration, write_configuration

    name = given["install"]
    words = ["lore", "mcp"]
    words += ["--write"] if given["write"] else []
    words += ["--store", os.path.abspath(folder)] if folder else []
    words += [
        f"--{BY_NAME[name].option}={text}"
        for name, text in given["settings"].items()
        if name in BY_NAME
    ]
    if not given["write_config"]:
        write(configuration(CLIENTS[name], words))
        return
    place, changed = write_configuration(CLIENTS[name], words, os.getcwd())
    note(f"{place}: {'written' if changed else 'is as it should be'}")
