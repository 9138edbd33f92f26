"""Test questions to a model, which is a small program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import Done, Lore


class Model:
    """A project of two records, and a program in place of a model."""

    def __init__(self, lore: Lore) -> None:
        self.lore = lore
        lore.patch.setenv("LORE_LLM_COMMAND", f"'{lore.root}/a model'")
        lore.fill(
            {"id": "decision-tokens1", "body": "Sessions are signed tokens: no state is kept"},
            {"id": "note-bread1", "title": "Bread is baked with flour and water"},
        )
        self.runs('cat >"$0.prompt"', 'echo "They are signed [decision-tokens1]."')

    def runs(self, *lines: str) -> None:
        """Let the model run these lines of sh."""
        self.path = self.lore.program("a model", *lines)

    def prompt(self, number: str = "") -> str:
        return Path(f"{self.path}.prompt{number}").read_text()

    def __call__(self, *words: str, **options: Any) -> Done:
        return self.lore("ask", "what are sessions, tokens", "--text", *words, **options)


@pytest.fixture
def model(lore: Lore) -> Model:
    """Return a model of a project with two records."""
    return Model(lore)


def test_model_reads_the_prompt_and_prints_text(model: Model) -> None:
    done = model()
    assert done.out == "They are signed [decision-tokens1].\n"
    assert "not in the prompt" not in done.err
    prompt = model.prompt()
    assert "Sessions are signed tokens: no state" in prompt and "not instructions" in prompt
    assert prompt.splitlines()[-1] == "what are sessions, tokens"
    assert model.lore("ask", "-", "--text", stdin="what are tokens\n").out == done.out


def test_pipe_gets_citations_and_receipt(model: Model) -> None:
    found = model.lore("ask", "what are tokens").json
    assert found["answer"] == "They are signed [decision-tokens1]."
    assert found["citations"] == [{"text": "decision-tokens1", "in_prompt": True}]
    assert found["receipt"]["tokens_used"] > 0
    assert found["receipt"]["included"][0]["id"] == "decision-tokens1"
    model.lore.print_each("ask 'what are tokens' | decision-tokens1")


@pytest.mark.parametrize(
    ("cited", "unfounded"),
    [
        ("[decision-00000000], src/a.py:3-9 and file-based", "decision-00000000, src/a.py:3-9:"),
        ("[decision-use-jwt-tokens]", "decision-use-jwt-tokens:"),
    ],
)
def test_unfounded_citations_are_listed(model: Model, cited: str, unfounded: str) -> None:
    model.runs("cat >/dev/null", f'echo "Signed [decision-tokens1], see {cited} ones."')
    done = model("-q")
    assert done.notes == [f"cited, but not in the prompt: {unfounded} do not rely on it"]
    assert model("-q", "--strict", code=1).out == done.out
    model.runs("cat >/dev/null", 'echo "They just are."')
    assert "cites nothing" in model("--strict").err


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ((r'printf "\033[2Jno key\n" >&2', "exit 3"), "exit code 3 (?[2Jno key)"),
        (("exit 0",), "printed no text"),
        (('echo "half an"', "kill -9 $$"), "failed with signal 9"),
        (("#!/nonexistent",), "cannot be started"),
    ],
)
def test_failure_of_the_model_is_a_line(model: Model, lines: tuple[str, ...], part: str) -> None:
    model.runs(*lines)
    done = model("-q", code=1)
    assert done.out == "" and len(done.notes) == 1 and part in done.notes[0]


def test_model_is_not_called_without_results(model: Model) -> None:
    model.lore.refuse_each("""
        ask zebra -q | 1 | the store does not answer this
        ask tokens --rounds 6 | 2 | --rounds
        ask | 2 | QUESTION
    """)
    assert not Path(f"{model.path}.prompt").exists()


@pytest.mark.parametrize("terminal", [False, True])
def test_control_characters_of_a_model_are_removed(model: Model, terminal: bool) -> None:
    model.runs("cat >/dev/null", r'printf "red \033[31mtokens [decision-tokens1]\n"')
    assert "red ?[31mtokens [decision-tokens1]" in model("-q", terminal=terminal).out


def test_rounds_look_up_requests_of_a_model(model: Model) -> None:
    model.lore("add", "pattern", "Ovens are heated to 250 degrees", "--id", "pattern-oven01")
    model.runs(
        'cat >"$0.prompt"',
        'if grep -q "(pattern-oven01, " "$0.prompt"; then echo "At 250 [pattern-oven01]."',
        'else cp "$0.prompt" "$0.prompt0"; printf "NE"; sleep 0.1; echo "ED: ovens heated"; fi',
    )
    assert model().out == "NEED: ovens heated\n"
    done = model("--rounds", "2")
    assert done.out == "At 250 [pattern-oven01].\n"
    assert "not in the prompt" not in done.err
    assert "NEED:" in model.prompt("0") and "decision-tokens1" in model.prompt()


def test_last_round_accepts_no_requests(model: Model) -> None:
    model.runs('cat >>"$0.prompt"', 'echo "NEED: bread and flour"')
    found = model.lore("ask", "what are tokens", "--rounds", "5", "--budget", "300").json
    assert found["needed"] == ["bread and flour"] and found["answer"].startswith("NEED:")
    assert found["receipt"]["tokens_used"] <= 300
    # It needed bread, needed the same again, and had to answer.
    assert model.prompt().count("\n# Question") == 3
