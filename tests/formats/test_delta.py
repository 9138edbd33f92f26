"""What one store lacks of another: as good as all of it, and nothing where they are equal."""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples
from sqlite_stores import connection_of

from pylore.core.errors import LoreError, UsageError
from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.formats.delta import Digest, State, state_lines
from pylore.formats.jsonl import import_lines
from pylore.formats.lines import export_lines
from pylore.records.records import Records
from pylore.store import Store, copy_store, open_store
from pylore.store.anchors import Anchor

IDS = ("note-a", "note-b", "decision-c", "file-d")
TIMES = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-02-01T00:00:00Z")
_EMPTY: dict[str, bytes] = {}


def a_store(folder: str) -> Store:
    """An empty one; that what it says is on the disk is not waited for."""
    if not _EMPTY:
        new_store(folder).close()
        _EMPTY["search.db"] = Path(folder, "search.db").read_bytes()
    Path(folder, "search.db").write_bytes(_EMPTY["search.db"])
    store = open_store(folder)
    connection_of(store).pragma("synchronous", 0)
    return store


class Life:
    """One thing after another happens to a store."""

    def __init__(self, store: Store, chance: Random) -> None:
        self._store = store
        self._chance = chance
        self._records = Records(store, Settings(), None, "/nowhere")

    def live(self, steps: int) -> None:
        """So many things, in as many commands."""
        for _ in range(steps):
            step = self._chance.choice(_STEPS)
            with self._store.transaction("edit"):
                try:
                    step(self)
                except LoreError:
                    continue

    def write(self) -> None:
        id = self._chance.choice(IDS)
        node = self._store.nodes.get(id) or Node(id, id.partition("-")[0], created_at=TIMES[0])
        node.updated_at = max(node.updated_at, self._chance.choice(TIMES))
        field = self._chance.choice(("body", "title", "status", "data", "tags", "file", "category"))
        word = self._chance.choice(("", "one", "|two|", "drei ö"))
        pairs = [("b", word), ("a", 1.5)][: self._chance.choice((1, 2))]
        self._chance.shuffle(pairs)
        value = {
            "status": self._chance.choice(("staged", "confirmed")),
            "tags": tuple(word.split()),
            "data": json.dumps(dict(pairs), ensure_ascii=self._chance.random() < 0.5),
            "file": word or None,
            "category": word or None,
        }
        setattr(node, field, value.get(field, word))
        self._store.nodes.put(node)

    def link(self) -> None:
        one, other = self._chance.sample(IDS, 2)
        weight = self._chance.choice((1.0, 0.5, 1 / 3))
        metadata = self._chance.choice(("{}", '{"b": 1, "a": 2}', '{"a":2,"b":1}'))
        self._store.edges.put(Edge(one, other, "relates_to", weight, metadata=metadata,
                                   created_at=self._chance.choice(TIMES)))  # fmt: skip

    def unlink(self) -> None:
        edges = [*self._store.edges.all()]
        if edges:
            self._store.edges.invalidate(self._chance.choice(edges).key, self._chance.choice(TIMES))

    def forget(self) -> None:
        self._records.forget([self._chance.choice(IDS)], purge=self._chance.random() < 0.3)

    def restore(self) -> None:
        self._records.restore([self._chance.choice(IDS)])

    def anchor(self) -> None:
        at = self._chance.choice(TIMES)
        verdict = self._chance.choice(("valid", "drifted"))
        self._store.anchors.put(Anchor(self._chance.choice(IDS), "file", "a.py", verdict=verdict,
                                       created_at=at, verified_at=at))  # fmt: skip

    def release(self) -> None:
        for anchor in self._store.anchors.of(self._chance.choice(IDS)):
            self._store.anchors.delete(anchor.key)

    def read(self) -> None:
        self._store.review.count_access([self._chance.choice(IDS)], TIMES[2])

    def declare(self) -> None:
        self._store.relations.declare("likes", self._chance.choice((0.5, 0.25)), 0.5, "")


_STEPS = (
    Life.write, Life.write, Life.write, Life.link, Life.link, Life.unlink, Life.forget,
    Life.restore, Life.anchor, Life.release, Life.read, Life.declare,
)  # fmt: skip


def told(store: Store) -> list[str]:
    """All lines, without how often what they say was read."""
    return [_without_reading(line) for line in export_lines(store)]


def _without_reading(line: str) -> str:
    fields = json.loads(line)
    for name in ("access_count", "accessed_at"):
        fields.pop(name, None)
    return json.dumps(fields)


def take(store: Store, lines: list[str]) -> None:
    import_lines(store, Settings(), None, [line.encode() for line in lines], purge=True)


def lacking(ours: Store, theirs: Store, *types: str) -> list[str]:
    """What we have that they lack, as it goes through the pipe."""
    state = io.BytesIO("".join(state_lines(theirs, types)).encode())
    return [*State(state.readline, "stdin").lacking(ours)]


def by_id(store: Store) -> dict[str, Counter[str]]:
    """The lines of each id; those that declare are of none."""
    found: dict[str, Counter[str]] = {}
    for line in told(store):
        fields = json.loads(line)
        names = ("from_id", "id", "state_of", "purged", "anchor_of", "anchor_history_of")
        ids = [fields[name] for name in names if name in fields]
        id = ids[0] if ids else (fields.get("history_of") or [""])[0]
        found.setdefault(id, Counter())[line] += 1
    return found


@settings(
    max_examples=examples(20),
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.randoms(use_true_random=False), st.integers(0, 25), st.integers(0, 12))
def test_a_delta_says_as_much_as_all_lines(chance: Random, before: int, after: int) -> None:
    with (
        tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two,
        tempfile.TemporaryDirectory() as three, a_store(one) as ours, a_store(two) as theirs,
    ):  # fmt: skip
        Life(ours, chance).live(before)
        take(theirs, [*export_lines(ours)])
        assert lacking(ours, theirs) == lacking(theirs, ours) == []
        Life(ours, chance).live(after)
        Life(theirs, chance).live(after)
        mine, others = by_id(ours), by_id(theirs)
        differing = Digest(ours, 1 << 16).differing(Digest(theirs, 1 << 16).sums())
        assert differing - {""} == {id for id in mine if id and mine[id] != others.get(id)}
        with copy_store(theirs, three) as copy:
            take(copy, [*export_lines(ours)])
            delta = lacking(ours, theirs)
            take(theirs, delta)
            assert told(theirs) == told(copy)
        take(ours, lacking(theirs, ours))
        assert told(ours) == told(theirs)
        assert lacking(ours, theirs) == lacking(theirs, ours) == []


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with a_store(str(tmp_path / "one")) as one, a_store(str(tmp_path / "two")) as two:
        yield one, two


def test_few_lines_go_out_where_few_records_differ(pair: tuple[Store, Store]) -> None:
    one, two = pair
    for store in pair:
        with store.transaction():
            for number in range(1000):
                store.nodes.put(Node(f"note-{number}", "note", body="the same",
                                     created_at=TIMES[0], updated_at=TIMES[0]))  # fmt: skip
    assert lacking(one, two) == []
    with one.transaction("edit"):
        node = one.nodes.require("note-7")
        node.body, node.updated_at = "another", TIMES[2]
        one.nodes.put(node)
        one.review.count_access(["note-8"], TIMES[2])
    assert '"id": "note-7", "type": "note", "body": "another"' in "".join(lacking(one, two))
    assert len(lacking(one, two)) < 40
    take(two, lacking(one, two))
    assert lacking(one, two) == lacking(two, one) == []


def test_a_state_may_be_of_some_types(pair: tuple[Store, Store]) -> None:
    one, two = pair
    with one.transaction():
        for id in ("note-a", "file-d"):
            one.nodes.put(Node(id, id.partition("-")[0], created_at=TIMES[0], updated_at=TIMES[0]))
        one.edges.put(Edge("file-d", "note-a", "relates_to", created_at=TIMES[0]))
    delta = lacking(one, two, "records")
    assert [json.loads(line).get("id", "an edge") for line in delta] == ["note-a", "an edge"]
    take(two, delta)
    assert lacking(one, two, "records") == []
    assert len(lacking(one, two)) > 0


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("", "stdin: the state ends too early"),
        ("not JSON\n", "stdin: is no state of a store"),
        ('{"id": "note-a"}\n', "stdin: is no state of a store"),
        ('{"lore_state": 2}\n', "stdin: is a state of form 2, this lore reads 1"),
        ('{"lore_state": 1, "types": [], "buckets": 24}\n', "stdin: is no state of a store"),
        ('{"lore_state": 1, "types": ["nots"], "buckets": 16}\n', "unknown type 'nots'"),
        ('{"lore_state": 1, "types": [], "buckets": 16}\n', "stdin: the state ends too early"),
        ('{"lore_state": 1, "types": [], "buckets": 16}\n{"sums": "00"}', "stdin: is no state of"),
        ('{"lore_state": 1, "types": [], "buckets": 16}\n{"sums": "0', "stdin: is no state of"),
    ],
)  # fmt: skip
def test_what_is_no_state_is_wrong_use(pair: tuple[Store, Store], state: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        list(State(io.BytesIO(state.encode()).readline, "stdin").lacking(pair[0]))
    assert said in str(refused.value)
