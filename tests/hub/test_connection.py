"""Connections to a hub, and their error lines."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from hubs import a_hub

from pylore.core.errors import LoreError, StoreBusy, StoreError, StoreFull, UsageError
from pylore.hub.connection import ahead, connect

pytest.importorskip("psycopg")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("url", "verified"),
    [
        ("postgresql://localhost/x", False),
        ("postgresql://[::1]/x", False),
        ("postgresql://h/x?hostaddr=127.0.0.1", False),
        ("postgresql://hub.example/x", True),
        ("postgresql://127.0.0.1,hub.example/x", True),
        ("postgresql://h/x?hostaddr=10.0.0.1", True),
        ("postgresql://?service=team", True),
    ],
)
def test_certificates_of_other_hosts_are_verified(
    url: str, verified: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[str] = []

    def connected(_: str, **options: str) -> None:
        assert "sslmode" not in options and options["target_session_attrs"] == "read-write"
        modes.append(os.environ.get("PGSSLMODE", ""))

    monkeypatch.setattr("psycopg.Connection.connect", connected)
    connect(url)
    monkeypatch.setenv("PGSSLMODE", "prefer")
    connect(url)
    assert modes == ["verify-full" if verified else "", "prefer"]


# --- real servers


@pytest.fixture
def database(postgres_server: postgres.Server) -> str:
    return a_hub(postgres_server)


def test_services_of_libpq_are_read(postgres_server: postgres.Server, home: Path) -> None:
    (home / ".pg_service.conf").write_text(
        f"[team]\nhost={postgres_server.folder}\nport={postgres_server.port}\nuser=postgres\n"
        "dbname=postgres\n"
    )
    with connect("postgresql://?service=team") as hub:
        assert hub.ask("SELECT current_user") == [("postgres",)]


def one_line(error: pytest.ExceptionInfo[LoreError]) -> str:
    text = str(error.value)
    assert "\n" not in text and text.startswith("team: ")
    return text.removeprefix("team: ")


def no_port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def test_an_unreachable_server_is_one_line(home: Path) -> None:
    with pytest.raises(StoreError) as error:
        connect(f"postgresql://127.0.0.1:{no_port()}/x", "team")
    assert one_line(error).startswith("connection failed")


@pytest.mark.parametrize(
    ("sql", "failure", "said"),
    [
        ("SELECT pg_sleep(9)", StoreError, "statement timeout: try again"),
        ("SELECT lore.nothing()", StoreError, "'lore hub init URL' makes a hub"),
        ("DO $$ BEGIN RAISE USING ERRCODE = '53100'; END $$", StoreFull, "disk is full"),
        ("DO $$ BEGIN RAISE USING ERRCODE = '40P01'; END $$", StoreBusy, "try again"),
        ("DO $$ BEGIN RAISE USING ERRCODE = '42501'; END $$", StoreError, "ask the hub's owner"),
        ("BEGIN READ ONLY; CREATE TABLE x()", StoreError, "read-only"),
    ],
)
def test_faults_of_a_server_are_one_line(
    postgres_server: postgres.Server, database: str, sql: str, failure: type[LoreError], said: str
) -> None:
    with connect(postgres_server.url(database), "team") as hub:
        hub.ask("SET statement_timeout = 50")
        with pytest.raises(failure) as error:
            hub.ask(sql)
        assert said in one_line(error)
        assert type(error.value) is failure


def test_missing_roles_and_databases_are_named(
    postgres_server: postgres.Server, database: str
) -> None:
    for user, place in (("nobody-here", database), ("postgres", "no-such-database")):
        with pytest.raises(StoreError) as error:
            connect(postgres_server.url(place, user), "team")
        assert "does not exist" in one_line(error)
    user = postgres_server.a_role("somebody")
    with connect(postgres_server.url(database, user), "team") as hub:
        with pytest.raises(StoreError) as refused:
            hub.ask("SELECT lore.hello()")
        assert "ask the hub's owner for a role" in one_line(refused)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pylore.hub.connection.psycopg", None)
    with pytest.raises(UsageError, match="make setup-hub"):
        connect("postgresql:///x")


def test_ahead_makes_the_next_item_meanwhile() -> None:
    is_made = threading.Event()

    def items() -> Iterator[str]:
        yield "first"
        is_made.set()
        yield "second"
        raise StoreError("gone")

    coming = ahead(items())
    assert next(coming) == "first"
    assert is_made.wait(10)
    assert next(coming) == "second"
    with pytest.raises(StoreError):
        next(coming)
