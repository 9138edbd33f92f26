"""What the history of a claim finds where not all of its commits are counted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pylore.anchors.claims import Claim
from pylore.anchors.project import Project
from pylore.code import claim_history
from pylore.store.anchors import Anchor

HOLDS = [True] * 3 + [False] * 4 + [True] * 9 + [False] + [True] * 3


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("history")
    git(folder, "init", "-q", ".")
    for number, holds in enumerate(HOLDS):
        (folder / "a.py").write_text(f"x = {number}\n" + ("" if holds else "print(x)\n"))
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", str(number))
    return Project(str(folder))


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


def events(project: Project) -> tuple[list[tuple[str, str]], int, int]:
    claim = Claim("**", "print($$$)", "none", "python")
    found = claim_history.follow(project, Anchor("note-a", "rule", "**", claim.detail))
    return [(event, commit.title) for event, commit, _ in found.events], found.held, found.looked


def test_changes_between_states_that_were_counted_are_found_by_halving(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [("held", "0"), ("broke", "3"), ("mended", "7"), ("broke", "16"), ("mended", "17")]
    assert events(project) == (every, 15, 20)
    monkeypatch.setattr(claim_history, "MOST_LOOKED", 5)  # 0 5 10 14 19
    assert events(project)[0] == every[:3]
    monkeypatch.setattr(claim_history, "MOST_COMMITS", 6)  # from 14 on
    assert events(project)[0] == [("held", "14"), ("broke", "16"), ("mended", "17")]
