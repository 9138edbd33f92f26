"""Test the reader of Codex rollouts."""

from __future__ import annotations

import json
from typing import Any

from pylore.capture.recorder import Recorder
from pylore.capture.transcripts import Codex

WHEN = "2026-11-01T10:00:00.000Z"
META = {"id": "c0de", "cwd": "/home/me/shop", "git": {"branch": "main"}, "timestamp": WHEN}


def line(kind: str, **payload: Any) -> str:
    return json.dumps({"timestamp": WHEN, "type": kind, "payload": payload}, separators=(",", ":"))


def message(role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {
        "type": "message",
        "role": role,
        "content": [{"type": kind, "text": text} for text in texts],
    }


def item(**fields: Any) -> str:
    return line("response_item", **fields)


def events(*lines: str) -> list[dict[str, Any]]:
    reader = Recorder(Codex(), "/r.jsonl")
    for number, one in enumerate([line("session_meta", **META), *lines], 1):
        reader.read(one.encode(), number)
    found = reader.events
    assert (found[0]["kind"], found[0]["name"], found[0]["text"]) == (
        "session",
        "/home/me/shop",
        "main",
    )
    return found[1:]


def call(name: str, arguments: object, output: object, number: int = 1) -> list[str]:
    return [
        item(
            type="function_call", name=name, call_id=f"c{number}", arguments=json.dumps(arguments)
        ),
        item(type="function_call_output", call_id=f"c{number}", output=output),
    ]


def test_prompts_and_replies() -> None:
    found = events(
        item(**message("developer", "<permissions instructions>")),
        item(**message("user", "# AGENTS.md instructions for /x\n\nbe quick")),
        item(**message("user", "<environment_context>\n<cwd>/x</cwd></environment_context>")),
        item(**message("user", "# Context from my IDE setup:\n## My request for Codex:\nfix it")),
        line("event_msg", type="user_message", message="fix it"),
        item(type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        item(**message("assistant", "Fixed.")),
        line("event_msg", type="agent_message", message="Fixed."),
    )
    assert [(event["kind"], event["text"], event["turn"]) for event in found] == [
        ("prompt", "fix it", 1),
        ("say", "Fixed.", 1),
    ]


def test_commands_have_results() -> None:
    found = events(
        *call(
            "shell",
            {"command": ["bash", "-lc", "make test"]},
            json.dumps(
                {"output": "error: no clock", "metadata": {"exit_code": 2, "duration_seconds": 1.5}}
            ),
        ),
        *call(
            "exec_command",
            {"cmd": "make test"},
            "Chunk ID: 1\nWall time: 0.1 s\nProcess exited with code 1\nOutput:\nfatal: x",
            2,
        ),
        *call(
            "shell_command",
            {"command": "git commit -m 'Login has a clock'"},
            "Exit code: 0\nOutput:\n[main 1a2b3c4] Login has a clock",
            3,
        ),
        *call("shell", {"command": ["ls"]}, "rejected by user", 4),
        item(type="local_shell_call", call_id="c5", action={"type": "exec", "command": ["ls"]}),
        item(type="local_shell_call_output", call_id="c5", output="a.py"),
        item(type="web_search_call", action={"type": "search", "query": "clocks"}),
    )
    assert [tuple(map(event.get, ("kind", "text", "ok", "err"))) for event in found] == [
        ("tool", "make test", False, "error: no clock"),
        ("tool", "make test", False, "fatal: x"),
        ("commit", "Login has a clock", True, None),
        ("tool", "ls", False, "refused"),
        ("tool", "ls", True, None),
        ("search", "clocks", True, None),
    ]
    assert found[2]["name"] == "1a2b3c4"


def test_patches_are_edits() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-x\n+y\n"
        "*** Add File: /home/me/shop/c.py\n+z\n*** End Patch"
    )
    found = events(
        item(type="custom_tool_call", name="apply_patch", call_id="c1", input=patch),
        line("event_msg", type="patch_apply_end", call_id="c1", success=False, stderr="no"),
        item(type="custom_tool_call_output", call_id="c1", output="error: does not apply"),
        *call("shell", {"command": ["apply_patch", patch]}, "Success", 2),
        *call("shell", {"command": ["bash", "-lc", "echo x >> d.py"], "workdir": "src"}, "", 3),
    )
    assert [(event["kind"], event["files"], event["ok"]) for event in found] == [
        ("edit", ["src/a.py", "src/b.py", "c.py"], False),
        ("edit", ["src/a.py", "src/b.py", "c.py"], True),
        ("edit", ["src/d.py"], True),
    ]


def test_rollout_of_a_subagent_is_skipped() -> None:
    reader = Recorder(Codex(), "/r.jsonl")
    reader.read(line("session_meta", **META, source={"subagent": "review"}).encode(), 1)
    reader.read(line("response_item", **message("user", "fix it")).encode(), 2)
    assert reader.events == [] and reader.skipped == {"sidechain": 1}
