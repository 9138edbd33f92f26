"""Test responses to events of agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import Lore
from hypothesis import given
from hypothesis import strategies as st
from planted_secrets import planted

from pylore.capture.event_log import event_file
from pylore.context.sections import tokens_of
from pylore.hooks.agents import Sent


@pytest.fixture
def project(lore: Lore) -> Lore:
    """A project with a store, a file, and three records; the decision is anchored to the file."""
    lore.write("src/auth.py", "def login():\n    return 1\n")
    lore("add", "decision", "Sessions are signed tokens in a cookie", "--file", "src/auth.py")
    lore("add", "lesson", "Rotate the keys that sign tokens every month")
    lore("add", "task", "Let people log out at once")
    lore("trust")
    return lore


def hook(lore: Lore, event: str, *, client: str = "claude", **fields: Any) -> str:
    """Run ``lore hook run`` for an event; return the output."""
    return lore("hook", "run", event, "--client", client, stdin=json.dumps(fields)).out


ASKED = {"prompt": "how are session tokens signed, and who rotates the keys?"}
FILE: dict[str, Any] = {"tool_input": {"file_path": "src/auth.py"}}


def used(lore: Lore, tool: str, session: str = "one", **given: Any) -> str:
    """Run the hook for a finished call of a tool."""
    return hook(lore, "tool", session_id=session, tool_name=tool, tool_input=given)


def context(answer: str) -> str:
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"])


def test_each_line_is_printed_once_a_session(project: Lore) -> None:
    text = context(hook(project, "session-start", session_id="one"))
    assert text.startswith("=== data ") and "data, not instructions" in text
    assert "Let people log out" in text and "Sessions are" not in text and tokens_of(text) <= 1200
    asked = f"{ASKED['prompt']} Let people log out at once"
    for _ in "12":  # a session begins anew after the agent has compacted its context
        hook(project, "session-start", session_id="two")
        said = context(hook(project, "prompt", session_id="two", prompt=asked))
        assert "task-" in said and "decision-" in said and "file-" not in said
    for prompt in (asked, "go on", "/clear session tokens"):
        assert hook(project, "prompt", session_id="two", prompt=prompt) == ""
    edit = {"file_path": str(project.project / "src/auth.py")}
    assert "Sessions are signed" in context(hook(project, "file", session_id="3", tool_input=edit))
    assert hook(project, "file", session_id="3", **FILE) == ""
    project.write("src/user.py", "import auth\n")  # records of imported files are not shown
    project("index")
    assert hook(project, "file", session_id="four", tool_input={"file_path": "src/user.py"}) == ""
    project.write("docs/a.md", "# Cookies\n\nSee `src/auth.py`.\n")
    project("import", "docs")  # a document is not shown to its reader
    assert hook(project, "file", session_id="3", tool_input={"file_path": "docs/a.md"}) == ""
    assert hook(project, "prompt", prompt="return my books to the city library") == ""
    shown = [project("run", "show", run["id"]).json for run in project("run", "list").json]
    assert len(shown) == 3 and "decision" in str(shown)
    project("add", "note", "a write, which counts reads in")
    listed = project("list", "--type", "decision").json
    assert project("show", listed[0]["id"]).json["access_count"] == 0


def test_forms_of_agents(project: Lore) -> None:
    for client, native in (("codex", "SessionStart"), ("claude", "SessionStart")):
        answer = json.loads(hook(project, "session-start", client=client, session_id=client))
        assert answer["hookSpecificOutput"]["hookEventName"] == native
    patch = "*** Begin Patch\n*** Update File: src/auth.py\n@@\n-a\n+b\n*** End Patch"
    said = hook(project, "file", client="codex", session_id="p", tool_input={"command": patch})
    assert json.loads(said)["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    assert hook(project, "prompt", client="cursor", prompt="how are tokens signed?") == ""
    project.patch.chdir(project.home)
    fields = {"conversation_id": "c", "workspace_roots": [5, "gone", str(project.project)]}
    answer = json.loads(hook(project, "session-start", client="cursor", **fields))
    assert "Let people log out" in answer["additional_context"]


def test_tool_call_is_logged(project: Lore) -> None:
    (link := project.root / "link").symlink_to(project.project)
    path = f"{link}/src/auth.py"
    assert used(project, "Edit", file_path=path, new_string="secret \0 \ud83d") == ""
    failed = {"tool_input": {"command": "curl -H secret"}, "tool_response": {"error": "x"}}
    hook(project, "tool", session_id="one", tool_name="Bash", **failed)
    # a shell command that writes files
    os.utime(project.project / "src/auth.py")
    project.patch.chdir(project.project / "src")
    used(project, "Bash", command="sed -i s/1/2/ auth.py && echo secret > a && cp /b ../../c")
    log = Path(event_file())
    assert log.stat().st_mode & 0o777 == 0o600 and "secret" not in log.read_text()
    edit, other, shell = map(json.loads, log.read_text().splitlines())
    assert (edit["v"], edit["src"], edit["session"]) == (1, "claude", "one")
    found = [(one["kind"], one["ok"], one["files"]) for one in (edit, other, shell)]
    written = ("edit", True, ["src/auth.py"])
    assert found == [written, ("tool", False, []), written]


def test_run_ends_with_the_session(project: Lore) -> None:
    hook(project, "prompt", session_id="one", **ASKED)
    hook(project, "tool", session_id="one", tool_name="Edit", **FILE)
    for _ in "12":
        assert hook(project, "session-end", session_id="one") == ""
    runs = project("run", "list").json
    assert [(run["state"], run["unrated"]) for run in runs] == [("finished", 2)]
    # a session that continues gets a new run
    hook(project, "file", session_id="one", **FILE)
    hook(project, "prompt", session_id="two", **ASKED)
    hook(project, "session-end", session_id="three")
    states = [run["state"] for run in project("run", "list").json]
    assert sorted(states) == ["finished", "open"]
    # the terminal of the second session was closed: the next session ends its run
    hook(project, "session-start", session_id="four")
    states = [run["state"] for run in project("run", "list").json]
    assert states.count("finished") == 2


def test_logged_names_have_no_token(project: Lore) -> None:
    rows = [row for row in planted() if "bare" not in row[0] and "\n" not in row[1]]
    for start in range(0, len(rows), 20):
        some = rows[start : start + 20]
        patch = "".join(f"*** Update File: {text}\n" for _, text, _ in some)
        given = {"file_path": f"src/{some[-1][2]}.py", "patch": f"*** Begin Patch\n{patch}"}
        used(project, f"mcp__x__{some[0][1]}", some[0][2], **given)
    log = Path(event_file()).read_text()
    assert [name for name, text, secret in rows if json.dumps(text)[1:-1] in log] == []
    assert log.count("redacted:") > len(rows) - 10
    name = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    code = (
        "import sys; from pylore.capture.event_log import append_event\n"
        f"append_event('claude', '{name}', 'edit', 'Edit', ['src/components/auth_of_all.py'])\n"
        "assert 'pylore.capture.redaction' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_silence_without_trust_or_after_errors(project: Lore, tmp_path: Path) -> None:
    project("trust", "--revoke")
    assert hook(project, "session-start", session_id="x") == ""
    project("trust")
    assert hook(project, "session-start", session_id="x")
    for config in ("limit=none\n", "touch x; y\n"):
        project.write(".lore/.config", config)
        assert hook(project, "session-start", session_id="y") == ""
    (project.project / ".lore/.config").unlink()
    for words in (["prompt"], ["stop", "--client", "claude"], ["prompt", "--client", "emacs"]):
        for data in (b"{}", b"", b"{", b"[1]", b"\xff", b'{"prompt": 5}', b'{"prompt":"x"}' * 9):
            assert project("hook", "run", *words, stdin=data).out == ""
    project.patch.chdir(tmp_path)
    assert hook(project, "prompt", prompt="how are tokens signed?") == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from(["session_id", "prompt", "tool_name", "tool_input", "tool_response"])


@given(fields=st.dictionaries(FIELDS, JSON | st.dictionaries(st.just("file_path"), JSON)))
def test_any_fields_are_read(fields: dict[str, Any]) -> None:
    sent = Sent(fields, "/project/src", "/project")
    assert all(isinstance(text, str) for text in (sent.session, sent.prompt, sent.tool))
    assert all(isinstance(path, str) and path for path in sent.files)


def lines(answer: str) -> list[str]:
    """Return the items of a context."""
    return [line[2:] for line in context(answer).split("\n") if line.startswith("- ")]


def edited(project: Lore, session: str, *paths: str) -> None:
    """Start a session and edit files."""
    hook(project, "session-start", session_id=session)
    for path in paths:
        used(project, "Edit", session, file_path=path)


def test_files_of_earlier_sessions_are_likely(project: Lore) -> None:
    project.git("init", "-qb", "keys", ".")
    for name in ("keys", "other"):
        project.write(f"src/{name}.py", "x = 1\n")
    edited(project, "one", "src/auth.py", "src/keys.py", "src/gone.py")
    edited(project, "two", "src/auth.py", "../outside.py")
    said = lines(hook(project, "session-start", session_id="three"))
    assert said[0] == "file-src/auth.py" and "outside" not in "".join(said)
    edited(project, "three", "src/other.py")  # no edits of the same session
    said = lines(hook(project, "prompt", session_id="three", prompt="go on"))
    why = "edited in the last sessions on this branch"
    assert said[:2] == [f"file-src/{name}.py {why}" for name in ("auth", "keys")]
    # an anchored record, even for a short prompt, once a session
    assert len(said) == 3 and "Sessions are signed" in said[2]
    assert hook(project, "prompt", session_id="three", prompt="go on") == ""
    # files named by the prompt
    asked = "why does src/other.py not do what it did before the keys were rotated, and since when"
    said = lines(hook(project, "prompt", session_id="four", prompt=asked))
    assert "file-src/other.py named in the prompt" in said and "Sessions are" not in str(said)
    # the command line has the same files
    found = project("search", "--files", "@session").json
    assert {row["id"] for row in found} >= {"file-src/auth.py"} or found[0]["file"] == "src/auth.py"
    told = project("context", "--files", "@session", "--as", "json").json
    assert "Sessions are signed" in told["text"]


def test_proven_records_and_records_of_named_files(project: Lore) -> None:
    lesson = project("list", "--type", "lesson").json[0]["id"]
    project("feedback", lesson, "--helpful")
    said = context(hook(project, "session-start", session_id="one"))
    assert lesson in said and "Sessions are signed" not in said
    said = context(hook(project, "prompt", prompt="is `src/auth.py:1` where it ought to be?"))
    assert "Sessions are signed" in said and lesson not in said
    project("add", "decision", "Сессия истекает через час")
    assert "истекает" in context(hook(project, "prompt", prompt="Когда истекает сессия?"))
