"""Test entries in settings of agents."""

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
from pylore.hooks.agents import AGENTS, Agent, change, is_installed, place_of

OURS = "lore hook run prompt --client claude"
NEARLY = (
    "lore hook runner-of-mine",
    "lore hook run prompt",
    f"{OURS}-2",
    f"{OURS} ",
    f" {OURS}",
    f"{OURS} && mine",
    "lore hook run stop --client claude",
    "lore hook run prompt --client cursor",
)
THEIRS = st.sampled_from(NEARLY).filter(lambda text: "cursor" not in text) | st.text()
ENTRY = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": THEIRS}))},
    optional={"matcher": st.text(max_size=5)},
)
NATIVE = st.sampled_from([name for agent in AGENTS.values() for name in agent.events.values()])
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "version": st.integers(),
        "hooks": st.dictionaries(
            NATIVE | st.text(max_size=5), st.lists(ENTRY, min_size=1, max_size=2), min_size=1
        ),
    },
).filter(lambda settings: settings not in ({}, {"version": 1}))


@given(
    settings=st.none() | SETTINGS,
    indent=st.sampled_from([None, 2, 4]),
    agent=st.sampled_from([*AGENTS.values()]),
)
def test_uninstall_restores_the_bytes(
    settings: dict[str, Any] | None, indent: int | None, agent: Agent
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        if settings is not None:
            path.write_text(json.dumps(settings, indent=indent))
        before = path.read_bytes() if path.exists() else None
        assert change(agent, str(path), everywhere=False)
        assert is_installed(agent, str(path))
        once = path.read_bytes()
        assert not change(agent, str(path), everywhere=False)
        assert path.read_bytes() == once
        for native, entries in (settings or {}).get("hooks", {}).items():
            assert json.loads(once)["hooks"][native][: len(entries)] == entries
        assert change(agent, str(path), everywhere=False, remove=True)
        assert not change(agent, str(path), everywhere=False, remove=True)
        assert (path.read_bytes() if path.exists() else None) == before
        assert os.listdir(folder) == ([] if before is None else ["settings.json"])


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"SessionStart": 5}}', "{ // x\n}"])
def test_unusual_settings_are_refused_with_the_entries(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(LoreError, match=r"add these entries: .*lore hook run session-start"):
        change(AGENTS["claude"], str(path), everywhere=False)
    assert path.read_text() == text


def group(*commands: str, **fields: str) -> dict[str, Any]:
    """Return a group with a handler for each command."""
    return {**fields, "hooks": [{"type": "command", "command": text} for text in commands]}


@given(
    groups=st.lists(st.lists(st.sampled_from(NEARLY) | st.just(OURS), min_size=1), min_size=1),
    indent=st.sampled_from([None, 2]),
)
def test_uninstall_removes_handlers_of_lore_only(
    groups: list[list[str]], indent: int | None
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        listed = [group(*commands, matcher=str(n)) for n, commands in enumerate(groups)]
        path.write_text(json.dumps({"hooks": {"Stop": listed}}, indent=indent))
        before = path.read_bytes()
        taken = change(AGENTS["claude"], str(path), everywhere=False, remove=True)
        assert taken == any(OURS in commands for commands in groups)
        theirs = [[text for text in commands if text != OURS] for commands in groups]
        left = [group(*commands, matcher=str(n)) for n, commands in enumerate(theirs) if commands]
        assert path.exists() == bool(left)
        if left:
            assert json.loads(path.read_bytes()) == {"hooks": {"Stop": left}}
            assert taken or path.read_bytes() == before


def test_scopes_of_agents() -> None:
    assert place_of(AGENTS["claude"], "local", "/p") == "/p/.claude/settings.local.json"
    with pytest.raises(UsageError, match="give --user or --shared"):
        place_of(AGENTS["codex"], "local", "/p")
