"""The store through fzf: what is typed is searched for, links are followed, files are opened."""

from __future__ import annotations

import os
import shutil

import pytest
from commands import Lore
from terminals import at_terminal
from wire import LORE

ODD = "decision-a'b;$(touch owned)`x"


@pytest.fixture
def project(lore: Lore) -> Lore:
    for name in ("FZF_DEFAULT_OPTS", "VISUAL"):
        lore.patch.delenv(name, raising=False)
    lore.write("auth.py", "one\ntwo\nthree\n")
    lore("add", "decision", "Sessions are signed tokens", "--id", ODD, "--file", "auth.py:2-3")
    lore("add", "lesson", "Bread needs flour", "--id", "lesson-b", "--link", f"{ODD}:relates_to")
    return lore


def test_rows_are_ids_and_what_is_seen_of_them(project: Lore) -> None:
    id, shown = project("browse", "--rows", "--", "flour").lines[0].split("\t")[:2]
    assert id == "lesson-b" and shown[4:].startswith("  Bread needs flour  lesson-b")
    newest = project("browse", "--rows").lines
    assert {row.partition("\t")[0] for row in newest} == {ODD, "lesson-b"}
    (link,) = project("browse", "--rows", "--of", "lesson-b").lines
    assert link.startswith(f"{ODD}\t→ relates_to  ")
    assert "Sessions are signed tokens\n" in project("browse", "--preview", ODD).out
    assert '"access_count":0' in project("list").out


@pytest.mark.skipif(shutil.which("fzf") is None, reason="fzf is not installed")
def test_fzf_searches_follows_links_and_opens_the_file_at_the_line(project: Lore) -> None:
    environ = {**os.environ, "EDITOR": "echo opened"}
    typed = [("Esc end", "flour"), ("Bread", "\x0c"), ("→ relates_to", "\x05"),
             ("opened +2", "\x1b")]  # fmt: skip
    code, shown = at_terminal(
        [LORE, "browse"], environ, str(project.project), columns=200, typed=typed
    )
    assert (code, "auth.py" in shown) == (0, True)
    picked = [("Bread", "\r")]
    words = ["/bin/sh", "-c", f"'{LORE}' browse flour | sed 's/^/picked /'"]
    code, shown = at_terminal(words, environ, str(project.project), columns=200, typed=picked)
    assert code == 0 and "picked lesson-b" in shown
    assert not (project.project / "owned").exists()
