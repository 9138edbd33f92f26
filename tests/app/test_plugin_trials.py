"""What ``lore plugin test`` says of plugins that break the contract, each in its own way."""

from __future__ import annotations

from pathlib import Path

import pytest

from pylore.app.plugins import Trials
from pylore.core.settings import Settings
from pylore.system.plugin_files import Plugin, all_plugins, kind_of

HEAD = "#!/bin/sh\n# Summary: one of the tests\n# Lore-API: 1\n"
FLAGS = {"plugin_timeout": "0.3"}


def written(folder: Path, name: str, script: str) -> Plugin:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(script)
    path.chmod(0o755)
    return Plugin(str(path))


def wrong(plugin: Plugin, sample: str = "", **flags: str) -> dict[str, str]:
    """The cases that are not ok, each with why."""
    settings = Settings.load(environ={}, flags={**FLAGS, **flags})
    cases = [*Trials(plugin, settings, sample).cases()]
    assert len(cases) == 9
    return {what.partition(" ")[0]: why for what, why, _ in cases if why}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        ("lore-hook-post-add", "#!/bin/sh\ncat >&2\n",
         {"its": "no line '# Summary: …'"}),
        ("lore-hook-post-add", "#!/bin/sh\n# Summary: x\n# Lore-API: 2\ncat >&2\n",
         {"its": "no line '# Lore-API: 1'"}),
        ("lore-hook-post-add", HEAD + "cat\n", {"stdout": "prints nothing on stdout"}),
        ("lore-hook-post-add", HEAD + "cat >&2; exit 1\n",
         {"valid": "failed with exit code 1", "empty": "exit code 1 without a word on stderr"}),
        ("lore-hook-pre-add", HEAD + "echo no >&2; exit 1\n", {}),
        ("lore-hook-post-add", HEAD + "[ -n \"$(cat)\" ] || sleep 60\n",
         {"empty": "did not end in time", "it": "it ran longer, with empty"}),
        ("lore-hook-post-add", HEAD + "cat >&2; sleep 60 >/dev/null 2>&1 &\n",
         {"nothing": "still there after it had ended"}),
        ("lore-hook-post-add", HEAD + "[ \"$(wc -c)\" -lt 1000000 ] || kill -9 $$\n",
         {"1": "failed with signal 9: give 0, 1 or 2"}),
        ("lore-export-x", HEAD + "cat\n", {"bad": "printed what is not UTF-8"}),
        ("lore-export-x", HEAD + "cat >/dev/null; kill -13 $$\n",
         {"empty": "signal 13", "valid": "signal 13", "stdout": "see above", "1": "", "bad": ""}),
        ("lore-redact-x", HEAD + "head -1 | cat\n",
         {"stdout": "1 lines for 2: give one for each", "bad": "printed what is not UTF-8"}),
        ("lore-redact-x", HEAD + "cat >/dev/null; echo '[]'; echo '{}'\n",
         {"stdout": "a line that is not"}),
        ("lore-retriever-x", HEAD + "cat >/dev/null; echo '{}'\n",
         {"stdout": 'printed no [{"id", "score"}]'}),
        ("lore-x", HEAD + "exit 3\n",
         {"empty": "exit code 3", "valid": "exit code 3", "1": "", "bad": ""}),
    ],
)  # fmt: skip
def test_what_breaks_the_contract_is_not_ok(
    tmp_path: Path, name: str, script: str, said: dict[str, str]
) -> None:
    found = wrong(written(tmp_path, name, script))
    assert found.keys() >= said.keys()
    assert {what: part in found[what] for what, part in said.items()} == dict.fromkeys(said, True)
    if not said:
        assert found == {}


def test_an_importer_is_tried_with_a_sample_and_its_lines_are_really_imported(
    tmp_path: Path,
) -> None:
    sample = tmp_path / "sample"
    sample.write_text('{"id": "note-x", "type": "note"}\n')
    plugin = written(tmp_path / "own", "lore-import-x", HEAD + 'grep note- || [ "$1" = - ]\n')
    assert wrong(plugin) == {}, "without a sample these cases are skipped"
    assert wrong(plugin, str(sample), plugin_timeout="20") == {}
    sample.write_text('{"id": "note-x", "confidence": 7}\n')
    assert "confidence is not from 0 to 1" in wrong(plugin, str(sample))["stdout"]


def test_a_listing_says_what_is_used_and_why_the_rest_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, tools = tmp_path / "own", tmp_path / "tools"
    for name in ("lore-mine", "lore-search", "lore-hook-post-ad", "lore-export-x"):
        written(own, name, HEAD)
    (own / "lore-export-x").chmod(0o644)
    written(own, "lore-import-x", "#!/bin/sh\n# Lore-API: 9\n")
    for name in ("lore-mine", "lore-hook-post-add", "lore-import-UP"):
        written(tools, name, HEAD)
    monkeypatch.setenv("PATH", f"own:{tools}")
    monkeypatch.chdir(tmp_path)
    found = all_plugins(str(own), {"search"})
    assert [(plugin.id, plugin.state) for plugin in found] == [
        ("lore-export-x", "not executable"),
        ("lore-hook-post-ad", "no such event"),
        ("lore-import-x", "made for Lore-API 9"),
        ("lore-mine", "ready"),
        ("lore-search", "a command of lore's has this name"),
        ("lore-hook-post-add", "not in your own folder"),
        ("lore-import-UP", "not a valid name"),
        ("lore-mine", "another one comes first"),
    ]
    assert found[3].summary == "one of the tests"
    assert kind_of("lore-hook-post-add.mail") == ("hook", "post-add.mail")
