"""Test ``lore eval``, with ``--tune`` too."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import pytest
from commands import Lore

WORDS = "granite heron lagoon maple nettle orchid pebble quartz reed spruce".split()
QUERIES = [
    {"id": word, "query": word, "relevant": [f"note-{word}", f"decision-{word}"]} for word in WORDS
]
EVAL = ("eval", "--queries", "queries.jsonl")


@pytest.fixture(autouse=True)
def _queries(lore: Lore) -> None:
    """Each query has two relevant records: the first has the word, the second is linked to it."""
    lore.write(".lore/.config", "embedder=none\n")
    lore.fill(
        *({"id": f"note-{word}", "title": f"All about {word}"} for word in WORDS),
        *({"id": f"decision-{word}", "title": "A rule"} for word in WORDS),
        *(
            {"from_id": f"note-{word}", "to_id": f"decision-{word}", "relation": "relates_to"}
            for word in WORDS
        ),
    )
    lore.write("queries.jsonl", lines(*QUERIES))


def lines(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_eval_measures_legs_fusions_and_configurations(lore: Lore) -> None:
    done = lore(*EVAL)
    rows = done.json["rows"]
    assert (done.json["queries"], done.json["reference"], done.err) == (10, "fulltext", "")
    ids = "fulltext vector convex rrf graph_depth=0 graph_depth=1"
    assert [row["id"] for row in rows] == ids.split()
    assert rows[-1]["recall@5"] == 1
    assert rows[-1]["difference"]["recall@5"]["mean"] == 0.5


def test_eval_prints_a_table_without_writing(lore: Lore) -> None:
    temporary = lore.root / "temporary"
    temporary.mkdir()
    lore.patch.setattr("tempfile.tempdir", str(temporary))
    before = lore("export").out
    done = lore(*EVAL, "--controls", "--text")
    assert "recall@5  recall@10  all_relevant@5  ndcg@10" in done.lines[0]
    assert "recall@5 against fulltext" in done.lines[0]
    for part in ("shuffled edges, graph_depth=1", "in-degree prior  ", "+50.0 [+50.0, +50"):
        assert part in done.out
    assert lore("export").out == before and os.listdir(temporary) == []


def test_eval_and_tune_refuse_in_a_line(lore: Lore) -> None:
    lore.write("few.jsonl", lines(*QUERIES[:9]))
    lore.write("bad.jsonl", '{"id":"x","query":"y","relevant":"z"}\n')
    lore.refuse_each("""
        eval | 2 | eval needs --queries FILE
        eval --queries none.jsonl | 1 | none.jsonl
        eval --queries /dev/null | 1 | no query with relevant ids
        eval --queries bad.jsonl | 1 | line 1: relevant is not a list of ids
        eval --queries queries.jsonl --compare graph_dept=1 | 2 | did you mean 'graph_depth'
        tune | 2 | eval needs --queries FILE
        tune --queries queries.jsonl --controls | 2 | --tune and --controls exclude each other
        eval --queries queries.jsonl --settings fusion | 2 | needs --tune
        tune --queries few.jsonl | 1 | too few for 5 folds
        tune --queries queries.jsonl --settings embedder | 2 | 'embedder' is not tuned
    """)
