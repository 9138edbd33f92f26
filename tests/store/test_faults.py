"""Random faults, from a fixed seed: damaged files, interrupts, hostile stores."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import apsw
import pytest
from commands import Lore

SEED = 20260131
NODES = 40


def file_of(lore: Lore) -> Path:
    return lore.store / "search.db"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A search.db with records, links and vectors, without a log."""
    lines: list[dict[str, str]] = [
        {"id": f"note-{n}", "body": f"record {n} speaks of tokens"} for n in range(NODES)
    ]
    for n in range(NODES - 1):
        ends = {"from_id": f"note-{n}", "to_id": f"note-{n + 1}"}
        lines.append({**ends, "relation": "relates_to"})
    with pytest.MonkeyPatch.context() as patch:
        lore = Lore(tmp_path_factory.mktemp("whole"), patch)
        lore.make_store()
        lore("import", "-", stdin="\n".join(map(json.dumps, lines)))
        file = file_of(lore)
    db = apsw.Connection(str(file))
    db.pragma("wal_checkpoint(truncate)")
    db.close()
    return file.read_bytes()


@pytest.fixture
def filled(lore: Lore, whole: bytes) -> Lore:
    file_of(lore).write_bytes(whole)
    return lore


# --- damaged files

ASKED = (
    ["search", "tokens", "--graph-depth", "2", "--ids"],
    ["graph", "stats"],
    ["add", "note", "x"],
)


def fails_well(lore: Lore, data: bytes, why: str) -> None:
    """Run commands on this search.db; they may fail with a message of a line."""
    file = file_of(lore)
    for words in ASKED:
        file.write_bytes(data)
        for extra in ("search.db-wal", "search.db-shm"):
            file.with_name(extra).unlink(missing_ok=True)
        done = lore.run(words)
        assert done.code in (0, 1), (why, words, done.err)
        if done.code:
            assert re.fullmatch(r"lore: .*search\.db: .*: .*\n", done.err), (why, words)
            assert done.out == ""


def test_truncated_store_fails_in_one_line(filled: Lore, whole: bytes) -> None:
    chance = random.Random(SEED)
    lengths = [0, 99, 4097, len(whole) - 1]
    for length in [*lengths, chance.randrange(len(whole))]:
        fails_well(filled, whole[:length], f"{length} bytes of {len(whole)}, seed {SEED}")


def test_damaged_store_fails_in_one_line(filled: Lore, whole: bytes) -> None:
    chance = random.Random(SEED)
    for places in (1, 30, 1000, 30_000):
        damaged = bytearray(whole)
        for _ in range(places):
            damaged[chance.randrange(len(whole))] = chance.randrange(256)
        fails_well(filled, bytes(damaged), f"{places} bytes damaged, seed {SEED}")


# --- a hostile store

HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\u009b31m\u202etxt\x08\r$(touch canary)`touch canary`"
OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)


HARM = """
UPDATE nodes SET title = title || ' tokens ' || hostile(), body = body || ' tokens ' || hostile(),
  tags = hostile(), file = hostile(), category = hostile(), created_at = hostile(),
  updated_at = hostile();
UPDATE types SET description = hostile();
UPDATE relations SET description = hostile();
UPDATE passages SET heading = hostile();
UPDATE links SET created_at = hostile();
INSERT INTO relations(name, weight) VALUES (hostile(), 1);
INSERT INTO types(name) VALUES (hostile());
UPDATE links SET relation = hostile()
  WHERE from_key = (SELECT key FROM nodes WHERE id = 'note-3');
UPDATE nodes SET type = hostile() WHERE id = 'note-4';
UPDATE nodes SET id = 'note-5' || hostile() WHERE id = 'note-5';
UPDATE nodes SET invalidated_at = hostile() WHERE id = 'note-9';
UPDATE nodes SET data = json_object(hostile(), hostile()) WHERE id = 'note-3';
UPDATE meta SET value = hostile() WHERE key = 'embedder';
"""


@pytest.fixture
def hostile(filled: Lore) -> Lore:
    """A store with control sequences in every text."""
    with apsw.Connection(str(file_of(filled))) as db:
        db.create_scalar_function("hostile", lambda *values: HOSTILE)
        db.pragma("foreign_keys", 0)
        for _ in db.execute(HARM):
            pass
    return filled


SHOWN = """
search tokens --graph-depth 2 --explain
search tokens --type x
search tokens --jq .[].title
list --ids
show note-3 --history
show note-9
show note-
related note-3
graph stats
graph neighbors note-3
graph relations
graph export --format dot
link note-1 relates_to note-9
add x y
doctor
export
"""


def test_hostile_store_does_not_control_terminals(hostile: Lore) -> None:
    for words in SHOWN.strip().splitlines():
        done = hostile.run(words.split(), terminal=True)
        written = re.sub(r"[^\n]*\r\x1b\[K", "", done.out + done.err)  # progress
        assert written.strip(), (words, done)
        assert not OBEYED.search(written), (words, written[:2000])
        assert "a bug in lore" not in written, words
    assert not (hostile.project / "canary").exists()


@pytest.mark.parametrize("word", [HOSTILE, "--" + HOSTILE])
def test_typed_control_sequences_are_not_printed(lore: Lore, word: str) -> None:
    raw = os.fsdecode(word.encode() + b"\x9b31m")
    for words in ([raw], ["graph", raw], ["help", raw], ["list", "--tag", raw], ["show", raw]):
        assert not OBEYED.search(lore.refuse(*words))
