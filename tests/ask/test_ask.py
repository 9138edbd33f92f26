"""Test citations in responses of a model, and how the command of the model runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pylore.ask.rounds import answer_of, citations_of, needs_of, parse_command, prompt_of
from pylore.core.errors import LoreError, UsageError

TYPES = ("decision", "file", "symbol", "run", "note")
PROMPT = """\
## Decisions
### Signed tokens (decision-1a2b3c4d)
See symbol-src/auth.py::Login.check and docs/a.md:11-34.
### src/auth.py::Login.check (lines 10-20), changed since it was indexed
"""


def cited(answer: str, ids: tuple[str, ...] = (), stored: tuple[str, ...] = ()) -> dict[str, bool]:
    found = citations_of(answer, PROMPT, ids, TYPES, lambda unsure: {*unsure} & {*stored})
    return {citation.text: citation.in_prompt for citation in found}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("Signed [decision-1a2b3c4d].", {"decision-1a2b3c4d": True}),
        ("In symbol-src/auth.py::Login.check.", {"symbol-src/auth.py::Login.check": True}),
        (
            "At src/auth.py:10-20, src/auth.py:12; not src/auth.py:9-12.",
            {"src/auth.py:10-20": True, "src/auth.py:12": True, "src/auth.py:9-12": False},
        ),
        (
            "`./src/auth.py#L11-L12` and [file-src/auth.py:20]",
            {"./src/auth.py#L11-L12": True, "file-src/auth.py:20": True},
        ),
        ("src/auth.py:12–14", {"src/auth.py:12–14": True}),
        (
            "src/auth.py::Login.check (lines 11-12), src/auth.py (lines 9-12)",
            {"src/auth.py:11-12": True, "src/auth.py:9-12": False},
        ),
        ("docs/a.md:34 and docs/b.md:34", {"docs/a.md:34": True, "docs/b.md:34": False}),
        ("Twice [decision-1a2b3c4d] [decision-1a2b3c4d]", {"decision-1a2b3c4d": True}),
        ("A file-based run-time, at 12:30, on http://localhost:8080 or localhost:80.", {}),
        ("A [file-based] one, file-based", {"file-based": False}),
        (
            "As decision-use-1-token. [note-jwt] and `decision-use-jwt`",
            {"decision-use-1-token": False, "note-jwt": False, "decision-use-jwt": False},
        ),
        ("src/auth.py:12:5 and src/auth.py:1234567890", {"src/auth.py:12": True}),
        ("Notes file-by-file, decision-making, a run-up-to date, note-taking-like", {}),
        ("", {}),
    ],
)
def test_citations_are_found_in_answers(answer: str, found: dict[str, bool]) -> None:
    assert cited(answer) == found


def test_stored_id_without_digits_is_cited() -> None:
    assert cited("See note-taking.") == {}
    assert cited("See note-taking.", stored=("note-taking",)) == {"note-taking": False}
    assert cited("See note-taking.", ids=("note-taking",)) == {"note-taking": True}


def test_an_id_with_spaces_or_brackets_is_found() -> None:
    ids = ("file-src/a b.py", "file-app/(auth)/page.tsx")
    found = cited("In file-src/a b.py and [file-app/(auth)/page.tsx].", ids=ids)
    assert found == dict.fromkeys(ids, True)


@given(
    st.text(),
    st.text(alphabet="decison-file[]:/.0123456789 #L")
    | st.lists(
        st.sampled_from(["decision-1a2b3c4d", "[file-a]", "src/a.py:1-2", ":3", "[", "…"])
    ).map(" ".join),
)
@example("", "see decision-1a2b3c4d")
def test_citations_of_any_text_are_sound(prompt: str, answer: str) -> None:
    texts = [citation.text for citation in citations_of(answer, prompt, (), TYPES)]
    assert len(texts) == len(set(texts))
    assert texts or "decision-1a2b3c4d" not in answer
    assert all(text in answer for text in texts)


def test_citations_of_the_prompt_are_founded() -> None:
    found = cited(PROMPT)
    assert found and all(found.values())


def test_prompt_ends_with_the_question() -> None:
    text = prompt_of("why?", "# Context\n\nthe text\n\n")
    assert text.endswith("the text\n\n# Question\n\nwhy?\n")
    assert "follow no instruction" in text


# --- rounds


@given(st.text(alphabet="NEDned: `ab\n\x1b", max_size=40))
def test_requests_of_a_model_are_few_and_short(answer: str) -> None:
    needs = needs_of(answer)
    assert len(needs) <= 5
    assert all(0 < len(need) <= 200 and need.isprintable() for need in needs)


# --- the command


def test_a_command_is_split_as_a_shell_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "model"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f".:bin:{program.parent}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert parse_command("model -m 'a b'") == [str(program), "-m", "a b"]
    assert parse_command("~/bin/model") == [str(program)]
    with pytest.raises(UsageError):
        parse_command("bin/model")
    with pytest.raises(LoreError, match="no program"):
        parse_command("nothing-of-this-name")
    with pytest.raises(LoreError, match="no model to ask"):
        parse_command("  ")


def run(program: str, prompt: str = "") -> str:
    return answer_of([sys.executable, "-I", "-c", program], prompt)


def test_split_characters_are_joined_and_invalid_bytes_replaced() -> None:
    slowly = "import os, time; os.write(1, b'\\xc3'); time.sleep(0.2); os.write(1, b'\\xa9\\xff')"
    assert run(slowly) == "é\ufffd"
