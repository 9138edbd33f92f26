"""Entries in the settings of agents: in beside what is there, and out again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.errors import LoreError, UsageError
from pylore.hooks.agents import AGENTS
from pylore.hooks.install import COMMAND, install, is_installed, place_of, uninstall

THEIRS = st.text().filter(lambda text: not text.startswith(COMMAND))
ENTRY = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": THEIRS}))},
    optional={"matcher": st.text(max_size=5)},
)
NATIVE = st.sampled_from(
    sorted({binding.native for agent in AGENTS.values() for binding in agent.bindings})
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "version": st.integers(),
        "hooks": st.dictionaries(NATIVE | st.text(max_size=5), st.lists(ENTRY, max_size=2)),
    },
)


@given(
    settings=st.none() | SETTINGS,
    indent=st.sampled_from([None, 2, 4]),
    agent=st.sampled_from([*AGENTS.values()]),
)
def test_uninstall_after_install_leaves_the_bytes_that_were_there(
    settings: dict[str, Any] | None, indent: int | None, agent: Any
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        if settings is not None:
            path.write_text(json.dumps(settings, indent=indent))
        before = path.read_bytes() if path.exists() else None
        assert install(agent, str(path), everywhere=False)
        assert is_installed(agent, str(path))
        once = path.read_bytes()
        assert not install(agent, str(path), everywhere=False)
        assert path.read_bytes() == once
        installed = json.loads(once)
        for native, entries in ((settings or {}).get("hooks") or {}).items():
            assert installed["hooks"][native][: len(entries)] == entries
        assert uninstall(agent, str(path), everywhere=False)
        assert not uninstall(agent, str(path), everywhere=False)
        assert (path.read_bytes() if path.exists() else None) == before
        assert os.listdir(folder) == ([] if before is None else ["settings.json"])


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"SessionStart": 5}}', "{ // x\n}"])
def test_what_cannot_be_kept_is_refused_with_what_to_paste(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(LoreError, match=r"what belongs there: .*lore hook run session-start"):
        install(AGENTS["claude"], str(path), everywhere=False)
    assert path.read_text() == text


def test_entries_that_were_there_before_go_too(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    old = {"hooks": [{"type": "command", "command": f"{COMMAND} prompt"}]}
    path.write_text(json.dumps({"hooks": {"PreToolUse": [old]}, "model": "x"}))
    assert install(AGENTS["claude"], str(path), everywhere=False)
    assert path.read_text().count(f'{COMMAND} prompt"') == 0
    assert uninstall(AGENTS["claude"], str(path), everywhere=False)
    assert json.loads(path.read_text()) == {"model": "x"}


def test_what_is_empty_in_a_file_that_changed_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"hooks": {"Stop": []}, "a": 1}))
    install(AGENTS["claude"], str(path), everywhere=False)
    path.write_text(path.read_text().replace('"a": 1', '"a": 2'))
    uninstall(AGENTS["claude"], str(path), everywhere=False)
    assert json.loads(path.read_text()) == {"hooks": {"Stop": []}, "a": 2}


def test_an_agent_has_the_scopes_that_it_has() -> None:
    assert place_of(AGENTS["claude"], "local", "/p") == "/p/.claude/settings.local.json"
    with pytest.raises(UsageError, match="give --user or --shared"):
        place_of(AGENTS["codex"], "local", "/p")
