"""Searches at a hub hide other scopes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hubs import PeopledHub, edge, note

from pylore.app import Engine
from pylore.app.find import search
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import connect
from pylore.hub.search import SearchedHub, index_hub

HIDDEN = ("zebra", "quagga", "okapi", "@@red", "@@blue")
SEEN_BY = {
    "a-reader": set(),
    "ann": {"zebra", "okapi", "@@red"},
    "bob": {"quagga", "@@blue"},
    "tom": {"zebra", "okapi", "@@red"},
    "cur": set(),
}


@pytest.fixture(scope="module")
def indexed(hub: PeopledHub) -> Iterator[PeopledHub]:
    """With vectors, and links into two scopes."""
    embedder = StaticEmbedder()
    hub.push(
        "postgres",
        note("entity-shop", type="entity", title="shop"),
        note("entity-okapi@@red", type="entity", title="okapi"),
        note("entity-pens", type="entity", title="pens"),
        edge("entity-shop", "uses", "entity-okapi@@red"),
        edge("entity-shop", "uses@@blue", "entity-pens"),
        edge("note-1", "relates_to", "note-red@@red"),
        edge("note-1", "relates_to", "note-blue@@blue"),
        edge("note-blue@@blue", "relates_to", "entity-pens"),
    )
    for user in ("ann", "bob", "ann"):  # each indexes visible records
        with connect(hub.server.url(hub.database, user)) as connection:
            index_hub(connection, lambda: embedder, [])
    assert hub.do("SELECT count(*) > 5 FROM lore.passages") == [(True,)]
    yield hub


@pytest.mark.parametrize(("user", "scope"), [*((one, "") for one in SEEN_BY), ("postgres", "red")])
def test_searches_show_only_visible_scopes(indexed: PeopledHub, user: str, scope: str) -> None:
    said = []
    settings = Settings().changed([("graph_depth", "2"), ("scope", scope)], "this test")
    with SearchedHub(connect(indexed.server.url(indexed.database, user)), scope) as store:
        engine = Engine(store, settings, "", embedder=StaticEmbedder())  # type: ignore[arg-type]
        words = "zebra|quagga|okapi|shop uses|zeb|note-1"
        for question in (*words.split("|"), '"okapi"', "-zebra note", "title:okapi"):
            found = search(engine, question, explain=True, operators=True)
            said += [repr(hit.to_dict()) for hit in found] + found.notes
    text = "\n".join(said)
    assert "note-1" in text and "shop" in text
    assert {word for word in HIDDEN if word in text} == SEEN_BY.get(user, SEEN_BY["ann"])


@pytest.mark.parametrize("user", SEEN_BY)
def test_functions_show_only_visible_scopes(indexed: PeopledHub, user: str) -> None:
    ids = [id for (id,) in indexed.do("SELECT id FROM lore.nodes")]
    vector = "[" + ",".join(["1"] * StaticEmbedder().dimension) + "]"
    asked: list[tuple[str, tuple[object, ...]]] = [
        ("SELECT lore.shown(%s, ARRAY(SELECT generate_series(1, 99)))::text", (ids,)),
        ("SELECT lore.neighbours(%s, '{uses,relates_to,uses@@blue}', '{}', 99)::text", (ids,)),
        ("SELECT lore.find('zebra quagga okapi note', '{}', 99)::text", ()),
        ("SELECT lore.near(%s, '{}', 99)::text", (vector,)),
        ("SELECT lore.having('zebra', false)::text", ()),
        ("SELECT lore.having('okapi', true)::text", ()),
        ("SELECT lore.having('quagga', false)::text", ()),
        ("SELECT lore.hello()::text", ()),
    ]
    text = "\n".join(str(row) for sql, values in asked for row in indexed.do(sql, values, user))
    if user != "a-reader":
        indexed.do("UPDATE lore.nodes SET due = true WHERE type <> ''")
        text += str(indexed.do("SELECT lore.lacking(1000)::text", user=user))
        indexed.do("UPDATE lore.nodes SET due = false")
    assert "note-1" in text
    words = {word for word in HIDDEN if word in text}
    assert words <= SEEN_BY[user]
    assert words or not SEEN_BY[user]


@pytest.mark.parametrize("user", SEEN_BY)
def test_counts_leave_out_hidden_words(indexed: PeopledHub, user: str) -> None:
    sql = "SELECT word, passages > 0 FROM lore.counts('{zebra,quagga,okapi}') WHERE word <> ''"
    said = {word for word, is_there in indexed.do(sql, user=user) if is_there}
    assert said == SEEN_BY[user] - {"@@red", "@@blue"}
    cosines = "SELECT count(*) FROM lore.cosines(ARRAY(SELECT generate_series(1, 99)))"
    assert indexed.do(cosines, user=user) < indexed.do(cosines)


def test_no_role_indexes_other_scopes(indexed: PeopledHub) -> None:
    node, order_key = indexed.do(
        "UPDATE lore.nodes SET due = true WHERE id = 'note-blue@@blue' RETURNING key, order_key"
    )[0]
    batch = json.dumps([{"node": node, "order_key": order_key, "passages": []}])
    values = (batch, StaticEmbedder.name)
    for user, done in (("ann", 0), ("bob", 1)):
        assert indexed.do("SELECT lore.put(%s, %s, 9)", values, user) == [(done,)]
