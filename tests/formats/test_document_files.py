"""Documents follow files: local texts, lost, renamed and unread files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_stores import memory_store, new_store
from pages import Project, import_documents
from samples import examples
from things import node_past

from pylore.cli.transfer import conflict_text
from pylore.core.model import Edge, Node
from pylore.core.settings import Settings
from pylore.formats.jsonl import import_lines
from pylore.records.merge import Conflict
from pylore.store import Store

LOCAL = "doc-a (a.md): changed here, not in the file, and left so: "
LOCAL += "'lore show doc-a --history' has both texts"


# --- local texts


def test_local_text_stays_while_file_is_unchanged(project: Project) -> None:
    file = project.write("a.md", "---\ntags: [x]\n---\ntext [[b]]")
    project.store.nodes.put(Node("doc-a", "doc", source="file", file="a.md", data='{"_stated":5}'))
    project.write("b.md", "b")
    project.run()
    project.records.edit("doc-a", text="mine", tags=["y"], force=True)
    project.write("c.md", "c")
    file.touch()
    result = project.run()
    assert (result.updated, result.conflicts, result.notes) == (0, 0, [LOCAL])
    node = project.node("doc-a")
    assert (node.body, node.tags) == ("mine", ("y",))
    project.store.types.declare("another", "")  # so that all are read again
    assert project.run().notes == [LOCAL] and project.node("doc-a").body == "mine"
    project.records.edit("doc-a", text="text [[b]]", tags=["x"], force=True)
    assert project.run().notes == []


def test_local_text_and_changed_file_conflict(project: Project) -> None:
    file = project.write("a.md", "text")
    project.run()
    project.records.edit("doc-a", text="mine", force=True)
    file.write_text("theirs")
    result = project.run()
    assert (result.conflicts, result.updated, result.kept) == (1, 1, 0)
    assert result.conflicting == [Conflict("doc-a", "theirs", file="a.md")]
    said = conflict_text(result.conflicting[0])
    assert said == "doc-a was changed here and in a.md: the version there stands"
    assert project.node("doc-a").body == "theirs"
    assert [past.row.body for past in node_past(project.store, "doc-a")] == ["text", "mine"]
    assert project.run().conflicts == 0


# --- lost files


def tell(project: Project, other: Store) -> None:
    """Import the export of the project into a second store."""
    import_lines(other, Settings(), None, [line.encode() for line in project.lines()])


def linked(project: Project) -> Path:
    file = project.write("docs/a.md", "# A\n[[b]]")
    project.write("docs/b.md", "[x](a.md)")
    project.run("docs")
    project.records.add("note", "by hand", id="note-a", links=[("doc-docs/a", "relates_to")])
    return file


def test_prune_forgets_documents_without_a_file(project: Project) -> None:
    file = linked(project)
    project.write("other/c.md", "c")
    project.run("other")
    (project.root / "other/c.md").unlink()
    away = project.write("away/docs/a.md", "[b](b.md)")
    found = import_documents(project.store, Settings(), None, [str(away)], str(away.parents[1]))
    assert (found.added, found.unresolved) == (1, 1), "no document of the project is meant"
    file.unlink()
    result = project.run("docs", prune=True)
    assert (result.pruned, result.unresolved) == (1, 1)
    note = "docs/a.md is gone: doc-docs/a was taken away, 'lore undo doc-docs/a' brings it back"
    assert result.notes[-1] == note
    assert project.node("doc-docs/a").invalidated_at is not None
    assert project.edges("doc-docs/b") == project.edges("note-a") == set()
    assert project.node("doc-other/c").invalidated_at is None
    assert project.node("doc-docs/a-2").invalidated_at is None
    again = project.run("docs", prune=True)
    assert (again.pruned, again.unresolved, len(again.notes)) == (0, 1, 1)
    project.records.restore(["doc-docs/a"])
    assert project.edges("note-a") == {("relates_to", "doc-docs/a")}


def test_pruned_document_returns_with_its_file(project: Project) -> None:
    file = linked(project)
    text = file.read_text()
    file.unlink()
    project.run("docs", prune=True)
    file.write_text(text + " more")
    result = project.run("docs")
    assert (result.notes, result.unresolved) == ([], 0)
    assert project.node("doc-docs/a").invalidated_at is None
    assert project.node("doc-docs/a").data == "{}"
    assert project.edges("note-a") == {("relates_to", "doc-docs/a")}
    assert project.edges("doc-docs/b") == {("links_to", "doc-docs/a")}


def test_document_pruned_elsewhere_returns_with_its_file(project: Project, tmp_path: Path) -> None:
    linked(project)
    with new_store(str(tmp_path / "clone" / ".lore")) as other:
        clone = Project(tmp_path / "clone", other)
        clone.write("docs/b.md", "[x](a.md)")
        tell(project, other)
        clone.run("docs", prune=True)
        tell(clone, project.store)
        assert project.node("doc-docs/a").invalidated_at is not None
        assert project.run("docs").notes == []
        tell(project, other)
        assert clone.node("doc-docs/a").invalidated_at is None
        for one in (project, clone):
            assert one.edges("note-a") == {("relates_to", "doc-docs/a")}
            assert one.edges("doc-docs/b") == {("links_to", "doc-docs/a")}
        clone.records.edit("doc-docs/a", file="docs/moved.md", force=True)
        assert clone.run("docs", prune=True).pruned == 1
        clone.write("docs/moved.md", "moved")
        assert clone.run("docs").added == 0
        clone.records.forget(["doc-docs/a"])
        tell(clone, project.store)
        project.write("docs/a.md", "changed")
        assert "doc-docs/a is forgotten and stays so" in project.run("docs").notes[0]


def test_pruned_document_forgotten_by_a_person_stays_forgotten(project: Project) -> None:
    file = linked(project)
    text = file.read_text()
    file.unlink()
    project.run("docs", prune=True)
    assert [one.state for one in project.records.forget(["doc-docs/a"])] == ["invalidated"]
    assert [one.state for one in project.records.forget(["doc-docs/a"])] == ["unchanged"]
    file.write_text(text)
    assert "doc-docs/a is forgotten and stays so" in project.run("docs").notes[0]
    project.records.restore(["doc-docs/a"])
    project.run("docs")
    project.records.forget(["doc-docs/a"])
    assert "doc-docs/a is forgotten and stays so" in project.run("docs").notes[0]


@pytest.mark.parametrize("ids", [[], ["doc-docs/a"]])
def test_restored_document_without_file_is_reported_again(project: Project, ids: list[str]) -> None:
    linked(project).unlink()
    project.run("docs", prune=True)
    project.records.undo(ids)
    assert project.node("doc-docs/a").data == "{}"
    note = "docs/a.md is gone, doc-docs/a stays: 'lore forget doc-docs/a' takes it away"
    assert [project.run("docs").notes[-1] for _ in range(2)] == [note, note]
    assert project.run("docs", prune=True).pruned == 1
    assert project.edges("note-a") == set()


def test_forgotten_document_stays_forgotten(project: Project) -> None:
    file = linked(project)
    project.records.forget(["doc-docs/a"])
    for paths in (["docs"], ["docs", "docs/a.md"]):
        assert sum("doc-docs/a is forgotten" in note for note in project.run(*paths).notes) == 1
    text = file.read_text()
    file.rename(project.root / "docs/moved.md")
    assert "doc-docs/a is forgotten and stays so" in project.run("docs", prune=True).notes[0]
    assert project.node("doc-docs/a").invalidated_at is not None
    (project.root / "docs/moved.md").write_text(text + " more")
    project.run("docs")
    assert project.node("doc-docs/moved").invalidated_at is None


def test_prune_forgets_former_document_of_a_file(project: Project) -> None:
    file = project.write("a.md", "a")
    project.run()
    file.write_text("---\ntype: decision\n---\na")
    note = "a.md is decision-a now, doc-a stays: 'lore forget doc-a' takes it away"
    assert [project.run().notes for _ in range(2)] == [[note], [note]]
    assert project.run(prune=True).pruned == 1
    assert project.run().notes == []
    file.write_text("a")
    assert project.run(prune=True).pruned == 1
    assert project.node("doc-a").invalidated_at is None
    assert project.node("decision-a").invalidated_at is not None


# --- renamed files


def test_a_renamed_file_keeps_its_document(project: Project) -> None:
    file = linked(project)
    project.records.edit("doc-docs/a", category="kept")
    (project.root / "else").mkdir()
    file.rename(project.root / "else/z.md")
    result = project.run("docs", "else", prune=True)
    assert (result.added, result.pruned) == (0, 0)
    note = "docs/a.md is else/z.md now: doc-docs/a keeps its id and its links"
    assert result.notes[0] == note
    node = project.node("doc-docs/a")
    assert (node.file, node.title, node.category) == ("else/z.md", "A", "kept")
    assert [past.row.file for past in node_past(project.store, node.id)][-1] == "docs/a.md"
    assert project.edges("note-a") == {("relates_to", "doc-docs/a")}
    assert project.edges("doc-docs/a") == {("links_to", "doc-docs/b")}
    stated = {"document": "else/z.md", "at": [0]}
    assert project.metadata("doc-docs/a", "doc-docs/b", "links_to") == stated
    (project.root / "else/z.md").write_text("changed")
    assert project.run("else").updated == 1
    assert project.node("doc-docs/a").body == "changed"


def test_renamed_file_may_be_missing_between_imports(project: Project) -> None:
    file = linked(project)
    text = file.read_text()
    file.unlink()
    project.run("docs", prune=True)
    project.write("docs/new.md", text)
    project.run("docs", prune=True)
    assert project.node("doc-docs/a").file == "docs/new.md"
    assert project.node("doc-docs/a").invalidated_at is None
    assert project.edges("note-a") == {("relates_to", "doc-docs/a")}


def test_new_file_at_a_renamed_path_gets_new_id(project: Project) -> None:
    file = project.write("a.md", "old")
    project.run()
    file.rename(project.root / "b.md")
    project.run()
    for text in ("new", "newer"):
        project.write("a.md", text)
        project.run()
    assert [(node.id, node.file) for node in project.store.nodes.all()] == [
        ("doc-a", "b.md"),
        ("doc-a-2", "a.md"),
    ]


# --- unread files


def test_links_of_unread_files_are_updated(project: Project) -> None:
    project.write("docs/a.md", "[[Later]] [x](later.md) `src/a.py` [[note-a]] [[By hand]]")
    assert project.run("docs").unresolved == 4
    project.write("docs/later.md", "text")
    assert project.run("docs").unresolved == 2
    assert project.edges("doc-docs/a") == {("links_to", "doc-docs/later")}
    project.write("src/a.py", "")
    project.run("docs")
    assert ("anchored_to", "file-src/a.py") in project.edges("doc-docs/a")
    project.records.add("note", "x", title="By hand", id="note-a")
    assert project.run("docs").unresolved == 0
    assert ("links_to", "note-a") in project.edges("doc-docs/a")
    project.records.edit("note-a", title="Another")
    assert project.run("docs").unresolved == 1
    os.unlink(project.root / "src/a.py")
    project.run("docs")
    assert project.edges("doc-docs/a") == {("links_to", "note-a"), ("links_to", "doc-docs/later")}
    project.write("elsewhere.md", "# Later")
    project.run("elsewhere.md")
    assert project.run("docs").unresolved == 1


# --- any changes of a folder

PATHS = ["a.md", "b.md", "x/a.md", "x/c.md"]
LINES = [
    "[[a]]",
    "[[Title]]",
    "[x](b.md)",
    "[y](../b.md) [z](c.md)",
    "# Title",
    "`src/a.py`",
    "words",
]
FRONTS = [
    "",
    "---\nstatus: proposed\ntags: [t]\n---\n",
    "---\nrelates_to: [Title, b.md]\n---\n",
    "---\ntype: note\n---\n",
]
TEXTS = st.builds(
    lambda front, lines: front + "\n\n".join(lines),
    st.sampled_from(FRONTS),
    st.lists(st.sampled_from(LINES), max_size=3),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from([*PATHS, "src/a.py"]), TEXTS),
        st.tuples(st.just("delete"), st.sampled_from([*PATHS, "src/a.py"])),
        st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
        st.tuples(st.just("import"), st.booleans(), st.sampled_from(["", "x"])),
    ),
    max_size=14,
)


@settings(max_examples=examples(100), deadline=None)
@given(STEPS)
def test_pruning_import_equals_import_into_empty_store(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        require_the_same(root, memory_store(f"{root}/.lore/search.db"), memory_store(), steps)


def require_the_same(root: Path, store: Store, empty: Store, steps: list[tuple[Any, ...]]) -> None:
    (root / "x").mkdir(parents=True)
    project = Project(root, store)
    for step in steps:
        carry_out(project, *step)
    for one in (project, Project(root, empty)):
        one.run("", prune=True, skip_bad=True)
    assert said(store) == said(empty)
    before = project.lines()
    again = project.run("", prune=True, skip_bad=True)
    assert (again.added, again.updated, again.invalidated, again.pruned) == (0, 0, 0, 0)
    assert project.lines() == before


def carry_out(project: Project, what: str, *given: Any) -> None:
    path = project.root / str(given[0])
    if what == "write":
        project.write(*given)
    elif what == "import":
        project.run(given[1], prune=given[0], skip_bad=True)
    elif what == "delete":
        path.unlink(missing_ok=True)
    elif path.exists() and not (project.root / given[1]).exists():
        path.rename(project.root / given[1])


def said(store: Store) -> tuple[Sequence[object], Sequence[object]]:
    """Return nodes and edges by file, because ids may differ."""
    files = {node.id: f"{node.type} {node.file}" for node in store.nodes.all(live_only=True)}
    nodes: list[object] = [
        (files[node.id], node.title, node.body, node.status, node.tags, node.data, node.line_start)
        for node in store.nodes.all(live_only=True)
        if node.type != "file"
    ]

    def ends(edge: Edge) -> tuple[object, ...]:
        return (
            files[edge.from_id],
            files[edge.to_id],
            edge.relation,
            edge.status,
            json.dumps(json.loads(edge.metadata)),
        )

    edges = sorted(map(ends, store.edges.all(live_only=True)))
    return sorted(nodes, key=str), edges
