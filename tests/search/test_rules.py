"""Rules of expansion: found by the name of the setting, and a new one needs no change elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from new_stores import new_store
from sqlite_stores import connection_of

from pylore.core.errors import UsageError
from pylore.core.model import Edge, Hit, Node
from pylore.core.settings import BY_NAME, EXPANSION_RULES, Settings
from pylore.core.times import now
from pylore.graph.walk import Step, Walk
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.search.rules import DirectMatches, rule_named
from pylore.store import ALL, Store
from pylore.store.filter import Scope

if TYPE_CHECKING:
    from pylore.core.scoring import Factors
    from pylore.graph.walk import Bundles
    from pylore.search.rules import Rule


class Neighbours:
    """A rule of nobody's: the best match alone, one hop, and everything there is worth half."""

    def seeds(
        self, matches: DirectMatches, settings: Settings, notes: list[str]
    ) -> Mapping[str, float]:
        notes.append(f"from {matches.direct[0].id}")
        return {matches.direct[0].id: 0.5}

    def walk(
        self, edges: Bundles, seeds: Mapping[str, float],
        weights: Mapping[str, tuple[float, float]],
        *, depth: int, decay: float, fanout: int, max_nodes: int, min_confidence: float = 0.0,
        barred: Set[str] = frozenset(),
    ) -> Walk:  # fmt: skip
        result = Walk()
        for id, outgoing, *columns in edges.bundles([*seeds], [*weights], ALL):
            before = Step(id, seeds[id])
            for relation, other, weight in zip(*columns, strict=True):
                result.reached[other] = Step(other, 0.5, before, relation, weight, 1.0, outgoing)
        return result

    def factors(
        self, hits: Iterable[Hit], walk: Walk, matches: DirectMatches, settings: Settings
    ) -> dict[str, Factors]:
        return {
            hit.id: {"nearness": 0.5, "half": 0.5} if hit.hops else matches.found.factors(hit.id)
            for hit in hits
        }


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule under a name of its own, in a module that the project knows nothing of."""
    module = ModuleType("somewhere_else")
    rule: Rule = Neighbours()
    vars(module)["RULE"] = rule
    monkeypatch.setitem(sys.modules, "somewhere_else", module)
    monkeypatch.setitem(EXPANSION_RULES, "neighbours", "somewhere_else")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("rules")
    with new_store(str(folder)) as store:
        records = Records(store, Settings(), None)
        records.add("note", "tokens expire", id="note-a")
        records.add("note", "cookies", id="note-b", links=[("note-a", "relates_to")])
        records.add("note", "sessions", id="note-c", links=[("note-b", "relates_to")])
        yield store


def options(**flags: str) -> Settings:
    return Settings.load(environ={}, flags={"graph_depth": "2", "retrievers": "fulltext", **flags})


@pytest.mark.usefixtures("toy")
def test_a_new_rule_is_an_entry_of_the_table(store: Store) -> None:
    settings = options(expansion="neighbours")
    hits = search(store, settings, Request("tokens expire", explain=True), None)
    assert [(hit.id, hit.hops, hit.score) for hit in hits] == [
        ("note-a", 0, 1.0), ("note-b", 1, 0.25),
    ]  # fmt: skip
    assert hits.notes == ["from note-a"]
    assert hits[1].explain is not None
    assert hits[1].explain["factors"] == {"nearness": 0.5, "half": 0.5, "age": 1, "relevance": 1}
    assert "neighbours" in BY_NAME["expansion"].choices


def test_a_rule_that_is_not_in_the_table_is_no_value_of_the_setting() -> None:
    with pytest.raises(UsageError, match="accumulate, best-path, activation"):
        options(expansion="neighbours")


@pytest.mark.parametrize("name", EXPANSION_RULES)
def test_every_rule_of_the_table_searches(store: Store, name: str) -> None:
    assert rule_named(name) is rule_named(name)
    hits = search(store, options(expansion=name), Request("tokens expire"), None)
    assert [hit.id for hit in hits] == ["note-a", "note-b", "note-c"]


@pytest.mark.parametrize("name", EXPANSION_RULES)
def test_only_who_asks_gets_the_explanation(store: Store, name: str) -> None:
    settings = options(expansion=name)
    assert [hit.explain for hit in search(store, settings, Request("tokens"), None)] == [None] * 3
    first, *reached = search(store, settings, Request("tokens", explain=True), None)
    assert first.explain and "walk" not in first.explain
    assert [len(hit.explain["walk"]["hops"]) for hit in reached if hit.explain] == [1, 2]
    explained = [hit.explain or {} for hit in (first, *reached)]
    support = [one["support"] for one in explained if "support" in one]
    assert (len(support) == 3 and support[0] < 0.1 < support[1]) is (name == "accumulate")


def test_runs_tie_records_to_each_other_and_are_shown_to_who_asks_for_them(store: Store) -> None:
    def asked(*types: str) -> list[str]:
        request = Request("tokens", Scope(types=types))
        return [hit.id for hit in search(store, options(), request, None)]

    connection_of(store).execute("SAVEPOINT run")
    store.nodes.put(Node("run-1", "run", created_at=now(), updated_at=now()))
    store.nodes.put(Node("note-d", "note", created_at=now(), updated_at=now()))
    for id in ("note-a", "note-d"):
        store.edges.put(Edge(id, "run-1", "used_in_run", 1.0, created_at=now()))
    found, runs = asked(), asked("run")
    connection_of(store).execute("ROLLBACK TO run")
    assert set(found) == {"note-a", "note-b", "note-c", "note-d"}
    assert runs == ["run-1"]


def test_no_stage_of_a_search_asks_for_a_rule_by_its_name() -> None:
    folder = Path(sys.modules["pylore"].__path__[0])
    asking = [
        path.relative_to(folder).as_posix()
        for package in ("search", "graph")
        for path in (folder / package).rglob("*.py")
        if "settings.expansion" in path.read_text()
    ]
    assert asking == ["search/expand.py"], "to look it up, and nothing else"
