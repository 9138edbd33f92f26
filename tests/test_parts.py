"""``pylore/capture`` and ``pylore/hub`` can be left out: a copy of lore without one works.

The rest of the suite runs on such a copy by hand: ``PARTS_SUITE=1 pytest tests/test_parts.py``
leaves out the tests of the part, files that import it and tests named after it.
It takes minutes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from homes import move_home

from pylore.core.errors import LoreError
from pylore.system.parts import part, require_part

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("pylore", "lib", "graph", "lore.sh", "config.example", "plugins")
EVENT = {
    "session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": ".",
}  # fmt: skip
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
               "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
NEEDS = {
    "capture": "candidates or funnel or telemetry or capture or promote or event",
    "hub": "hub or remote",
}
"""Tests of other packages that need the part, as ``pytest -k`` has them."""
OF_A_CHECKOUT = ("automation", "bench", "contributing", "layers", "pages", "parts", "requirements",
                 "security")  # fmt: skip
IGNORED = [f"--ignore=tests/test_{name}.py" for name in OF_A_CHECKOUT] + ["--ignore=tests/soak"]
"""Tests of the checkout as a whole: of its pages, its layers, its git; and of teams at a hub."""


class Copy:
    """A checkout without one part."""

    def __init__(self, folder: Path, left_out: str) -> None:
        self.folder = folder
        self.left_out = left_out
        folder.mkdir()
        for name in COPIED:
            if (ROOT / name).is_dir():
                skipped = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, folder / name, ignore=skipped)
            else:
                shutil.copy(ROOT / name, folder / name)
        shutil.rmtree(folder / "pylore" / left_out)
        (folder / ".venv").symlink_to(ROOT / ".venv")

    def run(self, *words: str, sent: str = "") -> subprocess.CompletedProcess[str]:
        project = self.folder.parent / "project"
        project.mkdir(exist_ok=True)
        return subprocess.run(
            ["bash", str(self.folder / "lore.sh"), *words], input=sent, cwd=project,
            env={**os.environ, "LORE_EMBEDDER": "none", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def out(self, *words: str, sent: str = "") -> str:
        done = self.run(*words, sent=sent)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout


@pytest.fixture(params=["capture", "hub"], scope="module")
def copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    folder = tmp_path_factory.mktemp("parts")
    return Copy(folder / "lore", request.param)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path)


def test_the_commands_of_the_core_work(copy: Copy) -> None:
    copy.out("init")
    id = json.loads(copy.out("add", "decision", "Sessions are signed tokens"))["id"]
    for depth in ("0", "2"):
        found = copy.out("search", "signed", "--graph-depth", depth, "--ids")
        assert found.split() == [id]
    assert copy.out("list", "--ids").split() == [id]
    copy.out("doctor")
    copy.out("sync", "knowledge.jsonl")
    copy.out("hook", "run", "session-start", "--client", "claude", sent=json.dumps(EVENT))
    assert '"serverInfo"' in copy.out("mcp", sent=json.dumps(HELLO) + "\n")


def test_what_needs_the_part_says_that_it_is_not_there(copy: Copy) -> None:
    copy.out("init")
    commands = {
        "capture": [["events"], ["candidates"], ["graph", "stats", "--funnel"],
                    ["sweep", "--telemetry"]],
        "hub": [["hub", "status"], ["hub", "list"], ["search", "signed", "--on", "team"],
                ["sync", "team"]],
    }  # fmt: skip
    for words in commands[copy.left_out]:
        done = copy.run(*words)
        assert done.returncode == 1, words
        assert done.stderr.startswith(f"lore: this lore has no {copy.left_out}: "), words
        assert done.stderr.count("\n") == 1


def test_every_other_module_can_be_imported(copy: Copy) -> None:
    program = (
        "import sys, pkgutil, importlib, pylore\n"
        "for one in pkgutil.walk_packages(pylore.__path__, 'pylore.'):\n"
        "    importlib.import_module(one.name)\n"
        "print(pylore.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=copy.folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(copy.folder)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(copy.folder))


@pytest.mark.skipif("PARTS_SUITE" not in os.environ, reason="takes minutes: PARTS_SUITE=1")
def test_the_rest_of_the_suite_passes(copy: Copy) -> None:
    tests = copy.folder / "tests"
    shutil.copytree(ROOT / "tests", tests)
    for name in ("docs", "pyproject.toml", "tools"):
        place = ROOT / name
        (shutil.copytree if place.is_dir() else shutil.copy)(place, copy.folder / name)
    shutil.rmtree(tests / copy.left_out)
    for path in tests.rglob("test_*.py"):
        if f"pylore.{copy.left_out}" in path.read_text():
            path.unlink()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider",
         "-k", f"not ({NEEDS[copy.left_out]})", *IGNORED, "tests"],
        cwd=copy.folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0


def test_a_fault_within_a_part_is_not_taken_for_its_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pylore

    package = tmp_path / "toy"
    package.mkdir()
    (package / "broken.py").write_text("import no_such_module_at_all\n")
    monkeypatch.setattr(pylore, "__path__", [*pylore.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        part("toy", "broken")
    assert part("toy", "nothing") is None
    with pytest.raises(LoreError, match="this lore has no nobody: "):
        require_part("nobody", "commands")
