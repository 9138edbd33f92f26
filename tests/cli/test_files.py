"""Files at hand: ``search --files``, ``related FILE`` and ``context --files``."""

from __future__ import annotations

import pytest
from commands import Lore
from repositories import Repository

AUTH = "file-src/auth.py"


@pytest.fixture
def tree(lore: Lore) -> Lore:
    """Run commands in a git work tree with records that are anchored to files."""
    repository = Repository(lore.project)
    lore.write(
        "src/auth.py", "from src import keys\n\n\ndef getUserByID(x):\n    return keys.check(x)\n"
    )
    lore.write("src/keys.py", "def check(token):\n    return bool(token)\n")
    lore.write("src/limits.py", "LIMIT = 60\n")
    lore.write(".gitignore", ".lore\n")
    repository.commit("Begin")
    lore.fill(
        {"id": "decision-sessions", "title": "Sessions are signed tokens"},
        {"id": "lesson-keys", "title": "Rotate what signs tokens"},
        {"id": "note-style", "title": "Names are whole words"},
        {"id": "note-cookies", "title": "Cookies hold tokens"},
    )
    lore("anchor", "decision-sessions", "src/auth.py", "-q")
    lore("anchor", "lesson-keys", "src/keys.py", "-q")
    return lore


def test_files_add_their_records_to_a_search(tree: Lore) -> None:
    found = tree("search", "cookies", "--files", "src/auth.py").json
    assert [(hit["id"], hit["match"], hit["hops"], hit["path"]) for hit in found] == [
        ("note-cookies", "words", 0, ["note-cookies"]),
        ("decision-sessions", "files", 0, ["decision-sessions"]),
        (AUTH, "files", 0, [AUTH]),
    ]
    tree.print_each(f"""
        search tokens | note-cookies decision-sessions lesson-keys
        search tokens --files src/keys.py --type note,lesson | lesson-keys note-cookies
        search --files src/auth.py | decision-sessions {AUTH}
        search --files 'src/*.py' --type decision,lesson | decision-sessions lesson-keys
        search --files src/auth.py,src/keys.py --exclude lesson-keys --type lesson |
    """)
    explained = tree("search", "tokens", "--files", "src/keys.py", "--explain").json
    assert explained[0]["explain"]["files"] > 0
    batch = ("search", "--files", "src/auth.py", "--type", "decision", "--batch", "-", "--ids")
    assert tree(*batch, stdin="cookies").rows[0]["results"] == ["decision-sessions"]


def test_git_mark_names_the_changed_files(tree: Lore) -> None:
    done = tree("search", "--files", "@git")
    assert (done.json, len(done.notes)) == ([], 1)
    tree.write("src/auth.py", "# more\n")
    tree.print_each(f"search --files @git | decision-sessions {AUTH}")
    tree.git("add", "src/auth.py")
    tree.git("rm", "-q", "src/keys.py")
    tree.write("src/new.py", "x = 1\n")
    tree("add", "note", "New things are small", "--id", "note-new", "--file", "src/new.py")
    tree.print_each("""
        search --files @git --type decision,lesson,note | decision-sessions lesson-keys note-new
        related @git --type decision,lesson,note | decision-sessions lesson-keys note-new
    """)


def test_git_mark_refuses_unsafe_filters(tree: Lore) -> None:
    tree.git("config", "filter.a=b.clean", "true")
    assert "cannot be switched off" in tree.refuse("search", "--files", "@git", code=1)


def test_related_prints_records_of_a_file_first(tree: Lore) -> None:
    tree("index", "-q")
    done = tree("related", "src/auth.py", "--exclude-edges", "co_changes_with")
    assert [(hit["id"], hit["hops"], hit["match"]) for hit in done.json] == [
        ("decision-sessions", 0, "files"),
        ("lesson-keys", 2, "files"),
        ("file-src/keys.py", 1, "graph"),
    ]
    assert done.json[0]["verdict"] == "valid"
    assert "src/auth.py not shown: add --type symbol" in done.notes[0] and len(done.notes) == 1
    assert "symbol-src/auth.py::getUserByID" in tree("related", "src/auth.py", "--symbols").out
    assert tree("related", "lesson-keys", "--edges", "calls", "--text").out == "nothing here\n"


def test_filters_accept_paths_of_the_working_folder(tree: Lore) -> None:
    tree("add", "note", "Pages", "--id", "note-page", "--file", "src/auth.py")
    absolute = tree.project / "src/auth.py"
    tree.patch.chdir(tree.project / "src")
    for path in ("auth.py", "./auth.py", "../src/auth.py", str(absolute), "../src", "./a*.py"):
        tree.print_each(f"""
            list --file "{path}" --type note | note-page
            search --files "{path}" --type decision --exclude lesson-keys | decision-sessions
        """)


def test_related_accepts_files_in_every_spelling(tree: Lore) -> None:
    page = "app/[id]/pa'ge one.tsx"
    tree.write(page, "x\n")
    tree("add", "note", "Pages", "--id", "note-page", "--file", page)
    tree.print_each("""
        related src/auth.py --type decision | decision-sessions
        related src --type decision,lesson | decision-sessions lesson-keys
        related --files 'src/a*.py' --type decision | decision-sessions
        related src/limits.py |
        related "app/[id]/pa'ge one.tsx" --type note | note-page
        related 'app/[id]' --type note | note-page
        search --files "app/[id]/pa'ge one.tsx" --type note | note-page
    """)
    paths = "src/auth.py\nsrc/keys.py\n"
    ids = tree("related", "-", "--type", "decision,lesson", "--ids", stdin=paths).lines
    assert ids == ["decision-sessions", "lesson-keys"]
    tree.write("auth.py", "another of this name\n")
    tree.patch.chdir(tree.project / "src")
    tree.print_each(f"""
        related auth.py --type decision | decision-sessions
        related src/auth.py --type decision | decision-sessions
        related '{tree.project}/src/auth.py' --type decision | decision-sessions
    """)
    (tree.project / "src/auth.py").unlink()
    tree.print_each("related src/auth.py --type decision | decision-sessions")


def test_unknown_and_outside_paths_are_refused(tree: Lore) -> None:
    tree.refuse_each("""
        related src/none.py | 1 | src/none.py: no such file
        related nothing | 1 | no node 'nothing'
        related ../outside.py | 1 | leads outside the project
        search --files '../*.py' | 1 | leads outside the project
        search --files /etc/passwd | 1 | outside the project
    """)
    done = tree("search", "tokens", "--files", "lib/**/*.rs,a.rs,b.rs,c.rs", "--ids")
    assert len(done.lines) == 3 and "'b.rs' matches no file" in done.err and "1 more" in done.err
    tree.patch.setenv("LORE_DIR", str(tree.store))
    (tree.project / ".git").rename(tree.root / "elsewhere")
    assert "not a git repository" in tree.refuse("search", "--files", "@git", code=1)
    tree.write(".git", "gitdir: /nowhere\n")
    assert tree("index").notes == [
        ".gitignore was left out: git cannot list the files: see 'git status'"
    ]
