"""The setting ``scope`` decides which records are seen, and which scope gets new ones."""

from __future__ import annotations

import pytest
from commands import Lore


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
    assert f"no node '{id}': see 'lore list'" in lore.refuse("show", id, code=1)
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
