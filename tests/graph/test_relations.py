"""Weights of relations: the store's, and the settings' over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from new_stores import new_store

from pylore.core.errors import LoreError
from pylore.core.settings import Settings
from pylore.graph.queries import relations
from pylore.graph.relations import known_relations, relation_weights, require_name, weight_notes
from pylore.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("relations")
    with new_store(str(folder)) as store:
        store.relations.declare("cites", 0.5, 0.1, "")
        store.relations.declare("cited_by", 0.2, 0.8, "")
        store.relations.declare("rests", 0.0, 0.5, "")
        yield store


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, {"cites": (0.5, 0.1), "cited_by": (0.2, 0.8), "rests": (0.0, 0.5)}),
        ({"edge_weights": "cites=1"}, {"cites": (1.0, 1.0)}),
        ({"edge_weights": "rests=0.4"}, {"rests": (0.4, 0.4)}),
        ({"edge_weights": "cites=1/0.9 rests=0/0"}, {"cites": (1.0, 0.9), "rests": (0.0, 0.0)}),
    ],
)
def test_single_weight_applies_both_ways(
    store: Store, flags: dict[str, str], expected: dict[str, tuple[float, float]]
) -> None:
    found = known_relations(store, Settings.load(environ={}, flags=flags))
    assert {name: found[name] for name in expected} == {
        name: pytest.approx(pair) for name, pair in expected.items()
    }


@pytest.mark.parametrize("name", ["reads from", "Reads-From", " reads  FROM ", "a", "a1", "a" * 64])
def test_a_name_is_folded_to_lower_snake_case(name: str) -> None:
    folded = require_name(name, "relation")
    assert folded == ("reads_from" if "r" in name.lower() else name)


@pytest.mark.parametrize("name", ["", " ", "1a", "_a", "é", "aé", "a.b", "a$", "a" * 65])
def test_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(LoreError, match="is not a valid name for a relation"):
        require_name(name, "relation")


def test_relations_have_descriptions_and_origins(store: Store) -> None:
    settings = Settings.load(environ={}, flags={"edge_weights": "is_new=0.4 cites=0.4"})
    rows = {row["name"]: row for row in relations(store, settings)}
    assert rows["mentions"]["description"] == "record, file -> entity, concept, file, symbol"
    assert rows["mentions"]["origin"] == "store"
    assert (rows["cites"]["weight"], rows["cites"]["origin"]) == (0.4, "setting")
    assert "is_new" not in rows


def test_weight_of_unknown_relation_declares_none(store: Store) -> None:
    """Founding document, configuration: "Fixed schema, not pluggable"."""
    settings = Settings.load(environ={}, flags={"edge_weights": "implments=0.1 cites=1"})
    assert "implments" not in known_relations(store, settings)
    assert weight_notes(store, settings) == [
        "no relation 'implments' (did you mean 'implements'?): its weight is ignored"
    ]


def test_settings_of_a_relation_apply_to_scopes(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        for name in ("cites", "cites@@agent-7", "rests"):
            store.relations.declare(name, 0.5, 0.5, "")

        def walked(flags: dict[str, str]) -> dict[str, tuple[float, float]]:
            found = relation_weights(store, Settings.load(environ={}, flags=flags))
            return {name: pair for name, pair in found.items() if name.startswith("cites")}

        assert [*walked({"graph_edges": "CITES"})] == ["cites", "cites@@agent-7"]
        assert [*walked({"graph_edges": "Cites@@agent-7"})] == ["cites@@agent-7"]
        assert walked({"graph_exclude_edges": "cites"}) == {}
        assert walked({"edge_weights": "cites=0.2"})["cites@@agent-7"] == (0.2, 0.2)
        settings = Settings.load(environ={}, flags={"edge_weights": "cites=0.2"})
        rows = {row["name"]: row["origin"] for row in relations(store, settings)}
        assert (rows["cites@@agent-7"], rows["rests"]) == ("setting", "store")
