"""How clients are told of the server: what stands in the configuration of each, and where."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from ..core.errors import LoreError
from ..system.json_settings import change_settings

Entry = dict[str, Any]


class Client(NamedTuple):
    """A client: its file (below the project, or below home), and the key that has its servers."""

    file: str
    key: str
    home: bool = False
    typed: bool = False

    def place(self, project: str) -> str:
        """Return the path of its file."""
        return os.path.join(os.path.expanduser("~") if self.home else project, self.file)

    def entry(self, words: list[str]) -> Entry:
        """Return what it is to be told: the program and its words."""
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
    """Return what a person pastes into the client's file."""
    if client.file.endswith(".toml"):
        return _toml(client, words)
    return json.dumps({client.key: {_NAME: client.entry(words)}}, indent=2) + "\n"


def write_configuration(client: Client, words: list[str], project: str) -> tuple[str, bool]:
    """Puts it into the client's file, beside what is there; the file, and whether it changed.

    Raises:
        LoreError: the file cannot be changed without loss, or has another server of this name.
    """
    place = client.place(project)
    if client.file.endswith(".toml"):
        return place, _append_toml(client, words, place)

    def change(settings: dict[str, Any]) -> None:
        servers = settings.setdefault(client.key, {})
        if not isinstance(servers, dict):
            raise LoreError(f"{place}: '{client.key}' is not an object: paste it yourself")
        there = servers.get(_NAME, {})
        if there and not _is_ours(there):
            raise LoreError(f"{place}: has another server called '{_NAME}': paste it under another "
                            "name")  # fmt: skip
        servers[_NAME] = {**there, **client.entry(words)}

    return place, change_settings(place, change, everywhere=client.home)


def _is_ours(entry: object) -> bool:
    """Return whether an entry starts this server; what else a person has said in it stays."""
    if not isinstance(entry, dict):
        return False
    args = entry.get("args")
    program = os.path.basename(str(entry.get("command", "")))
    return program in (_NAME, "lore.sh") and isinstance(args, list) and args[:1] == ["mcp"]


def _toml(client: Client, words: list[str]) -> str:
    args = json.dumps(words[1:])
    return f"[{client.key}.{_NAME}]\ncommand = {json.dumps(words[0])}\nargs = {args}\n"


def _append_toml(client: Client, words: list[str], place: str) -> bool:
    """TOML is only added to: nothing here could write it back as a person has it."""
    from ..system.atomic_write import write_bytes

    place = os.path.realpath(place)
    block = _toml(client, words)
    try:
        with open(place, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise LoreError(f"{place}: cannot be read ({error}): nothing was changed") from None
    if block in text:
        return False
    if f"{client.key}.{_NAME}]" in text.replace(" ", "").replace('"', ""):
        raise LoreError(f"{place}: has another [{client.key}.{_NAME}]: put this in its place:\n"
                        f"{block}")  # fmt: skip
    os.makedirs(os.path.dirname(place), exist_ok=True)
    gap = "\n" if text.strip() else ""
    ended = text if not text or text.endswith("\n") else text + "\n"
    write_bytes(place, [(ended + gap + block).encode()])
    return True
