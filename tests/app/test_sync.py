"""Sync of a file with a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import memory_store, new_store
from samples import examples

from pylore.app.engine import Engine
from pylore.app.sync import sync
from pylore.core.model import Edge
from pylore.core.settings import Settings
from pylore.formats.export import export_lines, shared_lines
from pylore.formats.jsonl import import_lines
from pylore.formats.merge_file import merge_files
from pylore.records.records import Records
from pylore.store import Store

IDS = ("note-a", "note-b", "note-c")
Step = tuple[str, str, str]
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "put", "forget", "purge", "link"]), st.sampled_from(IDS),
              st.sampled_from(["one", "two", "three"])),
    max_size=5,
)  # fmt: skip


def live(store: Store, steps: Sequence[Step]) -> None:
    """Run steps in a store."""
    records = Records(store, Settings(), None, "/")
    for verb, id, word in steps:
        there = store.nodes.get(id)
        if verb == "put" and there is None:
            records.add("note", word, id=id)
        elif verb == "put" and there is not None and there.invalidated_at is None:
            records.edit(id, title=word)
        elif verb == "link":
            other = next(other for other in IDS if other != id)
            with store.transaction("link"):
                store.edges.put(Edge(id, other, "relates_to", weight=len(word) / 10,
                                     created_at="2026-01-01T00:00:00Z"))  # fmt: skip
        elif there is not None and (verb == "purge" or there.invalidated_at is None):
            records.forget([id], purge=verb == "purge")


def taken(store: Store, lines: Sequence[str]) -> None:
    import_lines(store, Settings(), None, [line.encode() for line in lines], purge=True)


def exported(store: Store) -> list[str]:
    return [*export_lines(store)]


def knowledge(store: Store) -> list[str]:
    return [*shared_lines(store)]


def merged(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    return merge_files([], *([line.encode() for line in lines] for lines in (ours, theirs))).lines


@settings(max_examples=examples(60), deadline=None)
@given(STEPS, STEPS, STEPS)
def test_files_are_merged_as_stores_are(
    before: list[Step], here: list[Step], there: list[Step]
) -> None:
    ours, theirs = memory_store(), memory_store()
    live(ours, before)
    taken(theirs, exported(ours))
    live(ours, here)
    live(theirs, there)
    a, b = exported(ours), exported(theirs)
    small_a, small_b = knowledge(ours), knowledge(theirs)
    taken(ours, b)
    taken(theirs, a)
    assert exported(ours) == exported(theirs)
    assert (
        knowledge(ours) == knowledge(theirs) == merged(small_a, small_b) == merged(small_b, small_a)
    )


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with new_store(str(tmp_path / ".lore")) as store:
        yield Engine(store, Settings().changed([("embedder", "none")], "flag"), str(tmp_path))


def note(id: str, title: str) -> str:
    time = "2026-01-01T00:00:00Z"
    return json.dumps({"id": id, "type": "note", "title": title, "created_at": time,
                       "updated_at": time}) + "\n"  # fmt: skip


class Meanwhile:
    """An embedder that runs an action at first use."""

    name, dimension = "meanwhile", 8

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = [happens]

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        while self._happens:
            self._happens.pop()()
        return [None] * len(texts)


def test_file_that_changes_during_sync_keeps_lines(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.jsonl"
    file.write_text(note("note-a", "first"))
    embedder = Meanwhile(
        lambda: file.write_text(note("note-a", "first") + note("note-b", "pulled"))
    )
    done = sync(Engine(engine.store, engine.settings, engine.root, embedder=embedder), str(file))
    assert done.went_out == {"added": 0, "updated": 0, "removed": 0}
    assert [json.loads(line)["id"] for line in file.open()] == ["note-a", "note-b"]
    assert engine.store.nodes.get("note-b") is not None


def test_sync_is_a_single_command(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.jsonl"
    file.write_text(note("note-a", "first"))
    assert sync(engine, str(file)).came_in.added == 1
    assert [command.name for command in engine.store.changes.commands()] == ["sync"]
    assert sync(engine, str(file)).came_in.unchanged == 1
    # without out, the file does not change
    Records(engine.store, engine.settings, None, str(tmp_path)).add("note", "more")
    assert sync(engine, str(file), out=False).came_in.unchanged == 1
    assert file.read_text() == note("note-a", "first")
    assert sync(engine, str(file)).went_out == {"added": 1, "updated": 0, "removed": 0}
