"""Co-changes of files in the history of a small repository."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import Repository

from pylore.code.cochanges import CoChanges, analyze_cochanges, cochange_weight, strongest
from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.store import Store


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project")


def analyze(store: Store, repository: Repository, since: str = "") -> CoChanges:
    return analyze_cochanges(store, lambda: None, str(repository.root), since=since)


def pairs(store: Store) -> dict[tuple[str, str], float]:
    """Live co-changes: the two files (without ``file-``) to the number of commits, or a weight."""
    return {
        (edge.from_id[5:], edge.to_id[5:]): json.loads(edge.metadata).get("commits", edge.weight)
        for edge in store.edges.with_relation("co_changes_with")
        if edge.ended_at is None
    }


def test_renames_lead_to_current_names(store: Store, repository: Repository) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    repository.commit(a=text, b="1")
    repository.git("mv", "a.py", "m.py")
    repository.commit("Move")
    repository.commit(m=text + "more\n", b="2")
    repository.git("mv", "m.py", "z.py")
    repository.commit("Move again", a="a new file of the old name\n", c="1")
    analyze(store, repository)
    assert pairs(store) == {
        ("b.py", "z.py"): 2,
        ("a.py", "c.py"): 1,
        ("a.py", "z.py"): 1,
        ("c.py", "z.py"): 1,
    }


def test_branch_with_an_older_name_is_followed(store: Store, repository: Repository) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    repository.commit(a=text, b="1")
    repository.git("checkout", "-q", "-b", "side")
    repository.git("checkout", "-q", "main")
    repository.git("mv", "a.py", "z.py")
    repository.commit("Move")
    repository.git("checkout", "-q", "side")
    repository.commit(a=text + "side\n", b="2")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "-m", "Merge", "side")
    analyze(store, repository)
    assert pairs(store) == {("b.py", "z.py"): 2}


def test_deleted_files_have_no_cochanges(store: Store, repository: Repository) -> None:
    repository.commit(a="1", b="1", c="1")
    analyze(store, repository)
    (repository.root / "a.py").unlink()
    found = analyze(store, repository)
    assert pairs(store) == {("b.py", "c.py"): 1}
    assert (found.invalidated, found.unchanged) == (2, 1)
    repository.commit("Remove")
    repository.git("revert", "--no-edit", "HEAD")
    assert analyze(store, repository).added == 2
    assert len(pairs(store)) == 3


def test_edges_of_people_are_preserved(store: Store, repository: Repository) -> None:
    repository.commit(a="1", b="1", c="1")
    analyze(store, repository)
    records = Records(store, Settings(), None)
    records.unlink("file-a.py", "co_changes_with", "file-b.py")
    records.link("file-a.py", "co_changes_with", "file-c.py", weight=0.1)
    found = analyze(store, repository)
    assert (found.updated, found.added) == (0, 0)
    assert pairs(store) == {("a.py", "c.py"): 0.1, ("b.py", "c.py"): 1}
    repository.git("rm", "-q", "c.py")
    repository.commit("Remove")
    analyze(store, repository)
    assert pairs(store) == {("a.py", "c.py"): 0.1}


def test_names_of_any_kind(store: Store, repository: Repository) -> None:
    for name in ("with space.py", 'quo"te.py', "größe.py", "\x01.py", "li\nne.py", ":(glob)*"):
        repository.write(name, "1")
    with open(os.fsencode(repository.root) + b"/\xff.py", "wb"):
        pass
    repository.commit("Add")
    analyze(store, repository)
    names = sorted({name for pair in pairs(store) for name in pair})
    assert names == [":(glob)*", "größe.py", 'quo"te.py', "with space.py"]


def test_subfolder_uses_only_files_inside(store: Store, repository: Repository) -> None:
    for name in ("sub/a.py", "sub/b.py", "c.py"):
        repository.write(name, "1")
    repository.commit("Add")
    analyze_cochanges(store, lambda: None, str(repository.root / "sub"))
    assert pairs(store) == {("a.py", "b.py"): 1}


def test_shallow_clone_drops_the_cut_commit(
    store: Store, repository: Repository, tmp_path: Path
) -> None:
    repository.commit(a="1", b="1", c="1")
    repository.commit(a="2", b="2")
    repository.commit(b="3", c="3")
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--depth", "2", f"file://{repository.root}", str(clone))
    found = analyze_cochanges(store, lambda: None, str(clone))
    assert pairs(store) == {("b.py", "c.py"): 1}
    assert "shallow clone: only 2 commits" in found.notes[0]


def test_a_damaged_history_changes_nothing(store: Store, repository: Repository) -> None:
    repository.commit(a="1", b="1")
    analyze(store, repository)
    first = repository.git("rev-parse", "HEAD")
    repository.commit(a="2", c="1")
    shutil.rmtree(repository.root / ".git/objects" / first[:2])
    with pytest.raises(LoreError, match="git log failed: git reports"):
        analyze(store, repository)
    assert pairs(store) == {("a.py", "b.py"): 1}


@given(st.floats(0.001, 1e6), st.floats(0.0001, 1))
def test_weight_grows_with_evidence_and_correlation(evidence: float, correlation: float) -> None:
    weight = cochange_weight(evidence, correlation)
    assert 0 < weight <= 1
    assert cochange_weight(evidence * 2, correlation) >= weight
    assert cochange_weight(evidence, min(1, correlation * 2)) >= weight


@given(
    st.lists(st.sets(st.sampled_from("abcdef"), min_size=1, max_size=6), max_size=12),
    st.integers(1, 6),
)
def test_strongest_pairs_of_any_commits(commits: list[set[str]], partners: int) -> None:
    found = strongest([(files, 1 / max(1, len(files) - 1)) for files in commits], partners)
    for (one, other), (weight, correlation, commits_of_both) in found.items():
        assert one < other
        assert 0 <= weight <= 1
        assert 0 < correlation <= 1
        assert commits_of_both == sum({one, other} <= files for files in commits)
    together = [files for files in commits if len(files) > 1]
    assert bool(found) is bool(together)
