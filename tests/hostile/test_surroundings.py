"""Test programs, variables, permissions, logs and temporary files around a clone."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import store_folder
from planted import ROOT, Planted

import pylore
from pylore.cli import find, main
from pylore.core.errors import BUG
from pylore.core.settings import SETTINGS
from pylore.system.atomic_write import write_whole


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a new store."""
    there = Planted(tmp_path_factory.mktemp("made"))
    assert there.lore("init").returncode == 0
    return there.store


@pytest.fixture
def planted(tmp_path: Path, store: Path) -> Planted:
    """A project with a store."""
    there = Planted(tmp_path)
    for name in ("search.db", "trusted"):
        shutil.copy2(store / name, there.store)
    return there


def script(path: Path, text: str) -> Path:
    Planted.put(path, f"#!/bin/sh\n{text}\n").chmod(0o755)
    return path


TRAPS = (
    "git jq awk cat cut sort ls readlink python python3 ast-grep lore-evil lore-retriever-evil"
    " model xdg-open www-browser w3m lynx links dirname"
).split()


COMMANDS = (
    "index; verify; search words --files @git; list --jq .; help; help search; version; serach; "
    "evil; graph view --open; search words --retrievers fulltext,evil; completion words s; "
    "ask words --llm-command model; doctor; graph hubs"
)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("command", COMMANDS.split("; "))
def test_no_program_of_the_working_directory_runs(planted: Planted, command: str) -> None:
    canary = planted.home / "canary"
    for folder in ("", "bin/"):
        for name in TRAPS:
            script(planted.project / f"{folder}{name}", f"echo {name} >>'{canary}'")
    path = f":.:bin:./bin/:~/bin:{os.environ['PATH']}:"
    done = planted.lore(*command.split(), PATH=path, BROWSER="")
    assert not canary.exists(), canary.read_text()
    assert done.returncode in (0, 1, 2)


@pytest.mark.parametrize("program", ["lore-show-all", "lore-retriever-show", "model"])
def test_plugin_gets_no_setting_of_the_project(planted: Planted, program: str) -> None:
    lines = [f"{one.name}=evil-{one.name}" for one in SETTINGS if one.users]
    lines += ["my_tool_command=evil-tool", "embedder=endpoint:evil", 'retrievers="fulltext evil"']
    lines += ["LLM_COMMAND=evil", "root=evil", "endpoint_key=evil", "limit=7"]
    Planted.put(planted.project / ".lore/.config", "".join(f"{line}\n" for line in lines))
    own = Path(planted.environ["XDG_CONFIG_HOME"]) / "lore/commands"
    seen = planted.home / "seen"
    script(own / program, f"env >'{seen}'; echo '[]'")
    command = {
        "lore-show-all": ["show-all"],
        "lore-retriever-show": ["search", "words", "--retrievers", "fulltext show"],
        "model": ["ask", "words", "--llm-command", str(own / program)],
    }[program]
    planted.lore("add", "note", "words")
    planted.lore(*command)
    assert "LORE_API=1" in seen.read_text()
    assert "evil" not in seen.read_text()


def test_files_of_lore_are_private(planted: Planted) -> None:
    before = os.umask(0)
    try:
        done = planted.lore("init", "sub")
        assert done.returncode == 0, done.stderr
        folder = store_folder(planted.environ["XDG_DATA_HOME"], planted.project / "sub")
        with pylore.open(folder) as lore:
            lore.add("note", "words")
            modes = modes_below(folder)
        planted.lore("context", "words")
        planted.lore("graph", "view", "--open", BROWSER="true")
        shared = planted.lore("export", "out.jsonl")
    finally:
        os.umask(before)
    assert shared.returncode == 0
    assert (planted.project / "out.jsonl").stat().st_mode & 0o777 == 0o666  # for sharing
    files = ("search.db", "search.db-wal", "search.db-shm", "trusted")
    assert modes == {"": 0o700, **dict.fromkeys(files, 0o600)}
    page = Path(planted.lore("store", "path").stdout.strip()).parent / "graph.html"
    assert page.stat().st_mode & 0o777 == 0o600


def modes_below(folder: Path) -> dict[str, int]:
    files = [path for path in folder.iterdir() if not path.is_symlink()]
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
    return {"": stat.S_IMODE(folder.stat().st_mode), **found}


def test_report_of_a_bug_has_no_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **given: object) -> None:
        try:
            dict[str, str]()["a secret record"]
        except KeyError as error:
            raise ValueError("a secret query") from error

    assert find.search.parameters  # read once, from the function
    monkeypatch.setattr(find.search, "run", fail)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["lore", "search", "a secret word"])
    before = os.umask(0)
    try:
        assert main.run(["search", "a secret word"]) == BUG
    finally:
        os.umask(before)
    log = tmp_path / "lore/error.log"
    text = log.read_text()
    assert f"{log}: please report it" in capsys.readouterr().err
    assert "secret" not in text
    assert ": search\nValueError\n  cli/main.py:" in text
    assert "behind it: KeyError" in text
    assert "hostile/test_surroundings.py:" in text
    assert modes_below(tmp_path / "lore") == {"": 0o700, "error.log": 0o600}


KILLED = """
import os, signal
from pylore.system.atomic_write import temporary_folder, write_whole
def lines():
    yield "half of it\\n"
    with temporary_folder() as folder:
        open(os.path.join(folder, "a"), "w").close()
        os.kill(os.getpid(), signal.{signal})
write_whole("out.jsonl", lines())
"""


@pytest.mark.parametrize(("name", "left"), [("SIGTERM", 0), ("SIGKILL", 1)])
def test_interrupt_leaves_no_partial_file(planted: Planted, name: str, left: int) -> None:
    (planted.project / "out.jsonl").write_text("as before\n")
    before = len(os.listdir(planted.project))
    subprocess.run(
        [sys.executable, "-c", KILLED.format(signal=name)],
        cwd=planted.project,
        check=False,
        env={**planted.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    assert (planted.project / "out.jsonl").read_text() == "as before\n"
    assert len(os.listdir(planted.temporary)) == left
    assert len(os.listdir(planted.project)) == before + left
    write_whole(str(planted.project / "out.jsonl"), ["after\n"])
    assert (planted.project / "out.jsonl").read_text() == "after\n"


def test_late_link_is_not_followed(planted: Planted) -> None:
    target = planted.home / ".bashrc"

    def lines() -> Iterator[str]:
        (planted.project / "out").symlink_to(target)
        yield "new\n"

    write_whole(str(planted.project / "out"), lines())
    assert target.read_text() == "alias a=b\n"
    assert (planted.project / "out").read_text() == "new\n"
