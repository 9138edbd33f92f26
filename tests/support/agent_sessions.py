"""Transcripts of coding agents, composed of events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PROJECT = "/home/me/shop"


class ClaudeSession:
    """A transcript of Claude Code, line by line."""

    def __init__(
        self,
        name: str = "5e550000-0000-4000-8000-000000000001",
        project: str = PROJECT,
        hour: str = "2026-11-01T10",
    ) -> None:
        self.name = name
        self.lines: list[str] = []
        self._project = project
        self._hour = hour
        self._calls = 0

    def add(self, kind: str, **fields: Any) -> ClaudeSession:
        """Any line."""
        number = len(self.lines) + 1
        head: dict[str, Any] = {"parentUuid": None, "isSidechain": False, "userType": "external"}
        head |= {"cwd": self._project, "sessionId": self.name}
        head |= {"version": "2.1.0", "gitBranch": "main"}
        tail = {
            "uuid": f"{self.name[:8]}-{number}",
            "timestamp": f"{self._hour}:{number // 60:02d}:{number % 60:02d}.250Z",
        }
        line = {**head, "type": kind, **tail, **fields}
        if kind == "assistant":  # whose type stands behind its message
            del line["type"]
            line["type"] = kind
        self.lines.append(json.dumps(line, separators=(",", ":"), ensure_ascii=False))
        return self

    def user(self, text: str, **fields: Any) -> ClaudeSession:
        """A text that a person typed, or that the program put in."""
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def says(self, text: str) -> ClaudeSession:
        """Add an answer of the agent."""
        return self._assistant({"type": "text", "text": text})

    def thinks(self, text: str) -> ClaudeSession:
        """Add a line of thinking."""
        return self._assistant({"type": "thinking", "thinking": text, "signature": "x"})

    def tool(self, name: str, output: str, failed: bool = False, **given: Any) -> ClaudeSession:
        """Add a tool call and the result."""
        self._calls += 1
        span = f"toolu_{self.name[:8]}_{self._calls}"
        self._assistant({"type": "tool_use", "id": span, "name": name, "input": given})
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": span, "content": output}
        if failed:
            block["is_error"] = True
        return self.add("user", message={"role": "user", "content": [block]})

    def _assistant(self, block: dict[str, Any]) -> ClaudeSession:
        message = {
            "id": f"msg_{len(self.lines)}",
            "type": "message",
            "role": "assistant",
            "content": [block],
        }
        return self.add("assistant", message=message)

    def write(self, path: Path, lines: int | None = None) -> Path:
        """Write the first ``lines`` lines (default: all) to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in self.lines[:lines]))
        return path


def a_session(name: str = "5e550000-0000-4000-8000-000000000001") -> ClaudeSession:
    """Return a transcript with an event of each kind."""
    session = ClaudeSession(name)
    session.user("why does the login test fail?")
    session.thinks("perhaps the clock")
    session.says("Let me run it.")
    session.tool(
        "Bash",
        "Exit code 1\nrunning\nsrc/login.py:3: error: no clock",
        failed=True,
        command="make test",
    )
    session.tool("Grep", "src/login.py", pattern="clock", path=f"{PROJECT}/src")
    session.tool(
        "Edit", "done", file_path=f"{PROJECT}/src/login.py", old_string="a", new_string="b"
    )
    session.tool("Bash", "ok", command="make test")
    session.tool(
        "Bash",
        "[main 1a2b3c4] Login has a clock\n 1 file changed",
        command="git commit -am 'Login has a clock'",
    )
    return session.says("Root cause: the clock was not passed on.")
