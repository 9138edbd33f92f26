"""Test ``lore hook`` and ``lore mcp``."""

from __future__ import annotations

import json
import time

import apsw
import pytest
from commands import Lore

from pylore.cli.hooks import WALL


@pytest.fixture
def project(lore: Lore) -> Lore:
    """A trusted store and a file, in a repository."""
    lore.write("src/auth.py", "def login():\n    return 1\n")
    lore.git("init", "-q")
    lore("trust")
    return lore


def commit(lore: Lore, message: str, *files: str) -> str:
    """Run ``post-commit`` for a commit that changes these files."""
    for file in files:
        path = lore.project / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as changed:
            changed.write("# changed\n")
        lore.git("add", "-f", file)
    lore.git("commit", "-qm", message)
    done = lore("hook", "run", "post-commit")
    return done.out + done.err


def before_commit(lore: Lore, *files: str) -> list[str]:
    """The lines that ``pre-commit`` prints."""
    sent = "".join(f"{file}\0" for file in files)
    return lore("hook", "run", "pre-commit", stdin=sent).lines


def test_post_commit_stages_lessons_once(project: Lore) -> None:
    message = "Start\n\nLesson: Rotate keys\n  every month\ndecision: Tokens are signed"
    lesson, decision = commit(project, message, "src/auth.py", "b.py").splitlines()
    id = lesson.split()[1]
    assert lesson == f"lore: {id} is staged: 'lore confirm {id}' keeps it"
    row = project("show", id).json
    fields = [row[name] for name in ("body", "status", "source", "tags", "file")]
    assert fields == ["Rotate keys every month", "staged", "conversation", ["commit"], None]
    name = project.git("rev-parse", "HEAD")[:12]
    assert f"said by commit {name}: Start" in row["data"]["why"]
    # an amended commit restores no lesson
    project("confirm", id)
    project("forget", decision.split()[1])
    assert commit(project, message, "src/auth.py") == ""
    assert project("list", "--ids").lines == [id]


def test_pre_commit_prints_five_lines_at_most(project: Lore) -> None:
    assert before_commit(project, "src/auth.py") == []
    project("add", "decision", "Tokens are signed", "--file", "src/auth.py:2")
    for number in range(5):
        project("add", "lesson", f"Lesson {number} of logging in", "--file", "src/auth.py")
    project.write("src/auth.py", "def logout():\n    return 2\n")
    project("verify")
    first, *_, last = lines = before_commit(project, "src/auth.py", "unknown.py")
    assert len(lines) == 5
    assert first.endswith(" [drifted] Tokens are signed (src/auth.py)")
    assert last == "lore: 2 more records: 'lore related FILE'"


def test_hook_run_never_fails(project: Lore) -> None:
    for words in ("prompt --cleint claude", "prompt", "dream --client claude", ""):
        assert project("hook", "run", *words.split(), stdin="{}").out == ""


def test_hooks_respond_during_a_write(project: Lore) -> None:
    project("add", "task", "Let people log out at once")
    writer = apsw.Connection(str(project.store / "search.db"))
    writer.execute("BEGIN IMMEDIATE")
    words, before = ("hook", "run", "session-start", "--client", "claude"), time.monotonic()
    assert "Let people log out" in project(*words, stdin='{"session_id": "one"}').out
    assert time.monotonic() - before < WALL
    writer.close()


def test_hook_install_status_and_uninstall(lore: Lore) -> None:
    settings = lore.project / ".claude/settings.local.json"
    place = f"claude  local  {settings}"
    assert lore("hook", "install", "claude", "--text").lines == [f"installed  {place}"]
    assert "lore hook run session-start --client claude" in settings.read_text()
    assert lore("hook", "status", "--ids", "--quiet").lines == ["claude"]
    assert lore("hook", "install", "--remove", "claude", "--text").lines == [f"removed  {place}"]
    assert not settings.exists()
    lore.git("init", "-q")
    lore("hook", "install", "git")
    hook = lore.project / ".git/hooks/pre-commit"
    assert "hook run pre-commit" in hook.read_text()
    lore("hook", "install", "--remove", "git")
    assert not hook.exists()
    lore.refuse_each("""
        hook install git --user | 2 | hooks of git belong to this clone
        hook install emacs | 2 | emacs
        hook install claude --user --shared | 2 | exclude each other
    """)


def test_install_prints_a_clients_configuration(lore: Lore) -> None:
    *head, args = lore("mcp", "--install", "codex", "--write", "--store", "/😀").lines
    assert head == ["[mcp_servers.lore]", 'command = "lore"']
    assert args == 'args = ["mcp", "--write", "--store", "/😀"]'
    lore.refuse_each("""
        mcp --install emacs | 2 | give one of claude, codex, cursor, gemini, vscode
        mcp --write-config | 2 | --install
        mcp --install codex --write-config | 1 | is not JSON
        mcp now | 2 | now
        mcp --max-bytes many | 2 | max_bytes
    """)


def test_install_preserves_settings_of_the_client(lore: Lore) -> None:
    write = ("mcp", "--install", "vscode", "--write-config")
    before = '{"inputs": [], "servers": {"other": {"command": "x"}}}'
    file = lore.write(".vscode/mcp.json", before)
    lore(*write)
    server = {"type": "stdio", "command": "lore", "args": ["mcp"]}
    once = file.read_text()
    servers = {"other": {"command": "x"}, "lore": server}
    assert json.loads(once) == {"inputs": [], "servers": servers}
    lore(*write)
    assert file.read_text() == once
    file.write_text('{"servers": {} // mine\n}')
    assert "is not JSON that can be preserved" in lore.refuse(*write, code=1)
    assert "// mine" in file.read_text()


def test_trust_is_given_and_revoked(lore_without_store: Lore) -> None:
    lore = lore_without_store
    lore("init", "-q")  # whose store is trusted
    for line in ("unchanged", "revoked --revoke", "unchanged --revoke", "trusted"):
        state, *words = line.split()
        assert lore("trust", *words, "--text").lines == [f"{state}  {lore.project}"]
    assert (lore.store / "trusted").stat().st_mode & 0o777 == 0o600
    lore.patch.chdir(lore.root)
    assert "no project here" in lore.refuse("trust", code=1)
