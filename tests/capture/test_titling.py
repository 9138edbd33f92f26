"""Titles by a model: what it proposes counts where it was said."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from pylore.capture.candidates import Candidate, Signal
from pylore.capture.curation import with_titles
from pylore.capture.sentences import prompt_of, titled
from pylore.core.errors import LoreError

SAID = [
    "- **Rule:** never push to `main`, it is released nightly",
    "Please do not push to main directly.",
    "Tokens live in memory because files are shared.",
]


def candidate(body: str, quote: str, session: str = "s1") -> Candidate:
    return Candidate("lesson", body, body, [Signal("rule", 0.5, quote, session, "2026-01-31")])


@pytest.fixture
def found() -> list[Candidate]:
    return [
        candidate("never push to `main`, it is released nightly", SAID[0]),
        candidate("Please do not push to main directly.", SAID[1], "s2"),
        candidate("Tokens live in memory because files are shared.", SAID[2]),
    ]


def proposal(found: list[Candidate], *at: int, title: str, quotes: list[str]) -> str:
    return json.dumps({"ids": [found[n].id for n in at], "title": title, "quotes": quotes})


def test_a_title_and_a_merge_that_hold(found: list[Candidate]) -> None:
    quotes = ["never push to main", SAID[1]]
    answer = proposal(found, 0, 1, title="Never push to main", quotes=quotes)
    kept, dropped = titled(found, f"Here you are:\n{answer}\n", SAID)
    assert not dropped
    assert [one.title for one in kept] == ["Never push to main", found[2].title]
    assert sorted(kept[0].sessions) == ["s1", "s2"]
    assert kept[0].score == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("title", "quotes", "why"),
    [
        ("Never push to main", ["never push to production"], "quote does not occur"),
        ("Never push to main", [], "quote does not occur"),
        ("Never push to main or `prod`", [SAID[1]], "was not said"),
        ("Never push to main before 18", [SAID[1]], "was not said"),
        ("Deployments always require approval from security", [SAID[1]], "was not said"),
        ("", [SAID[1]], "no title"),
        ("push " * 30, [SAID[1]], "no title"),
    ],
)
def test_what_is_invented_is_dropped(
    found: list[Candidate], title: str, quotes: list[str], why: str
) -> None:
    before = [one.to_row() for one in found]
    kept, dropped = titled(found, proposal(found, 0, 1, title=title, quotes=quotes), SAID)
    assert sorted(one.id for one in kept) == sorted(one.id for one in found)
    assert sorted(map(str, (one.to_row() for one in kept))) == sorted(map(str, before))
    assert len(dropped) == 1
    assert why in dropped[0]


def test_an_answer_that_is_none(found: list[Candidate]) -> None:
    answer = '{"ids": ["candidate-00000000"], "title": "x", "quotes": ["x"]}\n{nonsense\n{"ids": 3}'
    kept, dropped = titled(found, f"sorry\n{answer}", SAID)
    assert len(kept) == 3
    assert len(dropped) == 3


def test_a_command_that_invents_changes_nothing(found: list[Candidate], tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import json, sys\n"
        "rows = [json.loads(line) for line in sys.stdin if line.startswith('{')]\n"
        "rows = [row for row in rows if 'body' in row]\n"
        "for row in rows:\n"
        "    print(json.dumps({'ids': [row['id']], 'title': 'Use Rust for all of it',\n"
        "                      'quotes': ['we decided to use Rust']}))\n"
        "print(json.dumps({'ids': [rows[2]['id']], 'title': 'Tokens live in memory',\n"
        "                  'quotes': rows[2]['quotes']}))\n"
    )
    kept, dropped = with_titles(found, SAID, shlex.join([sys.executable, str(program)]))
    assert sorted(one.title for one in kept) == sorted(
        [found[0].body, found[1].body, "Tokens live in memory"]
    )
    assert len(dropped) == 3
    with pytest.raises(LoreError, match="llm_command"):
        with_titles(found, SAID, "")


def test_the_model_reads_quotes_and_no_signals(found: list[Candidate]) -> None:
    prompt = prompt_of(found)
    assert all(one.id in prompt for one in found)
    assert "weight" not in prompt
