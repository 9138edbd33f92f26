"""The two readers of a command line: what is read without click is what click reads."""

from __future__ import annotations

import random

import pytest
from command_lines import compare
from hypothesis import given
from hypothesis import strategies as st

from pylore.cli.click_reader import read_with_click
from pylore.cli.declaration import Command, every_command, find
from pylore.cli.reader import read, read_plainly
from pylore.core.errors import UsageError

READ = tuple(name.replace(" ", "-") for name, one in every_command().items() if one.run)
ODD = [
    "", "-", "--", "-q", "-5", "-qq", "-q=1", "--quiet=1", "x", "0.5", "1.5", "nan", "1_0", " 1 ",
    "-qn5", "-n5", "-n=5", "-q-", "-qq5", "staged", "stagd", "a,b", "--confirm", "--wei",
    "--limit", "--json=1", "é", "\u2028",
]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def command(name: str) -> Command:
    found = find(name)
    assert found is not None
    return found


def words_of(name: str) -> list[str]:
    """Words that mean something to a command, alone and with a value."""
    spelled = [spelling for option in command(name).options() for spelling in option.names]
    spelled += [f"--{setting}" for setting in ("busy-timeout", "embedder", "hop-decay", "decay")]
    return [*spelled, *(f"{word}={value}" for word in spelled for value in ("0.5", "staged", ""))]


@given(st.data(), st.sampled_from(READ))
def test_what_is_read_plainly_is_what_click_reads(data: st.DataObject, name: str) -> None:
    word = st.sampled_from([*ODD, *words_of(name)])
    plain = st.lists(st.sampled_from(["a-1", "b", "relates_to", "note"]), max_size=4)
    words = data.draw(st.permutations(data.draw(plain) + data.draw(st.lists(word, max_size=5))))
    found = read_plainly(words, command(name))
    assert found is None or found == read_with_click(words, command(name))


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
        ("search", "jwt -q -n5 --type note --type a,b --decay .5 --graph-depth=2 --jq .[0]"),
        ("context", "why sqlite --budget 2000 --as prompt"),
        ("show", "note-1 note-2 --history --jsonl"),
        ("version", ""),
    ],
)
def test_what_programs_write_needs_no_click(name: str, line: str) -> None:
    found = read_plainly(line.split(), command(name))
    assert found is not None
    assert found == read_with_click(line.split(), command(name))


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
    for line in ("-qn5 tokens --ids", "tokens -q -n5 --ids", "--ids --limit=5 -q tokens"):
        found = read(line.split(), command("search"))
        assert found["settings"] == {"quiet": "1", "limit": "5"}
        assert (found["words"], found["as_ids"], found["explain"]) == (("tokens",), True, False)


def test_every_option_goes_where_the_declaration_says() -> None:
    line = ["jwt", "--tag", "a,b", "--limit=3", "-n", "4", "--explain", "--tag=c", "-q", "--ids",
            "-", "--decay", "0.5", "--expand", "--", "--tag", "-x"]  # fmt: skip
    found = read(line, command("search"))
    assert found["words"] == ("jwt", "-", "--tag", "-x")
    assert (found["tag"], found["since"], found["exclude"]) == (("a,b", "c"), None, ())
    assert {name for name, value in found.items() if value is True} == {"explain", "as_ids"}
    assert found["settings"] == {
        "limit": "4", "quiet": "1", "hop_decay": "0.5", "graph_depth": "2",
    }  # fmt: skip


def test_a_setting_goes_by_its_name_and_by_its_option() -> None:
    for words in (["--hop-decay", "1"], ["--decay=1"], ["--expand", "--hop-decay=2", "--decay=1"]):
        assert read(words, command("search"))["settings"]["hop_decay"] == "1"


def test_what_is_given_replaces_the_defaults_that_are_given() -> None:
    search = command("search")
    before = read(["--tag", "a", "--explain", "-n", "3", "--decay=1"], search)
    after = read(["--tag=b", "--limit=4"], search, before)
    assert (after["tag"], after["explain"]) == (("b",), True)
    assert after["settings"] == {"limit": "4", "hop_decay": "1"}
    assert before["settings"]["limit"] == "3"


@pytest.mark.parametrize("name", ["search", "list"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--limit"], "--limit needs a value"),
        (["--jq"], "--jq needs a value"),
        (["--onelin"], r"unknown option '--onelin' \(did you mean '--oneline'\?\)"),
        (["--scop=1"], r"unknown option '--scop' \(did you mean '--scope'\?\)"),
        (["-x"], "unknown option '-x'"),
        (["-qx"], "unknown option '-x'"),
        (["--json=1"], "--json takes no value"),
        (["--quiet=0"], "--quiet takes no value"),
        (["--on-gone"], "unknown option '--on-gone'"),
    ],
)
def test_a_wrong_command_line_is_worded_in_one_way(
    name: str, words: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=f"{message}.*: see 'lore {name} --help'"):
        read(words, command(name))


def test_an_option_of_another_command_is_not_taken_in_silence() -> None:
    with pytest.raises(UsageError, match="related takes no --on: see 'lore related --help'"):
        read(["note-1", "--on", "team"], command("related"))
    assert read(["x", "--on", "team"], command("search"))["settings"] == {"on": "team"}


@given(st.lists(TEXT, max_size=5))
def test_no_command_line_is_too_odd(words: list[str]) -> None:
    try:
        found = read(words, command("search"))
    except UsageError as error:
        assert "see 'lore search --help'" in str(error)
        return
    assert len(found["words"]) <= len(words)
