"""Test anchor, verify, stale and restore of records that are tied to code."""

from __future__ import annotations

import os
from typing import Any

import pytest
from commands import Lore
from repositories import Repository

CODE = "def check(token):\n    return bool(token)\n"


@pytest.fixture
def code(lore: Lore) -> Repository:
    """A repository with a file, and a store with ``decision-a``."""
    code = Repository(lore.project)
    code.write("src/auth.py", CODE)
    code.commit("Begin")
    lore("add", "decision", "Sessions are tokens", "--id", "decision-a")
    return code


def verify(lore: Lore, *words: str) -> list[tuple[str, str]]:
    """The verdicts that ``lore verify`` prints, with their paths."""
    return [(row["verdict"], row["path"]) for row in lore("verify", *words).json]


def show(lore: Lore, *words: str) -> dict[str, Any]:
    """``decision-a``, with edges by relation."""
    row: dict[str, Any] = lore("show", "decision-a", *words).json
    return {**row, "edges": {edge["relation"]: edge for edge in row["edges"]}}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["src/auth.py"], "file"),
        (["src/auth.py", "--anchor-type", "hash"], "hash"),
        (["src/*.py", "--anchor-type", "glob"], "glob"),
        (["--anchor-type", "symbol", "src/auth.py::check"], "symbol"),
    ],
)
def test_graph_link_anchors(lore: Lore, code: Repository, words: list[str], kind: str) -> None:
    assert lore("graph", "link", "decision-a", *words).json["kind"] == kind


def test_anchor_lists_and_removes_every_kind(lore: Lore, code: Repository) -> None:
    row = lore("anchor", "decision-a", "src/auth.py").json
    assert (row["kind"], row["verdict"], row["state"]) == ("file", "valid", "added")
    assert show(lore)["edges"]["anchored_to"]["id"] == "file-src/auth.py"
    lore.patch.chdir("src")  # paths are relative to the working directory
    lines = "auth.py:1-2; auth.py:2; auth.py --hash; *.py --glob; auth.py --symbol check"
    for words in lines.split("; "):
        lore("anchor", "decision-a", *words.split())
    lore.patch.chdir(lore.project)
    lore("index")
    shared = '"to_id": "symbol-src/auth.py::check", "relation": "anchored_to", "created_at"'
    assert shared in lore("export").out
    lore("undo")
    assert not lore("related", "symbol-src/auth.py::check", "--type", "decision").json
    lore("undo", "--redo")
    lore("add", "note", "An older link", "--id", "note-b")
    lore("import", "-", stdin=f'{{"from_id": "note-b", {shared}: "2026-01-01T00:00:00Z"}}')
    for words in ("anchor note-b src/auth.py::check", "undo"):
        lore(*words.split())
    assert "note-b" in lore("related", "symbol-src/auth.py::check", "--ids").lines
    listed = lore("anchor", "decision-a").json
    assert [f"{row['kind']} {row['path']} {row['detail']}" for row in listed] == [
        "file src/auth.py None",
        "glob src/*.py None",
        "hash src/auth.py None",
        "lines src/auth.py 1-2",
        "lines src/auth.py 2-2",
        "symbol src/auth.py check",
    ]
    remove = ("anchor", "decision-a", "src/auth.py", "--remove")
    assert [row["kind"] for row in lore(*remove, "--hash").json] == ["hash"]
    assert [row["state"] for row in lore(*remove).json] == ["removed"] * 4
    assert "removed" in lore("anchor", "decision-a", "src/*.py", "--remove", "--text").out
    left = show(lore)
    assert (left["anchors"], left["edges"], left["verdict"]) == ([], {}, None)
    assert "no such anchor to src/auth.py" in lore.refuse(*remove, code=1)


def test_anchor_refuses_bad_targets(lore: Lore, code: Repository) -> None:
    os.symlink("loop", "loop")
    lore.refuse_each("""
        anchor decision-a nothing.py | 1 | nothing.py: no such file
        anchor decision-a ../outside.py | 1 | leads outside the project
        anchor decision-a loop | 1 | loop
        anchor decision-a src/auth.py --symbol none | 1 | defines no none
        graph link decision-a src/auth.py --anchor-type symbol | 2 | --symbol needs NAME
        anchor decision-a src/auth.py:9-10 | 1 | has 2 lines
        anchor decision-a src/auth.py --hash --symbol check | 2 | exclude each other
        anchor decision-a --hash | 2 | --hash needs a FILE
        verify decision-a | 1 | 'decision-a' has no anchor
    """)


def test_verify_names_the_commit_until_restore(lore: Lore, code: Repository) -> None:
    lore("anchor", "decision-a", "src/auth.py", "--symbol", "check")
    assert verify(lore) == [("valid", "src/auth.py")]
    commit = code.commit("Let everyone in", **{"src/auth": "def check(token):\n    return True\n"})
    done = lore("verify", "-", stdin="decision-a\n")
    assert (done.json[0]["verdict"], done.json[0]["reason"]) == ("drifted", "its body changed")
    assert done.notes == ["1 anchor: 1 drifted"]
    edge = show(lore)["edges"]["invalidated_by"]
    assert (edge["id"], edge["title"]) == (f"commit-{commit}", "Let everyone in")
    assert lore("stale", "--fail", "--ids", code=1).lines == ["decision-a"]
    restored = lore("restore", "decision-a")
    assert (restored.json[0]["state"], restored.notes) == ("restored", [])
    assert lore("stale", "--fail").json == [] and [*show(lore)["edges"]] == ["anchored_to"]
    code.write("src/auth.py", "other = 1\n")
    assert lore("stale", "--fail", "--text", code=1).lines == [
        "invalid    decision-a  symbol src/auth.py::check  Sessions are tokens "
        "(check is defined nowhere)"
    ]
    lore("verify")
    (note,) = lore("restore", "decision-a").notes
    assert "'decision-a' is anchored to src/auth.py::check, which is still invalid" in note
    assert verify(lore) == [("invalid", "src/auth.py")]


def test_search_and_related_show_verdicts(lore: Lore, code: Repository) -> None:
    lore("anchor", "decision-a", "src/auth.py", "--hash")
    code.write("src/auth.py", CODE + "# more\n")
    found = lore("search", "tokens")
    assert found.json[0]["verdict"] == "valid"
    assert "the code behind 1 of these results may have changed" in found.err
    assert lore("search", "tokens", "-q").notes == []
    lore("verify", "-q")
    assert "[drifted]" in lore("list", "--text").out
    assert "[drifted]" in lore("search", "tokens", "--text").lines[0]
    assert lore("related", "file-src/auth.py").json[0]["verdict"] == "drifted"


def test_verify_judges_in_a_read_only_store(lore: Lore, code: Repository) -> None:
    lore("anchor", "decision-a", "src/auth.py", "--hash")
    code.write("src/auth.py", "x = 1\n")
    lore.forbid_writes()
    done = lore("verify")
    assert done.json[0]["verdict"] == "drifted" and "cannot be written" in done.err
    assert show(lore)["verdict"] == "valid"


def test_verify_runs_no_code_in_file_names(lore: Lore, code: Repository) -> None:
    name = "src/$(touch pwned);é.py"
    code.write(name, "X = 1\n")
    lore("anchor", "decision-a", name, "--symbol", "X")
    os.unlink(name)
    assert name in lore("verify", "--text").out
    assert not os.path.exists("pwned")


def test_verify_works_in_a_deleted_folder(lore: Lore, code: Repository) -> None:
    lore("anchor", "decision-a", "src/auth.py")
    os.mkdir("gone")
    lore.patch.chdir("gone")
    lore.patch.setenv("PWD", str(lore.project / "gone"))
    os.rmdir("../gone")
    assert verify(lore) == [("valid", "src/auth.py")]
