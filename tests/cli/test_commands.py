"""Test declarations, ``lore`` without words, ``help``, ``init``, completion, and unknown words."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from commands import Lore, every_command

import pylore
from pylore import cli
from pylore.cli.command import argument, command, option, read
from pylore.cli.help import help_of
from pylore.core.errors import UsageError


@pytest.fixture
def own(lore: Lore) -> Path:
    """The folder of the user's commands, with ``greet``."""
    put(lore, lore.config.parent / "commands", "greet")
    return lore.config.parent / "commands"


def put(lore: Lore, folder: Path, name: str) -> None:
    """Write a command of the user."""
    help = (f"# Usage: lore {name}", "# Summary: a command of my own")
    lore.program(folder / f"lore-{name}", *help, "true")


def test_init_makes_a_store_once(lore_without_store: Lore) -> None:
    lore, data = lore_without_store, lore_without_store.home / "data" / "lore" / "projects"
    for state in ("added", "unchanged"):
        assert lore("init").json["state"] == state
    assert (lore.store / "search.db").is_file() and lore.store.is_relative_to(data)
    (lore.project / "of another").mkdir()
    lore("init", "of another")
    assert len([*data.rglob("search.db")]) == 2
    lore.patch.setenv("LORE_DIR", str(lore.root / "chosen"))
    lore("init")
    assert (lore.root / "chosen" / "search.db").is_file()


# --- unknown words

ODD = ("x" * 5000, "../bin/lore-greet", "/bin/sh", "a b", "A", "$(id)", "a\nb", "", "\x1b[31mred")


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("serach", "unknown command 'serach' (did you mean 'search'?): see 'lore help'"),
        ("gaps", "unknown command 'gaps' (did you mean 'capture gaps'?)"),
        ("--versoin", "unknown option '--versoin' (did you mean '--version'?)"),
        *((word, "unknown command") for word in ODD),
    ],
)
def test_unknown_command_is_a_short_line(lore: Lore, word: str, part: str) -> None:
    put(lore, lore.root / "bin", "greet")
    lore.patch.setenv("PATH", str(lore.root / "bin"))
    refused = lore.refuse(word, "x")
    assert part in refused and len(refused) < 200 and refused.isprintable()


# --- help


def test_help_names_thirty_commands_on_a_screen(lore: Lore) -> None:
    names = lore("help", "--names").lines
    assert len(names) == 30 and all(name.isalpha() for name in names)
    lines = lore().lines
    assert lines == lore("help").lines == lore("--help").lines and len(lines) <= 40
    assert not {*names} - {word.strip(",") for line in lines for word in line.split()}
    first = lines[5 : lines.index("", 5)]
    assert [line.split()[0] for line in first] == ["init", "add", "index", "search", "show"]
    rows = [line.split(maxsplit=1) for line in lore("help", "--all").lines if line[:2] == "  "]
    assert {*names, "browse", "plugin"} <= {name for name, summary in rows if summary}


def test_help_of_a_command_ignores_broken_configs(lore: Lore) -> None:
    lore.config.write_text("x=$(touch canary)\n")
    (lore.project / ".lore" / ".config").write_text("not a config\n")
    for number, name in enumerate(lore("help", "--names").lines):
        shown = lore(name, ("-h", "--help")[number % 2], "--nonsense")
        assert f"Usage: lore {name}" in shown.out and not shown.err, name
    assert lore("help", "search").out == lore("search", "--nonsense", "words", "--help").out
    assert not (lore.project / "canary").exists()


def test_version_unknown_help_and_a_word(lore: Lore) -> None:
    assert lore("search", "--", "--help").json == []
    assert lore("version").out == f"lore {pylore.__version__}\n"
    assert "unknown command 'serach' (did you mean 'search'?)" in lore.refuse("help", "serach")


# --- commands of the user


def test_user_command_is_listed_with_help(lore: Lore, own: Path) -> None:
    put(lore, lore.root / "bin", "greet")
    put(lore, lore.root / "bin", "search")
    lore.patch.setenv("PATH", f"{lore.root}/bin:{Path(shutil.which('true') or '').parent}")
    names = lore("help", "--names").lines
    assert names.count("greet") == names.count("search") == 1
    assert "greet" in lore("help").out.split()
    assert "  greet           a command of my own" in lore("help", "--all").lines
    assert "Usage: lore greet" in lore("help", "greet").out
    shutil.copy(shutil.which("true") or "", own / "lore-binary")
    assert "has no help: try 'lore binary --help'" in lore.refuse("help", "binary", code=1)


def test_only_files_that_are_executable_run(lore: Lore, own: Path) -> None:
    (own / "lore-folder").mkdir()
    (own / "lore-greet").chmod(0o600)
    assert "unknown command 'folder'" in lore.refuse("folder")
    assert "chmod +x" in lore.refuse("greet", code=1)
    assert "folder" not in lore("help", "--names").lines


def test_a_project_brings_no_commands(lore: Lore) -> None:
    tools = lore.project / "tools"
    put(lore, tools, "greet")
    put(lore, lore.project, "greet")
    lore.patch.setenv("PATH", ".:tools:")
    for line in ("plugin_dir", "LORE_PLUGIN_DIR", "PLUGIN_DIR", "PATH", "exported"):
        (lore.project / ".lore" / ".config").write_text(f'{line}="{tools}"\n')
        assert "unknown command 'greet'" in lore("greet", code=2).err
        assert "greet" not in lore("help", "--names").lines
    lore.config.write_text(f'plugin_dir="{tools}"\n')
    assert "greet" in lore("help", "--names").lines


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
    line = "x -5 --> -c3 --share=0.25 --tag a,b --tag c --field k=1,2 --form b"
    assert read(line.split(), toy)[0] == {
        "first": "x",
        "others": ("-5", "-->"),
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
        ("x --dekay 1", "did you mean '--decay'"),
        ("x -q=1", "-q takes no value"),
    ],
)
def test_invalid_option_is_an_error_line(words: str, part: str) -> None:
    with pytest.raises(UsageError, match=re.escape(part)):
        read(words.split(), toy)
    with pytest.raises(UsageError, match=re.escape("(did you mean 'path'?)")):
        cli.command_for(["graph", "paht"])


RECORDS = """\
{"id":"note-a","type":"note","title":"one","tags":["auth","web"]}
{"id":"symbol-src/a.py::Login","type":"symbol","body":"two"}
"""


def offered(lore: Lore, *words: str) -> str:
    """Return the offered words, separated by spaces."""
    done = lore("complete", *words)
    assert not done.err
    return " ".join(done.lines)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("se", "search"),
        ("show |", ""),
        ("list --status s", "staged superseded"),
        ("search --type decision,l", "decision,lesson"),
        ("add dec", "decision"),
        ("config |", "list get set unset"),
        ("capture --fr", "--from"),
        ("config get graph_d", "graph_depth"),
        ("help graph pa", "path"),
        ("search --expansion b", "best-path"),
    ],
)
def test_offers_commands_options_and_values(
    lore_without_store: Lore, line: str, words: str
) -> None:
    assert offered(lore_without_store, *line.replace("|", "").split(" ")) == words


def test_offers_programs_of_the_user(lore_without_store: Lore) -> None:
    put(lore_without_store, lore_without_store.config.parent / "commands", "serenade")
    assert offered(lore_without_store, "se") == "search serenade"
    assert offered(lore_without_store, "help", "ser") == "serenade"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("show note", "note-a"),
        ("graph path note", "note-a"),
        ("link note-a learned", "learned_from"),
        ("search --files @g", "@git"),
        ("add note --title n", ""),
        ("anchor note-a lib/", ""),
    ],
)
def test_offers_ids_tags_and_relations(lore: Lore, line: str, words: str) -> None:
    lore("import", "-", stdin=RECORDS)
    assert offered(lore, *line.split()) == words


def test_offers_forgotten_records_and_runs(lore: Lore) -> None:
    lore("import", "-", stdin=RECORDS)
    lore("forget", "note-a")
    assert offered(lore, "undo", "").split()[0] == "note-a"
    run = lore("run", "start").out.strip()
    assert offered(lore, "run", "finish", "") == run
