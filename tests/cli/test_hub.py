"""Test hub, sync NAME and search --on, some with a server."""

from __future__ import annotations

import json
import time

import postgres
import pytest
from commands import Lore
from hubs import a_hub

NOWHERE = "postgresql://127.0.0.1:1/x"


@pytest.fixture
def url(lore: Lore, postgres_server: postgres.Server) -> str:
    """The URL of an empty hub, which is the remote ``team`` of a trusted store."""
    url = postgres_server.url(a_hub(postgres_server))
    lore("hub", "add", "team", url)
    lore("trust")
    return url


def test_two_projects_sync_through_a_hub(lore: Lore, url: str) -> None:
    id = lore.id("add", "decision", "Boats moor where the water is deep")
    lore("trust", "--revoke")  # as a clone's store
    assert "lore store trust" in lore.refuse("sync", "team", code=1)
    lore("trust")
    assert lore("sync", "team").json == {
        "remote": "team",
        "in": {"added": 0, "updated": 0, "kept": 0, "conflicts": 0},
        "out": {"sent": 1, "known": 0, "refused": 0},
    }
    other = lore.at(lore.root / "other")
    other("trust")
    assert other("sync", "team", "--text").lines == ["in  added 1"]
    assert other("search", "moor", "--ids").lines == [id]
    other("edit", id, "--title", "Boats moor in the bay")
    status = other("hub", "status", "-q").json
    assert (status["records"], status["unsent"], status["unread"]) == (1, 1, 0)
    assert other("sync", "team", "--text").lines == ["out sent 2"]
    heard = lore.root / "heard"
    lore.program(lore.config.parent / "commands/lore-hook-post-sync", f"cat >>'{heard}'")
    assert lore("sync", "team", "--text").lines == ["in  updated 1"]
    assert json.loads(heard.read_text()) == {"event": "post-sync", "id": id, "state": "updated"}
    for redo in ([], ["--redo"]):  # a sync is a command of the history
        assert [row["state"] for row in lore("undo", *redo).json] == ["restored"]
    assert lore("sync", "team", "--text").out.startswith("out ")
    assert lore("sync", "team", "--text").out == ""
    assert "0 unsent, 0 unread, synced 20" in lore("hub", "status", "team", "--text").out
    lore("doctor")


def test_hub_init_makes_a_hub_once(lore: Lore, postgres_server: postgres.Server) -> None:
    url = postgres_server.url(postgres_server.a_database())
    assert "'lore hub init URL' makes a hub" in lore.refuse("hub", "status", url, code=1)
    assert [lore("hub", "init", url).json["made"] for _ in range(2)] == [True, False]
    missing = postgres_server.url("none")
    assert "does not exist" in lore.refuse("hub", "status", missing, code=1)


def test_remotes_are_kept_in_the_users_config(lore: Lore) -> None:
    place = "postgresql://ann@hub.example/lore"
    words = ("types=decision,lesson", "staged")
    assert lore("hub", "add", "team", place, *words).json["state"] == "added"
    remote = {"id": "team", "url": place, "takes": ["types=decision,lesson", "staged"]}
    assert lore("hub", "list").json == lore("remote", "list").json == [remote]
    assert f"REMOTES[team]='{place} types=decision,lesson staged'" in lore.config.read_text()
    assert lore("hub", "add", "team", place, "scopes=red").json["state"] == "changed"
    lore("config", "unset", "REMOTES[team]", "--user")
    assert lore("hub", "list").json == [] and not lore.config.exists()


def test_urls_with_passwords_are_refused(lore: Lore) -> None:
    for place in (
        "postgresql://ann:secret@h/x",
        "postgresql://h/x?password=secret",
        "postgresql://ann:s%65cret@h/x",
    ):
        for words in (["hub", "add", "team"], ["hub", "init"]):
            refused = lore.refuse(*words, place)
            assert "~/.pgpass" in refused and "cret" not in refused
    assert "invalid hub URL" in lore.refuse("hub", "add", "team", "mysql://h/x")
    assert not lore.config.exists()


def test_unreachable_hub_is_an_error_line(lore: Lore) -> None:
    lore("trust")
    lore("hub", "add", "team", NOWHERE)
    lore.write("team", "")  # a file of a clone may have the name of a remote
    lore.refuse_each("""
        sync team | 1 | team: connection failed
        sync team --in | 2 | --in
        sync nobody | 2 | no remote 'nobody' in your config
        sync --all | 2 | --all for a remote
        search tokens --on team | 1 | team: connection failed
        search tokens --on team --files a.py | 2 | --files is for files of this project
    """)
    lore("sync", "postgres-notes.jsonl")  # a file with any name
    lore("add", "note", "Sessions are signed tokens", "--id", "note-1")
    lore("hub", "add", "team", "postgresql://?service=nowhere")
    assert "definition of service" in lore.refuse("sync", "team", code=1)


def test_roles_are_granted_revoked_and_audited(
    lore: Lore, url: str, postgres_server: postgres.Server
) -> None:
    role = f"role{time.monotonic_ns()}"
    refused = lore.refuse("hub", "grant", role, "writer", code=1)
    assert f'role "{role}" does not exist' in refused
    postgres_server.a_role(role)
    lore.patch.setenv("LORE_SCOPE", "blue")  # is not granted
    assert lore("hub", "grant", role, "writer", "--text").lines == [f"{role}: writer"]
    lore.patch.delenv("LORE_SCOPE")
    done = lore("hub", "grant", role, "writer", "--scope", "red", "--text")
    assert done.lines == [f"{role}: writer, red"]
    own = url.replace("postgres@", f"{role}@")
    lore.refuse_each(f"hub grant {role} curator --on {own} | 1 | the hub's owner")
    id = lore.id("add", "note", "Sent by the owner")
    lore("sync", "team")
    assert lore("hub", "revoke", role, "--text").lines == [f"{role}: no rights"]
    rows = lore("hub", "audit", "--since", "1h").json
    assert {row["role"] for row in rows} == {"postgres"}
    assert [(row["kind"], row["id"], row["scope"]) for row in rows] == [
        ("grant writer", role, ""),
        ("grant writer", f"{role}@@red", "red"),
        ("id", id, ""),
        ("revoke", role, ""),
    ]
    refused = lore.refuse("hub", "status", own, code=1)
    assert "ask the hub's owner" in refused
    lore("hub", "add", "other", url)
    assert "name a hub: team or other" in lore.refuse("hub", "grant", role, "writer")


def test_search_on_a_hub_finds_the_same(lore: Lore, url: str) -> None:
    lore("add", "note", "Sessions are signed tokens", "--id", "note-1")
    lore("sync", "team")
    here = lore("search", "signed tokens", "--json").out
    lore("forget", "note-1")
    assert lore("search", "signed tokens").json == []
    lore.patch.setenv("LORE_ON", "team")
    assert lore("search", "signed tokens", "--json").out == here
    lore.patch.delenv("LORE_ON")
    batch = lore("search", "--batch", "-", "--on", "team", stdin="tokens\nnothing\n").rows
    assert [[row["id"] for row in answer["results"]] for answer in batch] == [["note-1"], []]
    lore("sync", "team")
    assert lore("search", "tokens", "--on", "team").json == []
