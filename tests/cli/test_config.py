"""Test the precedence of settings, and ``lore config``."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Lore, every_command

from pylore.cli.command import Command, Parameter


@pytest.fixture
def project(lore: Lore) -> Path:
    """The path of the project's config."""
    return lore.project / ".lore" / ".config"


def value(lore: Lore, key: str) -> str:
    found: str = lore("config", "get", key).json["value"]
    return found


# --- which value counts


def test_option_environment_project_user_default(lore: Lore, project: Path) -> None:
    assert value(lore, "hop_decay") == "0.7"
    lore.config.write_text("# mine\nhop_decay=0.6\nlimit=5\n")
    assert value(lore, "hop_decay") == "0.6"
    project.write_text("\n\nhop_decay=0.5")
    assert value(lore, "hop_decay") == "0.5"
    lore.patch.setenv("LORE_HOP_DECAY", "0.4")
    assert value(lore, "hop_decay") == "0.4"
    assert "--decay: hop_decay is 'x'" in lore.refuse("search", "x", "--decay", "x")
    origins = {row["id"]: row["origin"] for row in lore("config", "list").json}
    assert origins["limit"] == f"user:{lore.config}:3"
    assert (origins["hop_decay"], origins["fusion"]) == ("env:LORE_HOP_DECAY", "default")
    lore.patch.delenv("LORE_HOP_DECAY")
    assert lore("config", "get", "hop_decay").json["origin"] == f"project:{project}:3"


def test_nearest_folder_counts_unless_lore_dir_is_set(lore: Lore, project: Path) -> None:
    root, other, user = lore.project, lore.root / "other", lore.home / "data" / "lore"
    for number, folder in enumerate((project.parent, root / "deep/er/.lore", other, user), 1):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".config").write_text(f"limit={number}\n")
    for folder, limit in ((root / "deep", "1"), (root / "deep/er", "2"), (lore.root, "4")):
        lore.patch.chdir(folder)
        assert value(lore, "limit") == limit
    lore.patch.chdir(root)
    lore.patch.setenv("LORE_DIR", "../other")
    row = lore("config", "get", "limit").json
    assert (row["value"], row["origin"]) == ("3", f"user:{root}/../other/.config:1")


def test_relative_folders_do_not_count(lore: Lore) -> None:
    for folder, limit in ((lore.project / "relative", 1), (lore.home / ".config", 2)):
        (folder / "lore").mkdir(parents=True)
        (folder / "lore" / "config").write_text(f"limit={limit}\n")
    lore.patch.setenv("XDG_CONFIG_HOME", "relative")
    assert value(lore, "limit") == "2"
    lore.patch.delenv("XDG_DATA_HOME")
    lore.patch.setenv("HOME", "relative")
    assert "no home folder: set HOME or XDG_DATA_HOME" in lore.refuse("list", code=1)


# --- errors


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x=$(touch canary)", "only plain assignments are read (name=value, quoted where it has"),
        ("\ngraph_depth=x", ":2: graph_depth is 'x': give a whole number from 0 to 3"),
    ],
)
def test_wrong_line_stops_every_command(lore: Lore, project: Path, text: str, part: str) -> None:
    for file in (lore.config, project):
        file.write_text(text)
        for words in (["list"], ["search", "anything"]):
            refused = lore.refuse(*words)
            assert refused.startswith(f"{file}:") and part in refused
        file.unlink()
    assert not (lore.project / "canary").exists()


def test_programs_count_only_in_the_users_config(lore: Lore, project: Path) -> None:
    for line in (
        "plugin_dir=/evil",
        'retrievers="fulltext evil"',
        "store=/evil",
        "root=/evil",
        "from_config=/evil",
        "exported=/evil",
        "grph_depth=evil",
    ):
        project.write_text(line + "\n")
        (note,) = lore("list").notes
        assert "left out" in note and not lore("list", "-q").err, line
        assert "evil" not in lore("config", "list").out
    project.write_text("plugin_dir=/somewhere\n")
    lore.config.write_text("plugin_dir=/mine\n")
    assert value(lore, "plugin_dir") == "/mine"
    lore.patch.setenv("LORE_DIR", str(project.parent))
    assert value(lore, "plugin_dir") == "/somewhere"


# --- set and unset


def test_set_and_unset_change_a_single_line(lore: Lore, project: Path) -> None:
    project.write_text("""\
# mine
limit=5  # few
declare -A EDGE_WEIGHTS=(
  [calls]=0.5 # sure
  [imports]=0.25
)
user_entity='entity-a'
limit=7
""")
    lore("config", "set", "limit", "20")
    lore("config", "set", "EDGE_WEIGHTS[calls]", "0.75")
    lore("config", "set", "edge_weights[mentions]", "1")
    lore("config", "set", "user_entity", "entity o'neil")
    lore("config", "unset", "edge_weights[imports]")
    assert (
        project.read_text()
        == """\
# mine
limit=5  # few
declare -A EDGE_WEIGHTS=(
  [calls]=0.75 # sure
)
user_entity="entity o'neil"
limit=20
EDGE_WEIGHTS[mentions]=1
"""
    )
    keys = ("limit", "EDGE_WEIGHTS[calls]", "edge_weights[imports]", "user_entity")
    assert [value(lore, key) for key in keys] == ["20", "0.75", "0.6/0.15", "entity o'neil"]
    every = value(lore, "EDGE_WEIGHTS")
    assert " calls=0.75 " in every and " mentions=1 " in every and " supersedes=0.5/0.15" in every
    assert "unknown relation 'call'" in lore.refuse("config", "get", "EDGE_WEIGHTS[call]")
    lore("config", "unset", "limit")
    assert "limit" not in project.read_text() and value(lore, "limit") == "10"


def test_set_writes_programs_to_the_users_config(lore: Lore) -> None:
    done = lore("config", "set", "llm_command", "my model", "--text")
    assert done.out == f"set  llm_command  {lore.config}\n" and lore.config.exists()
    lore("config", "unset", "llm_command")
    assert value(lore, "llm_command") == "" and not lore.config.exists()


def test_config_mends_a_broken_file(lore: Lore, project: Path) -> None:
    lore.config.symlink_to(lore.root / "dotfile")
    lore.config.write_text("limit=none\nrrf_k=x\nfusion = rrf\nquestions=1\n")
    project.write_text("limit 7\n")
    (line,) = lore("list", code=2).notes
    assert f"{lore.config}:3: " in line and f"{project}:1: " in line
    notes = lore("config", "set", "limit", "5", "--user").notes
    assert len(notes) == 4 and "unknown setting 'questions'" in notes[3]
    for key in ("rrf_k", "fusion", "questions"):
        lore("config", "unset", key, "--user")
    assert (lore.root / "dotfile").read_text() == "limit=5\n" and value(lore, "limit") == "5"
    project.unlink()
    assert lore("list").notes == []


def test_list_explains_a_section(lore: Lore) -> None:
    text = lore("config", "list", "search", "--text").out
    assert text.startswith("limit  10  default  number of") and "budget" not in text
    assert "no section 'x': give one of graph, search" in lore.refuse("config", "list", "x")


def test_config_refuses_wrong_use(lore: Lore, project: Path) -> None:
    lore.refuse_each("""
        config get grph_depth | 2 | unknown setting 'grph_depth' (did you mean 'graph_depth'?)
        config set limit 0 | 2 | limit is '0': give a whole number from 1 to 1000
        config set limit[x] 3 | 2 | unknown setting 'limit[x]'
        config set EDGE_WEIGHTS calls=2 | 2 | give a number from 0 to 1
        config set retrievers evil --project | 2 | retrievers counts only in the user
        config set llm_command "a'b\\"c" | 2 | do not mix both kinds of quotes
        config set limit 3 --user --project | 2 | exclude each other
    """)
    assert not project.exists() and not lore.config.exists()


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


@pytest.fixture
def common(lore: Lore) -> str:
    """The id of a record that is common to all scopes."""
    return lore.id("add", "decision", "Boats moor where the water is deep")


def test_records_of_a_scope_are_hidden_from_others(lore: Lore, common: str) -> None:
    lore.patch.setenv("LORE_SCOPE", "alice")
    id = lore.id("add", "lesson", "The pier is rotten", "--tag", "wood")
    lore.patch.setenv("LORE_SCOPE", "bob")
    assert id.startswith("lesson-") and id.endswith("@@alice")
    for scope in (["--scope", "alice"], ["--scope", "*"], ["--all-scopes"]):
        assert lore.id("search", "pier", *scope) == id
    assert lore("search", "pier", "--graph-depth", "3").json == []
    assert lore.id("list") == common
    assert f"no node '{id}': see 'lore search'" in lore.refuse("show", id, code=1)
    assert lore.id("show", id.split("@@")[0], "--scope=alice") == id


@pytest.mark.parametrize("verb", ["edit ID torn", "forget ID", "retract ID"])
def test_common_records_are_unchanged_in_a_scope(lore: Lore, common: str, verb: str) -> None:
    words = verb.replace("ID", common).split()
    refused = lore.refuse(*words, "--scope", "alice", code=1)
    assert "common to all scopes cannot be changed" in refused
    lore.patch.setenv("LORE_SCOPE", "alice")
    lore(*words, "--all-scopes")


def test_bad_scopes_are_refused(lore: Lore) -> None:
    refused = lore.refuse("list", "--scope", "A b")
    assert "scope is 'A b': give names of lower-case letters" in refused
    refused = lore.refuse("sync", "--scope", "alice")
    assert "sync needs the complete store" in refused and "--all-scopes" in refused
