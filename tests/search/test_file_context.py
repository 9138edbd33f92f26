"""Files at hand: their selection, tied records, and their effect on a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import prod
from pathlib import Path

import pytest
import searching
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from repositories import Repository
from searching import ids, look

from pylore.anchors.globs import Glob
from pylore.core.errors import LoreError
from pylore.core.model import Anchor, Edge, Hit, Node
from pylore.core.settings import BY_NAME, Settings
from pylore.records.records import Records
from pylore.search import Near
from pylore.search import legs as scores
from pylore.search.file_context import BY_GLOB, ITSELF, files_near, of_files, seeds
from pylore.search.places import explain_ways
from pylore.store import Store, files
from pylore.store.filter import Scope
from pylore.system.git import Git

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def ageless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "AGE_WEIGHT", 0)


def options(**flags: object) -> Settings:
    return searching.options(retrievers="fulltext", **flags)


def file_node(store: Store, *paths: str) -> None:
    for path in paths:
        node = Node(f"file-{path}", "file", path, file=path, created_at=NOW, updated_at=NOW)
        store.nodes.put(node)


def note(store: Store, key: str, text: str = "", *anchors: tuple[str, str, str]) -> str:
    id = f"note-{key}"
    Records(store, Settings(), None).add("note", text or key, id=id)
    for kind, path, detail in anchors:
        store.anchors.put(Anchor(id, kind, path, detail, created_at=NOW, verified_at=NOW))
    return id


def link(store: Store, a: str, relation: str, b: str, weight: float = 1.0) -> None:
    store.edges.put(Edge(a, b, relation, weight, created_at=NOW))


def at_hand(store: Store, *globs: str) -> Near:
    return Near(str(Path(store.path).parent.parent), globs)


def near(store: Store, *globs: str, **flags: object) -> dict[str, float]:
    ways = seeds(store, options(**flags), at_hand(store, *globs), [])
    return {id: way.score for id, way in ways.items()}


PARTS = st.sampled_from(
    ["a", "b", "ab", "/", "*", "**", "**/", "?", ".", "[ab]", "[!a]", "é", "{a,b/}"]
)
NAMES = st.text(alphabet="ab/.é", max_size=8)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that no test leaves anything in."""
    with new_store(str(tmp_path_factory.mktemp("shared") / ".lore")) as store:
        yield store


@given(st.lists(PARTS, max_size=5).map("".join), st.lists(NAMES, min_size=1, max_size=3))
def test_store_returns_every_matching_glob(shared: Store, glob: str, paths: list[str]) -> None:
    anchor = Anchor("note-a", "glob", glob, created_at=NOW, verified_at=NOW)
    shared.anchors.put(anchor)
    found = {path for _, _, path in shared.anchors.globs_like("", paths)}
    shared.anchors.delete(anchor.key)
    assert found >= {path for path in paths if Glob(glob).matches(path)}


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("src/**/*.py", ["src/a.py", "src/deep/b.py", "src/gone.py"]),
        ("src/[ab]*.p?", ["src/a.py"]),
        ("docs", ["docs/x.md"]),
        ("{src,none}/{a,deep/b}.py", ["src/a.py", "src/deep/b.py"]),
        ("o[d]{d,}", ["o[d]{d,}/y.md"]),
        ("o[d]{d,}/y.md", ["o[d]{d,}/y.md"]),
        ("none/*", []),
    ],
)
def test_globs_match_known_files_and_the_disk(
    store: Store, tmp_path: Path, glob: str, files: list[str]
) -> None:
    file_node(store, "src/a.py", "src/deep/b.py", "lib/c.py")
    note(store, "gone", "", ("file", "src/gone.py", ""))
    for path in ("docs/x.md", "o[d]{d,}/y.md"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).touch()
    notes: list[str] = []
    assert files_near(store, Near(str(tmp_path), [glob]), notes) == files
    assert len(notes) == (not files)


@given(st.text(max_size=12))
def test_any_name_gives_printable_files(shared: Store, name: str) -> None:
    with suppress(LoreError):
        assert all(path.isprintable() for path in files_near(shared, at_hand(shared, name), []))


def test_every_kind_of_anchor_ties(store: Store) -> None:
    file_node(store, "src/a.py")
    for kind, detail in (("file", ""), ("hash", ""), ("symbol", "f"), ("lines", "1-2")):
        note(store, kind, "", (kind, "src/a.py", detail))
    note(store, "glob", "", ("glob", "src/**/*.py", ""))
    note(store, "other", "", ("glob", "lib/*.py", ""))
    store.anchors.put(Anchor("note-away", "file", "src/a.py", root="/away", created_at=NOW))
    store.nodes.put(Node("doc-away", "doc", "x", file="src/a.py", source="file", created_at=NOW))
    store.documents.put("/away", files.DocumentFile("doc-away", "src/a.py"), "[]")
    tied = dict.fromkeys(("note-file", "note-hash", "note-symbol", "note-lines"), 1)
    assert near(store, "src/a.py") == {"file-src/a.py": ITSELF, "note-glob": BY_GLOB, **tied}
    assert asked(store, "", "src/a.py")[-1] == "note-glob"


def test_edges_tie_from_depth_1(store: Store) -> None:
    file_node(store, "a.py", "a.py2")
    link(store, "note-f", "anchored_to", "file-a.py", 0.8)
    link(store, "note-s", "anchored_to", "symbol-a.py::Login.check")
    link(store, "note-other", "anchored_to", "symbol-a.py2::check")
    link(store, "note-about", "relates_to", "file-a.py")
    assert near(store, "a.py") == {"file-a.py": ITSELF}
    found = near(store, "a.py", graph_depth=1)
    assert found == {"file-a.py": ITSELF, "note-f": pytest.approx(0.8), "note-s": 1}
    without = near(store, "a.py", graph_depth=1, graph_exclude_edges="ANCHORED_TO")
    assert without == {"file-a.py": ITSELF}


@pytest.fixture
def filled(store: Store) -> Store:
    for number in range(12):
        note(store, f"plain{number:02}", "tokens " * (13 - number) + "filler " * number)
    file_node(store, "a.py")
    for number in range(15):
        note(store, f"tied{number:02}", f"something else {number}", ("file", "a.py", ""))
    store.anchors.put(Anchor("note-plain09", "file", "a.py", created_at=NOW, verified_at=NOW))
    return store


def asked(store: Store, query: str, *globs: str, **flags: object) -> list[str]:
    near = at_hand(store, *globs) if globs else None
    return ids(look(store, query, near=near, retrievers="fulltext", **flags))


@pytest.mark.parametrize(
    "flags", [{}, {"graph_depth": 1}, {"graph_depth": 1, "expansion": "best-path"}]
)
def test_files_at_hand_preserve_plain_matches(filled: Store, flags: dict[str, object]) -> None:
    plain = asked(filled, "tokens", limit=5)
    found = asked(filled, "tokens", "a.py", limit=5, **flags)
    assert set(found) >= {*plain, "note-plain09"}
    assert len(set(found)) == len(found)
    more = set(found) - set(plain)
    assert all("tied" in id or id in ("note-plain09", "file-a.py") for id in more)


def test_paths_start_at_a_file_at_hand(store: Store) -> None:
    file_node(store, "a.py", "b.py", "c.py")
    note(store, "own", "", ("file", "a.py", ""))
    note(store, "next", "tokens", ("file", "b.py", ""))
    note(store, "partner", "", ("glob", "c.*", ""))
    note(store, "further")
    link(store, "file-a.py", "imports", "file-b.py", 0.9)
    link(store, "file-c.py", "co_changes_with", "file-a.py")
    link(store, "note-next", "relates_to", "note-further", 0.5)
    over_b = ["file-a.py", "file-b.py", "note-next"]
    wanted = {
        "note-own": (["note-own"], None),
        "note-next": (over_b, "anchored_to"),
        "note-partner": (["file-a.py", "file-c.py", "note-partner"], "anchored_to"),
        "note-further": (["note-next", "note-further"], "relates_to"),
    }

    def ways(hits: Iterable[Hit]) -> dict[str, tuple[list[str], str | None]]:
        assert all(hit.hops == len(hit.path) - 1 for hit in hits)
        return {hit.id: (hit.path, hit.edge_type) for hit in hits if hit.type == "note"}

    near_a = at_hand(store, "a.py")
    for rule in BY_NAME["expansion"].choices:
        flags = {"graph_depth": 1, "expansion": rule, "retrievers": "fulltext", "near": near_a}
        hits = look(store, "", explain=True, **flags)
        found = ways(hits)
        assert found == wanted, rule
        for hit in hits:
            walked = [step["to"] for step in (hit.explain or {}).get("walk", {"hops": ()})["hops"]]
            assert walked == hit.path[1:]
        found = ways(look(store, "tokens", **flags))
        assert found["note-next"] == (["note-next"], None)
        assert found["note-further"] == wanted["note-further"]
    tied, _ = of_files(store, options(graph_depth=1), near_a, Scope(), [])
    assert ways(tied) == {id: wanted[id] for id in wanted if id != "note-further"}
    explain_ways(tied, options())
    for hit in tied:
        if hit.hops and hit.explain:
            steps = hit.explain["walk"]["hops"]
            factors = [s["edge_weight"] * s["relation_weight"] * s["decay"] for s in steps]
            assert prod(factors) == pytest.approx(hit.factors["files"])


def test_git_mark_means_changed_files(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    git = Git(str(repository.root))
    assert git.changed() == []
    repository.write("a b.py", "1")
    repository.git("add", "-A")
    repository.write("é.py", "1")
    assert git.changed() == ["a b.py", "é.py"]
    repository.commit()
    assert git.changed() == []
    repository.git("mv", "a b.py", "c.py")
    assert git.changed() == ["a b.py", "c.py"]
    with new_store(str(repository.root / ".lore")) as store:
        repository.write(".lore/export.jsonl", "")
        repository.write("odd\u200ename.py", "1")
        assert files_near(store, Near(str(repository.root), ["@git"]), []) == ["a b.py", "c.py"]
    (repository.root / "odd\u200ename.py").unlink()
    repository.write("sub/d.py", "1")
    assert Git(str(repository.root / "sub")).changed() == ["d.py"]
