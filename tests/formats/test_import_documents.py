"""Import of Markdown: nodes, edges and updates."""

from __future__ import annotations

import json
import os
from unicodedata import normalize

import pytest
from pages import Project
from repositories import Repository

from pylore.core.errors import LoreError
from pylore.core.model import Node

# --- a file as a node


def test_front_matter_sets_the_fields(project: Project) -> None:
    project.write(
        "a.md",
        "---\nid: use-jwt\ntype: decision\ntitle: 'Use: JWT'\ntags: [Auth, token use]\n"
        "status: proposed\ndate: 2026-01-02\nsource: conversation\nconfidence: 0.5\n"
        "category: security\nTeam: core\nwhy: no sessions\n---\n# Another heading\ntext\n",
    )
    project.run()
    node = project.node("decision-use-jwt")
    assert (node.title, node.body) == ("Use: JWT", "# Another heading\ntext")
    assert (node.line_start, node.line_end) == (14, 15)
    assert node.tags == ("auth", "token-use")
    assert (node.status, node.source, node.confidence) == ("staged", "conversation", 0.5)
    assert (node.category, node.created_at) == ("security", "2026-01-02T00:00:00Z")
    data = json.loads(node.data)
    assert (data["Team"], data["why"]) == ("core", "no sessions")


@pytest.mark.parametrize(
    ("front", "id", "field", "value"),
    [
        ("status: proposed", "doc-a", "status", "staged"),
        ("status: deprecated", "doc-a", "status", "retracted"),
        ("status: superseded by 0007", "doc-a", "status", "superseded"),
        ("id: decision-one", "decision-one", "type", "decision"),
        ("id: one-two", "doc-one-two", "type", "doc"),
        ("type: decision\nid: note-taking", "decision-note-taking", "type", "decision"),
        ("created: 2026-01-31", "doc-a", "created_at", "2026-01-31T00:00:00Z"),
        ("date: 2001-12-14 21:59:43.10 -5", "doc-a", "created_at", "2001-12-15T02:59:43Z"),
        ("date: 2024-01-05 10:00:00 UTC", "doc-a", "created_at", "2024-01-05T10:00:00Z"),
    ],
)
def test_keys_of_front_matter(
    project: Project, front: str, id: str, field: str, value: str
) -> None:
    project.write("a.md", f"---\n{front}\n---\ntext\n")
    project.run()
    assert getattr(project.node(id), field) == value


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("no heading", "some-name", "no heading"),
        ("```\n# comment\n```\n# Real\n", "Real", "```\n# comment\n```"),
        ("intro\n\n# Title\nrest", "Title", "intro\n\n\nrest"),
        ("---\ntitle: Same\n---\n# Same\ntext", "Same", "text"),
        ("\ufeff# With a mark\r\ntext\r\nmore\r\n", "With a mark", "text\nmore"),
        ("", "some-name", ""),
        ('# Only <b>a</b> title <Badge type="info" text="new" />', "Only a title", ""),
    ],
)
def test_titles(project: Project, text: str, title: str, body: str) -> None:
    project.write("some-name.md", text)
    project.run()
    node = project.node("doc-some-name")
    assert (node.title, node.body) == (title, body)
    assert (node.line_start is None) == (body == "")


def test_another_default_type(project: Project) -> None:
    project.write("a.md", "text")
    with pytest.raises(LoreError, match=r"unknown type 'decisio' .did you mean 'decision'"):
        project.run(type="decisio")
    project.run(type="decision")
    assert project.node("decision-a").body == "text"
    project.run(type="rfc", new_types=True)
    assert project.node("rfc-a").type == "rfc"


# --- which files


def test_hidden_folders_and_packages_are_left_out(project: Project) -> None:
    Repository(project.root).write(".gitignore", "build/\nh.md\n")
    hidden = ".git/d.md .venv/lib/e.md node_modules/p/README.md x/.f/f.md .#g.md a-requirements.txt"
    pages = ["a.md", "b.MARKDOWN", "node_modules.md", "x/c.md"]
    for path in (*pages, "c.toml", "x/build/a.md", "x/h.md", *hidden.split()):
        project.write(path, "text")
    os.symlink(project.root, project.root / "x" / "loop")
    os.symlink(project.root / "a.md", project.root / "x" / "same.md")
    project.run()
    assert [node.file for node in project.store.nodes.all()] == pages
    assert project.run("x/build").nodes == 1


def test_symlinks_are_skipped_and_reported(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("home")
    (outside / "key.md").write_text("# secret")
    project.write("docs/a.md", "[k](out/key.md) [k](key.md)")
    project.write("docs/.env", "secret")
    project.write("other.md", "secret")
    links = {"key.md": outside / "key.md", "out": outside, "up.md": "../other.md"}
    for name, target in {**links, "env.md": ".env", "same.md": "a.md", "loop": "."}.items():
        os.symlink(target, project.root / "docs" / name)
    result = project.run("docs")
    out = f"is a link out of {project.root}/docs"
    skipped = {os.path.basename(place): why for place, why in result.skipped}
    assert skipped == dict.fromkeys(("out", "key.md", "up.md"), out)
    assert [node.id for node in project.store.nodes.all()] == ["doc-docs/a"]


# --- links


def test_every_kind_of_link(project: Project) -> None:
    project.write("src/auth.py", "")
    project.write("lib/config.sh", "")
    project.write(
        "docs/a.md",
        "# A\n[[B title]] [[c]] [x](sub/d.md#part) [y](../src/auth.py#L3-L9) "
        "`lib/config.sh:10-20` `lib/config.sh:30` `f` `src/none.py` [z](https://e.org/c.md)\n",
    )
    project.write("docs/b.md", "# B Title")
    project.write("docs/c.md", "# Something")
    project.write("docs/sub/d.md", "`../../src/auth.py` [a](/b.html)[b](/sub/)[c](../e/)[d](/f/g/)")
    project.write("docs/sub/e.md", "# E\n{doc}`index`")
    project.write("docs/f.md", "---\npermalink: /f/g/\n---\n# F")
    project.write("docs/sub/index.md", "# Sub")
    assert project.run().unresolved == 0
    assert project.edges("doc-docs/a") == {
        ("links_to", "doc-docs/b"),
        ("links_to", "doc-docs/c"),
        ("links_to", "doc-docs/sub/d"),
        ("anchored_to", "file-src/auth.py"),
        ("anchored_to", "file-lib/config.sh"),
    }
    ends = {id.removeprefix("doc-docs/") for _, id in project.edges("doc-docs/sub/d")}
    assert ends == {"file-src/auth.py", "b", "sub/index", "sub/e", "f"}
    assert project.edges("doc-docs/sub/e") == {("links_to", "doc-docs/sub/index")}
    metadata = project.metadata("doc-docs/a", "file-lib/config.sh", "anchored_to")
    assert metadata.pop("at")
    assert metadata == {"document": "docs/a.md", "lines": ["10-20", "30"]}
    edge = project.store.edges.get("doc-docs/a", "doc-docs/c", "links_to")
    assert edge and (edge.source, edge.weight) == ("file", 1.0)
    file, path = project.node("file-src/auth.py"), "src/auth.py"
    assert (file.type, file.title, file.file, file.source) == ("file", path, path, "file")


def test_edge_has_places_of_links(project: Project) -> None:
    project.write("b.md", "# B\n")
    text = "\n# A\n\nSee [b](b.md)\n\n```\n[b](b.md)\n```\n[B][the b], [[b]].\n\n[The B]: b.md\n"
    project.write("a.md", text)
    project.run(".")
    body = project.node("doc-a").body
    places = project.metadata("doc-a", "doc-b", "links_to")["at"]
    assert [body[at : at + 5] for at in sorted(places)] == ["[b](b", "[the ", "[[b]]"]
    project.write("c.py", "")
    many = "".join(f"\n`c.py:{line}`" for line in range(1, 99))
    project.write("a.md", text.replace("See", "Before it:") + many)
    project.run(".")
    assert project.metadata("doc-a", "doc-b", "links_to")["at"][0] == places[0] + 7
    assert len(project.metadata("doc-a", "file-c.py", "anchored_to")["lines"]) == 50


def test_relations_in_front_matter(project: Project) -> None:
    project.write("src/a.py", "")
    project.write("docs/old.md", "old")
    project.records.add("decision", "text", id="decision-one")
    project.write(
        "docs/new.md",
        "---\nsupersedes: [[old], decision-one]\nimplements: src/a.py:3-4\n"
        "Relates-To:\n  - '[[Old]]'\nrelated:\n - [[Old|x]] # why\n - [[nope]], [[new]]\n---\n",
    )
    result = project.run()
    assert project.edges("doc-docs/new") == {
        ("supersedes", "doc-docs/old"),
        ("supersedes", "decision-one"),
        ("implements", "file-src/a.py"),
        ("relates_to", "doc-docs/old"),
        ("links_to", "doc-docs/old"),
    }
    assert result.unresolved == 1
    metadata = project.metadata("doc-docs/new", "file-src/a.py", "implements")
    assert metadata == {"document": "docs/new.md", "lines": ["3-4"]}


def test_unresolved_links_are_counted(project: Project) -> None:
    project.write(".git/config", "")
    project.write("docs/a.md", "[[nope]] [x](gone.md) [y](../../outside.py) `.git/config`\n[z](.)")
    project.write("docs/b.md", "---\nsupersedes: decision-none\n---\n")
    result = project.run("docs")
    assert result.unresolved == 4
    assert "docs/a.md: line 1: 'nope' leads to nothing that is known" in result.notes
    assert "docs/b.md: line 2: 'decision-none' leads to nothing that is known" in result.notes
    assert list(project.store.edges.all()) == []
    assert [node.id for node in project.store.nodes.all()] == ["doc-docs/a", "doc-docs/b"]


def test_names_with_signs_and_accents(project: Project) -> None:
    project.write("sharp.md", "# It's C# notes")
    project.write(f"{normalize('NFD', 'café')}.md", "# Coffee")
    project.write("x___y.md", "a page of Logseq")
    project.write("a.md", "[[It’s C# notes#part]] [x](Café.md) [[x/y]]")
    assert project.run().unresolved == 0
    cafe = f"doc-{normalize('NFD', 'café')}"
    assert {to for _, to in project.edges("doc-a")} == {"doc-sharp", cafe, "doc-x___y"}


# --- importing again


def test_edges_follow_links_of_the_document(project: Project) -> None:
    file = project.write("a.md", "[[b]] [[c]]")
    for name in "bcd":
        project.write(f"{name}.md", name)
    project.run()
    project.records.link("doc-a", "relates_to", "doc-d")
    project.records.link("doc-a", "links_to", "doc-c", weight=0.5)
    file.write_text("nothing")
    assert project.run().invalidated == 1
    assert project.edges("doc-a") == {("relates_to", "doc-d"), ("links_to", "doc-c")}
    file.write_text("[[b]] [[d]]")
    assert project.run().invalidated == 0
    linked = {("links_to", f"doc-{name}") for name in "bcd"}
    assert project.edges("doc-a") == {("relates_to", "doc-d"), *linked}
    edge = project.store.edges.get("doc-a", "doc-b", "links_to")
    assert edge is not None
    assert [past.row.ended_at is None for past in project.store.changes.of(edge)] == [True, False]


def test_removed_edge_is_not_imported_again(project: Project) -> None:
    project.write("a.md", "[[b]]")
    project.write("b.md", "b")
    project.run()
    project.records.unlink("doc-a", "links_to", "doc-b")
    before = project.lines()
    project.run()
    assert project.lines() == before
    project.records.link("doc-a", "links_to", "doc-b")
    assert project.edges("doc-a") == {("links_to", "doc-b")}


def test_fields_missing_in_the_file_keep_edits(project: Project) -> None:
    file = project.write("a.md", "---\nstatus: proposed\ncategory: x\nteam: core\n---\ntext")
    project.run()
    project.records.edit("doc-a", tags=["mine"], why="because")
    before = project.lines()
    project.run()
    assert project.lines() == before
    project.records.edit("doc-a", category="y", force=True)
    assert "changed here, not in the file" in project.run().notes[0]
    file.write_text("text")
    project.run()
    node = project.node("doc-a")
    assert (node.status, node.tags, node.data) == ("confirmed", ("mine",), '{"why":"because"}')


# --- forms of other tools


def test_relation_before_a_link_names_the_edge(project: Project) -> None:
    project.write("b.md", "# B")
    project.write("c.md", "# C")
    project.write(
        "a.md",
        """# A
- depends_on [[B]] (each week)
- part of [[C]] since March
- [[B]]

supersedes:: [[B]], [[C]]
- See [[C]] and
implements [[C]]
- requires [[B]]
- `depends_on` [[C]]
""",
    )
    project.run()
    assert project.edges("doc-a") == {
        ("depends_on", "doc-b"),
        ("part_of", "doc-c"),
        ("links_to", "doc-b"),
        ("supersedes", "doc-b"),
        ("supersedes", "doc-c"),
        ("links_to", "doc-c"),
    }


def test_aliases_and_ids_are_names_for_links(project: Project) -> None:
    project.write("a.md", "[[Sessions]] [[main/deep/path]] [[Other]]")
    project.write("b.md", "---\naliases: [Sessions]\npermalink: main/deep/path\n---\n# B")
    assert project.run().unresolved == 1
    assert project.edges("doc-a") == {("links_to", "doc-b")}
    project.write("b.md", "---\nalias: [Other, [1]]\n---\n# B")
    assert project.run().unresolved == 2
    assert project.store.fulltext.having("texts", "other", titled=True) == {"doc-b"}
    project.write("news/c.md", "---\nId: sessions\nalias: Third\n---\n# C")
    assert project.run() and project.store.fulltext.having("texts", "third", titled=True)
    assert project.edges("doc-a") == {("links_to", "doc-b"), ("links_to", "doc-sessions")}


def test_tags_of_the_prose_are_tags(project: Project) -> None:
    project.write(
        "a.md",
        """---
tags: ["#Top"]
---
# Title #in-title
text #auth #team/web, see #12, #ff0 and [[B#part]] [c](d.md#e) `#code` a#b
<!-- #hidden -->

    #define indented
""",
    )
    project.run()
    assert project.node("doc-a").tags == ("auth", "in-title", "team/web", "top")
    project.write("a.md", "plain")
    project.run()
    assert project.node("doc-a").tags == ()


# --- faults


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"one\ntwo \xff", "not UTF-8 .byte 8"),
        (b"one\n\ntwo\0", "has a NUL byte"),
        (b"---\nok: 1\na: *b\n---\n", "line 3: .*means more than text"),
        (b"---\nok: 1\ndescription: >x\n---\n", "line 3: not YAML"),
        (b"---\nid: decision-" + b"x" * 2000 + b"\n---\n", "at most 1000"),
        (b'---\na: "\\u0000"\n---\n', "a text has a NUL byte"),
        (b"x" * 10_000_001, "longer than max_text"),
    ],
)
def test_broken_files_of_a_folder_are_skipped(project: Project, content: bytes, why: str) -> None:
    project.write("a.md", "# Good")
    bad = project.write("bad.md", content)
    with pytest.raises(LoreError, match=f"bad.md: .*{why}.*: nothing was imported"):
        project.run("a.md", "bad.md")
    assert project.lines() == []
    assert [place for place, _ in project.run().skipped] == [str(bad)]
    assert [node.id for node in project.store.nodes.all()] == ["doc-a"]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("type: decisio", "type: unknown type 'decisio' .did you mean"),
        ("confidence: 2", "confidence: 2.0 is not a weight or a confidence"),
        ("date: soon", "date: 'soon' is not a valid date"),
        ("title: [a]", "title: a list"),
        ("relates_to:\n  note: a", "relates_to: a mapping"),
    ],
)
def test_invalid_values_are_faults_or_data(project: Project, front: str, why: str) -> None:
    project.write("bad.md", f"---\n{front}\n---\ntext\n")
    with pytest.raises(LoreError, match=f"bad.md: line 2: {why}.*: nothing was imported"):
        project.run("bad.md")
    result = project.run()
    assert [result.skipped, result.notes[0][:15]] == [[], "bad.md: line 2:"]
    node = project.store.nodes.require("doc-bad")
    assert [node.status, node.source, node.tags] == ["confirmed", "file", ()]
    assert front.partition(":")[0] in json.loads(node.data)
    assert project.run("bad.md", skip_bad=True).unchanged == 1


@pytest.mark.parametrize(("id", "owner"), [("decision-x", "a.md"), ("note-1", "a record")])
def test_id_of_another_file_or_record(project: Project, id: str, owner: str) -> None:
    project.write("a.md", "---\nid: decision-x\n---\n")
    project.write("b.md", f"---\nid: {id}\n---\n")
    project.store.nodes.put(Node("note-1", "note", title="mine"))
    with pytest.raises(LoreError, match=f"b.md: the id {id} belongs to {owner}"):
        project.run("a.md", "b.md")


def test_files_that_cannot_be_read(project: Project) -> None:
    os.symlink("nowhere", project.root / "broken.md")
    os.mkfifo(project.root / "pipe.md")
    project.write("good.md", "text")
    project.write("tab\there.md", "text")
    with pytest.raises(LoreError, match=r"broken\.md: cannot be read"):
        project.run("broken.md")
    assert len(project.run().skipped) == 3
