"""Sync of a file with a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from new_stores import new_store

from pylore.app import Engine
from pylore.app.sync import sync
from pylore.core.settings import Settings
from pylore.records.records import Records


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with new_store(str(tmp_path / ".lore")) as store:
        yield Engine(store, Settings().changed([("embedder", "none")], "flag"), str(tmp_path))


def note(id: str, title: str) -> str:
    time = "2026-01-01T00:00:00Z"
    return (
        json.dumps(
            {"id": id, "type": "note", "title": title, "created_at": time, "updated_at": time}
        )
        + "\n"
    )


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
    assert done.went_out == {"added": 0, "removed": 0}
    assert [json.loads(line)["id"] for line in file.open()] == ["note-a", "note-b"]
    assert engine.store.nodes.get("note-b") is not None


def test_undo_keeps_content_of_a_clone(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.jsonl"
    file.write_text(note("note-a", "first"))
    assert sync(engine, str(file), out=False).came_in.added == 1
    assert not engine.store.changes.commands()


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
    assert sync(engine, str(file)).went_out == {"added": 1, "removed": 0}
