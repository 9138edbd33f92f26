"""Commands as functions: both readers of command lines, help, and limits of values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.cli import registry
from pylore.cli.click_app import help_of
from pylore.cli.click_app import read as read_by_click
from pylore.cli.command import MOST, Command, argument, command, option, read
from pylore.core.errors import UsageError

COMMANDS = {one.name: one for one in registry.every_command()}
ODD = ("", "-", "--", "-q", "-5", "-q=1", "x", "0.5", "nan", "1_0", " 1 ", "staged", "a,b",
       "--limit", "3", "-n", "-n3", "--json", "é", "--graph-depth", "--hop-decay=.5",
       "--decay", "--on", "--scope=a", "--no-pager")  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> tuple[Command, list[str]]:
    """A command, and words some of which are its options."""
    one = COMMANDS[draw(st.sampled_from(sorted(COMMANDS)))]
    names = [name for parameter in one.options for name in parameter.names]
    words = st.sampled_from([*ODD, *names, *(f"{name}=5" for name in names)])
    return one, draw(st.lists(words, max_size=6))


@given(lines())
def test_click_reads_a_plain_line_in_the_same_way(line: tuple[Command, list[str]]) -> None:
    one, words = line
    plain = read(words, one)
    if plain is None:
        return
    given_by_click = read_by_click([*one.name.split(), *words])
    assert given_by_click is not None
    assert given_by_click.values(one) == plain.values(one)
    assert given_by_click.settings == plain.settings
    shared = {name: value for name, value in given_by_click.shared.items() if value}
    assert shared == plain.shared


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_fits_a_terminal(name: str) -> None:
    shown = help_of(name)
    assert shown.startswith(f"Usage: lore {name}")
    assert max(map(len, shown.split("\n"))) <= 100
    summary = COMMANDS[name].text.partition("\n\n")[0]
    assert summary.endswith(".") and summary[0].isupper()


@pytest.mark.parametrize("name", ["search", "list", "graph hubs", "config get"])
def test_settings_are_options_of_every_command(name: str) -> None:
    line = read(["--hop-decay", "0.5", "--edges=calls", "x"][: 3 + (name == "config get")],
                COMMANDS[name])  # fmt: skip
    assert line is not None
    assert line.settings == {"hop_decay": "0.5", "graph_edges": "calls"}
    assert read(["--on", "team"], COMMANDS["list"]) is None, "a hub answers searches alone"


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
    line = read("x y z -c 3 --share=0.25 --tag a,b --tag c --field k=1,2 --form b".split(), toy)
    assert line is not None
    assert line.values(toy) == {
        "first": "x", "others": ("y", "z"), "count": 3, "share": 0.25, "tags": ("a", "b", "c"),
        "fields": ("k=1,2",), "form": "b",
    }  # fmt: skip


@pytest.mark.parametrize(
    "words", ["", "x -c 0", f"x -c {MOST + 1}", "x --share 2", "x --form c", "x --tag", "x --tgs a"]
)
def test_wrong_lines_are_left_to_click(words: str) -> None:
    assert read(words.split(), toy) is None


def test_click_names_the_wrong_value_and_the_nearest_option() -> None:
    for words, part in ((["list", "-n", "x"], "--limit is 'x': give a whole number from 1"),
                        (["list", "--tpye", "x"], "did you mean '--type'"),
                        (["graph", "paht"], "did you mean 'path'"),
                        (["graph", "path", "a"], "graph path needs B")):  # fmt: skip
        with pytest.raises(UsageError, match=part.replace("(", r"\(")):
            read_by_click(words)
