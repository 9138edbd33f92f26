"""The order of lines in the log, and the order of states."""

from __future__ import annotations

import json
import random
import threading

import postgres
from hubs import a_hub, note
from hypothesis import given
from hypothesis import strategies as st
from samples import TRIES_ALL

from pylore.core.model import Edge
from pylore.core.stamps import Stamped, clock
from pylore.hub.connection import connect
from pylore.hub.sync import order_text

WRITERS = 32 if TRIES_ALL else 4
BATCHES = 20 if TRIES_ALL else 6


def test_readers_miss_no_line_of_many_writers(postgres_server: postgres.Server) -> None:
    database = a_hub(postgres_server)

    def write(writer: int) -> None:
        chance = random.Random(writer)
        connection = postgres.connect(postgres_server.url(database))
        with connection.cursor() as cursor:
            for batch in range(BATCHES):
                lines = [note(f"note-{writer}-{batch}-{n}") for n in range(chance.randrange(1, 6))]
                cursor.execute("BEGIN")
                cursor.execute("SELECT lore.push(%s)", (json.dumps(lines),))
                cursor.execute("SELECT pg_sleep(%s)", (chance.random() * 0.02,))
                cursor.execute("COMMIT" if chance.random() < 0.9 else "ROLLBACK")
        connection.close()

    writers = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    read: list[int] = [0]
    last = False
    with connect(postgres_server.url(database)) as hub:
        while not last:
            last = not any(writer.is_alive() for writer in writers)
            rows = hub.ask("SELECT seq FROM lore.lines WHERE seq > %s ORDER BY seq", [read[-1]])
            read += [seq for (seq,) in rows]
        written = [seq for (seq,) in hub.ask("SELECT seq FROM lore.lines")]
    assert len(written) > WRITERS
    assert read[1:] == sorted(written)


def test_later_states_have_greater_order_keys() -> None:
    states = [
        Edge("note-a", "note-b", "uses", 0.1, created_at=made, ended_at=ended)
        for made in ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")
        for ended in (None, "2026-01-03T00:00:00Z")
    ]
    keys = [order_text(Stamped.of(state)) for state in sorted(states, key=clock)]
    assert keys == sorted(keys)


STAMPS = st.builds("2026-01-0{}T00:00:00Z {:010x}".format, st.integers(2, 4), st.integers(1, 3))
VALUES = st.dictionaries(
    st.sampled_from(["title", "body", "data.why", "tags.x"]), st.tuples(STAMPS, st.just('"v"'))
)


@given(VALUES, VALUES)
def test_a_joined_record_has_a_greater_key(
    one: dict[str, tuple[str, str]], other: dict[str, tuple[str, str]]
) -> None:
    base = "2026-01-01T00:00:00Z 0123456789"
    both = [Stamped(base, values) for values in (one, other)]
    whole = both[0].joined(both[1])
    texts = [order_text(some) for some in (*both, whole)]
    for some, text in zip(both, texts, strict=False):
        assert some == whole or text < texts[-1]
