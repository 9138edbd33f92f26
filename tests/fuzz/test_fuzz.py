"""Some inputs of ``make fuzz``, the corpus first."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import move_home
from mutator import as_sample
from samples import examples
from session import run
from store_kinds import JsonLines

INPUTS = examples(1_000)


def test_no_input_breaks_a_promise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_home(monkeypatch, tmp_path / "home")
    trials = run(tmp_path, 16, INPUTS)
    assert sum(trial.tried for trial in trials) == INPUTS
    faults = [fault for trial in trials for fault in trial.faults.values()]
    assert [(fault.trace, as_sample(fault.data)) for fault in faults] == []


def test_partial_import_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pylore.store.store.Transaction.__exit__", _commit)
    kind = JsonLines(tmp_path)
    with pytest.raises(AssertionError, match="all or nothing"):
        for number in range(20):
            kind.check_one(b'{"id":"note-9","type":"note"}\n{"id":"%d"}' % number)


def _commit(transaction: object, *_: object) -> None:
    transaction._connection.execute("COMMIT")  # type: ignore[attr-defined]
