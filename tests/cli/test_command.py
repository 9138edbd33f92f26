"""Commands as functions: how command lines are read, help, and limits of values."""

from __future__ import annotations

import re

import pytest
from commands import every_command

from pylore.cli import registry
from pylore.cli.command import argument, command, option, read
from pylore.cli.help import help_of
from pylore.core.errors import UsageError

COMMANDS = {one.name: one for one in every_command()}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_fits_a_terminal(name: str) -> None:
    shown = help_of(name)
    assert shown.startswith(f"Usage: lore {name}")
    assert max(map(len, shown.split("\n"))) <= 100
    summary = COMMANDS[name].text.partition("\n\n")[0]
    assert summary.endswith(".") and summary[0].isupper()


@pytest.mark.parametrize("name", ["search", "config get"])
def test_settings_are_options_of_every_command(name: str) -> None:
    words = ["--hop-decay", "0.5", "--edges=calls", "-q", "x"]
    _, settings = read(words[: 4 + (name == "config get")], COMMANDS[name])
    assert settings == {"hop_decay": "0.5", "graph_edges": "calls", "quiet": "1"}
    with pytest.raises(UsageError):  # only searches run on a hub
        read(["--on", "team"], COMMANDS["list"])


@command("toy [options] A [B…]")
def toy(
    session: object,
    first: str = argument("A"),
    others: tuple[str, ...] = argument("[B…]"),
    *,
    count: int = option("-c, --count N", "how many", 1, low=1),
    share: float = option("--share X", "a share", 0.5, low=0.0, high=1.0),
    tags: tuple[str, ...] = option("--tag TAG,…", "tags"),
    fields: tuple[str, ...] = option("--field KEY=VALUE…", "fields"),
    form: str = option("--form FORM", "a form", "a", choices=("a", "b")),
) -> None:
    """Try all kinds of parameters."""


def test_values_are_converted_and_joined() -> None:
    line = "x y z -c3 --share=0.25 --tag a,b --tag c --field k=1,2 --form b"
    assert read(line.split(), toy)[0] == {
        "first": "x",
        "others": ("y", "z"),
        "count": 3,
        "share": 0.25,
        "tags": ("a", "b", "c"),
        "fields": ("k=1,2",),
        "form": "b",
    }


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("", "toy needs A: see 'lore toy --help'"),
        ("x -c 0", "--count is '0': give a whole number from 1"),
        ("x -c 1000000001", "give a whole number"),
        ("x --share 2", "--share is '2': give a number from 0 to 1"),
        ("x --form c", "give one of a, b"),
        ("x --tag", "--tag needs TAG,…"),
        ("x --tga a", "no such option '--tga' (did you mean '--tag'?)"),
        ("x --hop-dekay 1", "did you mean '--hop-decay'"),
        ("x -q=1", "-q takes no value"),
    ],
)
def test_invalid_option_is_an_error_line(words: str, part: str) -> None:
    with pytest.raises(UsageError, match=re.escape(part)):
        read(words.split(), toy)
    with pytest.raises(UsageError, match=re.escape("(did you mean 'path'?)")):
        registry.find(["graph", "paht"])
