"""The audit of runs."""

from __future__ import annotations

from pathlib import Path

from new_stores import new_store
from things import a_node

from pylore.app.find import audit
from pylore.core.settings import Settings


def test_audit_reads_newest_runs(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        with store.transaction():
            for number in range(201):
                at = f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z"
                store.nodes.put(a_node(f"run-{number}", created_at=at))
            store.impressions.show("run-0", ["note-a"], "q")
            store.impressions.show("run-1", ["note-a", "note-b"], "q")
        found = audit(store, Settings())
        of_one = audit(store, Settings(), "run-0")
    assert found["coverage"] == {"runs": 200, "finished": 0, "shown": 2, "rated": 0}
    assert of_one["coverage"]["shown"] == 1
