"""Test the verdicts of anchors after each kind of change to the code."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from anchored import Anchored
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from repositories import Repository

from pylore import code as reader
from pylore.anchors.attach import accept_anchors, remove_anchors
from pylore.anchors.definitions import Definition
from pylore.anchors.project import Project, digest, find_stretch, relative, stretch_hash
from pylore.core.errors import LoreError
from pylore.core.model import Anchor
from pylore.core.settings import Settings
from pylore.formats.jsonl import import_lines
from pylore.records.records import Records
from pylore.search.pipeline import Request, search
from pylore.store import Store

CODE = """import os


def check(token):
    return bool(token)


class Login:
    def check(self, token):
        seen = set()
        return token in seen
"""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("begun") / "project")
    repository.write("src/auth.py", CODE)
    repository.commit("Begin")
    return repository


@pytest.fixture
def repository(begun: Repository, tmp_path: Path) -> Repository:
    return begun.copy(tmp_path / "project")


@pytest.fixture
def store(repository: Repository) -> Iterator[Store]:
    with new_store(str(repository.root / ".lore")) as store:
        (repository.root / ".gitignore").write_text(".lore\n")
        yield store


@pytest.fixture
def records(store: Store, repository: Repository) -> Records:
    records = Records(store, Settings(), None, str(repository.root), reader)
    records.add("decision", "Sessions are tokens", id="decision-a")
    return records


@pytest.fixture
def anchored(store: Store, records: Records, repository: Repository) -> Anchored:
    return Anchored(store, repository)


KINDS = [("file", ""), ("hash", ""), ("symbol", "Login.check"), ("lines", "8-9")]
kinds = pytest.mark.parametrize(("kind", "detail"), KINDS)


# --- verdicts


@kinds
def test_touched_file_is_valid_with_new_stamp(anchored: Anchored, kind: str, detail: str) -> None:
    before = anchored.place(kind, detail=detail)
    os.utime(anchored.root / "src/auth.py", (1, 1))
    assert anchored.now()[0] == "valid"
    assert anchored.store.anchors.of("decision-a")[0].stamp != before.stamp
    writes = anchored.store.connection.total_changes()
    assert anchored.verify().counts()["valid"] == 1
    assert anchored.store.connection.total_changes() == writes


@pytest.mark.parametrize(
    ("kind", "detail", "verdict"),
    [
        ("file", "", "valid"),
        ("symbol", "Login.check", "drifted"),
        ("symbol", "check", "valid"),
        ("lines", "8-9", "valid"),
        ("lines", "9-11", "drifted"),
    ],
)
def test_changed_body(anchored: Anchored, kind: str, detail: str, verdict: str) -> None:
    anchored.place(kind, detail=detail)
    anchored.write("src/auth.py", CODE.replace("seen = set()", "seen = {1}"))
    assert anchored.now() == (verdict, "src/auth.py", detail)


@pytest.mark.parametrize(
    ("above", "count"),
    [
        ('@app.route(\n    "/:(",\n    methods=["GET"],\n)\n@login_required  # always\n', 5),
        ("#[must_use]\n/// Docs.\n#[cfg(test)]\n", 2),
        ("@Override @Test(a = 1)\n", 1),
        ("template <typename T,\n  typename U>\n[[nodiscard]]\n", 3),
        ('[Route("x")]\n[Authorize]\n', 2),
        ("@a\n\n# why\n", 1),
        ("f(\n  1,\n)\n", 0),
        ("@count = 0\n", 0),
        ("@Input() name: string;\n", 0),
        ("@end\n", 0),
        ("[a, b] = [b, a]\n", 0),
        ("class A:\n", 0),
        ("", 0),
        (")" * 9 + "\n", 0),
    ],
)
def test_attributes_belong_to_a_definition(above: str, count: int) -> None:
    lines = [b"x = 1", *above.encode().splitlines(), b"def f():", b"    pass"]
    found = Definition("f", len(lines) - 1, len(lines)).lines(lines)
    assert (len(found), found[-2:]) == (count + 2, lines[-2:])


def test_attributes_are_searched_in_bounded_time() -> None:
    lines = [b")" * 900 + b"'\"`" * 30, b"def f():"] * 500
    begin = time.process_time()
    for at in range(2, len(lines), 2):
        assert Definition("f", at, at).lines(lines) == [b"def f():"]
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("after", ["", "@other\n", "@login_required()\n"])
def test_changed_decorator_drifts(anchored: Anchored, after: str) -> None:
    file = anchored.root / "src/auth.py"
    file.write_text(CODE.replace("def check(token)", "@login_required\ndef check(token)"))
    anchored.place("symbol", detail="check")
    file.write_text(CODE.replace("def check(token)", f"{after}def check(token)"))
    assert anchored.now()[0] == "drifted"


@pytest.mark.parametrize(("detail", "there"), [("8-9", "10-11"), ("4-5", "6-7")])
def test_lines_follow_the_text(anchored: Anchored, detail: str, there: str) -> None:
    anchored.place("lines", detail=detail)
    anchored.write("src/auth.py", "# one\n# two\n" + CODE)
    assert anchored.now() == ("relocated", "src/auth.py", there)
    assert anchored.now() == ("valid", "src/auth.py", there)
    states = anchored.store.anchors.of("decision-a", gone=True)
    assert [one.detail for one in states if one.gone_at] == [detail]
    other = anchored.write("b.py", "x = 1")
    anchored.place("lines", "b.py", "1-1")
    other.unlink()
    assert [row["path"] for row in anchored.rows()] == ["b.py", "src/auth.py"]


@kinds
@pytest.mark.parametrize("way", ["committed", "imported", "staged", "unstaged"])
def test_anchors_follow_a_rename(anchored: Anchored, kind: str, detail: str, way: str) -> None:
    anchored.place(kind, detail=detail)
    if way == "unstaged":
        (anchored.root / "src/auth.py").rename(anchored.root / "src/login.py")
    else:
        anchored.git("mv", "src/auth.py", "src/login.py")
    if way in ("committed", "imported"):
        anchored.commit("Rename")
    if way == "imported":  # without a commit, behind a merge into a history without the file
        first = anchored.git("commit-tree", "-m", "1", "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
        merge = anchored.git("commit-tree", "-m", "2", "-p", first, "-p", "HEAD", "HEAD^{tree}")
        anchored.git("reset", "-q", merge)
        anchored.store.connection.execute("UPDATE anchors SET commit_id = ''")
    assert anchored.now() == ("relocated", "src/login.py", detail)
    assert anchored.links("anchored_to") == ["file-src/login.py"]
    assert [one.source for one in anchored.store.edges.of("decision-a")] == ["user_edit"]
    assert anchored.store.nodes.require("decision-a").file == "src/login.py"


@pytest.mark.parametrize(("indent", "name"), [("", ""), ("    ", "check.")])
def test_symbol_moves_to_a_new_file(anchored: Anchored, indent: str, name: str) -> None:
    anchored.place("symbol", detail="Login.check")
    head, _, body = CODE.partition("class Login:")
    moved = "".join(indent + line for line in f"class Login:{body}".splitlines(keepends=True))
    anchored.write("src/auth.py", head)
    anchored.write("src/web/login.py", f"def check(other):\n    pass\n\n\n{moved}")
    assert anchored.now() == ("relocated", "src/web/login.py", f"{name}Login.check")
    assert anchored.links("anchored_to") == ["file-src/web/login.py"]


def test_symbol_with_a_different_body_elsewhere_is_invalid(anchored: Anchored) -> None:
    anchored.place("symbol", detail="Login.check")
    other = "class Login:\n    def check(self):\n        pass\n"
    for path in ("src/b.py", "src/c.py"):
        anchored.write(path, other)
    anchored.place("symbol", "src/c.py", "Login")
    anchored.write("src/c.py", f"{other}\n")  # is read before the search for the lost symbol
    anchored.write("src/auth.py", "")
    lost, valid = anchored.rows()
    assert (lost["verdict"], lost["path"], valid["verdict"]) == ("invalid", "src/auth.py", "valid")
    assert lost["reason"] == "gone; another Login.check is in src/b.py"


@pytest.mark.parametrize(
    ("kind", "detail", "meanwhile"),
    [
        ("file", "", "relocated"),
        ("hash", "", "drifted"),
        ("symbol", "Login.check", "drifted"),
        ("lines", "9-11", "drifted"),
    ],
)
def test_anchors_return_from_a_reverted_move(
    anchored: Anchored, kind: str, detail: str, meanwhile: str
) -> None:
    anchored.commit("Before the move")
    anchored.place(kind, detail=detail)
    anchored.git("mv", "src/auth.py", "src/login.py")
    changed = CODE.replace("seen = set()", "seen = {1}").replace("import os", "import re")
    anchored.write("src/login.py", changed)
    assert anchored.now()[:2] == (meanwhile, "src/login.py")
    anchored.store.connection.execute("UPDATE anchors SET reason = ''")  # as on other machines
    anchored.git("reset", "-q", "--hard")
    assert anchored.now() == ("relocated", "src/auth.py", detail)
    assert anchored.now() == ("valid", "src/auth.py", detail)
    assert anchored.links("anchored_to") == ["file-src/auth.py"]


def test_anchor_does_not_return_to_a_taken_place(anchored: Anchored) -> None:
    anchored.commit("Before the move")
    anchored.place("file")
    anchored.git("mv", "src/auth.py", "src/login.py")
    assert anchored.now()[1] == "src/login.py"
    anchored.write("src/login.py", "x = 1")
    anchored.write("src/auth.py", "other = 1")
    anchored.place("file")
    (anchored.root / "src/login.py").unlink()
    anchored.verify()
    found = {anchor.path: anchor.verdict for anchor in anchored.store.anchors.of("decision-a")}
    assert found == {"src/auth.py": "valid", "src/login.py": "invalid"}


@kinds
def test_deleted_file_is_invalid_until_restored(anchored: Anchored, kind: str, detail: str) -> None:
    anchored.place(kind, detail=detail)
    (anchored.root / "src/auth.py").unlink()
    hash = anchored.commit("Remove it\n\nNobody logs in.")
    assert anchored.now() == ("invalid", "src/auth.py", detail)
    assert anchored.links("invalidated_by") == [f"commit-{hash}"]
    commit = anchored.store.nodes.require(f"commit-{hash}")
    assert (commit.title, commit.body) == ("Remove it", "Remove it\n\nNobody logs in.")
    anchored.write("src/auth.py", CODE)
    assert anchored.now() == ("valid", "src/auth.py", detail)
    assert anchored.links("invalidated_by") == []


def test_glob_is_valid_while_a_file_matches(anchored: Anchored) -> None:
    anchored.write("src/deep/er.py", "")
    anchored.place("glob", "src/**/*.py")
    remove_anchors(anchored.store, anchored.place("file"))
    assert sorted(anchored.links("anchored_to")) == ["file-src/auth.py", "file-src/deep/er.py"]
    (anchored.root / "src/auth.py").unlink()
    assert anchored.now() == ("valid", "src/**/*.py", "")
    (anchored.root / "src/deep/er.py").unlink()
    assert anchored.now() == ("invalid", "src/**/*.py", "")


def test_anchors_without_git(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    with new_store(str(tmp_path / ".lore")) as store:
        Records(store, Settings(), None, str(tmp_path)).add("decision", "x", id="decision-a")
        anchored = Anchored(store, tmp_path)
        anchored.place("symbol", "a.py", "Login.check")
        (tmp_path / "a.py").rename(tmp_path / "b.py")
        assert anchored.now() == ("relocated", "b.py", "Login.check")
        file, project = anchored.place("file", "b.py"), Project(str(tmp_path))
        (tmp_path / "b.py").rename(tmp_path / "c.txt")
        moved = [project.moved_to("b.py", "", hash, file.stamp) for hash in ("", file.hash)]
        assert moved == [None, "c.txt"] and [*project._renames] == ["", "b.py"]
        assert [row["verdict"] for row in anchored.rows()] == ["relocated", "invalid"]
        assert anchored.links("invalidated_by") == []


# --- breaking commits, and restoring


def test_breaking_commit_is_linked_once_it_exists(anchored: Anchored) -> None:
    anchored.place("symbol", detail="check")
    anchored.commit("Something else", other="x = 1\n")
    anchored.write("src/auth.py", CODE.replace("bool(token)", "True"))
    assert anchored.now()[0] == "drifted"
    assert anchored.links("invalidated_by") == []
    hash = anchored.commit("Let everyone in")
    anchored.commit("Afterwards", other="x = 2\n")
    assert anchored.now()[0] == "drifted"
    assert anchored.links("invalidated_by") == [f"commit-{hash}"]


@kinds
def test_restore_accepts_changed_code_but_not_missing_code(
    anchored: Anchored, records: Records, kind: str, detail: str
) -> None:
    anchored.place(kind, detail=detail)
    (anchored.root / "src/auth.py").unlink()
    commit = anchored.commit("Remove it")
    assert anchored.now()[0] == "invalid"
    (change,) = records.restore(["decision-a"])
    assert change.state == "unchanged" and "still invalid: use 'lore anchor" in change.notes[-1]
    assert anchored.now()[0] == "invalid"
    assert anchored.links("invalidated_by") == [f"commit-{commit}"]
    anchored.write("src/auth.py", CODE.replace("seen", "known"))
    anchored.verify()
    records.restore(["decision-a"])
    assert (anchored.now()[0], anchored.links("invalidated_by")) == ("valid", [])


def test_forgotten_records_are_not_verified(anchored: Anchored, records: Records) -> None:
    anchored.place("file")
    records.forget(["decision-a"])
    assert anchored.verify().found == []
    records.restore(["decision-a"])
    assert len(anchored.verify().found) == 1
    records.forget(["decision-a"], purge=True)
    assert list(anchored.store.anchors.all()) == []


# --- a record's own file, and several anchors


def test_file_of_a_record_is_an_anchor(anchored: Anchored, records: Records) -> None:
    records.edit("decision-a", file=str(anchored.root / "src/auth.py"))
    assert anchored.now() == ("valid", "src/auth.py", "")
    records.edit("decision-a", file=f"{anchored.root}/src/auth.py:4-5")
    anchored.write("src/auth.py", "# one\n" + CODE)
    assert anchored.now() == ("relocated", "src/auth.py", "5-6")
    node = anchored.store.nodes.require("decision-a")
    assert (node.line_start, node.line_end) == (5, 6)
    records.edit("decision-a", file=f"{anchored.root}/new.py")
    assert anchored.now() == ("invalid", "new.py", "")
    anchored.write("new.py", "x = 1\n")
    assert anchored.now() == ("valid", "new.py", "")


@pytest.mark.parametrize("by", ["edit", "add"])
def test_new_file_of_a_record_replaces_the_old(
    anchored: Anchored, records: Records, by: str
) -> None:
    anchored.write("b.py", "")
    place = str(anchored.root)
    records.edit("decision-a", file=f"{place}/src/auth.py")
    if by == "edit":
        records.edit("decision-a", file=f"{place}/b.py")
    else:
        records.add("decision", "Sessions are tokens", id="decision-a", file=f"{place}/b.py")
    assert anchored.links("anchored_to") == ["file-b.py"]
    assert [anchor.path for anchor in anchored.store.anchors.of("decision-a")] == ["b.py"]
    records.edit("decision-a", file="")
    assert anchored.links("anchored_to") == []
    assert anchored.store.nodes.require("decision-a").file is None


def test_worst_anchor_is_the_verdict_of_a_record(anchored: Anchored) -> None:
    anchored.place("file")
    anchored.place("symbol", detail="Login.check")
    anchored.place("hash")
    anchored.write("src/auth.py", "# new\n" + CODE)
    found = anchored.verify()
    assert found.counts() == {"valid": 2, "relocated": 0, "drifted": 1, "invalid": 0}
    hits = search(anchored.store, Settings(), Request("sessions"), None)
    assert [hit.verdict for hit in hits] == ["drifted"]


def test_two_anchors_at_one_place_become_one(anchored: Anchored) -> None:
    anchored.write("b.py", "")
    anchored.place("file", "b.py")
    anchored.place("file")
    (anchored.root / "b.py").unlink()
    (anchored.root / "src/auth.py").rename(anchored.root / "b.py")
    assert anchored.now() == ("valid", "b.py", "")


# --- unreadable files, other projects, foreign anchors


def test_pipe_is_unreadable(anchored: Anchored) -> None:
    anchored.place("hash")
    (anchored.root / "src/auth.py").unlink()
    os.mkfifo(anchored.root / "src/auth.py")
    assert "is not a plain file" in anchored.verify().notes[0]


def test_anchors_are_valid_in_a_moved_project(repository: Repository, tmp_path: Path) -> None:
    with new_store(str(repository.root / ".lore")) as store:
        Records(store, Settings(), None, "").add("decision", "x", id="decision-a")
        Anchored(store, repository.root).place("hash")
    repository.root.rename(tmp_path / "elsewhere")
    with new_store(str(tmp_path / "elsewhere/.lore")) as store:
        assert Anchored(store, tmp_path / "elsewhere").now()[0] == "valid"


def test_paths_out_of_the_project_are_refused(anchored: Anchored) -> None:
    root = str(anchored.root)
    (anchored.root / "link").symlink_to("/etc")
    for path in ("../out.py", "/etc/passwd", root, "link/passwd"):
        with pytest.raises(LoreError, match="outside the project"):
            relative(root, str(anchored.root / path))
    with pytest.raises(LoreError, match="cannot be printed"):
        relative(root, str(anchored.root / "a\nb.py"))
    assert relative("/a\nb", "/a\nb/c.py") == "c.py"


FOREIGN = [
    {"path": "../secret"},
    {"path": "/etc/passwd"},
    {"path": "out/secret"},
    {"path": "key"},
    {"kind": "glob", "path": "x*", "stamp": "../secret"},
    {"commit_id": "--output=victim"},
    {"root": "/"},
    {"root": "outside"},
    {"kind": "symbol", "detail": "f", "root": "/"},
]


@pytest.mark.parametrize("fields", FOREIGN, ids=str)
@pytest.mark.parametrize("verdict", ["valid", "invalid"])
def test_anchors_out_of_the_project_are_unchanged(
    anchored: Anchored, fields: dict[str, str], verdict: str
) -> None:
    anchored.commit("Add")
    victim = anchored.write("victim", "kept")
    (anchored.root.parent / "secret").write_text("secret")
    (anchored.root / "out").symlink_to(anchored.root.parent)
    (anchored.root / "key").symlink_to("../secret")
    row = {"kind": "hash", "path": "gone.py", "hash": digest(b"secret"), **fields}
    anchored.store.anchors.put(Anchor("decision-a", verdict=verdict, **row))
    before = [*anchored.store.anchors.all()]
    found = anchored.verify()
    assert (found.counts()[verdict], len(found.notes)) == (1, 1)
    assert [*anchored.store.anchors.all()] == before
    assert anchored.links("invalidated_by") == []
    assert victim.read_text() == "kept"
    if verdict == "invalid" and fields.get("path") not in ("out/secret", "key"):
        with pytest.raises(LoreError, match="not yours to follow"):
            accept_anchors(anchored.store, "decision-a", reader)


def test_other_project_is_read_after_anchoring_there(anchored: Anchored, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x")
    foreign = Anchor("decision-a", "hash", "a.py", root=str(other), hash="0" * 32)
    anchored.store.anchors.put(foreign)
    assert anchored.verify().counts()["valid"] == 1
    (other / "b.py").write_text("x")
    Anchored(anchored.store, other).place("hash", "b.py")
    assert anchored.verify().counts()["drifted"] == 1
    other.rename(tmp_path / "moved")
    found = anchored.verify()
    assert "is not there" in found.notes[0] and found.counts()["valid"] == 1
    (tmp_path / "moved").rename(other)
    (other / "b.py").write_text("")
    assert anchored.verify().counts()["drifted"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "none"},
        {"path": "../x"},
        {"hash": 3},
        {"anchor_of": "x"},
        {"commit_id": "--output=x"},
        {"kind": "glob", "path": "/etc/*"},
        {"kind": "glob", "path": "../*"},
    ],
)
def test_bad_lines_of_anchors_are_refused(store: Store, fields: dict[str, object]) -> None:
    line = {"anchor_of": "decision-a", "kind": "file", "path": "a.py", **fields}
    with pytest.raises(LoreError, match="line 1"):
        import_lines(store, Settings(), None, [json.dumps(line).encode()])


# --- fingerprints


@given(
    st.lists(st.sampled_from([b"a", b"  b", b"", b"\tc", b"d "]), min_size=1, max_size=30),
    st.data(),
)
def test_moved_stretch_is_found(lines: list[bytes], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    before = data.draw(st.lists(st.sampled_from([b"new", b"other"]), max_size=5))
    hash = stretch_hash(lines[first - 1 : last])
    moved = f"{first + len(before)}-{last + len(before)}"
    assert find_stretch(before + lines, hash, moved) == moved


def test_indentation_and_line_ends_do_not_count() -> None:
    plain = stretch_hash([b"def f():", b"    return 1"])
    assert stretch_hash([b"    def f():\r", b"        return 1  "]) == plain
    assert stretch_hash([b"def f():", b"  return 1"]) != plain
