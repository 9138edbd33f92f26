"""Codex: ``~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl``.

A line is ``{"timestamp", "type", "payload"}``. ``response_item`` has the messages, calls and
outputs of the model; ``event_msg`` repeats them for the screen, and only failures are read from
it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from .events import text
from .extract import REFUSED
from .recorder import Step, blocks_of, fields_of, joined
from .shell import written_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Fields = dict[str, Any]

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = tuple(f"{name}_output" for name in _CALLS)
_SEARCHES = frozenset(("grep_files", "web_search", "tool_search", "list_dir"))
_OF_THE_PROGRAM = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|skill|subagent"
    r"|user_shell_command|collaboration_mode|model_switch|app-context|hook)"
    r"|# AGENTS\.md instructions|Another language model started to solve this problem"
    r"|You are a helpful assistant that summarizes)"
)
_REQUEST = "## My request for Codex:"
_EXIT = re.compile(r"(?:^|\n)(?:Process exited with code|Exit code:) (-?\d+)")
_NOT_TAKEN = re.compile(
    r"\A.{0,40}(?:rejected by user|declined by the user|aborted by user)", re.DOTALL
)
_PATCH = "*** Begin Patch"
_PATCHED = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$", re.MULTILINE)
_SHELL_OPTIONS = re.compile(r"\A-\w*c\Z")
_LONGEST_PATCH = 1_000_000


class Codex:
    """Finds the steps of a rollout."""

    source = "codex"
    home = ("CODEX_HOME", ".codex", "sessions")

    def __init__(self) -> None:
        self._failed: set[str] = set()
        self._is_side = False
        self._count = 0

    def steps(self, record: Fields) -> Iterator[Step]:
        """Yield the steps of a line."""
        kind, when = text(record, "type"), text(record, "timestamp")
        payload = fields_of(record, "payload")
        if kind == "session_meta":
            self._is_side = self._is_side or "subagent" in fields_of(payload, "source")
            if not self._is_side:
                branch = text(fields_of(payload, "git"), "branch")
                yield Step(
                    "session",
                    text(payload, "timestamp") or when,
                    text(payload, "id"),
                    branch,
                    text(payload, "cwd"),
                )
        elif self._is_side:
            yield Step("skipped", when, name="sidechain")
        elif kind == "event_msg":
            if payload.get("success") is False or payload.get("exit_code"):
                self._failed.add(text(payload, "call_id"))
        elif kind == "response_item":
            yield from self._item(payload, when)
        else:
            yield Step("skipped", when, name=kind or "untyped")

    def _item(self, item: Fields, when: str) -> Iterator[Step]:
        kind = text(item, "type")
        self._count += 1
        span = text(item, "call_id", "id") or f"{kind}-{self._count}"
        if kind == "message":
            yield from _message(item, when, span)
        elif kind in _CALLS:
            yield _call(item, when, span)
        elif kind in _OUTPUTS:
            output, code = _read_output(item.get("output"))
            name = REFUSED if _NOT_TAKEN.match(output) else ""
            ok = not name and not code and span not in self._failed
            yield Step("result", when, span, output, name, ok=ok)
        elif kind == "web_search_call":
            query = text(fields_of(item, "action"), "query", "url")
            yield Step("search", when, span, query, "web_search")
            yield Step("result", when, span, ok=text(item, "status") != "failed")
        else:
            yield Step("skipped", when, name=kind or "untyped")


def _message(item: Fields, when: str, span: str) -> Iterator[Step]:
    if text(item, "role") == "assistant":
        yield Step("say", when, span, joined(item.get("content")))
    elif text(item, "role") == "user":
        blocks = [text(block, "text") for block in blocks_of(item.get("content"))]
        typed = "\n\n".join(one for one in blocks if one and not _OF_THE_PROGRAM.match(one))
        yield Step("prompt", when, span, typed.split(_REQUEST, 1)[-1])


def _call(item: Fields, when: str, span: str) -> Step:
    name = text(item, "namespace") + (text(item, "name") or "shell")
    given = fields_of(item, "action") or _read_object(text(item, "arguments"))
    command = _command(given.get("command", given.get("cmd")))
    patch = command if _PATCH in command else text(given, "input", "patch") or text(item, "input")
    if name == "apply_patch" or _PATCH in patch:
        files = [path.strip() for path in _PATCHED.findall(patch[:_LONGEST_PATCH])]
        return Step("edit", when, span, "", "apply_patch", files)
    kind = "search" if name in _SEARCHES else "tool"
    said = command or text(given, "pattern", "query", "url", "description")
    files = [path for path in (text(given, "file_path", "path"),) if path]
    written = written_files(command, text(given, "workdir", "working_directory"))
    return Step(kind, when, span, said, name, files, written)


def _command(said: Any) -> str:
    """Return a shell command, without the shell that runs it."""
    if isinstance(said, str):
        return said
    if not isinstance(said, list) or not all(isinstance(word, str) for word in said):
        return ""
    if len(said) > 2 and _SHELL_OPTIONS.match(said[1]):
        return str(said[2])
    return " ".join(said[1:] if said[:1] == ["apply_patch"] else said)


def _read_object(said: Any) -> Fields:
    """Return an object, or parse a text of JSON; empty if there is no object."""
    if isinstance(said, str) and said[:1] == "{":
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            return {}
    return said if isinstance(said, dict) else {}


def _read_output(said: Any) -> tuple[str, int]:
    """Return the output and the exit code of a call; 0 if unknown."""
    output = _read_object(said)
    printed = joined(output.get("output", output.get("content")) if output else said)
    code = fields_of(output, "metadata").get("exit_code", output.get("success") is False)
    found = _EXIT.search(printed[:2000])
    return printed, int(found.group(1)) if found else code if isinstance(code, int) else 0
