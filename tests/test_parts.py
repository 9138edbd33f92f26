"""Test lore without ``pylore/capture`` or ``pylore/hub``: commands work or name the part."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from commands import Lore
from wire import initialize

from pylore.core.errors import LoreError
from pylore.system import part, require_part

EVENT = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "."}
NEEDS = {
    "capture": ("capture events", "candidates", "capture gaps"),
    "hub": ("hub status", "hub list", "search signed --on team", "sync team"),
}


class Blocker:
    """A finder that hides a package and all modules in it."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None, _: object = None
    ) -> ModuleSpec | None:
        if f"{name}.".startswith(f"{self._package}."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


@pytest.fixture(params=NEEDS)
def left_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Leave out a part of lore while the test runs."""
    package = f"pylore.{request.param}"
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Blocker(package), *sys.meta_path])
    return str(request.param)


def test_other_commands_work_without_a_part(left_out: str, lore: Lore) -> None:
    id = lore.id("add", "decision", "Sessions are signed tokens")
    for depth in ("0", "2"):
        assert lore("search", "signed", "--graph-depth", depth, "--ids").lines == [id]
    assert lore("list", "--ids").lines == [id]
    lore("doctor")
    lore("sync", "knowledge.jsonl")
    lore("hook", "run", "session-start", "--client", "claude", stdin=json.dumps(EVENT))
    assert '"serverInfo"' in lore("mcp", stdin=f"{json.dumps(initialize('2025-06-18'))}\n").out


def test_commands_name_the_missing_part(left_out: str, lore: Lore) -> None:
    for words in NEEDS[left_out]:
        refused = lore.refuse(*words.split(), code=1)
        assert refused.startswith(f"this installation has no {left_out} ("), words


def test_fault_in_a_part_is_not_absence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pylore

    package = tmp_path / "toy"
    package.mkdir()
    (package / "broken.py").write_text("import no_such_module_at_all\n")
    monkeypatch.setattr(pylore, "__path__", [*pylore.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        part("toy", "broken")
    assert part("toy", "nothing") is None
    with pytest.raises(LoreError, match="this installation has no nobody "):
        require_part("nobody", "commands")
