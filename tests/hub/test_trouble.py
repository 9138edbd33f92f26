"""Hubs in trouble: one line, nothing lost here, and the next sync mends it."""

from __future__ import annotations

import os
import subprocess
import tempfile
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
    """Ann, who meets the trouble, and Bob, who hears of it later; all over a proxy."""

    def __init__(self, server: postgres.Server, folder: str) -> None:
        super().__init__(server, folder)
        self.proxy = Proxy(server.port)

    def meet(self, name: str) -> HubSync:
        """One sync, with a connection of its own."""
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


@contextmanager
def cut_before(desks: Desks) -> Iterator[None]:
    """Before lines get there."""
    desks.proxy.before = (b"lore.push", desks.proxy.cut)
    yield
    desks.proxy.mend()


@contextmanager
def cut_after(desks: Desks) -> Iterator[None]:
    """When lines have got there, before that is said."""
    desks.proxy.after = (b"lore.push", desks.proxy.cut)
    yield
    desks.proxy.mend()


@contextmanager
def stalled(desks: Desks) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGCONNECT_TIMEOUT", "2")
        desks.proxy.stall()
        yield
        desks.proxy.mend()


def by_sql(before: str, after: str) -> Callable[[Desks], AbstractContextManager[None]]:
    @contextmanager
    def trouble(desks: Desks) -> Iterator[None]:
        desks.server.rows(before.format(desks.database), database=desks.database)
        yield
        desks.server.rows(after.format(desks.database), database=desks.database)

    return trouble


@contextmanager
def killed(desks: Desks) -> Iterator[None]:
    """Its connections, each as soon as it has one."""
    desks.server.rows(
        "CREATE FUNCTION public.killed() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';"
        "CREATE TRIGGER killed AFTER INSERT ON lore.lines EXECUTE FUNCTION public.killed()",
        database=desks.database,
    )
    yield
    desks.server.rows("DROP FUNCTION public.killed() CASCADE", database=desks.database)


@contextmanager
def full(desks: Desks) -> Iterator[None]:
    """The table of lines stands on a disk of its own, which is small."""
    with tempfile.TemporaryDirectory(prefix="lore-pg-") as place:
        os.chmod(place, 0o711)
        mount = ["mount", "-t", "tmpfs", "-o", "size=600k,mode=777", "none", place]
        if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("NO SMALL DISK: only root mounts one; a full hub was not tried")
        try:
            postgres.make_folder(os.path.join(place, "space"))
            name = f"small{desks.database}"
            desks.server.rows(f"CREATE TABLESPACE {name} LOCATION '{place}/space'")
            move = "ALTER TABLE lore.lines SET TABLESPACE {}"
            desks.server.rows(move.format(name), database=desks.database)
            engine = desks.engine("ann")
            records = Records(engine.store, engine.settings, None)
            for number in range(60):
                records.add("note", f"{number} " + os.urandom(9000).hex())
            yield
            desks.server.rows(move.format("pg_default"), database=desks.database)
            desks.server.rows(f"DROP TABLESPACE {name}")
        finally:
            subprocess.run(["umount", place], check=True)


TROUBLES: dict[str, tuple[Callable[[Desks], AbstractContextManager[None]], str]] = {
    "unreachable": (cut, "connection failed"),
    "cut off before": (cut_before, "again"),
    "cut off after": (cut_after, "again"),
    "silent": (stalled, "connection timeout"),
    "killed": (killed, "try again"),
    "full": (full, "disk is full"),
    "slow": (by_sql("ALTER DATABASE {} SET statement_timeout = 300;"
                    "CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS"
                    " 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';"
                    "CREATE TRIGGER slow AFTER INSERT ON lore.lines EXECUTE FUNCTION public.slow()",
                    "DROP FUNCTION public.slow() CASCADE;"
                    "ALTER DATABASE {} RESET statement_timeout"), "statement timeout"),
}  # fmt: skip


@pytest.mark.one_in(3)
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
def test_clocks_an_hour_off_lose_nothing(
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


def test_records_of_the_future_are_refused(desks: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(times, "time", Clock(lambda: 86_400 * 800))
        id = desks.add("ann", "from the future")
        [(refused, why)] = desks.sync("ann").refused
        assert refused == id and "set your clock" in why
    assert desks.sync("bob").came_in.added == 0
