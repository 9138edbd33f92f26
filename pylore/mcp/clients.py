"""Configurations of MCP clients: what starts the server, and in which file."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from ..core.errors import LoreError
from ..system.edits import Left, block_key, change_json, put_block, read_text, without_block


class Client(NamedTuple):
    """A client: its file (below the project, or below home), and the key of its servers."""

    file: str
    key: str
    home: bool = False
    typed: bool = False

    def place(self, project: str) -> str:
        """Return the path of its file."""
        return os.path.join(os.path.expanduser("~") if self.home else project, self.file)

    def entry(self, words: list[str]) -> dict[str, Any]:
        """Return the entry of a program with its words."""
        kind = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": words[0], "args": words[1:]}


CLIENTS = {
    "claude": Client(".mcp.json", "mcpServers"),
    "codex": Client(".codex/config.toml", "mcp_servers", home=True),
    "cursor": Client(".cursor/mcp.json", "mcpServers"),
    "gemini": Client(".gemini/settings.json", "mcpServers"),
    "vscode": Client(".vscode/mcp.json", "servers", typed=True),
}
_NAME = "lore"


def configuration(client: Client, words: list[str]) -> str:
    """Return the text to paste into the client's file."""
    if client.file.endswith(".toml"):
        return "".join(f"{line}\n" for line in _toml(client, words))
    return json.dumps({client.key: {_NAME: client.entry(words)}}, indent=2) + "\n"


def write_configuration(client: Client, words: list[str], project: str) -> tuple[str, bool]:
    """Write it into the client's file; return the file, and True if that changed.

    Raises:
        LoreError: the file cannot be changed without loss, or has another server of this name.
    """
    place = client.place(project)
    if client.file.endswith(".toml"):
        return place, _put_toml(client, words, os.path.realpath(place))

    def change(settings: dict[str, Any]) -> None:
        servers = settings.setdefault(client.key, {})
        if not isinstance(servers, dict):
            raise LoreError(f"{place}: '{client.key}' is not an object: paste it yourself")
        there = servers.get(_NAME, {})
        if there and not _is_ours(there):
            raise LoreError(f"{place}: has another server called '{_NAME}': paste it under another "
                            "name")  # fmt: skip
        servers[_NAME] = {**there, **client.entry(words)}

    return place, change_json(place, change, everywhere=client.home)


def _is_ours(entry: object) -> bool:
    """Return True if an entry starts this server; other fields that a person added stay."""
    if not isinstance(entry, dict):
        return False
    args = entry.get("args")
    program = os.path.basename(str(entry.get("command", "")))
    return program in (_NAME, "lore.sh") and isinstance(args, list) and args[:1] == ["mcp"]


def _toml(client: Client, words: list[str]) -> list[str]:
    args = json.dumps(words[1:])
    return [f"[{client.key}.{_NAME}]", f"command = {json.dumps(words[0])}", f"args = {args}"]


def _put_toml(client: Client, words: list[str], place: str) -> bool:
    """Put a block into a TOML file, whose other text nothing here could write back."""
    key = block_key("lore mcp --install codex --write-config", "your editor", "codex")
    lines = _toml(client, words)
    try:
        theirs = without_block(read_text(place) or "", key)
    except Left as why:
        raise LoreError(f"{place}: {why}: nothing was changed") from None
    if f"{client.key}.{_NAME}]" in theirs.replace(" ", "").replace('"', ""):
        raise LoreError(f"{place}: has another [{client.key}.{_NAME}]: put this in its place:\n"
                        + "\n".join(lines))  # fmt: skip
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return put_block(place, key, lines)[1] != "unchanged"
