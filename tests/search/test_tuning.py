"""What the numbers of ``pylore/search/tuning.py`` do: each test fails where one is another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pylore.core.model import Edge, Hit, Node
from pylore.core.settings import Settings
from pylore.core.text import parse_query
from pylore.embed.static import StaticEmbedder
from pylore.graph.walk import Step, Walk
from pylore.indexing.indexer import Index
from pylore.search.expand import within
from pylore.search.legs import FullTextLeg, Matches
from pylore.search.pipeline import Request, find_matches, search
from pylore.search.related import related
from pylore.search.rules import DirectMatches, rule_named
from pylore.search.score import differing_signs, mmr
from pylore.store import Store
from pylore.store.filter import Scope

NOW = "2026-01-01T00:00:00Z"


def options(**flags: object) -> Settings:
    texts = {name: str(value) for name, value in flags.items()}
    return Settings.load(environ={}, flags=texts)


def node(id: str, text: str = "", title: str = "") -> Node:
    return Node(id, id.partition("-")[0], title, text, created_at=NOW, updated_at=NOW)


def put(store: Store, nodes: Sequence[Node], *, vectors: bool = False) -> None:
    with store.transaction():
        for one in nodes:
            store.nodes.put(one)
        Index(store, StaticEmbedder() if vectors else None).update(nodes)


# --- what is hidden


@pytest.mark.parametrize("hidden,listed", [(500, True), (501, False)])
def test_up_to_500_hidden_nodes_are_listed(
    hidden: int, listed: bool, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [node("note-a", "tokens"), node("note-b", "keys"), node("note-c", "locks")]
    gone = [node(f"goal-{number}", "x") for number in range(hidden - 1)]
    for one in (nodes[1], *gone):
        one.status = "superseded"
    put(store, [*nodes, *gone])
    with store.transaction():
        store.edges.put(Edge("note-a", "note-b", "relates_to", created_at=NOW))
        store.edges.put(Edge("note-b", "note-c", "relates_to", created_at=NOW))
    asked: list[int] = []
    among = type(store.nodes).hidden_among

    def noted(nodes: Any, ids: Sequence[str], statuses: Sequence[str]) -> set[str]:
        asked.append(len(ids))
        return among(nodes, ids, statuses)

    monkeypatch.setattr(type(store.nodes), "hidden_among", noted)
    found = search(store, options(graph_depth=2), Request("tokens"), None)
    assert [hit.id for hit in found] == ["note-a"]
    assert bool(asked) is not listed
    shown = Request("tokens", with_superseded=True)
    found = search(store, options(graph_depth=2), shown, None)
    assert {hit.id for hit in found} == {"note-a", "note-b", "note-c"}


def test_what_is_hidden_takes_no_place_however_much_it_is(store: Store) -> None:
    nodes = [node(f"note-{number}", f"tokens {number}") for number in range(1_300)]
    for one in nodes[:-3]:
        one.status = "retracted"
        one.title = "tokens"
    put(store, nodes, vectors=True)
    for retrievers in ("fulltext", "vector", "fulltext vector"):
        asked = options(retrievers=retrievers, vector_min=0)
        found = search(store, asked, Request("tokens"), StaticEmbedder())
        assert {hit.id for hit in found} == {one.id for one in nodes[-3:]}, retrievers


# --- full text


def leg(store: Store, query: str, excluded: str = "", room: int = 50) -> dict[str, float]:
    scope = Scope(excluded=frozenset(excluded.split()))
    return FullTextLeg(store, options(), parse_query(query), scope, room).scores


def test_full_text_looks_at_400_passages_for_50_matches(store: Store) -> None:
    put(store, [node(f"note-{number}", "token " * (1 + number % 9)) for number in range(450)])
    assert len(leg(store, "token")) == 400
    assert len(leg(store, "token", room=51)) == 408


def test_ten_nodes_of_50_with_all_words_are_enough(store: Store) -> None:
    put(store, [node(f"note-{number}", "token key") for number in range(10)])
    put(store, [node("note-some", "token")])
    assert "note-some" not in leg(store, "token key")
    assert "note-some" in leg(store, "token key", room=55)
    assert "note-some" in leg(store, "token key", "note-0")
    assert len(leg(store, "token", "note-some", room=200)) == 10, "one word is all words"


def test_other_forms_are_looked_for_where_fewer_match(store: Store) -> None:
    put(store, [node(f"note-{number}", "token") for number in range(10)])
    put(store, [node("note-form", "tokens")])
    assert "note-form" not in leg(store, "token w w2 w3 w4 w5 w6")
    assert "note-form" in leg(store, "token w w2 w3 w4 w5 w6", "note-0")


def test_a_second_passage_counts_a_half_a_third_a_fourth_and_no_more(store: Store) -> None:
    filler = ("token " + "filler " * 199, "token token " + "filler " * 198)
    text = filler[0] + filler[1] + filler[1] + filler[0]
    put(store, [node("note-long", text), node("note-short", "token")])
    rows = store.fulltext.search(
        "texts", parse_query("token"), "some", Scope(), options().field_weights, 10
    )
    long = [score for _, id, score in rows if id == "note-long"]
    (short,) = (score for _, id, score in rows if id == "note-short")
    assert len(long) == 4
    own = long[0] + long[1] / 2 + long[2] / 4
    found = leg(store, "token")
    assert found["note-short"] / found["note-long"] == pytest.approx(short / own)


def test_the_best_other_form_counts_six_tenths_of_the_last_word_as_written(store: Store) -> None:
    put(store, [node("note-1", "token token key"), node("note-2", "a token among other words"),
                node("note-3", "tokens"), node("note-4", "the tokens of it all")])  # fmt: skip
    found = leg(store, "token w w2 w3 w4 w5 w6")
    assert list(found) == ["note-1", "note-2", "note-3", "note-4"]
    assert found["note-3"] / found["note-2"] == pytest.approx(0.6)


def test_words_in_the_title_are_a_tenth_of_what_a_collection_is_worth(store: Store) -> None:
    put(store, [node("note-1", "token key")])
    assert leg(store, "token key") == {"note-1": pytest.approx(0.9)}
    put(store, [node("note-1", "token key", title="key")])
    assert leg(store, "token key") == {"note-1": pytest.approx(0.95)}
    assert leg(store, "token keys") == {"note-1": pytest.approx(0.9 * 0.75 + 0.1 / 4)}


def test_a_collection_without_a_whole_word_is_worth_a_twentieth(store: Store) -> None:
    put(store, [node("note-1", "tokens"), node("note-2", "toke zuc")])
    assert leg(store, "tok w w2 w3 w4 w5 w6") == {
        "note-1": pytest.approx(0.05, abs=0.02), "note-2": pytest.approx(0.05, abs=0.02),
    }  # fmt: skip
    assert max(leg(store, "tok w w2 w3 w4 w5 w6").values()) == pytest.approx(0.05)


def test_three_letters_may_be_the_beginning_of_a_word(store: Store) -> None:
    put(store, [node("note-1", "tokens")])
    assert leg(store, "tok").keys() == {"note-1"}
    assert leg(store, "to").keys() == set()


# --- vectors, fusion, and how sure it is


def test_the_vectors_give_two_passages_for_a_match(store: Store) -> None:
    nodes = [node(f"note-{number}", f"token number {number}") for number in range(110)]
    put(store, nodes, vectors=True)
    query = parse_query("token")
    vector = StaticEmbedder().embed(["token"])[0]
    for room, most in ((50, 100), (52, 104)):
        settings = options(retrievers="vector", vector_min=-1)
        found = find_matches(store, settings, query, vector, Scope(), frozenset(), room=room)
        assert len(found.legs["vector"]) == most


class Own:
    """A retriever of the user's own that finds one note."""

    def legs(self, store: Store, scope: Scope) -> dict[str, dict[str, float]]:
        return {"mine": {"note-2": 5.0}}


def test_a_retriever_of_ones_own_has_three_tenths_beside_the_others(store: Store) -> None:
    put(store, [node("note-1", "token"), node("note-2", "else")])
    own: Any = Own()
    for shares, expected in (("", 0.3 / (0.75 + 0.3)), ("mine=0.6", 0.6 / (0.75 + 0.6))):
        settings = options(retrievers="fulltext mine", retriever_shares=shares)
        found = find_matches(store, settings, parse_query("token"), None, Scope(), frozenset(), own)
        assert found.fused["note-2"] == pytest.approx(expected)


def test_three_quarters_of_the_words_are_sure_and_three_tenths_are_weak(store: Store) -> None:
    put(store, [node("note-1", "one two three four five six seven eight nine")])

    def asked(query: str) -> tuple[Any, bool]:
        request = Request(query, explain=True)
        (hit,) = search(store, options(retrievers="fulltext"), request, None)
        assert hit.explain is not None
        return hit.explain["confidence"], hit.weak

    some = "two three four five six seven eight nine"
    assert asked(f"{some} w w1 w2") == (pytest.approx(8 / 11 / 0.75, abs=1e-6), False)
    assert asked(f"{some} w w1") == (1.0, False)
    assert asked("two three four five w1 w2 w3 w4 w5 w6 w7 w8 w9") == (
        pytest.approx(4 / 13 / 0.75, abs=1e-6), False,
    )  # fmt: skip
    assert asked("two three w1 w2 w3 w4 w5") == (pytest.approx(2 / 7 / 0.75, abs=1e-6), True)


# --- expansion


def matches(fused: dict[str, float], confidence: float = 1.0) -> DirectMatches:
    found = Matches()
    found.fused, found.confidence = fused, confidence
    return DirectMatches(found, found, [Hit(id) for id in fused])


def test_the_worst_seed_has_a_tenth_of_the_best_one(store: Store) -> None:
    seeds_of = rule_named("accumulate").seeds
    found = matches({"note-1": 0.8, "note-2": 0.4, "note-3": 0.01})
    assert seeds_of(found, options(), []) == {"note-1": 1.0, "note-2": 0.5, "note-3": 0.1}
    assert seeds_of(found, options(graph_seeds=2), []).keys() == {"note-1", "note-2"}
    assert seeds_of(matches({"note-1": 0.0}), options(), []) == {"note-1": 0.1}


def test_nothing_overtakes_the_two_best_matches(store: Store) -> None:
    walk = Walk()
    walk.support = {"note-3": 0.9, "note-4": 1.5}  # of which no match alone is the root
    reached = Hit("note-4")
    reached.hops = 1
    found = matches({"note-1": 0.8, "note-2": 0.4, "note-3": 0.2}, 0.5)
    factors = rule_named("accumulate").factors(
        [*found.direct, reached], walk, found, options(graph_weight=2)
    )
    assert factors["note-4"]["decay"] == 0.7
    assert {id: pytest.approx(of["match"] * of.get("decay", 1)) for id, of in factors.items()} == {
        "note-1": 3.0, "note-2": 3.0 * 0.999, "note-3": 0.25 + 2 * 0.9, "note-4": 2 * 1.5,
    }  # fmt: skip
    (scale,) = {of["scale"] for of in factors.values()}
    assert scale == pytest.approx(0.8 * 0.5 / 3)


def test_without_support_a_match_is_worth_what_it_is_relative_to_the_best() -> None:
    found = matches({"note-1": 0.8, "note-2": 0.6, "note-3": 0.2}, 0.5)
    factors = rule_named("accumulate").factors(found.direct, Walk(), found, options())
    assert factors["note-1"] == {"match": 1.0, "scale": pytest.approx(0.4)}
    assert factors["note-3"]["match"] == pytest.approx(0.25)
    without_best = rule_named("accumulate").factors(found.direct[1:], Walk(), found, options())
    nothing = matches({"note-1": 0.0, "note-2": 0.0}, 0.5)
    assert rule_named("accumulate").factors(nothing.direct[1:], Walk(), nothing, options()) == {
        "note-2": {"match": 0.0, "scale": 0.5}
    }
    assert without_best["note-2"] == pytest.approx({"match": 0.75, "scale": 0.4})


def test_of_what_was_reached_20_times_as_many_are_looked_at(store: Store) -> None:
    put(store, [node(f"note-{number}") for number in range(50)])
    put(store, [node("decision-in"), node("decision-out")])
    walk = Walk()
    reached = [f"note-{number}" for number in range(38)]
    reached.insert(38, "decision-in")
    for id in [*reached, "note-38", "decision-out"]:
        walk.reached[id] = Step(id, 0.5)
    settings = options(graph_max_nodes=2)
    assert within(store, walk, Scope(types=("decision",)), settings) == ["decision-in"]
    walk.reached.pop("note-0")
    assert within(store, walk, Scope(types=("decision",)), settings) == [
        "decision-in", "decision-out",
    ]  # fmt: skip


def test_around_one_node_there_is_room_for_200_edges_and_500_nodes(store: Store) -> None:
    for hub in range(3):
        leaves = [node(f"note-{hub}-{number}") for number in range(210)]
        put(store, [node(f"note-hub{hub}"), *leaves])
        store.edges.put_many(
            Edge(f"note-hub{hub}", leaf.id, "relates_to", created_at=NOW) for leaf in leaves
        )

    def asked(count: int, **flags: object) -> tuple[int, str]:
        hubs = [f"note-hub{hub}" for hub in range(count)]
        found = related(store, options(graph_depth=1, **flags), hubs)
        return len(found), " ".join(found.notes)

    shown, said = asked(1)
    assert shown == 50 and "150 more related nodes are not shown" in said
    assert "the weaker edges of 1 well-connected node were left out: graph_fanout is 200" in said
    assert asked(1, graph_fanout=7)[0] == 7
    assert asked(1, graph_fanout=50)[0] == 50
    assert "not shown" not in asked(1, graph_fanout=50)[1]
    shown, said = asked(3)
    assert shown == 50 and "550 more related nodes are not shown: graph_max_nodes is 50" in said
    assert asked(3, graph_max_nodes=1000)[0] == 600


# --- repeats


def test_of_a_category_two_are_among_the_first_five() -> None:
    scores = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    categories = ["a", "a", "a", "a", None, None, None, None]
    assert mmr(scores, {(0, 1): 0.95}, 1.0, categories) == [0, 1, 4, 5, 6, 2, 3, 7]


def test_four_deviations_are_added_to_the_signs_that_may_differ() -> None:
    assert differing_signs(0.0, 256) == pytest.approx(128 + 4 * 8)
    assert differing_signs(1.0, 256) == 0


def test_the_first_50_results_may_be_re_ordered(store: Store) -> None:
    text = "pool " * 3
    put(store, [node(f"note-{number:02}", f"{text} {'x' * number}") for number in range(62)],
        vectors=True)  # fmt: skip

    def asked(**flags: object) -> list[str]:
        settings = options(limit=62, retrievers="fulltext vector", mmr_lambda=0, **flags)
        return [hit.id for hit in search(store, settings, Request("pool"),
                                         StaticEmbedder())]  # fmt: skip

    plain, spread = asked(diversify=0), asked()
    moved = [rank for rank, (a, b) in enumerate(zip(plain, spread, strict=True)) if a != b]
    assert 40 < max(moved) < 50
    assert spread[50:] == plain[50:] and len(plain) == 62
