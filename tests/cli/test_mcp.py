"""Test lore mcp --install, and lore store trust."""

from __future__ import annotations

import json

from commands import Lore


def test_install_prints_a_clients_configuration(lore: Lore) -> None:
    assert lore("mcp", "--install", "codex", "--write").lines == [
        "[mcp_servers.lore]",
        'command = "lore"',
        'args = ["mcp", "--write"]',
    ]
    lore.refuse_each("""
        mcp --install emacs | 2 | give one of claude, codex, cursor, gemini, vscode
        mcp --write-config | 2 | --install
        mcp --install codex --write-config | 1 | is not JSON
        mcp now | 2 | now
        mcp --max-bytes many | 2 | max_bytes
    """)


def test_install_preserves_settings_of_the_client(lore: Lore) -> None:
    write = ("mcp", "--install", "vscode", "--write-config")
    before = '{"inputs": [], "servers": {"other": {"command": "x"}}}'
    file = lore.write(".vscode/mcp.json", before)
    lore(*write)
    server = {"type": "stdio", "command": "lore", "args": ["mcp"]}
    once = file.read_text()
    assert json.loads(once) == {
        "inputs": [],
        "servers": {"other": {"command": "x"}, "lore": server},
    }
    lore(*write)
    assert file.read_text() == once
    file.write_text('{"servers": {} // mine\n}')
    assert "is not JSON that can be preserved" in lore.refuse(*write, code=1)
    assert "// mine" in file.read_text()


def test_trust_is_given_and_revoked(lore_without_store: Lore) -> None:
    lore = lore_without_store
    lore("init", "-q")  # whose store is trusted
    for words, state in (
        ([], "unchanged"),
        (["--revoke"], "revoked"),
        (["--revoke"], "unchanged"),
        ([], "trusted"),
    ):
        assert lore("trust", *words, "--text").lines == [f"{state}  {lore.project}"]
    assert (lore.store / "trusted").stat().st_mode & 0o777 == 0o600
    lore.patch.chdir(lore.root)
    assert "no project here" in lore.refuse("trust", code=1)
