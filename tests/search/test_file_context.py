"""Seeds that files bring: what is tied to them, how near it is, and what a search does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from repositories import Repository

import pylore
from pylore.anchors.project import glob_pattern, matches
from pylore.core.errors import LoreError
from pylore.core.model import Edge, Hit, Node
from pylore.core.settings import EXPANSION_RULES, Settings
from pylore.records.records import Records
from pylore.search.file_context import Near, named, of_files, seeds
from pylore.search.pipeline import Request, search
from pylore.search.tuning import BY_GLOB, ITSELF, NEXT, TIED
from pylore.store import Store
from pylore.store.anchors import Anchor
from pylore.store.filter import Scope
from pylore.system.git import Git

NOW = "2026-01-01T00:00:00Z"
FULLTEXT = {"retrievers": "fulltext", "recency_weight": "0"}


def options(**flags: object) -> Settings:
    return Settings.load(environ={}, flags={**FULLTEXT, **{k: str(v) for k, v in flags.items()}})


def file_node(store: Store, *paths: str) -> None:
    for path in paths:
        store.nodes.put(Node(f"file-{path}", "file", path, file=path, created_at=NOW,
                             updated_at=NOW))  # fmt: skip


def note(store: Store, key: str, text: str = "", *anchors: tuple[str, str, str]) -> str:
    id = f"note-{key}"
    Records(store, Settings(), None).add("note", text or key, id=id)
    for kind, path, detail in anchors:
        store.anchors.put(Anchor(id, kind, path, detail, created_at=NOW, verified_at=NOW))
    return id


def link(store: Store, a: str, relation: str, b: str, weight: float = 1.0) -> None:
    store.edges.put(Edge(a, b, relation, weight, created_at=NOW))


def near(store: Store, *globs: str, **flags: object) -> dict[str, float]:
    root = str(Path(store.path).parent.parent)
    return seeds(store, options(**flags), Near(root, globs), [])[0]


# --- globs

PARTS = st.sampled_from(["a", "b", "ab", "/", "*", "**", "**/", "?", ".", "[ab]", "[!a]", "é"])
NAMES = st.text(alphabet="ab/.é", max_size=8)


@given(st.lists(PARTS, max_size=6).map("".join), NAMES)
def test_both_ways_of_matching_a_glob_agree(glob: str, path: str) -> None:
    assert matches(glob, path) == (glob_pattern(glob).fullmatch(path) is not None)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that no test leaves anything in."""
    with new_store(str(tmp_path_factory.mktemp("shared") / ".lore")) as store:
        yield store


@given(st.lists(PARTS, max_size=5).map("".join), st.lists(NAMES, min_size=1, max_size=3))
def test_the_store_leaves_out_no_glob_that_matches(
    shared: Store, glob: str, paths: list[str]
) -> None:
    anchor = Anchor("note-a", "glob", glob, created_at=NOW, verified_at=NOW)
    shared.anchors.put(anchor)
    found = {path for _, _, path in shared.anchors.globs_like("", paths)}
    shared.anchors.delete(anchor.key)
    assert found >= {path for path in paths if matches(glob, path)}


# --- what is tied to a file, and how near it is


def test_anchors_of_every_kind_tie(store: Store) -> None:
    file_node(store, "src/a.py")
    for kind, path, detail in (
        ("file", "src/a.py", ""), ("hash", "src/a.py", ""), ("symbol", "src/a.py", "f"),
        ("lines", "src/a.py", "1-2"), ("glob", "src/**/*.py", ""), ("glob", "lib/*.py", ""),
    ):  # fmt: skip
        note(store, f"{kind}-{path[:3]}", "", (kind, path, detail))
    assert near(store, "src/a.py") == {
        "file-src/a.py": ITSELF, "note-file-src": TIED, "note-hash-src": TIED,
        "note-symbol-src": TIED, "note-lines-src": TIED, "note-glob-src": BY_GLOB,
    }  # fmt: skip


def test_an_anchor_of_another_root_does_not_tie(store: Store) -> None:
    file_node(store, "a.py")
    store.anchors.put(Anchor("note-x", "file", "a.py", root="/elsewhere", created_at=NOW,
                             verified_at=NOW))  # fmt: skip
    assert "note-x" not in near(store, "a.py")


def test_edges_tie_to_the_file_and_to_symbols_in_it_and_need_a_depth(store: Store) -> None:
    file_node(store, "a.py", "a.py2")
    link(store, "note-f", "anchored_to", "file-a.py", 0.8)
    link(store, "note-s", "anchored_to", "symbol-a.py::Login.check")
    link(store, "note-other", "anchored_to", "symbol-a.py2::check")
    link(store, "note-about", "relates_to", "file-a.py")
    assert near(store, "a.py") == {"file-a.py": ITSELF}
    found = near(store, "a.py", graph_depth=1)
    assert found == {"file-a.py": ITSELF, "note-f": pytest.approx(0.8), "note-s": TIED}
    assert near(store, "a.py", graph_depth=1, graph_exclude_edges="ANCHORED_TO").keys() == {
        "file-a.py"
    }


def test_files_next_to_it_count_by_their_edges(store: Store) -> None:
    file_node(store, "a.py", "imported.py", "importer.py", "partner.py", "unsure.py")
    for name in ("imported", "importer", "partner", "unsure"):
        note(store, name, "", ("file", f"{name}.py", ""))
    link(store, "file-a.py", "imports", "file-imported.py")
    link(store, "file-importer.py", "imports", "file-a.py")
    link(store, "file-a.py", "co_changes_with", "file-partner.py", 0.5)
    link(store, "file-a.py", "imports", "file-unsure.py", 0.3)
    found = near(store, "a.py", graph_depth=1)
    known = store.relations.all()
    assert {id: score for id, score in found.items() if id.startswith("note-")} == {
        "note-imported": pytest.approx(NEXT * known["imports"][0]),
        "note-importer": pytest.approx(NEXT * known["imports"][1]),
        "note-partner": pytest.approx(NEXT * 0.5 * known["co_changes_with"][0]),
    }
    assert near(store, "a.py", graph_depth=1, graph_edges="co_changes_with").keys() == {
        "file-a.py", "note-partner",
    }  # fmt: skip


def test_an_edge_that_is_just_sure_enough_leads_next_door_and_its_tie_counts_too(
    store: Store,
) -> None:
    file_node(store, "a.py", "b.py")
    link(store, "file-a.py", "imports", "file-b.py", 0.5)
    link(store, "note-b", "anchored_to", "file-b.py", 0.8)
    weight = store.relations.all()["imports"][0]
    assert near(store, "a.py", graph_depth=1)["note-b"] == pytest.approx(0.8 * 0.5 * 0.5 * weight)


def test_a_record_tied_as_surely_as_a_file_itself_is_still_a_record(store: Store) -> None:
    file_node(store, "a.py")
    Records(store, Settings(), None).add("note", "x", id="note-x")
    link(store, "note-x", "anchored_to", "file-a.py", 0.9)
    root = str(Path(store.path).parent.parent)
    hits, starts = of_files(store, options(graph_depth=1), Near(root, paths=["a.py"]), Scope(), [],
                            explain=False)  # fmt: skip
    assert [hit.id for hit in hits] == ["note-x"]
    assert starts == {"file-a.py": 1.0, "note-x": 0.9}


def test_a_record_tied_twice_counts_by_the_nearer_tie(store: Store) -> None:
    file_node(store, "a.py", "b.py")
    note(store, "both", "", ("file", "a.py", ""), ("file", "b.py", ""), ("glob", "*.py", ""))
    link(store, "file-a.py", "imports", "file-b.py")
    assert near(store, "a.py", graph_depth=1)["note-both"] == TIED


def test_globs_match_what_the_store_knows_and_what_is_on_the_disk(
    store: Store, tmp_path: Path
) -> None:
    file_node(store, "src/a.py", "src/deep/b.py", "lib/c.py")
    note(store, "gone", "", ("file", "src/gone.py", ""))
    notes: list[str] = []
    assert Near(str(tmp_path), ["src/**/*.py"]).files(store, notes) == [
        "src/a.py", "src/deep/b.py", "src/gone.py",
    ]  # fmt: skip
    assert Near(str(tmp_path), ["./src/*.py"]).files(store, notes) == ["src/a.py", "src/gone.py"]
    assert Near(str(tmp_path), ["lib/c.py", "lib/*"]).files(store, notes) == ["lib/c.py"]
    assert notes == []
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/x.md").touch()
    assert Near(str(tmp_path), ["docs/*.md"]).files(store, notes) == ["docs/x.md"]
    assert Near(str(tmp_path), ["docs"]).files(store, notes) == ["docs/x.md"]
    assert Near(str(tmp_path), ["src/[ab]*.p?"]).files(store, notes) == ["src/a.py"]
    assert Near(str(tmp_path), ["sr?/*.py"]).files(store, notes) == ["src/a.py", "src/gone.py"]
    (tmp_path / "o[d]d").mkdir()
    (tmp_path / "o[d]d/y.md").touch()
    assert Near(str(tmp_path), ["o[d]d"]).files(store, notes) == ["o[d]d/y.md"]
    assert notes == []
    assert Near(str(tmp_path), ["none/*"]).files(store, notes) == []
    assert len(notes) == 1


def test_a_glob_and_a_record_s_own_glob_meet_on_the_disk(store: Store, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").touch()
    file_node(store, "src/b.py")
    note(store, "style", "", ("glob", "**/a.*", ""))
    assert near(store, "src/*.py")["note-style"] == BY_GLOB


@given(st.text(max_size=12))
def test_any_name_is_a_file_an_id_or_an_error(shared: Store, name: str) -> None:
    root = str(Path(shared.path).parent.parent)
    asking: tuple[Callable[[], Iterable[str]], ...] = (
        lambda: Near(root, [name]).files(shared, []),
        lambda: named(shared, Near(root), [name]).files(shared, []),
    )
    for ask in asking:
        with suppress(LoreError):
            assert all(path.isprintable() for path in ask())


@pytest.mark.parametrize(
    ("name", "said"),
    [("note-gone", "note-gone"), ("gone", "no node"), ("src/gone.py", "there is no such file"),
     ("odd-name.py", "there is no such file"), ("file-x.py", "file-x.py")],
)  # fmt: skip
def test_a_name_of_nothing_is_an_id_if_it_looks_like_one_and_else_a_file(
    store: Store, name: str, said: str
) -> None:
    root = str(Path(store.path).parent.parent)
    with pytest.raises(LoreError) as error:
        named(store, Near(root), [name])
    assert said in str(error.value)
    is_file = "there is no such file, and nothing is known of one" in str(error.value)
    assert is_file is (said == "there is no such file")


# --- a search with files


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
    root = str(Path(store.path).parent.parent)
    request = Request(query, near=Near(root, globs) if globs else None)
    return [hit.id for hit in search(store, options(**flags), request, None)]


@pytest.mark.parametrize(
    "flags", [{}, {"graph_depth": 1}, {"graph_depth": 1, "expansion": "best-path"}]
)
def test_files_push_no_plain_match_out(filled: Store, flags: dict[str, object]) -> None:
    plain = asked(filled, "tokens", limit=5)
    found = asked(filled, "tokens", "a.py", limit=5, **flags)
    assert set(found) >= set(plain)
    assert "note-plain09" in found
    assert len(set(found)) == len(found)
    more = set(found) - set(plain)
    assert all("tied" in id or id in ("note-plain09", "file-a.py") for id in more)
    assert len(found) == 10 if not flags else len(found) >= 10


@pytest.mark.parametrize("query", ["tokens", "tokens w1 w2 w3", "nowhere"])
@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_files_add_their_weight_times_how_near_they_are(
    filled: Store, query: str, weight: float
) -> None:
    store = filled
    store.anchors.put(Anchor("note-plain03", "glob", "a.*", created_at=NOW, verified_at=NOW))
    settings = options(limit=100, files_weight=weight)
    near_these = Near(str(Path(store.path).parent.parent), ["a.py"])
    plain = {hit.id: hit.score for hit in search(store, settings, Request(query), None)}
    found = search(store, settings, Request(query, near=near_these), None)
    nearness, _ = seeds(store, settings, near_these, [])
    sums = {id: plain.get(id, 0) + weight * nearness.get(id, 0) for id in plain | nearness}
    highest = max(1.0, *sums.values())
    assert {hit.id: hit.score for hit in found} == pytest.approx(
        {id: total / highest for id, total in sums.items()}, abs=2e-6
    )
    assert (highest > 1) is (query == "tokens" or (weight == 1 and query != "nowhere"))


def test_a_match_that_is_near_comes_before_those_that_are_not(filled: Store) -> None:
    assert asked(filled, "tokens", limit=12).index("note-plain09") > 5
    assert asked(filled, "tokens", "a.py", limit=12)[0] == "note-plain09"


def test_without_words_files_alone_are_listed_and_filters_hold(filled: Store) -> None:
    root = str(Path(filled.path).parent.parent)
    hits = search(filled, options(limit=100), Request("", near=Near(root, ["a.py"])), None)
    assert len(hits) == 17
    assert not any("words" in said for said in hits.notes)
    assert all((hit.hops, hit.path, hit.edge) == (0, [hit.id], None) for hit in hits)
    request = Request("", Scope(types=("file",)), near=Near(root, ["a.py"]))
    assert [hit.id for hit in search(filled, options(), request, None)] == ["file-a.py"]
    request = Request("", excluded=["file-a.py"], near=Near(root, ["a.py"]))
    assert "file-a.py" not in [hit.id for hit in search(filled, options(), request, None)]


def test_results_by_files_are_not_weak(filled: Store) -> None:
    root = str(Path(filled.path).parent.parent)
    request = Request("tokens nowhere nothing never", near=Near(root, ["a.py"]))
    weak = {hit.id: hit.weak for hit in search(filled, options(limit=3), request, None)}
    assert weak["note-plain00"]
    assert [id for id in weak if "tied" in id and not weak[id]]


@pytest.mark.parametrize("depth", [0, 2])
def test_a_forgotten_record_is_no_seed(filled: Store, depth: int) -> None:
    filled.nodes.invalidate("note-tied00", NOW)
    assert "note-tied00" not in asked(filled, "", "a.py", limit=100, graph_depth=depth)


def test_what_comes_over_a_file_next_to_these_says_so(store: Store, tmp_path: Path) -> None:
    """In a search, also of what the walk reaches from there; a match of the words needs no way."""
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
        "note-own": (0, ["note-own"], None),
        "note-next": (2, over_b, "imports"),
        "note-partner": (2, ["file-a.py", "file-c.py", "note-partner"], "co_changes_with"),
        "note-further": (3, [*over_b, "note-further"], "relates_to"),
    }

    def ways(hits: Iterable[Hit]) -> dict[str, tuple[int, list[str], str | None]]:
        return {hit.id: (hit.hops, hit.path, hit.edge) for hit in hits if hit.type == "note"}

    near_a = Near(str(tmp_path), paths=["a.py"])
    for rule in EXPANSION_RULES:
        settings = options(graph_depth=1, expansion=rule)
        hits = search(store, settings, Request("", near=near_a, explain=True), None)
        found = ways(hits)
        assert found == {id: wanted[id] for id in found}, rule
        assert rule == "activation" or found.keys() == wanted.keys()
        for hit in hits:
            walked = [step["to"] for step in (hit.explain or {}).get("walk", {"hops": ()})["hops"]]
            assert walked == hit.path[1:]
        found = ways(search(store, settings, Request("tokens", near=near_a), None))
        assert found["note-next"] == (0, ["note-next"], None)
        assert found["note-further"] == (1, ["note-next", "note-further"], "relates_to")
    tied, _ = of_files(store, options(graph_depth=1), near_a, Scope(), [], explain=True)
    assert ways(tied) == {id: wanted[id] for id in wanted if id != "note-further"}
    for hit in tied:
        if hit.hops and hit.explain:
            steps = hit.explain["walk"]["hops"]
            factors = [s["edge_weight"] * s["relation_weight"] * s["decay"] for s in steps]
            assert prod(factors) == pytest.approx(hit.explain["files"])


def test_what_is_tied_to_a_file_at_hand_too_has_come_over_no_other(
    store: Store, tmp_path: Path
) -> None:
    file_node(store, "a.py", "b.py")
    note(store, "both", "", ("file", "b.py", ""), ("glob", "a.*", ""))
    link(store, "file-a.py", "imports", "file-b.py")
    for paths in (["a.py"], ["a.py", "b.py"]):
        hits, _ = of_files(store, options(graph_depth=1), Near(str(tmp_path), paths=paths), Scope(),
                           [], explain=False)  # fmt: skip
        assert [(hit.id, hit.hops, hit.path) for hit in hits] == [("note-both", 0, ["note-both"])]


# --- changed files


def test_changed_files_are_told_before_the_first_commit_and_after(tmp_path: Path) -> None:
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
        assert Near(str(repository.root), ["@git"]).files(store, []) == ["a b.py", "c.py"]
    (repository.root / "odd\u200ename.py").unlink()
    repository.write("sub/d.py", "1")
    assert Git(str(repository.root / "sub")).changed() == ["d.py"]


# --- Python's door


def test_the_engine_takes_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LORE_EMBEDDER", "none")
    (tmp_path / "a.py").write_text("x = 1\n")
    with pylore.open(tmp_path / ".lore", create=True) as lore:
        lore.add("note", "Tokens expire", id="note-a", file="a.py")
        assert [hit.id for hit in lore.search(near=["a.py"], types=["note"])] == ["note-a"]
        assert [hit.id for hit in lore.related("a.py")] == ["note-a"]
        assert [hit.id for hit in lore.related(near="*.py")] == ["note-a"]
        with pytest.raises(LoreError):
            lore.related("")
        with pytest.raises(LoreError):
            lore.related("b.py")
