"""Test that hooks and workflows call existing tools and targets."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
HOOKS: list[dict[str, Any]] = [
    hook
    for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    if repository["repo"] == "local"
    for hook in repository["hooks"]
]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_hooks_run_installed_tools(hook: dict[str, Any]) -> None:
    program, *arguments = shlex.split(hook["entry"])
    if program == "bash":
        assert (ROOT / arguments[0]).is_file()
    else:
        assert program.startswith(".venv/bin/")
        assert (ROOT / program).is_file()


def steps_of(path: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_targets_that_there_are(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    texts = [step["run"] for step in steps_of(path) if "run" in step]
    called = {name for text in texts for name in re.findall(r"\bmake ([a-z][a-z-]*)", text)}
    assert called
    assert called <= targets
