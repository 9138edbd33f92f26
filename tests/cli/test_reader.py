"""The commands that have two doors: what is read without click is what click reads."""

from __future__ import annotations

import random
from typing import Any

import click
import pytest
from command_lines import compare
from hypothesis import given
from hypothesis import strategies as st

from pylore.cli.click_reader import built
from pylore.cli.declaration import Command, every_command, find
from pylore.cli.reader import parse, read_plainly
from pylore.core.errors import UsageError

QUICK = tuple(
    name.replace(" ", "-") for name, one in every_command().items() if one.quick or one.run
)
ODD = [
    "", "-", "--", "-q", "-5", "-qq", "-q=1", "--quiet=1", "x", "0.5", "1.5", "nan", "1_0", " 1 ",
    "-qn5", "-n5", "-n=5", "-q-", "-qq5", "staged", "stagd", "a,b", "--confirm", "--wei",
    "--limit", "--json=1", "é", "\u2028",
]  # fmt: skip


def command(name: str) -> Command:
    found = find(name)
    assert found is not None
    return found


def by_click(words: list[str], asked: Command) -> dict[str, Any] | None:
    """The parameters that click gives; None where it refuses the words."""
    ours = built(asked)
    try:
        context = ours.make_context(asked.name, list(words))
    except click.ClickException:
        return None
    return {
        name: value
        for name, value in context.params.items()
        if value is not None or not name.startswith("setting_")
    }


def words_of(name: str) -> list[str]:
    """Words that mean something to a command, alone and with a value."""
    spelled = [spelling for option in command(name).options() for spelling in option.names]
    spelled += [f"--{setting}" for setting in ("busy-timeout", "embedder")]
    return [*spelled, *(f"{word}={value}" for word in spelled for value in ("0.5", "staged", ""))]


@given(st.data(), st.sampled_from(QUICK))
def test_what_is_read_plainly_is_what_click_reads(data: st.DataObject, name: str) -> None:
    word = st.sampled_from([*ODD, *words_of(name)])
    plain = st.lists(st.sampled_from(["a-1", "b", "relates_to", "note"]), max_size=4)
    words = data.draw(st.permutations(data.draw(plain) + data.draw(st.lists(word, max_size=5))))
    read = read_plainly(words, command(name))
    assert read is None or read == by_click(words, command(name))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("link", "a-1 relates_to b-1"),
        ("link", "a-1 relates_to b-1 --weight 0.4 --meta by=me --meta n=1 -q --new-relation"),
        ("add", "note some words --tags a,b --tag c --link a-1:part_of --confidence=0.5"),
        ("add", "--status staged --embedder none --title T note -"),
        ("add", "-- note -5"),
        ("edit", "a-1 --force --why x --ids"),
        ("fact", "jacq lives_in oslo --confirm --single --single-valued in"),
        ("graph-link", "a-1 part_of b-1 --json"),
        ("list", "-n 20 --type note --ids"),
        ("import", "docs --json"),
        ("graph-path", "a-1 b-1"),
        ("list", "-qn5 --ids"),
        ("list", "--ids -n5 --type note"),
        ("sync", ""),
    ],
)
def test_what_programs_write_needs_no_click(name: str, line: str) -> None:
    read = read_plainly(line.split(), command(name))
    assert read is not None
    assert read == by_click(line.split(), command(name))


@pytest.mark.parametrize(
    "line",
    ["a-1 relates_to", "a-1 b c d", "--weight 2 a b c", "--wieght 1 a b c", "a b c --weight",
     "--status none a b c", "-q=1 a b c", "a b -c"],
)  # fmt: skip
def test_what_click_has_something_to_say_of_is_left_to_it(line: str) -> None:
    assert read_plainly(line.split(), command("link")) is None


def test_two_options_for_one_parameter_are_left_to_click() -> None:
    line = "a is b --status staged --confirm"
    assert read_plainly(line.split(), command("fact")) is None


def test_many_lines_are_read_alike() -> None:
    plain, different = compare(1500, random.randrange(10**6))
    assert plain > 300
    assert not different


def test_words_after_switches_in_one_word_are_read() -> None:
    search = command("search")
    for line in ("-qn5 tokens --ids", "tokens -q -n5 --ids", "--ids --limit=5 -q tokens"):
        found = parse(line.split(), search)
        assert found.flags == {"quiet": "1", "limit": "5"}
        assert found.positionals == ["tokens"]
        assert found.switches == {"ids"}
    for word in ("-q-", "-q=1", "-qx"):
        with pytest.raises(UsageError):
            parse([word, "tokens"], search)
