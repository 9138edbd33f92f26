"""Test ``lore index --cochanges``."""

from __future__ import annotations

from commands import Done, Lore

ANALYZE = ("graph", "analyze-cochanges")
NEIGHBORS = ("graph", "neighbors", "file-auth.py", "--edges", "co_changes_with", "--ids")


def change(lore: Lore, message: str, *files: str) -> None:
    """Commit a change of these files."""
    for file in files:
        path = lore.project / file
        path.write_text(f"{path.read_text() if path.exists() else ''}{message}\n")
    lore.git("add", *files)
    lore.git("commit", "-qm", message)


def counts(done: Done, *names: str) -> list[int]:
    return [done.json[name] for name in names]


def test_files_that_change_together_are_linked(repository: Lore) -> None:
    change(repository, "one", "auth.py", "tokens.py")
    change(repository, "two", "auth.py", "tokens.py")
    change(repository, "three", "auth.py")
    assert counts(repository(*ANALYZE), "commits", "files", "edges", "added") == [3, 2, 1, 1]
    assert repository(*NEIGHBORS).out == "file-tokens.py\n"
    (edge,) = repository("show", "file-auth.py").json["edges"]
    assert edge["metadata"]["commits"] == 2 and edge["metadata"]["correlation"] < 1
    found = repository("search", "auth", "--graph-depth", "1", "--ids")
    assert found.lines == ["file-auth.py", "file-tokens.py"]
    again = counts(repository(*ANALYZE), "added", "updated", "unchanged", "invalidated")
    assert again == [0, 0, 1, 0]


def test_since_takes_dates_ages_and_words_of_git(repository: Lore) -> None:
    change(repository, "one", "a", "b")
    for since in ("2001-01-31", "90d", "3 months ago", ""):
        assert counts(repository(*ANALYZE, "--since", since), "commits") == [1]
    assert "'banana' is not a valid date" in repository.refuse(*ANALYZE, "--since", "banana")


def test_empty_window_leaves_former_cochanges(repository: Lore) -> None:
    repository.patch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    change(repository, "one", "auth.py", "tokens.py")
    repository(*ANALYZE)
    done = repository(*ANALYZE, "--since", "3 months ago")
    assert counts(done, "commits", "edges", "unchanged", "invalidated") == [0, 1, 1, 0]
    assert "no files changed together since " in done.err
    assert repository(*NEIGHBORS).out == "file-tokens.py\n"


def test_missing_history_is_an_error_line(repository: Lore) -> None:
    assert "has no commit yet" in repository.refuse(*ANALYZE, code=1)
    repository.patch.setenv("PATH", "/nowhere")
    assert "git is not installed" in repository.refuse(*ANALYZE, code=1)
