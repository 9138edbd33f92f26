"""The options that a command's help names are those that the command takes, both ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from pylore.cli import commands as cli
from pylore.cli import context, hot
from pylore.cli.args import setting_of_option
from pylore.cli.commands import FAMILIES, family_commands
from pylore.core.settings import SETTINGS
from pylore.terminal.output import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(cli.__file__).parents[3]
OPTION = re.compile(r"(?:^|, )(--?[a-zA-Z][a-z-]*)(?= |,|$)")
IN_THE_SHELL = ("help", "commands", "version", "completion", "run")

CLICK = {name: command for family in FAMILIES for name, command in family_commands(family).items()}
HOT = {**hot.COMMANDS, "context": context.context_command}


class Captured(Exception):
    """Stops a hot command once it has said what it takes."""


def documented(help_text: str) -> set[str]:
    """The options that have a line of their own in a help text."""
    lines = re.findall(r"^ +(-.*)$", help_text, re.MULTILINE)
    return {option for line in lines for option in OPTION.findall(line.split("  ")[0])}


def accepted(command: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The options that the engine takes, those of settings aside (every one of them is one)."""
    options = {f"--{form}" for form in FORMATS} | {"--jq"}
    if command not in HOT:
        return {
            option
            for parameter in CLICK[command].params
            if isinstance(parameter, click.Option)
            for option in parameter.opts
        }

    def parse(argv: object, switches: Sequence[str] = (), values: Sequence[str] = ()) -> None:
        options.update(switches, values)
        raise Captured

    monkeypatch.setattr(hot, "parse", parse)
    monkeypatch.setattr(context, "parse", parse)
    with pytest.raises(Captured):
        HOT[command]([])
    return options


def of_a_setting(option: str) -> bool:
    """Whether it sets a setting: those are listed by 'lore config list', once for all."""
    short = ("-q", "--quiet", "--expand", "--no-diversify")
    return option in short or setting_of_option(option) is not None


def commands() -> Iterator[tuple[str, str, str]]:
    """Name, the engine's command, help text: of each command and each verb of the graph."""
    for file in sorted((ROOT / "lib").glob("lore-*")):
        name = file.name.removeprefix("lore-")
        if name not in IN_THE_SHELL:
            yield name, name, head(file)
    script = ROOT / "graph" / "graph.sh"
    parts = re.split(r"^lore graph ([a-z-]+)", head(script), flags=re.MULTILINE)[1:]
    for verb, text in zip(parts[::2], parts[1::2], strict=True):
        shared = (*hot.COMMANDS, "link", "unlink")
        yield f"graph {verb}", verb if verb in shared else f"graph-{verb}", text
    for verb, text in verbs("run", ROOT / "lib" / "lore-run"):
        yield f"run {verb}", f"run-{verb}", text


def verbs(command: str, script: Path) -> Iterator[tuple[str, str]]:
    """Name and help of each verb that a script has."""
    parts = re.split(rf"^lore {command} ([a-z]+)", head(script), flags=re.MULTILINE)[1:]
    yield from zip(parts[::2], parts[1::2], strict=True)


def head(file: Path) -> str:
    """The comment at the head of a file, without the marks."""
    if not file.exists():
        return ""
    lines = file.read_text(encoding="utf-8").split("\n\n")[0].split("\n")
    return "\n".join(re.sub("^# ?", "", line) for line in lines if line.startswith("#"))


COMMANDS = list(commands())


@pytest.mark.parametrize(("command", "text"), [pytest.param(c, t, id=n) for n, c, t in COMMANDS])
def test_help_names_the_options_that_are_taken(
    command: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = accepted(command, monkeypatch)
    named = documented(text)
    ours = {option for option in taken if not of_a_setting(option)}
    assert ours - {"--ids"} <= named  # counts have no id to print
    unknown = named - taken
    if command in HOT:
        unknown = {option for option in unknown if not of_a_setting(option)}
    assert not unknown


@pytest.mark.parametrize("command", sorted(CLICK))
def test_every_command_of_the_engine_has_help(command: str) -> None:
    assert command in {engine for _, engine, _ in COMMANDS}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_the_commands_that_it_is_loaded_for(family: str) -> None:
    assert tuple(family_commands(family)) == FAMILIES[family]


def test_every_module_with_commands_is_a_family() -> None:
    files = (ROOT / "pylore/cli/commands").glob("[a-z]*.py")
    assert {file.stem for file in files} - {"shared"} == set(FAMILIES)


@pytest.mark.parametrize("name", [name for name, _, _ in COMMANDS if " " not in name])
def test_help_begins_with_usage_and_a_summary(name: str) -> None:
    usage, summary, *_ = head(ROOT / "lib" / f"lore-{name}").split("\n")[1:]
    assert re.fullmatch(rf"Usage: lore {name}( .*)?", usage)
    assert re.fullmatch(r"Summary: .{10,90}", summary)


def test_documented_reads_every_form_of_a_line() -> None:
    text = """
  -n, --limit N        the most, not --this
  --json, --jq EXPR   the form
  --edges NAME,…
                       --no option here
"""
    assert documented(text) >= {"-n", "--limit", "--json", "--jq", "--edges"}
    assert "--this" not in documented(text)


def test_completion_knows_the_words_of_the_vocabulary() -> None:
    from pylore.core.vocabulary import SOURCES, STATUSES, TYPES

    script = (ROOT / "lib" / "candidates.sh").read_text(encoding="utf-8")
    for name, words in (("TYPES", TYPES), ("STATUSES", STATUSES), ("SOURCES", SOURCES)):
        found = re.search(rf"^{name}=\(([^)]*)\)", script, re.MULTILINE)
        assert found and found[1].split() == list(words)
    for setting in SETTINGS:
        offered = re.search(rf"^ +--{setting.option}\) offer (.*) ;;", script, re.MULTILINE)
        if offered and setting.choices:
            assert sorted(offered[1].split()) == sorted(setting.choices)
