"""What was read: written down without a lock, counted once, seen at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import apsw
import pytest
from new_stores import new_store
from sqlite_stores import connection_of
from things import EARLY, LATE, LATER, a_node, an_edge

from pylore.core.settings import Settings
from pylore.formats.lines import export_lines
from pylore.records.show import count_accesses
from pylore.store import Store, open_store
from pylore.store import access_log as read_lines
from pylore.store import nodes as access_journal
from pylore.store.backup import back_up, restore_backup
from pylore.store.filter import Scope
from pylore.system.files import READS, READS_TAKEN

NODE, THING, OTHER = "note-a", "entity-x", "entity-y"
FACT = (THING, OTHER, "depends_on")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(str(tmp_path / "store")) as store:
        with store.transaction():
            for id in (NODE, THING, OTHER, "note-gone"):
                store.nodes.put(a_node(id))
            store.nodes.invalidate("note-gone", LATE)
            store.edges.put(an_edge(*FACT))
        yield store


def waiting(store: Store) -> Path:
    return Path(store.path + READS)


def in_rows(store: Store, id: str = NODE) -> tuple[int, str | None]:
    """What the row of a node says, whatever waits."""
    query = "SELECT access_count, accessed_at FROM nodes WHERE id = ?"
    rows: list[tuple[int, str | None]] = [*connection_of(store).execute(query, (id,))]
    return rows[0]


def counted(store: Store, id: str = NODE) -> int:
    return store.nodes.require(id).access_count


def test_a_read_writes_nothing_into_the_store_and_is_seen_at_once(store: Store) -> None:
    before = Path(store.path).read_bytes(), store.data_version()
    store.review.count_access([NODE, THING, "note-gone", "note-none"], LATER)
    store.review.count_access([OTHER, THING], LATE)
    assert (Path(store.path).read_bytes(), store.data_version()) == before
    assert in_rows(store) == (0, None)
    node = store.nodes.require(NODE)
    assert (node.access_count, node.accessed_at, node.updated_at) == (1, LATER, EARLY)
    assert counted(store, "note-gone") == 0
    edge = store.edges.get(*FACT)
    assert edge is not None and (edge.access_count, edge.accessed_at) == (2, LATE)
    assert {node.id: node.access_count for node in store.nodes.select(Scope(), -1)} == {
        NODE: 1, THING: 2, OTHER: 1,
    }  # fmt: skip
    assert store.nodes.briefs([THING])[THING][-1] == 2
    lines = [*export_lines(store)]
    with store.transaction():
        pass
    assert [*export_lines(store)] == lines and in_rows(store) == (1, LATER)
    assert not waiting(store).exists()


def test_a_reader_waits_for_no_writer(store: Store) -> None:
    other = apsw.Connection(store.path)
    other.execute("BEGIN IMMEDIATE")
    assert count_accesses(store, Settings(), [NODE]) == []
    other.close()
    assert counted(store) == 1
    assert stat.S_IMODE(waiting(store).stat().st_mode) == 0o600


def test_what_fails_counts_neither_twice_nor_never(store: Store) -> None:
    store.review.count_access([NODE], LATER)
    with pytest.raises(KeyError), store.transaction():
        raise KeyError
    store.review.count_access([NODE], LATE)
    assert counted(store) == 2 and in_rows(store) == (0, None)
    for _ in range(3):  # what was taken and what came later, one after the other
        with store.transaction():
            pass
    assert in_rows(store) == (2, LATE) and counted(store) == 2


def test_a_writer_that_ends_after_its_commit_has_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.review.count_access([NODE], LATER)
    monkeypatch.setattr(access_journal.AccessJournal, "forget_taken", lambda self: None)
    with store.transaction():
        pass
    assert os.path.exists(store.path + READS_TAKEN)
    monkeypatch.undo()
    assert counted(store) == 1
    store.review.count_access([NODE], LATE)
    assert counted(store) == 2
    with store.transaction():
        pass
    assert in_rows(store) == (2, LATE) and not os.path.exists(store.path + READS_TAKEN)


def test_none_of_many_readers_beside_writers_is_lost(store: Store) -> None:
    folder = os.path.dirname(store.path)

    def read() -> None:
        with open_store(folder) as own:
            for _ in range(40):
                own.review.count_access([NODE], LATER)

    def write() -> None:
        with open_store(folder) as own:
            for number in range(30):
                with own.transaction():
                    own.nodes.put(a_node(f"note-{number}"))

    threads = [Thread(target=do) for do in (read, write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted(store) == 120
    for _ in range(2):
        with store.transaction():
            pass
    assert in_rows(store) == (120, LATER)


def test_what_is_read_in_a_transaction_and_put_back_counts_once(store: Store) -> None:
    with store.transaction():
        Path(store.path + READS).write_text(f"{LATER}\t00000000\t{NODE}\n")
        node = store.nodes.require(NODE)
        node.body = "another"
        store.nodes.put(node)
    assert counted(store) == 1


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe\0", b"\n\n", b"note-a\tnote-a\tnote-a\n", b"2026-01-01\tx\tnote-a\n",
        b"9999-99-99T99:99:99+\tx\tnote-a\n", LATER.encode() + b"\tx\n", b"x" * 5000,
        LATER.encode() + b"\tx\tnote-a' OR 1=1 --\n",
    ],
)  # fmt: skip
def test_what_is_no_line_of_a_read_counts_nothing(store: Store, text: bytes) -> None:
    waiting(store).write_bytes(text)
    assert counted(store) == 0
    with store.transaction():
        pass
    assert in_rows(store) == (0, None)
    store.review.count_access([NODE], LATER)
    assert counted(store) == 1


def test_a_link_in_its_place_leads_nowhere(store: Store, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text(f"{LATER}\tx\t{NODE}\n")
    for suffix in (READS, READS_TAKEN):
        os.symlink(victim, store.path + suffix)
    assert count_accesses(store, Settings(), [NODE]) == []
    assert counted(store) == 0
    for _ in range(2):
        with store.transaction():
            pass
    assert in_rows(store) == (0, None) and victim.read_text().count("\n") == 1


def test_one_command_leaves_a_short_line_and_all_of_them_a_short_file(store: Store) -> None:
    many = [f"note-{number}" for number in range(10_000)]
    store.review.count_access([NODE, *many], LATER)
    assert waiting(store).stat().st_size <= read_lines.LONGEST and counted(store) == 1
    with waiting(store).open("ab") as file:
        file.truncate(read_lines.LARGEST)
    store.review.count_access([NODE], LATER)
    assert waiting(store).stat().st_size == read_lines.LARGEST


def test_where_nobody_writes_a_reader_counts_in(store: Store) -> None:
    for _ in range(60):
        count_accesses(store, Settings(), [NODE, *["note-" + "x" * 200] * 9])
        count_accesses(store, Settings(), [f"note-{number}{'x' * 90}" for number in range(9)])
        if in_rows(store)[0]:
            break
    assert in_rows(store)[0] == counted(store) > 9
    assert store.edges.get(*FACT) is not None and not store.review.is_behind


def test_of_very_many_facts_what_is_staged_is_counted_and_no_writer_does_much(
    store: Store,
) -> None:
    others = [f"entity-{number}" for number in range(2 * read_lines.FACTS)]
    with store.transaction():
        store.edges.put_many(an_edge(THING, other) for other in others)
        store.edges.put(an_edge(THING, "entity-z", status="staged"))
        store.edges.put(an_edge("entity-zz", THING, status="staged"))
    store.review.count_access([THING], LATER)
    with store.transaction():
        pass
    known = {edge.key[:2]: edge.access_count for edge in store.edges.of(THING)}
    assert known[THING, "entity-z"] == known["entity-zz", THING] == 1
    assert sum(known.values()) == read_lines.FACTS


def test_a_backup_has_the_reads_that_waited(store: Store, tmp_path: Path) -> None:
    store.review.count_access([NODE], LATER)
    file = str(tmp_path / "backup.db")
    back_up(os.path.dirname(store.path), file)
    assert in_rows(store) == (1, LATER) and not waiting(store).exists()
    with new_store(str(tmp_path / "other")):
        pass
    restore_backup(str(tmp_path / "other"), file)
    with open_store(str(tmp_path / "other")) as other:
        assert in_rows(other) == (1, LATER)
