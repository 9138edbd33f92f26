"""llm with lore's fragment and tools: the real ``llm``, its test model, and a real store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import llm
import pytest

LORE = Path(__file__).resolve().parents[3] / "lore.sh"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with two records; ``lore`` is on the PATH."""
    for name in [name for name in os.environ if name.startswith(("LORE_", "XDG_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/lore").symlink_to(LORE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    lore("init", "-q")
    lore("add", "decision", "Sessions are signed tokens", "--why", "no state", "--id", "decision-a")
    lore("add", "note", "--id", "note-dash", "--", "-n is an option")
    yield tmp_path


def lore(*words: str) -> str:
    return subprocess.run(["lore", *words], check=True, capture_output=True, text=True).stdout


def ask(*words: str) -> subprocess.CompletedProcess[str]:
    """The llm command with the model that says what it was asked."""
    command = [sys.executable, "-m", "llm", "-m", "echo", "--no-stream", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_fragment_is_what_lore_knows_of_the_question() -> None:
    done = ask("-f", "lore:why are sessions signed tokens", "Answer shortly")
    assert done.returncode == 0, done.stderr
    assert "Sessions are signed tokens" in done.stdout
    assert "decision-a" in done.stdout
    assert "Answer shortly" in done.stdout


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("lore_search", {"query": "signed tokens"}, "decision-a"),
        ("lore_search", {"query": "-n", "limit": 1}, "note-dash"),
        ("lore_show", {"id": "decision-a"}, "no state"),
        ("lore_context", {"question": "signed tokens", "budget": 500}, "decision-a"),
        ("lore_show", {"id": "decision-none"}, "lore: "),
        ("lore_show", {"id": "--help"}, "lore: "),
    ],
)
def test_a_tool_gives_what_lore_prints_or_says(
    tool: str, arguments: dict[str, object], part: str
) -> None:
    prompt = json.dumps({"prompt": "", "tool_calls": [{"name": tool, "arguments": arguments}]})
    done = ask("-T", tool, "--td", prompt)
    assert done.returncode == 0, done.stderr
    assert part in done.stdout + done.stderr


def test_the_tools_are_known_to_llm_and_lore_is_looked_up_in_whole_paths_alone(
    monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    assert {"lore_search", "lore_show", "lore_context"} <= llm.get_tools().keys()
    evil = Path("lore")
    evil.write_text("#!/bin/sh\ntouch ran\n")
    evil.chmod(0o755)
    monkeypatch.setenv("PATH", ".::bin")
    done = ask("-f", "lore:sessions", "x")
    assert done.returncode == 1
    assert "there is no lore on the PATH" in done.stderr
    assert not Path("ran").exists()
