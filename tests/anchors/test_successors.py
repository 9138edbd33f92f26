"""Test symbols that were renamed, moved, edited or deleted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from anchored import Anchored
from new_stores import new_store
from repositories import Repository

from pylore import code as reader
from pylore.anchors.attach import accept_anchors
from pylore.anchors.project import Project
from pylore.core.settings import Settings
from pylore.core.vocabulary import BROKEN
from pylore.records.records import Records

LOGOUT = '''def logout(session, at):
    """Ends a session."""
    for token in session.tokens:
        token.expire(at)
    session.tokens.clear()
    session.log("out", at)
    return session
'''
LOGIN = """class Login:
    def check(self, token, at):
        seen = self.store.find(token.key)
        if seen is None or seen.ended < at:
            return False
        return seen.owner == token.owner

    def label(self):
        return f"login {self.name}"
"""
AUTH = f"import os\n\n\n{LOGOUT}\n\n{LOGIN}"
OTHER = "def area(width, height):\n    return width * height\n"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("begun") / "project")
    repository.write(".gitignore", ".lore\n")
    repository.write("src/auth.py", AUTH)
    repository.write("src/other.py", OTHER)
    repository.commit("Begin")
    return repository


class Code(Anchored):
    """A repository with ``logout`` and ``Login.check``, and a record with anchors."""

    def anchor(self, name: str, path: str = "src/auth.py") -> None:
        self.place("symbol", path, name)

    def reason(self) -> str:
        """Verify; return why the only anchor is invalid."""
        (row,) = self.rows()
        assert (row["verdict"], row["path"], row["detail"]) == ("invalid", "src/auth.py", "logout")
        return str(row["reason"])


@pytest.fixture
def code(begun: Repository, tmp_path: Path) -> Iterator[Code]:
    repository = begun.copy(tmp_path / "project")
    with new_store(str(repository.root / ".lore")) as store:
        Records(store, Settings(), None, str(repository.root)).add("decision", "A", id="decision-a")
        yield Code(store, repository)


def test_renames_are_followed_and_resets_reverted(code: Code) -> None:
    code.anchor("logout")
    code.anchor("Login.check")
    code.write(
        "src/auth.py", AUTH.replace("logout", "logOut").replace("class Login", "class Entry")
    )
    rows = code.rows()
    assert [(row["verdict"], row["detail"]) for row in rows] == [
        ("relocated", "Entry.check"),
        ("relocated", "logOut"),
    ]
    assert rows[1]["reason"] == "was src/auth.py::logout, similarity 1.00"
    assert {row["verdict"] for row in code.rows()} == {"valid"}
    code.git("reset", "-q", "--hard")
    for verdict in ("relocated", "valid"):
        assert [(row["verdict"], row["detail"]) for row in code.rows()] == [
            (verdict, "Login.check"),
            (verdict, "logout"),
        ]


def test_successive_commits_are_followed(code: Code) -> None:
    code.anchor("Login.check")
    before = AUTH.replace("class Login", "class Entry").replace("token.key", "token.id")
    code.write("src/auth.py", before)
    code.commit("Rename the class")
    code.write("src/auth.py", before.replace("def check", "def is_open"))
    code.commit("Rename the method")
    code.git("mv", "src/auth.py", "src/entry.py")
    code.commit("Rename the file")
    code.write("src/new.py", OTHER.replace("area", "size"))
    code.commit("Something else")
    (row,) = code.rows()
    assert "similarity 0.9" in row["reason"]
    for _ in range(2):
        assert code.now() == ("drifted", "src/entry.py", "Entry.is_open")


def test_older_and_later_siblings_are_no_successors(code: Code) -> None:
    sibling = LOGOUT.replace("def logout", "def log_out_all")
    code.write("src/all.py", sibling)
    code.commit("An older sibling")
    code.anchor("logout")
    code.write("src/copy.py", sibling.replace("log_out_all", "log_out"))
    code.commit("A younger one, while it is there")
    code.write("src/auth.py", LOGIN)
    assert code.reason() == "logout is defined nowhere"
    code.commit("Gone")
    code.write("src/late.py", LOGOUT.replace("def logout", "def leave"))
    code.commit("A later one")
    assert code.reason() == "logout is defined nowhere"


def test_equal_candidates_are_named_unless_a_name_decides(code: Code) -> None:
    code.anchor("logout")
    code.write("src/auth.py", LOGIN)
    code.write("src/one.py", LOGOUT.replace("def logout", "def leave"))
    code.write("src/two.py", LOGOUT.replace("def logout", "def quit"))
    said = "src/one.py::leave (similarity 1.00) or src/two.py::quit (similarity 1.00)"
    assert code.reason() == f"logout is defined nowhere; it may be {said}"
    code.write("src/two.py", LOGOUT.replace("def logout", "def log_out"))
    assert code.now() == ("relocated", "src/two.py", "log_out")


def test_dissimilar_definitions_are_no_successors(code: Code) -> None:
    code.anchor("logout")
    code.write("src/auth.py", LOGIN)
    code.write("src/end.py", "def end(session, at):\n    session.tokens.clear()\n    return at\n")
    assert code.reason() == "logout is defined nowhere"
    code.git("checkout", "-q", "src/auth.py")
    assert code.now() == ("valid", "src/auth.py", "logout")


def test_edits_drift_along_any_path_of_commits(code: Code) -> None:
    code.anchor("logout")
    edited = AUTH.replace("token.expire(at)", "token.expire(at) and token.end()")
    states = {
        "begun": ("logout", AUTH),
        "edited": ("logout", edited),
        "renamed": ("leave", edited.replace("logout", "leave")),
        "undone": ("leave", AUTH.replace("logout", "leave")),
        "both": ("quit", edited.replace("logout", "quit")),
    }
    for tag, (_, text) in states.items():
        code.write("src/auth.py", text + f"# {tag}\n")
        code.commit(tag)
        code.git("tag", tag)
    for tag in ("edited", "renamed", "begun", "renamed", "undone", "both", "begun"):
        code.git("checkout", "-q", tag)
        for _ in range(2):
            verdict, _, name = code.now()
            drifts = tag in ("edited", "renamed", "both")
            assert (verdict in BROKEN, name) == (drifts, states[tag][0])
    assert verdict == "valid"


def test_only_the_accepted_body_is_valid(code: Code) -> None:
    code.anchor("logout")
    edited = AUTH.replace("token.expire(at)", "token.expire()").replace("logout", "leave")
    code.write("src/auth.py", edited)
    code.commit("Rename and edit")
    assert code.now() == ("drifted", "src/auth.py", "leave")
    with code.store.transaction():
        assert accept_anchors(code.store, "decision-a", reader)
    assert code.now() == ("valid", "src/auth.py", "leave")
    code.write("src/auth.py", edited.replace("leave", "quit"))
    assert code.now() == ("relocated", "src/auth.py", "quit")
    code.git("checkout", "-q", "HEAD~1", "--", "src/auth.py")
    assert code.now()[0] in BROKEN


def test_uncommitted_body_drifts_and_needs_git(code: Code) -> None:
    code.write("src/auth.py", AUTH.replace('"out"', '"gone"'))
    code.anchor("logout")
    code.git("mv", "src/other.py", "src/elsewhere.py")
    code.write("src/auth.py", AUTH.replace("logout", "leave"))
    assert code.now() == ("drifted", "src/auth.py", "leave")
    shutil.rmtree(code.root / ".git")
    code.write("src/auth.py", AUTH.replace("logout", "quit"))
    (row,) = code.rows()
    assert (row["verdict"], row["reason"]) == ("invalid", "leave is defined nowhere")


GO = "package a\n\n{}func (l *{}) Check(t Token) bool {{\n\treturn l.seen[t.Key]\n}}\n"
KT = "class {} {{\n    fun {}(x: Int): Int {{\n        return next(x) {} 1\n    }}\n}}\n"
TS = "export class {} {{\n  {}(x: number) {{ return this.next(x) + 1; }}\n}}\n"


RUN = KT.format("A", "run", "+")
SIZES = "sizes = {\n    'a': 1,\n}\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        (
            "a.go",
            GO.format("", "Login"),
            GO.format("// It.\n", "Entry").replace("l", "e"),
            "Login.Check Entry.Check drifted",
        ),
        ("a.ts", TS.format("A", "run"), TS.format("B", "/* It. */\n  go"), "A.run B.go relocated"),
        ("a.kt", RUN, KT.format("A", "run", "-"), "A.run A.run drifted"),
        ("a.kt", RUN, KT.format("B", "go", "+"), "A.run B.go relocated"),
        ("a.kt", RUN, "class B\n", "A.run A.run invalid"),
        ("a.kt", RUN, f"{RUN}// end\n", "A.run A.run valid"),
        ("src/auth.py", SIZES, SIZES.replace("1", "2"), "sizes sizes drifted"),
    ],
)
def test_symbols_of_other_languages(
    code: Code, path: str, before: str, after: str, expected: str
) -> None:
    old, new, verdict = expected.split()
    code.write(path, before)
    code.commit("Another language")
    code.anchor(old, path)
    code.write(path, after)
    assert code.now() == (verdict, path, new)


def test_contents_of_a_commit(code: Code) -> None:
    names = ["x blob", "a b blob 3", "é.py", "-x"]
    for name in names:
        code.write(name, f"{name}\nmissing\n")
    code.write("large", "x" * 100)
    code.write("none", "")
    hash = code.commit("Odd names")
    git = Project(str(code.root)).git
    wanted = {name: f"{name}\nmissing\n".encode() for name in names}
    for revision in ("HEAD", hash):
        asked = [*names, "a\nb", "gone.py", "large", "none", "src"]
        assert git.contents(revision, asked, 99) == {**wanted, "none": b""}
    assert git.contents(f"{hash}^", [*names, "src/other.py"]) == {"src/other.py": OTHER.encode()}
    for odd in ("", "--help", "main", f"{hash}^^", "0" * 40):
        assert git.contents(odd, ["large"]) == {}
