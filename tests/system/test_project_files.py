"""Test which files may be read, and which names may be passed to git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from homes import move_home
from repositories import Repository

from pylore.core.errors import LoreError
from pylore.system import files as roots
from pylore.system import git_process as gitprocess
from pylore.system.git import Git, is_commit
from pylore.system.git_process import Process
from pylore.system.project_files import FileTree, place_within, read_plain, real_place


def test_invalid_commits_are_not_passed_to_git(tmp_path: Path) -> None:
    texts = ["--output=x", "-x", "HEAD", "main", "abc", "abcd..HEAD", "abcd ", "abcd\n", ""]
    assert not any(map(is_commit, [*texts, "a" * 65, "é" * 8]))
    repository = Repository(tmp_path / "clone")
    repository.commit(a="x")
    victim = repository.write("victim", "kept")
    git = Git(str(repository.root))
    option = f"--output={victim}"
    assert git.renamed_since(option) == {}
    assert git.last_commits(option, {"a.py"}) == {}
    with pytest.raises(LoreError, match="is not a commit"):
        git.commit(option)
    assert victim.read_text() == "kept"


def test_file_name_is_not_parsed_as_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "clone")
    repository.write("\x01--output=victim", "x")
    head = repository.commit(a="x")
    assert Git(str(repository.root)).last_commits("", {"a.py"}) == {"a.py": head}


def test_a_git_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "clone")
    repository.commit(a="x")
    (repository.root / "deep").mkdir()
    os.mkfifo(repository.root / "deep/.gitignore")
    monkeypatch.setattr(gitprocess, "SILENT", 0.05)
    with pytest.raises(TimeoutError, match="no output of git"):
        FileTree(str(repository.root)).files()


def test_missing_git_and_folder_are_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Process(str(tmp_path), "ls-files").out() is None
    assert Process("a\0b", "ls-files").out() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    asked = Process(str(tmp_path), "--version")
    assert (asked.started, asked.out()) == (False, None)


def test_files_behind_a_link_are_not_listed(tmp_path: Path) -> None:
    """A clone's index may have a file where the work tree has a link to a folder."""
    repository = Repository(tmp_path / "clone")
    for path in ("d/a.py", "d/deep/b.py", "e/f/c.py", "e/d.py"):
        repository.write(path, "x")
    repository.commit()
    (repository.root / "d").rename(tmp_path / "outside")
    (repository.root / "d").symlink_to(tmp_path / "outside")
    found = FileTree(str(repository.root)).files()
    assert found.paths == ["d", "e/d.py", "e/f/c.py"]
    assert found.skipped == {"symlink": 2}


def test_a_work_tree_elsewhere_is_not_listed(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "clone")
    repository.write("a.py", "x")
    repository.write("../home/secret", "x")
    repository.git("config", "core.worktree", str(tmp_path / "home"))
    assert FileTree(str(repository.root)).files().paths == ["a.py"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "out/x", "a/../../x", "", "a\0b"])
def test_a_place_is_within(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "out").symlink_to(tmp_path)
    with pytest.raises(LoreError, match="leads out"):
        place_within(str(root), path)
    assert place_within(str(root), "a/b") == f"{root}/a/b"


def test_only_plain_files_are_read_and_no_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    assert read_plain(str(tmp_path / "a"), 4) == b"text"
    for path, why in (("pipe", "is not a plain file"), ("", "plain"), ("a", "longer than 3 bytes")):
        with pytest.raises(LoreError, match=why):
            read_plain(str(tmp_path / path), 3)
    with pytest.raises(OSError, match="symbolic link"):
        read_plain(str(tmp_path / "link"), 9)


def test_links_out_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (root / "docs/key.md").symlink_to(tmp_path / "key")
    (root / "out").symlink_to(tmp_path)
    (root / "inner.md").symlink_to("docs")
    (tmp_path / "alias").symlink_to(root)
    monkeypatch.chdir(root)
    for path in ("docs/key.md", "out", "out/key", f"{tmp_path}/alias/docs/key.md", "docs/../out"):
        with pytest.raises(LoreError, match="is a link out"):
            real_place(path)
    for path in ("docs", ".", "inner.md", "../key", "/dev/stdin", str(tmp_path), "gone"):
        assert real_place(path) == os.path.realpath(path)
    monkeypatch.setattr(os.path, "islink", "/dev/shm/a".__eq__)
    monkeypatch.setattr(os.path, "realpath", lambda path: path[-8:])  # a link to ev/shm/a
    with pytest.raises(LoreError, match="is a link out"):
        real_place("/dev/shm/a")


def test_roots_are_this_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path)
    assert not roots.is_known("/a b")
    for root in ("/a b", "/c", "/a b", "", "/d\n/e"):
        roots.trust_root(root)
    known = [root for root in ("/a b", "/c", "", "/d", "/e") if roots.is_known(root)]
    assert known == ["/a b", "/c"]
    file = tmp_path / "state/lore/roots"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("/a b\n/c\n", 0o600)
