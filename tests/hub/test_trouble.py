"""A failure of a hub is an error line without loss, and the next sync mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import postgres
import pytest
from soak.writing import Clock
from syncing import Team, told
from tcp_proxy import Proxy

from pylore.core import times
from pylore.core.errors import LoreError
from pylore.hub.sync import HubSync
from pylore.records.records import Records


class Desks(Team):
    """Stores that sync over a proxy."""

    def __init__(self, server: postgres.Server, folder: str) -> None:
        super().__init__(server, folder)
        self.proxy = Proxy(server.port)

    def meet(self, name: str) -> HubSync:
        """Sync over a new connection."""
        self.hub.connection.close()
        self.hub = self.connected(port=self.proxy.port)
        return self.sync(name)

    def add(self, name: str, text: str) -> str:
        engine = self.engine(name)
        return Records(engine.store, engine.settings, None).add("note", text).id

    def close(self) -> None:
        super().close()
        self.proxy.close()


@pytest.fixture
def desks(postgres_server: postgres.Server, tmp_path: Path) -> Iterator[Desks]:
    desks = Desks(postgres_server, str(tmp_path))
    yield desks
    desks.close()


@contextmanager
def cut(desks: Desks) -> Iterator[None]:
    desks.proxy.cut()
    yield
    desks.proxy.mend()


def cut_off(when: str) -> Callable[[Desks], AbstractContextManager[None]]:
    """Cut the connection before the lines arrive, or after, before the response."""

    @contextmanager
    def trouble(desks: Desks) -> Iterator[None]:
        setattr(desks.proxy, when, (b"lore.push", desks.proxy.cut))
        yield
        desks.proxy.mend()

    return trouble


def trigger(body: str, setting: str = "") -> Callable[[Desks], AbstractContextManager[None]]:
    """Run a statement with each insert of lines, under a setting of the database."""

    @contextmanager
    def trouble(desks: Desks) -> Iterator[None]:
        database = f"ALTER DATABASE {desks.database}"
        desks.server.rows(
            f"{f'{database} SET {setting};' if setting else ''}"
            "CREATE FUNCTION public.bad() RETURNS trigger LANGUAGE plpgsql AS"
            f" 'BEGIN PERFORM {body}; RETURN NULL; END';"
            "CREATE TRIGGER bad AFTER INSERT ON lore.lines EXECUTE FUNCTION public.bad()",
            database=desks.database,
        )
        yield
        desks.server.rows(
            f"DROP FUNCTION public.bad() CASCADE; {database} RESET ALL", database=desks.database
        )

    return trouble


TROUBLES: dict[str, tuple[Callable[[Desks], AbstractContextManager[None]], str]] = {
    "unreachable": (cut, "connection failed"),
    "cut off before": (cut_off("before"), "again"),
    "cut off after": (cut_off("after"), "again"),
    "killed": (trigger("pg_terminate_backend(pg_backend_pid())"), "try again"),
    "slow": (trigger("pg_sleep(1)", "statement_timeout = 300"), "statement timeout"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", TROUBLES)
def test_the_next_sync_mends_trouble(desks: Desks, name: str) -> None:
    trouble, said = TROUBLES[name]
    desks.add("bob", "known before")
    desks.meet("bob"), desks.meet("ann")
    desks.add("ann", "written before the trouble")
    with trouble(desks):
        with pytest.raises(LoreError) as raised:
            desks.meet("ann")
        assert said in str(raised.value)
        assert "\n" not in str(raised.value) and str(raised.value).startswith("team: ")
        desks.add("ann", "written meanwhile")
    desks.meet("ann"), desks.meet("bob")
    assert told(desks.store("ann")) == told(desks.store("bob"))
    assert sum("written" in line for line in told(desks.store("bob"))) == 2


@pytest.mark.parametrize("off", (3600, -3600))
def test_clocks_an_hour_off_lose_no_data(
    desks: Desks, off: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(times, "time", Clock(lambda: off))
        id = desks.add("ann", "by a wrong clock")
        desks.meet("ann")
    desks.meet("bob")
    engine = desks.engine("bob")
    Records(engine.store, engine.settings, None).edit(id, text="by a right one, later")
    with monkeypatch.context() as patch:
        patch.setattr(times, "time", Clock(lambda: off))
        desks.add("ann", "once more")
        desks.meet("bob"), desks.meet("ann"), desks.meet("bob")
    for name in ("ann", "bob"):
        node = desks.store(name).nodes.get(id)
        assert node and "later" in node.title
    assert told(desks.store("ann")) == told(desks.store("bob"))
