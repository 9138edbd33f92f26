"""What a search at a hub tells of scopes that one is not in: nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hub_lines import edge, note
from hubs import PeopledHub

from pylore.app.engine import Engine
from pylore.app.find import search
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.hub.connection import connect
from pylore.hub.indexing import index_hub
from pylore.hub.search import open_hub

HIDDEN = ("zebra", "quagga", "okapi", "@@red", "@@blue")
SEEN_BY = {
    "a-reader": set(), "ann": {"zebra", "okapi", "@@red"}, "bob": {"quagga", "@@blue"},
    "tom": {"zebra", "okapi", "@@red"}, "cur": set(),
}  # fmt: skip


@pytest.fixture(scope="module")
def indexed(hub: PeopledHub) -> Iterator[PeopledHub]:
    """With vectors; an entity that all see, of which each scope states a fact of its own."""
    embedder = StaticEmbedder()
    hub.push("postgres", note("entity-shop", type="entity", title="shop"),
             note("entity-okapi@@red", type="entity", title="okapi"),
             note("entity-pens", type="entity", title="pens"),
             edge("entity-shop", "uses", "entity-okapi@@red"),
             edge("entity-shop", "uses@@blue", "entity-pens"),
             edge("note-1", "relates_to", "note-red@@red"),
             edge("note-1", "relates_to", "note-blue@@blue"))  # fmt: skip
    for user in ("ann", "bob", "ann"):  # each indexes what is seen there
        with connect(hub.server.url(hub.database, user)) as connection:
            index_hub(connection, lambda: embedder, [])
    assert hub.do("SELECT count(*) > 5 FROM lore.passages") == [(True,)]
    yield hub


@pytest.mark.parametrize("user", SEEN_BY)
def test_a_search_finds_what_one_may_see_and_nothing_else(indexed: PeopledHub, user: str) -> None:
    said = []
    settings = Settings().changed([("graph_depth", "2")], "this test")
    with open_hub(connect(indexed.server.url(indexed.database, user)), settings) as store:
        store.meta.held = StaticEmbedder().name
        engine = Engine(store, settings, "", embedder=StaticEmbedder())  # type: ignore[arg-type]
        for question in ("zebra", "quagga", "okapi", "shop uses", "zeb", '"okapi"', "note-1"):
            found = search(engine, question, explain=True, operators=True)
            said += [repr(hit.to_dict()) for hit in found] + found.notes
    text = "\n".join(said)
    assert "note-1" in text and "shop" in text
    assert {word for word in HIDDEN if word in text} == SEEN_BY[user]


@pytest.mark.parametrize("user", SEEN_BY)
def test_no_function_that_one_may_call_tells_more(indexed: PeopledHub, user: str) -> None:
    keys = [key for (key,) in indexed.do("SELECT key FROM lore.nodes")]
    passages = [key for (key,) in indexed.do("SELECT key FROM lore.passages")]
    asked: list[tuple[str, tuple[object, ...]]] = [
        ("SELECT lore.nodes_said(%s)::text", (keys,)),
        ("SELECT lore.passages_of(%s, %s, %s)::text", (passages, passages, passages)),
        ("SELECT lore.having('zebra', false)::text", ()),
        ("SELECT lore.having('okapi', true)::text", ()),
        ("SELECT lore.having('quagga', false)::text", ()),
        ("SELECT lore.pull('0', 0, 1000)::text", ()),
        ("SELECT lore.hello()::text", ()),
    ]
    if user in ("ann", "bob", "tom", "cur"):
        indexed.do("SELECT lore.queue(array_agg(key), array_agg(scope)) FROM lore.nodes"
                   " WHERE type <> ''")  # fmt: skip
        asked.append(("SELECT lore.lacking(1000)::text", ()))
    text = "\n".join(str(row) for sql, values in asked for row in indexed.do(sql, values, user))
    assert "note-1" in text
    words = {word for word in HIDDEN if word in text}
    assert words <= SEEN_BY[user]
    assert words or not SEEN_BY[user]


def test_nobody_indexes_what_is_of_another_scope(indexed: PeopledHub) -> None:
    indexed.do("DELETE FROM lore.unindexed")
    key, scope, step = indexed.do(
        "INSERT INTO lore.unindexed(node_key, scope) SELECT key, scope FROM lore.nodes"
        " WHERE id = 'note-blue@@blue' RETURNING node_key, scope, step"
    )[0]
    batch = (
        f'[{{"node": {key}, "scope": "{scope}", "steps": [{step}], "collection": 0,'
        ' "passages": [[1, 1, 5, 1, " x | y |  |  |  ", null, null, null, null]]}]'
    )
    for user, done in (("ann", 0), ("bob", 1)):
        assert indexed.do("SELECT lore.index_passages(%s)", (batch,), user) == [(done,)]
