"""Test ``graph similar`` and diversity of a search."""

from __future__ import annotations

import pytest
from commands import Lore


@pytest.fixture
def filled(lore: Lore) -> Lore:
    """Run commands in a project of two equal notes and a third note."""
    lore.patch.delenv("LORE_EMBEDDER")
    same = "The connection pool runs empty when {} worker leaks a connection"
    lore.fill(
        {"id": "note-a", "title": same.format("a")},
        {"id": "note-b", "title": same.format("some")},
        {"id": "note-c", "title": "Invoices are sent on Mondays"},
    )
    return lore


def test_similar_links_and_unlinks_records(filled: Lore) -> None:
    counts = {"min": 0.8, "nearest": 5, "records": 3, "edges": 1, "added": 1}
    zero = dict.fromkeys(("updated", "invalidated", "unchanged"), 0)
    assert filled("graph", "similar").json == {**counts, **zero}
    [edge] = filled("show", "note-a").json["edges"]
    assert (edge["relation"], edge["id"], edge["direction"]) == ("similar_to", "note-b", "out")
    assert edge["weight"] > 0.9
    assert filled("graph", "similar").json["unchanged"] == 1
    assert filled("graph", "similar", "--remove").json["invalidated"] == 1
    assert filled("show", "note-a").json["edges"] == []


def test_similar_refuses_wrong_options(lore: Lore) -> None:
    lore("add", "note", "words")
    lore.refuse_each("""
        graph similar --min 1.5 | 2 | --min
        graph similar -k 0 | 2 | --nearest
        graph similar --type nots | 2 | unknown type 'nots'
        graph similar | 1 | lore store reindex
    """)
