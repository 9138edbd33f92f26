"""Retrievers of users: input, output, and their end."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import searching
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from searching import ids

from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.search.external import parse_results
from pylore.store import Store
from pylore.store.filter import Scope
from pylore.system.programs import Refused

Write = Callable[[str, str], Path]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(str(tmp_path / "store")) as store:
        records = Records(store, Settings(), None)
        records.add("note", "tokens expire", id="note-a")
        records.add("note", "nothing in common", id="note-b")
        records.add("decision", "unlike all else", id="decision-c")
        records.add("note", "forgotten", id="note-gone")
        records.forget(["note-gone"])
        yield store


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a retriever, as a Python or a shell script, into the user's folder of commands."""
    home = tmp_path / "home"
    folder = home / ".config" / "lore" / "commands"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def write(name: str, script: str) -> Path:
        path = folder / f"lore-retriever-{name}"
        # Both sh and Python: the interpreter's path may have a space, which no #! line takes.
        python = f'#!/bin/sh\n\'\'"exec" "{sys.executable}" "$0" "$@"\nimport json, sys\n'
        path.write_text(script if script.startswith("#!") else python + script)
        path.chmod(0o755)
        return path

    return write


def prints(rows: object) -> str:
    return f"print({json.dumps(json.dumps(rows))})"


def look(store: Store, query: str = "tokens", **given: Any) -> Hits:
    return searching.look(store, query, **{"retrievers": "fulltext mine", "explain": True, **given})


def test_retriever_adds_a_leg(store: Store, write: Write) -> None:
    write("mine", prints([{"id": "note-b", "score": 8}, {"id": "note-a", "score": 2}]))
    hits = look(store)
    assert {hit.id: hit.match for hit in hits} == {"note-a": "words", "note-b": "retriever"}
    legs = {hit.id: (hit.explain or {})["legs"] for hit in hits}
    assert legs["note-b"] == {"mine": {"rank": 1, "score": 8.0}}
    assert legs["note-a"]["mine"] == {"rank": 2, "score": 2.0}
    fused = {hit.id: (hit.explain or {})["fused"] for hit in hits}
    assert fused["note-b"] == pytest.approx(0.3 / (0.75 + 0.3), abs=1e-5)
    assert hits.notes == []
    assert ids(look(store, retrievers="mine")) == ["note-b", "note-a"]


def test_retriever_gets_query_and_filters(
    store: Store, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    got = tmp_path / "got"
    monkeypatch.setenv("LORE_RUN", "run-1")
    dump = f"json.dump([json.load(sys.stdin), dict(os.environ)], open({str(got)!r}, 'w'))"
    write("mine", f"import os; {dump}; print('[]')")
    scope = Scope(types=("note",), tags=("a b",), files=("src/*",), since="2026-01-31T00:00:00Z")
    query = 'Tokens "é" $(x)\n' + "w " * 5000
    look(store, query, scope=scope, excluded=["note-b", "note-a"], retrievers="mine", limit=7)
    asked, environ = json.loads(got.read_text())
    assert (asked["query"], asked["limit"], asked["types"]) == (query[:10_000], 7, ["note"])
    assert (asked["tags"], asked["files"], asked["since"]) == (["a-b"], ["src/*"], scope.since)
    assert asked["exclude"] == ["note-a", "note-b"]
    assert (environ["LORE_RETRIEVERS"], environ["LORE_RUN"]) == ("fulltext vector", "")


def test_unknown_and_filtered_ids_are_dropped(store: Store, write: Write) -> None:
    rows = [{"id": id, "score": 1} for id in ("note-b", "decision-c", "note-gone", "x", "\ud800\n")]
    write("mine", prints(rows))
    hits = look(store, scope=Scope(types=("note",)))
    assert set(ids(hits)) == {"note-a", "note-b"}
    assert ids(look(store, excluded=["note-b"], retrievers="mine")) == ["decision-c"]


def test_walk_starts_at_results_of_other_types(store: Store, write: Write, tmp_path: Path) -> None:
    Records(store, Settings(), None).link("decision-c", "relates_to", "note-b")
    ran = tmp_path / "ran"
    rows = [{"id": id, "score": 1} for id in ("decision-c", "note-none")]
    write("mine", f"open({str(ran)!r}, 'a').write('.')\n" + prints(rows))
    hits = look(store, scope=Scope(types=("note",)), graph_depth=1)
    assert [hit.path for hit in hits] == [["note-a"], ["decision-c", "note-b"]]
    assert ran.read_text() == "."


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("print('{}')", 'printed no [{"id", "score"}]'),
        ("sys.stdout.write('[' + ' ' * (1 << 21) + ']')", "printed more than 1048576 bytes"),
        ("sys.exit(3)", "failed with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "failed with signal 9"),
        ("sys.stderr.write('x' * 10**7 + '\\nend'); sys.exit(1)", "exit code 1 (end)"),
        ("#!/nonexistent/interpreter\n", "cannot be started"),
    ],
)
def test_bad_retriever_is_reported(store: Store, write: Write, script: str, said: str) -> None:
    write("mine", script)
    hits = look(store, plugin_timeout=20)
    assert ids(hits) == ["note-a"]
    (note,) = hits.notes
    assert note.startswith("retriever mine: ")
    assert said in note
    assert note.endswith(": its list is left out")


def test_late_retriever_is_killed_with_children(store: Store, write: Write, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    write("mine", f"#!/bin/sh\nsleep 60 &\necho $! $$ >'{pids}'\nsleep 60\n")
    hits = look(store, plugin_timeout=0.5)
    assert ids(hits) == ["note-a"]
    assert hits.notes == [
        "retriever mine: did not end within 0.5 s (plugin_timeout): its list is left out"
    ]
    assert [ended(int(pid)) for pid in pids.read_text().split()] == [True, True]


def ended(pid: int) -> bool:
    """Return True if a process has ended, or does so soon."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    ("out", "said"),
    [
        (b'[{"id": "note-b"}]', "printed no ["),
        (b'[{"id": "note-b", "score": true}]', "printed no ["),
        (b'[{"id": "note-b", "score": 1' + b"0" * 400 + b"}]", "printed a score"),
        (b"[" * 100000, "printed no JSON"),
        (b"", "printed no output"),
        (b"[\xff]", "printed no JSON"),
    ],
)
def test_wrong_output_is_refused(out: bytes, said: str) -> None:
    with pytest.raises(Refused) as error:
        parse_results(out)
    assert str(error.value).startswith(said)


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ROWS = st.dictionaries(st.sampled_from(["id", "score", "x"]), VALUES, max_size=3)
JSON = VALUES | st.lists(VALUES | ROWS | st.lists(ROWS, max_size=2), max_size=4) | ROWS


@given(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40))
def test_any_output_is_a_list_of_scores_or_refused(out: bytes) -> None:
    try:
        scores = parse_results(out)
    except Refused:
        return
    assert all(isinstance(id, str) and 0 < score < math.inf for id, score in scores.items())
    assert [*scores.values()] == sorted(scores.values(), reverse=True)
