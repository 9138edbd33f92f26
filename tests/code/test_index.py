"""``lore index`` from Python: writes, changes and faults."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from threading import Event, Lock

import pytest
from code_project import Project
from repositories import Repository

from pylore.code import worker
from pylore.code.edges import Mentions, mentioned
from pylore.code.facts import FileFacts
from pylore.code.index import below_root
from pylore.code.rules import load_rules
from pylore.code.worker import Job, work_all
from pylore.core.errors import BugElsewhere, LoreError
from pylore.core.settings import Settings
from pylore.records.records import Records
from pylore.store import Store
from pylore.system.project_files import FileTree

AUTH = '''"""Who may come in."""
from .jwt import decode


class Login:
    def check(self, token):
        return decode(token)
'''
JWT = """def decode(token):
    return token


def encode(token):
    return token
"""


@pytest.fixture
def project(tmp_path: Path, store: Store) -> Project:
    project = Project(tmp_path / "a project", store)
    project.write("src/auth.py", AUTH)
    project.write("src/jwt.py", JWT)
    project.write("README.md", "`Login.check` of `src/auth.py` is where to look, or encode.\n")
    return project


def test_files_symbols_and_edges(project: Project) -> None:
    project.write("bin/.tool", "#!/bin/sh\nrun() { :; }\n")
    done = project.index()
    assert (done["files"], done["symbols"], done["added"]) == (4, 5, 4)
    assert done["languages"] == {"bash": 1, "python": 2, "text": 1}
    check = project.node("symbol-src/auth.py::Login.check")
    assert (check.file, check.source) == ("src/auth.py", "file")
    assert (check.line_start, check.line_end) == (6, 7)
    assert json.loads(check.data) == {"kind": "method", "signature": "def check(self, token)"}
    assert check.title == "Login.check(self, token)"
    assert project.edges("defines") == {
        ("file-bin/.tool", "symbol-bin/.tool::run", "defines"),
        ("file-src/auth.py", "symbol-src/auth.py::Login", "defines"),
        ("file-src/auth.py", "symbol-src/auth.py::Login.check", "defines"),
        ("file-src/jwt.py", "symbol-src/jwt.py::decode", "defines"),
        ("file-src/jwt.py", "symbol-src/jwt.py::encode", "defines"),
    }
    assert project.edges("imports", "calls") == {
        ("file-src/auth.py", "file-src/jwt.py", "imports"),
        ("symbol-src/auth.py::Login.check", "symbol-src/jwt.py::decode", "calls"),
    }
    assert project.edges("mentions") == {
        ("file-README.md", "file-src/auth.py", "mentions"),
        ("file-README.md", "symbol-src/auth.py::Login.check", "mentions"),
    }
    edge = project.store.edges.get("file-src/auth.py", "file-src/jwt.py", "imports")
    assert edge is not None
    assert json.loads(edge.metadata) == {"reason": "file", "import_type": "static"}


def test_second_run_reads_and_writes_no_file(project: Project) -> None:
    first = project.index()
    before = project.store.connection.total_changes()
    again = project.index()
    assert (again["read"], again["unchanged"], again["edges"]) == (0, 3, first["edges"])
    # Files that were written a moment ago are looked into once more: their stamps may lie.
    assert project.store.connection.total_changes() - before < 10


def test_change_touches_only_the_changed_file(project: Project) -> None:
    project.index()
    project.store.connection.execute("UPDATE nodes SET updated_at = '2001-01-01T00:00:00Z'")
    project.write("src/jwt.py", "# one line more\n\n" + JWT.replace("encode", "sign"))
    done = project.index()
    assert (done["read"], done["changed"], done["symbols"]) == (1, 1, 4)
    assert "symbol-src/jwt.py::sign" in project.live("symbol")
    assert "symbol-src/jwt.py::encode" not in project.live("symbol")
    assert project.node("symbol-src/jwt.py::decode").line_start == 3
    assert project.node("symbol-src/jwt.py::decode").updated_at == "2001-01-01T00:00:00Z"
    assert project.node("symbol-src/auth.py::Login").updated_at == "2001-01-01T00:00:00Z"


def test_moved_file_has_its_links(project: Project) -> None:
    for path in ("a/x.md", "a/y.md"):
        project.write(path, "equal\n")
    project.index()
    records = Records(project.store, Settings(), None, str(project.root))
    id = records.add("decision", "Tokens are signed").id
    records.link(id, "relates_to", "symbol-src/jwt.py::decode")
    shutil.move(project.root / "src/jwt.py", project.root.parent / "kept")
    done = project.index()
    assert (done["removed"], done["files"]) == (1, 4)
    assert project.node("file-src/jwt.py").invalidated_at
    assert project.edges("calls", "relates_to", "imports") == set()
    shutil.move(project.root.parent / "kept", project.root / "src/jwt.py")
    assert project.index()["added"] == 1
    assert project.edges("calls", "relates_to") == {
        (id, "symbol-src/jwt.py::decode", "relates_to"),
        ("symbol-src/auth.py::Login.check", "symbol-src/jwt.py::decode", "calls"),
    }
    records.link(id, "anchored_to", "file-src/jwt.py")
    (project.root / "src/jwt.py").rename(project.root / "src/tokens.py")
    records.link(id, "relates_to", "file-a/y.md")
    (project.root / "a").rename(project.root / "b")
    project.index()
    assert project.edges("anchored_to", "relates_to") == {
        (id, "file-b/y.md", "relates_to"),
        (id, "file-src/tokens.py", "anchored_to"),
        (id, "symbol-src/tokens.py::decode", "relates_to"),
    }


def test_edge_and_tags_of_a_person_are_preserved(project: Project) -> None:
    project.index()
    records = Records(project.store, Settings(), None, str(project.root))
    records.link("file-README.md", "mentions", "file-src/jwt.py", weight=0.25)
    records.edit("symbol-src/jwt.py::decode", tags=["zebra"])
    project.write("src/jwt.py", JWT.replace("token", "text"))
    project.index()
    assert project.store.fulltext.having("code", "zebra") == {"symbol-src/jwt.py::decode"}
    edge = project.store.edges.get("file-README.md", "file-src/jwt.py", "mentions")
    assert edge and (edge.weight, edge.invalidated_at) == (0.25, None)


def test_processes_share_large_trees(project: Project) -> None:
    for number in range(200):
        project.write(f"many/m{number}.py", f"def f{number}(): return f{number - 1}()\n")
    seen: list[tuple[int, int]] = []
    done = project.index(progress=lambda done, total: seen.append((done, total)))
    assert (done["files"], done["symbols"], seen[-1]) == (203, 204, (203, 203))


def test_parallel_run_is_resolved(project: Project) -> None:
    project.index()
    store = project.store
    facts = {path: text for path, _, text in store.code.facts()}["src/jwt.py"]

    def other_run(done: int, total: int) -> None:
        """Read a file in a parallel process, which has not written the edges yet."""
        other = facts.replace('"decode"', '"decipher"')
        store.code.put([("src/jwt.py", "0", "1-2", "python", other)])
        store.meta.set("code_owed", "another run")

    project.write("src/auth.py", AUTH.replace("decode", "decipher"))
    project.index(progress=other_run)
    assert project.edges("calls") == {
        ("symbol-src/auth.py::Login.check", "symbol-src/jwt.py::decipher", "calls")
    }


JOB = Job("/nowhere", "", [("a", "")], 9, 1)


def test_failed_and_dead_workers_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "work", lambda *_: os._exit(1))
    with pytest.raises(LoreError, match="has died"):
        list(work_all([JOB], 2))
    ends = list[Event]()
    monkeypatch.setattr(worker, "work", lambda *_: int("three" * all(map(Event.is_set, ends))))
    with pytest.raises(BugElsewhere) as said:
        list(work_all([JOB], 2))
    found = [part in str(said.value) for part in ("ValueError", "code/test_index.py", "three")]
    assert found == [True, True, False]
    limits, start = "concurrent.futures.process._check_system_limits", "threading.Thread.start"
    held = lambda thread: (ends.append(thread._target.__self__), Lock().release())  # noqa: E731
    for name, refuse in ((limits, lambda: os.stat("/no")), (start, held)):
        with monkeypatch.context() as patch, pytest.raises(ValueError, match="three"):
            patch.setattr(name, refuse)
            list(work_all([JOB], 2))


def test_an_interrupted_run_is_continued(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from pylore.code.write import Writer

    def stop(writer: Writer) -> None:
        with project.store.transaction():
            writer._write_files()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            project.index()
    assert project.live("symbol") and not project.edges("calls")
    done = project.index()
    assert done["edges"] == {"calls": 1, "defines": 4, "imports": 1, "mentions": 2}
    assert project.store.meta.get("code_owed") is None


def test_index_of_a_folder(project: Project) -> None:
    project.index()
    project.write("src/jwt.py", "def other(): pass\n")
    (project.root / "README.md").unlink()
    done = project.index(below="src")
    assert (done["removed"], done["changed"]) == (0, 1)
    assert "file-README.md" in project.live("file")
    project.store.meta.set("code_rules", "other")
    assert [project.index(below=one)["unchanged"] for one in ("src", "", "")] == [0, 0, 2]
    assert below_root(str(project.root), str(project.root / "src")) == "src"
    assert below_root(str(project.root), str(project.root)) == ""
    for place, why in (("..", "leads outside"), ("README.md", "is not a folder")):
        with pytest.raises(LoreError, match=why):
            below_root(str(project.root), str(project.root / place))


def test_ignored_files_are_not_listed(project: Project) -> None:
    project.write(".gitignore", "build/\n*.log\n!kept.log\n")
    for path in ("build/out.py", "a.log", "kept.log"):
        project.write(path, "x = 1\n")
    Repository(project.root).commit()
    project.write("new.py", "x = 1\n")
    found = FileTree(str(project.root)).files().paths
    assert found == ".gitignore README.md kept.log new.py src/auth.py src/jwt.py".split()


def test_tool_folders_are_skipped_without_git(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for path in (".hidden/a.py", "node_modules/a.js", "env/pyvenv.cfg", "env/a.py"):
        project.write(path, "x\n")
    (project.root / "loop").symlink_to(project.root)
    listing = FileTree(str(project.root)).files()
    paths = "README.md src/auth.py src/jwt.py".split()
    assert (listing.paths, listing.skipped) == (paths, {"symlink": 1})
    os.mkdir(f"{project.root}/\udcff")
    monkeypatch.setattr("tempfile.tempdir", f"{project.root}/\udcff")
    with pytest.raises(LoreError, match="set TMPDIR"):
        project.index()


def test_odd_files_are_counted(project: Project) -> None:
    project.write("bin.py", b"\0\1")
    project.write("latin.py", b"x = '\xe9'\n")
    project.write("long.js", "x" * 999_000)
    project.write("huge.py", "x = 1\n" * 200_000)
    project.write("new\nline.py", "x = 1\n")
    project.write("sp ace 'q\".py", f"def spaced(): {'f' * 999}()\ndef {'f' * 999}(): pass\n")
    os.utime(project.root / "src/auth.py", (-1, -1))
    os.mkfifo(project.root / "pipe.py")
    (project.root / "link.py").symlink_to("src/auth.py")
    (project.root / "dangling.py").symlink_to("nowhere")
    deep = "(" * 5000 + ")" * 5000
    project.write("deep.py", f"def before(): pass\nx = {deep}\n")
    done = project.index()
    once = "binary encoding huge minified name special".split()
    assert done["skipped"] == {**dict.fromkeys(once, 1), "symlink": 2}
    assert "symbol-sp ace 'q\".py::spaced" in project.live("symbol")
    assert {edge[1] for edge in project.edges("calls")} <= project.live("symbol")
    assert "huge" not in project.index(index_max_file=2_000_000)["skipped"]
    assert project.index()["skipped"] == done["skipped"]
    project.write("src/jwt.py", b"\0")
    project.index()
    assert "file-src/jwt.py" in project.live("file"), "with the links of the file"


def test_file_over_a_limit_has_no_symbols(project: Project) -> None:
    left_out: dict[str, str] = {}
    project.index()
    whole = (project.root / "src/jwt.py").read_text()
    nested = "".join(f"{' ' * depth}class A:\n" for depth in range(200))
    project.write("src/jwt.py", f"{nested}{' ' * 200}pass\n{whole}")
    done = project.index(left_out=left_out.__setitem__)
    assert [*left_out.values(), done["skipped"]] == ["nesting exceeds the limit", {"unparsed": 1}]
    assert "symbol-src/jwt.py::decode" not in project.live("symbol")
    assert project.index()["skipped"] == {"unparsed": 1}
    project.write("src/jwt.py", whole)
    assert project.index()["skipped"] == {}


def test_partial_clone_fetches_no_file(project: Project, tmp_path: Path) -> None:
    project.write(".gitignore", "build/\n")
    Repository(project.root).commit()
    clone = tmp_path / "clone"
    for folder, words in (
        (project.root, "config uploadpack.allowFilter true"),
        (tmp_path, "clone -q --filter=blob:none --no-checkout FROM TO"),
        (clone, "sparse-checkout set --no-cone *.py"),
        (clone, "checkout -q"),
    ):
        places = {"FROM": f"file://{project.root}", "TO": str(clone)}
        command = ["git", *(places.get(word, word) for word in words.split())]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    trap.chmod(0o755)
    subprocess.run(["git", "config", "remote.origin.uploadpack", str(trap)], cwd=clone, check=True)
    here = Project(clone, project.store)
    here.index()
    here.write("src/jwt.py", JWT + "\n\ndef third(): pass\n")
    assert here.index()["read"] == 1
    assert "symbol-src/jwt.py::third" in here.live("symbol")
    assert not (tmp_path / "ran").exists()
    # So that this can fail: git itself would fetch the .gitignore.
    subprocess.run(["git", "status"], cwd=clone, capture_output=True, check=False)
    assert (tmp_path / "ran").exists()


def test_markdown_mentions() -> None:
    text = "See `src/a.py:10-20`, [b](../b.md#x) and lib/c.sh; not https://e.org/d.py.\n"
    fenced = "````\nran e/f.go and\n```\n`g`\n````\n"
    found = [item.module for item in mentioned(text + fenced, load_rules().mentioned)]
    assert found == ["src/a.py:10-20", "../b.md", "lib/c.sh", "e/f.go"]


def test_mentions_ignore_composition_of_accents() -> None:
    apart, together = "docs/U\u0308bersicht.py", "docs/Übersicht.py"
    for path, written in ((apart, together), (together, apart)):
        mentions = Mentions({path: FileFacts(path, "python")})
        (item,) = mentioned(f"See {written}.", load_rules().mentioned)
        found = mentions.of(FileFacts("README.md", "markdown", imports=[item]))
        assert found == {f"file-{path}": 1.0}
