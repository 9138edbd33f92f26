"""The store through fzf: what is typed is searched for, links are followed, files are opened."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from homes import move_home
from terminals import at_terminal
from wire import LORE, lore

ODD = "decision-a'b;$(touch owned)`x"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    move_home(monkeypatch, tmp_path / "home")
    for name in ("FZF_DEFAULT_OPTS", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "auth.py").write_text("one\ntwo\nthree\n")
    lore(folder, "init")
    lore(folder, "add", "decision", "Sessions are signed tokens", "--id", ODD,
         "--file", "auth.py:2-3")  # fmt: skip
    lore(folder, "add", "lesson", "Bread needs flour", "--id", "lesson-b", "--link",
         f"{ODD}:relates_to")  # fmt: skip
    return folder


def test_rows_are_ids_and_what_is_seen_of_them(project: Path) -> None:
    rows = lore(project, "browse", "--rows", "--", "flour").splitlines()
    id, shown = rows[0].split("\t")[:2]
    assert id == "lesson-b" and shown[4:].startswith("  Bread needs flour  lesson-b")
    newest = lore(project, "browse", "--rows").splitlines()
    assert {row.partition("\t")[0] for row in newest} == {ODD, "lesson-b"}
    (link,) = lore(project, "browse", "--rows", "--of", "lesson-b").splitlines()
    assert link.startswith(f"{ODD}\t→ relates_to  ")
    shown = lore(project, "browse", "--preview", ODD)
    assert "Sessions are signed tokens\n" in shown
    assert '"access_count":0' in lore(project, "list", "--json")


@pytest.mark.skipif(shutil.which("fzf") is None, reason="fzf is not installed")
def test_fzf_searches_follows_links_and_opens_the_file_at_the_line(project: Path) -> None:
    environ = {**os.environ, "EDITOR": "echo opened"}
    typed = [("Esc end", "flour"), ("Bread", "\x0c"), ("→ relates_to", "\x05"),
             ("opened +2", "\x1b")]  # fmt: skip
    code, shown = at_terminal([LORE, "browse"], environ, str(project), columns=200, typed=typed)
    assert (code, "auth.py" in shown) == (0, True)
    picked = [("Bread", "\r")]
    words = ["/bin/sh", "-c", f"'{LORE}' browse flour | sed 's/^/picked /'"]
    code, shown = at_terminal(words, environ, str(project), columns=200, typed=picked)
    assert code == 0 and "picked lesson-b" in shown
    assert not (project / "owned").exists()
