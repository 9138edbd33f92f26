"""How a hub is connected to, and what is said where that fails: one line, and the exit code."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from hubs import a_hub
from tcp_proxy import Proxy
from tls_greeter import TlsGreeter, certificate

from pylore.core.errors import (
    HubUnavailable,
    LoreError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    UsageError,
)
from pylore.hub import connection
from pylore.hub import connection as urls
from pylore.hub.connection import ahead, connect, options_of, shown

pytest.importorskip("psycopg")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def given(url: str, *, writes: bool = True) -> dict[str, str]:
    """What libpq is given for a URL."""
    return urls.with_defaults(options_of(url), writes=writes)


# --- what libpq is given


@pytest.mark.parametrize("url", [
    "postgresql:///x", "postgresql://localhost/x", "postgresql://127.0.0.1/x",
    "postgresql://[::1]/x", "postgresql:///x?host=/run", "postgresql://h/x?hostaddr=127.0.0.1",
])  # fmt: skip
def test_this_machine_is_asked_for_no_certificate(url: str) -> None:
    assert "sslmode" not in given(url)


@pytest.mark.parametrize("url", [
    "postgresql://hub.example/x", "postgresql://127.0.0.1,hub.example/x",
    "postgresql://h/x?hostaddr=10.0.0.1",
])  # fmt: skip
def test_another_host_is(url: str) -> None:
    assert given(url)["sslmode"] == "verify-full"
    assert given(url)["sslrootcert"] == "system"


def test_unless_somebody_has_said_otherwise(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://hub.example/x"
    assert given(f"{url}?sslmode=require")["sslmode"] == "require"
    (home / ".pg_service.conf").write_text(
        "[other]\nsslmode=disable\n[team]\n# of us\nhost=hub.example\nsslmode=verify-ca\n"
    )
    assert "sslmode" not in given("postgresql://?service=team")
    assert given("postgresql://hub.example/?service=nowhere")["sslmode"] == "verify-full"
    (home / ".postgresql").mkdir()
    (home / ".postgresql" / "root.crt").touch()
    assert "sslrootcert" not in given(url)
    monkeypatch.setenv("PGSSLMODE", "prefer")
    assert "sslmode" not in given(url)
    monkeypatch.setenv("PGSERVICE", "team")
    monkeypatch.delenv("PGSSLMODE")
    assert "sslmode" not in given("postgresql://")


def test_of_several_hosts_the_one_that_takes_writes() -> None:
    url = "postgresql://a.example,b.example/x"
    assert given(url)["target_session_attrs"] == "read-write"
    assert "target_session_attrs" not in given(url, writes=False)
    assert given(f"{url}?target_session_attrs=primary")["target_session_attrs"] == "primary"
    assert "target_session_attrs" not in given("postgresql://a.example/x")


@pytest.mark.parametrize("url", [
    "postgresql://ann:secret@h/x", "postgresql://h/x?password=secret",
    "postgresql://ann:secret@h/x?sslmode=require", "postgresql://h/x?sslpassword=secret",
    "mysql://ann:secret@h/x", "ann:secret@h", "postgresql://ann:secret@h:port/x?a",
    "postgresql://h/x?nothing=secret",
])  # fmt: skip
def test_a_url_that_is_none_or_has_a_password_is_refused_and_the_password_not_said(
    url: str,
) -> None:
    with pytest.raises(UsageError) as error:
        options_of(url)
    assert "secret" not in str(error.value).replace("nothing=secret", "")
    assert "\n" not in str(error.value)
    assert "secret" not in shown(url)


# --- real servers


@pytest.fixture
def database(postgres_server: postgres.Server) -> str:
    return a_hub(postgres_server)


def test_a_password_comes_from_where_libpq_has_it(
    postgres_server: postgres.Server, home: Path
) -> None:
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
    """One that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def test_nobody_listens(home: Path) -> None:
    with pytest.raises(HubUnavailable) as error:
        connect(f"postgresql://127.0.0.1:{no_port()}/x", "team")
    assert one_line(error).startswith("cannot be reached (")


@pytest.mark.parametrize(("sql", "failure", "said"), [
    ("SELECT pg_sleep(9)", HubUnavailable, "took too long"),
    ("SELECT * FROM lore.nothing", StoreError, "has no hub"),
    ("SELECT lore.nothing()", StoreError, "another version"),
    ("CREATE DATABASE x", StoreError, "see 'lore hub status'"),
    ("DO $$ BEGIN RAISE USING ERRCODE = '53100'; END $$", StoreFull, "disk is full"),
    ("DO $$ BEGIN RAISE USING ERRCODE = '40P01'; END $$", StoreBusy, "at the same time"),
    ("DO $$ BEGIN RAISE USING ERRCODE = '42501'; END $$", StoreError, "not allowed"),
    ("BEGIN READ ONLY; CREATE TABLE x()", StoreReadOnly,
     "read-only"),
])  # fmt: skip
def test_each_fault_of_a_server_is_one_line(
    postgres_server: postgres.Server, database: str, sql: str, failure: type[LoreError], said: str
) -> None:
    with connect(postgres_server.url(database), "team") as hub:
        hub.ask("SET statement_timeout = 50")
        with pytest.raises(failure) as error:
            hub.ask("BEGIN; " + sql if "DATABASE" in sql else sql)
        assert said in one_line(error)
        assert type(error.value) is failure


def test_who_may_not_come_in_is_told_so(postgres_server: postgres.Server, database: str) -> None:
    for user, place, said in (
        ("nobody-here", database, "no such database or role"),
        ("postgres", "no-such-database", "no such database or role"),
    ):
        with pytest.raises(StoreError) as error:
            connect(postgres_server.url(place, user), "team")
        assert said in one_line(error)
    user = postgres_server.a_role("somebody")
    with connect(postgres_server.url(database, user), "team") as hub:
        with pytest.raises(StoreError) as error:
            hub.ask("SELECT lore.hello()")
        assert "not allowed" in one_line(error)


def test_a_server_that_says_nothing_is_not_waited_for(
    postgres_server: postgres.Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_GRACE", 0.3)
    with (
        Proxy(postgres_server.port) as proxy,
        connect(postgres_server.url(database, port=proxy.port), "team") as hub,
    ):
        proxy.stall()
        start = time.monotonic()
        with pytest.raises(HubUnavailable) as error:
            hub.ask("SELECT 1", seconds=0)
        assert "does not answer" in one_line(error)
        assert time.monotonic() - start < 5
    with Proxy(postgres_server.port) as proxy:
        hub = connect(postgres_server.url(database, port=proxy.port), "team")
        proxy.cut()
        with pytest.raises(HubUnavailable) as error:
            hub.ask("SELECT 1")
        assert "again" in one_line(error)


def test_of_two_hosts_the_one_that_answers(postgres_server: postgres.Server) -> None:
    with Proxy(postgres_server.port) as there:
        hosts = f"127.0.0.1:{no_port()},127.0.0.1:{there.port}"
        url = f"postgresql://postgres@{hosts}/postgres"
        with connect(url) as hub:
            assert hub.ask("SELECT 1") == [(1,)]


CERTIFICATES = {
    "another host's": ("wrong.example", "hub.example", "is for another host"),
    "an unknown authority's": ("hub.example", "other.example", "is not to be trusted"),
    "no authorities": ("hub.example", "nowhere", "cannot be tried"),
}


@pytest.mark.parametrize("what", CERTIFICATES)
def test_what_is_wrong_with_a_certificate_is_said(home: Path, what: str) -> None:
    host, root, said = CERTIFICATES[what]
    made = certificate(home, "hub.example")
    if made is None:
        pytest.skip("NO OPENSSL: no certificate can be made; none was tried")
    if root == "other.example":
        certificate(home, root)
    with TlsGreeter(made) as there:
        url = f"postgresql://ann@{host}:{there.port}/x?hostaddr=127.0.0.1&sslmode=verify-full"
        with pytest.raises(StoreError) as error:
            connect(f"{url}&sslrootcert={home}/{root}.pem", "team")
    assert said in one_line(error)


@pytest.fixture
def without_driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    yield


def test_without_the_driver_it_is_said_how_it_comes(without_driver: None) -> None:
    with pytest.raises(UsageError, match="make setup-hub"):
        connect("postgresql:///x")


def test_the_next_item_is_made_while_one_is_worked_with() -> None:
    is_made = threading.Event()

    def items() -> Iterator[str]:
        yield "first"
        is_made.set()
        yield "second"
        raise HubUnavailable("gone")

    coming = ahead(items())
    assert next(coming) == "first"
    assert is_made.wait(10)
    assert next(coming) == "second"
    with pytest.raises(HubUnavailable):
        next(coming)
