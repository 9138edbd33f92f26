"""``lore mcp``. A client waits for the server to start: other modules load in the functions."""

from __future__ import annotations

import os
import sys

from ..cli.command import command, option
from ..cli.session import report_bug
from ..core.errors import LoreError, UsageError
from ..core.settings import BY_NAME, Settings
from ..terminal import note, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..cli.session import Session

CLIENTS = {
    "claude": (".mcp.json", "mcpServers"),
    "codex": ("~/.codex/config.toml", "mcp_servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
}
"""Client to file, in the project or the home, and the key of servers."""


@command("mcp [--write] [--store FOLDER] | --install CLIENT", settings=("max_bytes",))
def mcp(
    session: Session,
    *,
    write_tools: bool = option("--write", "offer tools that write; new records are staged"),
    folder: str | None = option("--store FOLDER", "folder of the store", complete="files"),
    install: str | None = option(
        "--install CLIENT",
        f"print the configuration of a client: {', '.join(CLIENTS)}",
        choices=[*CLIENTS],
    ),
    write_config: bool = option("--write-config", "with --install: write into the client's file"),
) -> None:
    """Serve the graph to agents by the Model Context Protocol, on stdin and stdout.

    The client starts the server. Its tools return the results of search, related, show and context,
    at most 32768 bytes. Only --write allows writing. The default store is that of the working
    directory. Reads do not count as accesses.

    \b
    claude mcp add lore -- lore mcp
    lore mcp --write --store ~/notes
    """
    Settings.load(session.given)  # refuses a wrong setting
    if install is not None:
        words = ["mcp", *(["--write"] if write_tools else [])]
        words += ["--store", os.path.abspath(folder)] if folder else []
        given = ((BY_NAME[name].option, value) for name, value in session.given.items())
        words += [f"--{name}={value}" for name, value in sorted(given)]
        _install(install, words, into_file=write_config)
        return
    if write_config:
        raise UsageError("--write-config needs --install CLIENT: see --help")
    from .server import CurrentStore, Server

    if folder is not None:
        os.environ["LORE_DIR"] = os.path.abspath(folder)
    if sys.stdin.isatty():
        note("waiting for a client of the Model Context Protocol: see 'lore mcp --help'")
    current = CurrentStore(session)
    server = Server(current, write=write_tools, report=lambda error: report_bug(error, "mcp"))
    server.run(sys.stdin.buffer)


def _install(client: str, words: list[str], *, into_file: bool) -> None:
    """Print the configuration of a client, or write it into the client's file."""
    import json

    from ..system.edits import change_json

    file, key = CLIENTS[client]
    entry = {**({"type": "stdio"} if client == "vscode" else {}), "command": "lore", "args": words}
    if not into_file:
        args = json.dumps(words, ensure_ascii=False)  # TOML has no pairs of escapes
        toml = f'[{key}.lore]\ncommand = "lore"\nargs = {args}\n'
        text = json.dumps({key: {"lore": entry}}, indent=2) + "\n"
        write(toml if file.endswith(".toml") else text)
        return
    if file.endswith(".toml"):
        raise LoreError(f"{file} is not JSON: paste the output of 'lore mcp --install {client}'")

    def change(settings: dict[str, Any]) -> None:
        try:
            there = settings.setdefault(key, {}).get("lore", {"args": ["mcp"]})
            if there["args"][0] != "mcp":
                raise LoreError(f"{file}: has a different server named 'lore': rename that server")
            settings[key]["lore"] = {**there, **entry}
        except (AttributeError, TypeError, LookupError):
            raise LoreError(f"{file}: '{key}' is not as expected: paste it yourself") from None

    changed = change_json(file, change)
    note(f"{file}: {'written' if changed else 'is as it should be'}")
