"""Test pages, colours and progress."""

from __future__ import annotations

import json
import os
import re
from shutil import which

import pytest
from commands import Lore
from hypothesis import given
from hypothesis import strategies as st
from terminals import at_terminal
from wire import LORE

from pylore.terminal.text import cut

WORDS = st.lists(st.text("ab漢é\u0301-", min_size=1, max_size=9), max_size=12).map(" ".join)


@given(WORDS, st.integers(5, 40))
def test_a_title_is_cut_at_a_word(text: str, width: int) -> None:
    short = cut(text, width)
    assert len(short) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


TITLE = "Sessions are signed tokens, so that the server keeps no state"


@pytest.fixture
def project(lore: Lore) -> Lore:
    for name in ("NO_COLOR", "CLICOLOR_FORCE", "PAGER", "LESS", "COLUMNS", "LINES"):
        lore.patch.delenv(name, raising=False)
    lore.write("auth.py", "x = 1\n")
    lines = "".join(f'{{"id":"note-{n}","type":"note","title":"Tokens {n}"}}\n' for n in range(40))
    lore.write("many.jsonl", lines)
    lore("import", "many.jsonl")
    lore("add", "decision", TITLE, "--id", "decision-a", "--file", "auth.py")
    return lore


def seen(lore: Lore, *words: str, environ: dict[str, str], **size: int) -> str:
    typed, variables = [("\x1b[K", "q")], {**os.environ, **environ}
    code, shown = at_terminal([LORE, *words], variables, str(lore.project), typed=typed, **size)
    assert code == 0
    return shown


def test_lines_go_to_a_terminal_whole(project: Lore) -> None:
    words = ("search", "sessions signed server", "-n", "1")
    environ = {"NO_COLOR": "1"}
    shown = seen(project, *words, columns=40, environ=environ)
    assert shown.endswith(f"  decision-a  {TITLE}\n      auth.py\n")
    shown = seen(project, *words, "--json", columns=40, environ=environ)
    assert json.loads(shown)[0]["title"] == TITLE


def test_long_output_is_paged(project: Lore) -> None:
    paged = {"PAGER": "sed 's/^/paged: /'", "NO_COLOR": "1"}
    assert seen(project, "list", rows=10, environ=paged).count("paged: 2") == 41
    assert "paged" not in seen(project, "list", "-n", "8", rows=10, environ=paged)
    assert "paged" not in seen(project, "list", rows=10, environ={**paged, "PAGER": "cat"})
    gone = {**os.environ, "PAGER": "no-such"}
    code, shown = at_terminal([LORE, "list"], gone, str(project.project), rows=10)
    assert code == 1 and "pager 'no-such' not found: correct PAGER" in shown


def test_long_command_shows_progress_and_handles_interrupts(project: Lore) -> None:
    fed = "cat many.jsonl; sleep 1; cat more.jsonl; sleep 9"
    project.write("more.jsonl", '{"id":"note-x","type":"note","title":"more"}\n')
    code, shown = at_terminal(
        # lore leads the session: else its terminal may be closed before the last line
        ["/bin/bash", "-c", f"exec '{LORE}' import - < <({fed})"],
        os.environ,
        str(project.project),
        typed=[("importing: ", "\x03")],
    )
    assert code in (-2, 130) and "\x1b[?7limporting: 0" in shown  # wrapping is off
    assert re.search(r"lore: interrupted \(importing: \d+\): nothing was imported\n", shown)
    assert "note-x" not in project("list", "--ids").out


@pytest.mark.parametrize("words", ["doctor", "index"])
def test_progress_in_a_pipe_is_a_line(repository: Lore, words: str) -> None:
    repository.patch.setattr("pylore.terminal.screen.LINE_AFTER", 0.001)
    lines = repository(*words.split()).notes
    assert lines and all(re.fullmatch(r"[a-z ]+: .*\d s so far", line) for line in lines), lines
    assert not repository(*words.split(), "-q").err


def test_index_shows_progress_of_the_history(project: Lore) -> None:
    git = which("git")
    who = ["-c", "user.name=One", "-c", "user.email=one@example.org"]
    for words in (["init", "-q"], ["add", "auth.py"], [*who, "commit", "-qm", "one"]):
        project.git(*words)
    slow = project.program(  # simulates a long history
        "bin/git",
        'case " $* " in\n'
        "*' log '*) printf '\\001%s 1\\0' 1 2 3; sleep 1; printf '\\001%s 1\\0' 4 5; sleep 9 ;;\n"
        "*' rev-list '*) echo 8 ;;\n"
        f'*) exec "{git}" "$@" ;;\n'
        "esac",
    )
    code, shown = at_terminal(
        [LORE, "index"],
        {**os.environ, "PATH": f"{slow.parent}:{os.environ['PATH']}"},
        str(project.project),
        typed=[("reading the history: ", "\x03")],
    )
    assert code in (-2, 130)
    assert re.search(r"reading the history: (12|25|37|50|62) %, \d s so far", shown)
    assert re.search(r"lore: interrupted \(reading the history: \d+ %\): the files so far", shown)


def test_styles_in_a_pipe_must_be_forced(project: Lore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in project("list", "--text").out
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert re.match(r"\S+  \x1b\[1mdecision-a", project("list", "--text").out)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in project("list", "--text").out
