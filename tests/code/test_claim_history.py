"""Test what the history of a claim finds where not all of its commits are counted."""

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
        text = f"x = {number}\n" + ("" if holds else "print(x)\n")
        commit(folder, str(number), "a.py", text)
    return Project(str(folder))


def commit(folder: Path, subject: str, file: str, text: str) -> None:
    (folder / file).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


def events(project: Project, since: str = "") -> tuple[list[tuple[str, str]], int, int]:
    claim = Claim("**", "print($$$)", "none", "python")
    found = claim_history.follow(project, Anchor("note-a", "rule", "**", claim.detail), since)
    return [(event, commit.title) for event, commit, _ in found.events], found.held, found.looked


def test_a_history_after_a_commit_beside_it_begins_with_what_was_there(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    commit(tmp_path, "0", "a.py", "x = 0\n")
    git(tmp_path, "checkout", "-q", "-b", "side")
    commit(tmp_path, "1", "b.py", "print(1)\n")
    git(tmp_path, "checkout", "-q", "main")
    commit(tmp_path, "2", "a.py", "x = 1\n")
    git(tmp_path, "merge", "-q", "-m", "merged", "side")
    project = Project(str(tmp_path))
    assert events(project, project.git.revision("side"))[0] == [("held", "2"), ("broke", "merged")]


def test_changes_between_states_that_were_counted_are_found_by_halving(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [("held", "0"), ("broke", "3"), ("mended", "7"), ("broke", "16"), ("mended", "17")]
    assert events(project) == (every, 15, 20)
    monkeypatch.setattr(claim_history, "MOST_LOOKED", 5)  # 0 5 10 14 19
    assert events(project)[0] == every[:3]
    monkeypatch.setattr(claim_history, "MOST_COMMITS", 6)  # from 14 on
    assert events(project)[0] == [("held", "14"), ("broke", "16"), ("mended", "17")]
