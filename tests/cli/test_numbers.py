"""Test invalid numbers on a command line: an error line, and exit code 2."""

from __future__ import annotations

import pytest
from commands import Lore, every_command

from pylore.cli.command import Command, Parameter

WRONG = ("9223372036854775808", "-9223372036854775809", "1e400", "nan", "inf", "x", "", "9" * 5000)
OPTIONS = [
    (command, one) for command in every_command() for one in command.options if one.low is not None
]


@pytest.mark.parametrize(("command", "one"), OPTIONS, ids=lambda one: one.name)
def test_option_refuses_a_number_out_of_range(lore: Lore, command: Command, one: Parameter) -> None:
    words = [(*each.choices, "x")[0] for each in command.arguments if each.required]
    for value in WRONG:
        for option in one.names:
            refused = lore.refuse(*command.name.split(), *words, f"{option}={value}")
            assert "give a " in refused and "number from" in refused


@pytest.mark.parametrize("words", [("undo", "x", "--at"), ("list", "--since"), ("list", "--until")])
def test_states_and_times_are_bounded(lore: Lore, words: tuple[str, ...]) -> None:
    lore("add", "note", "x", "--id", "note-x")
    words = tuple(word.replace("x", "note-x") for word in words)
    for value in (*filter(None, WRONG), "99999999999999d"):
        lore.refuse(*words, value)
