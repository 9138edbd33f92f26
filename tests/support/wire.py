"""A process of ``lore mcp`` for tests; responses are checked against the protocol's schemas."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from pylore.cli.session import Session
from pylore.mcp.server import CurrentStore, Server

ROOT = Path(__file__).resolve().parents[2]
LORE = str(ROOT / "lore.sh")
MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
COOKIE = "Sessions are tokens in a cookie"
RECORDS: list[dict[str, Any]] = [
    {"id": "decision-cookie", "type": "decision", "title": COOKIE, "body": f"{COOKIE}. " * 8},
    {"id": "lesson-keys", "type": "lesson", "title": "Rotate the keys that sign tokens"},
    {"id": "note-clock", "type": "note", "title": "Clocks of servers differ"},
    {"from_id": "lesson-keys", "relation": "derived_from", "to_id": "decision-cookie"},
]
"""Records of a store that servers answer from."""
META = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}


def request(id: int | str, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a request of the era without a handshake."""
    return legacy(id, method, {**(params or {}), "_meta": META})


def legacy(id: int | str, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a request of a protocol version with ``initialize``."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {})}}


def initialize(version: str) -> dict[str, Any]:
    """Return the first messages of a client of such a version."""
    client = {"name": "test", "version": "1"}
    about = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return legacy("init", "initialize", about)


def tool(id: int | str, name: str, /, **arguments: Any) -> dict[str, Any]:
    """A call of a tool."""
    return request(id, "tools/call", {"name": name, "arguments": arguments})


def text_of(answer: Mapping[str, Any]) -> str:
    """Return the first block of a tool's result."""
    return str(answer["result"]["content"][0]["text"])


@contextmanager
def served(folder: Path, *, write: bool = False) -> Iterator[tuple[CurrentStore, Server]]:
    """A server of the store in this folder, in the process of the test; bugs are raised."""
    environ = dict(os.environ)
    os.environ.update(LORE_DIR=str(folder), LORE_EMBEDDER="none", HOME=str(folder.parent))
    current = CurrentStore(Session({}))
    try:
        yield current, Server(current, write=write, report=_raise)
    finally:
        current.close()
        os.environ.clear()
        os.environ.update(environ)


def _raise(error: Exception) -> str:
    raise error


def answers(folder: Path, lines: bytes, *, write: bool = False) -> list[Any]:
    """Return the answers of a server in the process of the test to these lines."""
    with redirect_stdout(io.StringIO()) as out, served(folder, write=write) as (_, server):
        server.run(io.BytesIO(lines))
    return [json.loads(line) for line in out.getvalue().splitlines()]


class Wire:
    """A running server: lines in, lines out."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, *messages: Mapping[str, Any] | bytes) -> None:
        """Writes messages, a line each; bytes go out as they are."""
        assert self.process.stdin
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(line)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Read the next response."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return the response."""
        self.send(message)
        answer = self.read()
        assert answer.get("id") == message["id"]
        return answer

    def end(self) -> list[dict[str, Any]]:
        """Close stdin and return the remaining responses; assert exit code 0."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        rest = [json.loads(line) for line in self.process.stdout]
        assert self.process.wait(timeout=10) == 0
        return rest


@contextmanager
def serving(folder: Path, *words: str, **environ: str) -> Iterator[Wire]:
    """Start ``lore mcp`` in a folder with these arguments."""
    process = subprocess.Popen(
        ["bash", LORE, "mcp", *words],
        cwd=folder,
        env={**os.environ, **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Wire(process)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe and not pipe.closed:
                pipe.close()


def lore(folder: Path, *words: str) -> str:
    """Run a command there and return the output."""
    done = subprocess.run(
        ["bash", LORE, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout
