"""Fewer results are the first ones of more: at every depth, with every filter, rule and leg."""

from __future__ import annotations

import tempfile

from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import new_store
from samples import examples

from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.embed.static import StaticEmbedder
from pylore.indexing.indexer import Index
from pylore.search import tuning
from pylore.search.file_context import Near
from pylore.search.pipeline import Request, search
from pylore.store.anchors import DocumentFile
from pylore.store.filter import Scope

NOW = "2026-01-01T00:00:00.000000Z"
WORDS = ("token", "tokens", "key", "cookie", "session", "login")
TYPES = ("note", "decision", "file", "symbol", "run", "doc")

BODIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
NODES = st.lists(
    st.tuples(st.sampled_from(TYPES), BODIES, st.booleans(), st.sampled_from(("", "a", "b", "c"))),
    min_size=5, max_size=40,
)  # fmt: skip
EDGES = st.lists(
    st.tuples(st.integers(0, 39), st.integers(0, 39),
              st.sampled_from(("relates_to", "supersedes", "used_in_run"))),
    max_size=60,
)  # fmt: skip


def _id(number: int, type: str) -> str:
    return {"file": f"file-src/{'test_' * (number % 2)}{number}.py",
            "symbol": f"symbol-src/{number}.py::f"}.get(type, f"{type}-{number}")  # fmt: skip


@settings(max_examples=examples(40), deadline=None)
@given(
    NODES, EDGES, st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
    st.sampled_from(((), ("note",), ("note", "file"), ("file",))),
    st.fixed_dictionaries({
        "graph_depth": st.sampled_from(("0", "1", "2")),
        "expansion": st.sampled_from(("accumulate", "best-path", "activation")),
        "fusion": st.sampled_from(("convex", "rrf")),
        "graph_limit": st.sampled_from(("2", "10")),
        "min_score": st.sampled_from(("0", "0.3")),
    }),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_fewer_results_are_the_first_of_more(
    nodes: list[tuple[str, str, bool, str]],
    edges: list[tuple[int, int, str]],
    query: str,
    types: tuple[str, ...],
    flags: dict[str, str],
    near: bool,
    tagged: bool,
) -> None:
    ids = [_id(number, node[0]) for number, node in enumerate(nodes)]
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        paths = [id.removeprefix("file-") for id in ids if id.startswith("file-")]
        documents = [id for id in ids if id.startswith("doc-")]
        made_from = dict(zip(documents, paths, strict=False))
        made = [
            Node(id, type, body, body, tags=("web",) if tag else (), category=category or None,
                 created_at=NOW, updated_at=NOW, file=id.partition("-")[2].partition("::")[0]
                 if type in ("file", "symbol") else made_from.get(id))
            for id, (type, body, tag, category) in zip(ids, nodes, strict=True)
        ]  # fmt: skip
        with store.transaction():
            for one in made:
                store.nodes.put(one)
            for id, path in zip(documents, paths, strict=False):
                store.documents.put("", DocumentFile(id, path), "[]")
            for here, there, relation in edges:
                if here != there and max(here, there) < len(ids):
                    store.edges.put(Edge(ids[here], ids[there], relation, created_at=NOW))
            Index(store, StaticEmbedder()).update(made)
        pool = tuning.POOL
        try:
            for tuning.POOL in (pool, 5):  # with a small one, of several pools
                request = Request(query, Scope(types=types, tags=("web",) if tagged else ()),
                                  near=Near(folder, ["src/**"]) if near else None)  # fmt: skip
                found = {
                    limit: [(hit.id, hit.score) for hit in search(
                        store, Settings.load(environ={}, flags={**flags, "limit": str(limit)}),
                        request, StaticEmbedder())]
                    for limit in (1, 2, 3, 7, 20, 60)
                }  # fmt: skip
                if "file" not in types:
                    shown = {id for some in found.values() for id, _ in some}
                    assert not any({id, f"file-{path}"} <= shown
                                   for id, path in zip(documents, paths, strict=False))  # fmt: skip
                for few in found:
                    for more in found:
                        if few < more:
                            assert found[few][:few] == found[more][:few]
        finally:
            tuning.POOL = pool
