"""Reasons that records give are whole at the beginning of contexts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from new_stores import new_store

from pylore.code.index import index
from pylore.context.build import build
from pylore.context.results import ContextBrief, wider
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.records.records import Records
from pylore.store import Store
from pylore.store.filter import Scope

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("why.jsonl").read_text().splitlines()
]
NOUNS = ("session", "payment", "token", "template", "import", "config", "column", "index", "flag",
         "request", "image", "order")  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Path]]:
    """A store of code, pages and the records, which are about the same things."""
    root = tmp_path_factory.mktemp("why")
    embedder = StaticEmbedder()
    with new_store(str(root / ".lore")) as store:
        for noun in NOUNS:
            functions = (
                f'def {verb}_{noun}(self):\n    """{verb.title()} a {noun} and its key."""\n'
                f"    return self.{noun}s.{verb}({noun})\n\n\n"
                for verb in ("read", "check", "store", "remove")
            )
            (root / f"{noun}s.py").write_text("".join(functions))
        index(store, Settings(), lambda: None, str(root))
        records = Records(store, Settings(), embedder)
        for noun in NOUNS:
            said = f"A {noun} is read by {noun}s.py. Set its key, check it, remove it at the end."
            records.add("doc", said, title=f"How to use a {noun}")
        for row in ROWS:
            records.add(row["type"], row["body"], title=row["title"])
        yield store, root


@pytest.mark.parametrize("form", ["narrative", "json"])
def test_the_reason_is_whole_in_the_first_40_lines(project: tuple[Store, Path], form: str) -> None:
    store, root = project
    settings = wider(Settings().changed([("graph_depth", "2")], "test"))
    embedder = StaticEmbedder()
    missing = []
    for row in ROWS:
        brief = ContextBrief(row["question"], form=form, budget=settings.budget, root=str(root),
                             scope=Scope())  # fmt: skip
        text = build(store, settings, brief, embedder).text
        if row["reason"] not in "\n".join(text.split("\n")[:40]):
            missing.append(row["question"])
    assert missing == []
