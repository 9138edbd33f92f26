"""Commands are declared once: what is written from that is up to date, what runs agrees with it."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

from pylore.cli import declare
from pylore.cli.completion import offered
from pylore.cli.declaration import (
    Argument,
    Command,
    Heading,
    Option,
    Row,
    every_command,
    find,
    function,
    verbs_of,
)  # fmt: skip
from pylore.cli.declare import OUTPUT
from pylore.cli.help import GROUPS, help_of, overview, verb_help
from pylore.cli.main import _run
from pylore.cli.manual import escaped, pages
from pylore.cli.own_commands import TOOLKIT
from pylore.cli.reader import defaults_of
from pylore.core.errors import UsageError
from pylore.core.settings import BY_NAME, SETTINGS, SWITCHES
from pylore.terminal.forms import FORMS

ROOT = Path(declare.__file__).parents[3]
COMMANDS = every_command()
READ = {name: command for name, command in COMMANDS.items() if command.run}
SCRIPTS = [name for name in COMMANDS if " " not in name]


def script_of(name: str) -> Path:
    return ROOT / ("graph/graph.sh" if name == "graph" else f"lib/lore-{name}")


# --- what is written from the declarations


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_in_a_line_what_its_command_does_and_hands_over(name: str) -> None:
    first, summary, *rest = script_of(name).read_text(encoding="utf-8").splitlines()
    assert (first, summary) == ("#!/usr/bin/env bash", f"# Summary: {COMMANDS[name].summary}")
    assert rest[-1].startswith(f'lore_engine {name} "$@"')


def test_every_script_has_a_declaration_and_every_declaration_a_script() -> None:
    scripts = {file.name.removeprefix("lore-") for file in (ROOT / "lib").glob("lore-*")}
    assert (scripts | {"graph"}) - {*TOOLKIT} == {*SCRIPTS}
    assert {name.partition(" ")[0] for name in COMMANDS} == {*SCRIPTS}
    assert {*verbs_of(COMMANDS["run"])} >= {COMMANDS["run start"], COMMANDS["run finish"]}


def test_the_groups_of_commands_are_of_commands() -> None:
    named = [name for _, names in GROUPS for name in names]
    assert len({*named}) == len(named)
    assert {*named} <= {*SCRIPTS}
    for command in COMMANDS.values():
        assert {*command.verbs} <= {verb.name.partition(" ")[2] for verb in verbs_of(command)}


@pytest.mark.parametrize("name", COMMANDS)
def test_usage_and_summary_are_a_line_and_every_option_has_its_help(name: str) -> None:
    command = COMMANDS[name]
    assert "\n" not in command.usage + command.summary
    assert " " in name or 10 <= len(command.summary) <= 90
    for part in command.parts:
        assert not isinstance(part, Option | Row) or part.help
    assert max(map(len, help_of(command).split("\n"))) <= 120


# --- what runs


@pytest.mark.parametrize("name", READ)
def test_the_function_of_a_command_takes_what_the_command_declares(name: str) -> None:
    command = READ[name]
    given = {*defaults_of(command), *(argument.into for argument in command.arguments)}
    parameters = inspect.signature(function(command.run)).parameters
    others = {n for n, one in parameters.items() if one.kind is inspect.Parameter.VAR_KEYWORD}
    assert {*parameters} - others <= given
    assert others or given <= {*parameters}
    source = inspect.getsource(function(command.run))
    assert {*re.findall(r'given\["(\w+)"\]', source)} <= given


@pytest.mark.parametrize("name", READ)
def test_no_option_of_a_command_is_declared_twice(name: str) -> None:
    spelled = [spelling for option in READ[name].options() for spelling in option.names]
    assert len({*spelled}) == len(spelled)


@pytest.mark.parametrize("name", COMMANDS)
def test_settings_that_are_options_are_settings(name: str) -> None:
    command = COMMANDS[name]
    for option in command.options():
        if option.setting and option.setting not in SWITCHES:
            assert option.setting in BY_NAME
            value = option.value and BY_NAME[option.setting].option
            assert not value or f"--{value}" == option.names[-1]
    assert {*(command.settings or ())} <= {*BY_NAME}


def test_the_forms_of_output_are_options() -> None:
    names = [option.names for option in OUTPUT.options]
    assert names == [*((f"--{form.name}",) for form in FORMS), ("--jq",)]


def test_what_nobody_declares_is_refused() -> None:
    for word in ("no-such", "list_", "..", "", "--help"):
        with pytest.raises(UsageError):
            _run([word])
    assert find("options") is None


def test_verbs_are_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="run needs one of start, finish, list, show: see 'lore"):
        _run(["run"])
    with pytest.raises(UsageError, match=r"unknown verb 'strat' \(did you mean 'start'\?\)"):
        _run(["run", "strat"])


def test_the_help_of_a_verb_is_its_own() -> None:
    text = verb_help(find("graph-path"))  # type: ignore[arg-type]
    assert text.startswith("Usage: lore graph path [options] A B\nThe way from A to B")
    assert text.endswith("\nExample: lore graph path file-src/auth.py goal-1a2b3c4d --ids\n")
    assert "\nlore graph" not in overview(COMMANDS["graph"])


def test_completion_offers_the_values_of_settings() -> None:
    for setting in SETTINGS:
        words = offered(["search", f"--{setting.option}", ""])
        assert not setting.choices or words == [*setting.choices]


def test_no_text_is_a_request_of_the_manual() -> None:
    assert escaped(".so /etc/passwd\n'x\\n-é") == "\\&.so /etc/passwd\n\\(aqx\\en\\-\\[u00E9]"
    for name, text in pages().items():
        for line in text.split("\n"):
            known = r"\.(TH|SH|SS|PP|TP|nf|fi|B|I|\\\")( |$)"
            assert line.isascii() and (line[:1] not in ("'", ".") or re.match(known, line)), name


# --- a command from outside

TOY = """
from pylore.cli.declaration import Argument, Command, Heading, Option
from pylore.cli.declare import OUTPUT

def toy(word, colour, twice, **options):
    from pylore.cli.session import Session
    session = Session(options)
    session.output.one({"word": word * (2 if twice else 1), "colour": colour}, str)

COMMAND = Command(
    "toy", "[options] WORD", "says a word, for a test alone",
    "It says the word.",
    Heading("How it says it"),
    Option("--colour NAME", "red or blue;\\nred unless set", choices=("red", "blue"),
           default="red"),
    Option("-t, --twice", "two times"),
    OUTPUT,
    arguments=(Argument("WORD", "word", "types"),),
    examples=("lore toy ho --twice",),
    settings=("busy_timeout",),
    run=toy,
)
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A command of one file, beside those that there are."""
    (tmp_path / "toy.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(declare, "__path__", [*declare.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "pylore.cli.declare.toy", raising=False)
    found = find("toy")
    assert found is not None
    return found


def test_a_command_of_one_file_runs(
    toy: Command, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    from pylore.terminal.output import flush

    assert _run(["toy", "ho", "-t", "--colour=blue", "--busy-timeout", "1"]) == 0
    flush()
    assert capsysbinary.readouterr().out == b'{"word":"hoho","colour":"blue"}\n'
    for words in (["toy"], ["toy", "a", "--twic=1"]):
        with pytest.raises(UsageError, match="see 'lore toy --help'"):
            _run(words)
    with pytest.raises(UsageError, match="--colour is 'grey': give one of red, blue"):
        _run(["toy", "a", "--colour", "grey"])


def test_a_command_of_one_file_has_help_completion_and_a_page(toy: Command) -> None:
    assert help_of(toy) == """\
Usage: lore toy [options] WORD
Summary: says a word, for a test alone

It says the word.

How it says it:
  --colour NAME        red or blue;
                       red unless set
  -t, --twice          two times
  --json, --jsonl, --text, --ids, --jq EXPR   the form of the output

Example:
  lore toy ho --twice
"""  # fmt: skip
    page = pages()["lore-toy.1"]
    assert "\\fB\\-t\\fR, \\fB\\-\\-twice\\fR\ntwo times\n" in page
    assert "lore\\-toy" in pages()["lore.1"]
    assert offered(["toy", "--colour", ""]) == ["red", "blue"]
    assert offered(["toy", "--tw"]) == ["--twice"]
    assert offered(["toy", "dec"]) == ["decision"]


def test_parts_of_a_command_are_told_in_their_order() -> None:
    command = Command(
        "toy",
        "",
        "a toy",
        "One.\n\nTwo.",
        Heading("Some"),
        Option("-x, --extra-long-option NAME", "x"),
        Row("y", Option("--yes"), Option("--no")),
        "End.",
        arguments=(Argument("[A]"),),
    )
    assert help_of(command).split("\n\n", 1)[1] == (
        "One.\n\nTwo.\n\nSome:\n  -x, --extra-long-option NAME   x\n"
        "  --yes, --no          y\n\nEnd.\n"
    )
