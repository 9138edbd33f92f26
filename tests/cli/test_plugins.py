"""Programs of the user: plugins, importers of other formats, and retrievers."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from commands import Lore
from repositories import Repository

ROOT = Path(__file__).resolve().parents[2]

ADR = "# {}\n\nDate: {}\n\n## Status\n\nAccepted\n\n{}\n\n## Context\n\nRows.\n"
ISSUES = """\
{"id": "bd-1", "title": "Rotate tokens", "description": "Once a day.", "design": "By cron.", \
"status": "closed", "priority": 1, "issue_type": "bug", "labels": ["auth"], \
"created_at": "2026-01-02T03:04:05.123456789+02:00", "updated_at": "2026-01-03T00:00:00Z", \
"dependencies": [{"issue_id": "bd-1", "depends_on_id": "bd-2", "type": "blocks"}, \
{"issue_id": "bd-1", "depends_on_id": "bd-3", "type": "parent-child"}, \
{"issue_id": "bd-1", "depends_on_id": "bd-2", "type": "tracks"}]}
{"id": "bd-2", "title": "Store tokens", "status": "open", "issue_type": "task", \
"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
{"id": "bd-3", "title": "Gone", "status": "tombstone"}
{"_type": "memory", "key": "db-lock", "value": "Close the database before a copy"}
{"_type": "wisp"}
"""


@pytest.fixture
def own(lore: Lore) -> Path:
    """The folder of the user's programs."""
    folder = lore.config.parent / "commands"
    folder.mkdir()
    return folder


def put(own: Path, name: str, script: str) -> None:
    """Write a program."""
    (own / name).write_text(f"#!/bin/sh\n{script}\n")
    (own / name).chmod(0o755)


def test_event_plugins_hear_of_each_command_once(lore: Lore, own: Path) -> None:
    heard = lore.root / "heard"
    for event in ("add", "edit", "link", "forget", "import", "index", "sync"):
        put(own, f"lore-hook-post-{event}", f"cat >>'{heard}'; echo . >>'{heard}'")
    lore("add", "note", "Another", "--id", "note-b")
    for text in ("New", "New"):  # the second makes no change
        lore("add", "note", text, "--id", "note-c")
    lore("edit", "note-c", "Newer")
    lore("link", "note-c", "relates_to", "note-b")
    lore("fact", "jacq", "uses", "duckdb")
    lore("forget", "note-b", "note-c")
    rows = '{"id":"note-b","type":"note","body":"b"}\n{"id":"note-d","type":"note","body":"d"}\n'
    for _ in range(2):
        lore("import", "-", stdin=rows)
    Repository(lore.project).write("x.py", "x = 1\n")
    lore("index")
    lore("sync", "knowledge.jsonl")
    with (lore.project / "knowledge.jsonl").open("a") as file:
        file.write('{"id":"note-e","type":"note","body":"e"}\n')
    lore("sync", "knowledge.jsonl")
    events = [
        [tuple(json.loads(line).values()) for line in block.splitlines()]
        for block in heard.read_text().removesuffix(".\n").split(".\n")
    ]
    assert events == [
        [("post-add", "note-b", "added")],
        [("post-add", "note-c", "added")],
        [("post-edit", "note-c", "updated")],
        [("post-link", "note-c relates_to note-b", "added")],
        [("post-link", "entity-jacq uses entity-duckdb", "added")],
        [("post-forget", "note-b", "invalidated"), ("post-forget", "note-c", "invalidated")],
        [("post-import", "note-b", "updated"), ("post-import", "note-d", "added")],
        [("post-index", 1, 0, 0)],
        [("post-sync", "note-e", "added")],
    ]


def test_pre_add_plugin_refuses_or_fails(lore: Lore, own: Path) -> None:
    put(own, "lore-hook-pre-add", 'grep -q secret && echo "no secrets" >&2 && exit 1; exit 0')
    add = ("add", "note", "--id", "note-s")
    assert "no secrets" in lore.refuse(*add, "a secret", code=1)
    lore("add", "note", "plain", "--id", "note-p")
    lore.patch.setenv("LORE_PLUGIN_TIMEOUT", "0.2")
    put(own, "lore-hook-pre-add.late", "sleep 60")
    assert "did not end within 0.2 s" in lore.refuse(*add, "another", code=1)
    (own / "lore-hook-pre-add.late").chmod(0o600)
    assert "is not executable" in lore.refuse(*add, "another", code=1)
    (own / "lore-hook-pre-add.late").unlink()
    (own / "lore-hook-pre-add").unlink()
    (own / "lore-hook-pre-add").symlink_to("/nonexistent")
    assert "not written" in lore.refuse(*add, "another", code=1)
    assert lore("list", "--ids").out == "note-p\n"


def test_failed_post_add_plugin_is_a_warning(lore: Lore, own: Path) -> None:
    put(own, "lore-hook-post-add", "echo one >&2; printf 'two\\033[2J\\n' >&2; exit 3")
    put(own, "lore-hook-post-add.ok", "echo printed; exit 0")
    put(own, "lore-hook-post-add.slow", "sleep 60")
    put(own, "lore-hook-post-add.slow.bak", "exit 1")  # no valid name
    lore.patch.setenv("LORE_PLUGIN_TIMEOUT", "0.2")
    done = lore("add", "note", "kept", "--id", "note-a", "--ids")
    assert done.out == "note-a\n"
    failed, late = done.notes
    assert failed.startswith("lore-hook-post-add: failed with exit code 3 (two?[2J)")
    assert late.startswith("lore-hook-post-add.slow: did not end within 0.2 s")
    assert not lore("add", "note", "kept too", "--quiet").err


def test_event_plugins_outside_the_user_folder_never_run(lore: Lore) -> None:
    ran = lore.root / "ran"
    for folder in ("a project/hooks", "a project/.lore/commands", "bin", "a project"):
        lore.program(f"{folder}/lore-hook-pre-add", f"touch '{ran}'; exit 1")
    lore.write(".lore/.config", f'plugin_dir="{lore.project}/hooks"\nplugin_timeout=0.01\n')
    lore.patch.setenv("PATH", f"{lore.root}/bin:{lore.project}", prepend=":")
    assert lore("add", "note", "new").err.count("counts only in the user's own config") == 2
    (lore.project / ".lore/.config").unlink()
    assert not ran.exists()


def made(name: str, *words: str, stdin: str = os.devnull, code: int = 0) -> bytes:
    """Return the output of a shipped importer, or the error."""
    program = ROOT / f"plugins/lore-import-{name}"
    environ = {**os.environ, "LORE_PROJECT": os.getcwd()}
    with open(stdin, "rb") as file:
        done = subprocess.run([program, *words], stdin=file, capture_output=True, env=environ)
    assert done.returncode == code, done
    return done.stderr if code else done.stdout


def test_importer_of_adr_tools_brings_decisions_and_links(lore: Lore) -> None:
    links = "Supersedes [0. Lists](0000-lists.md), [1. Files](0001-files.md)\n\n"
    links += "Amended by [3. WAL](0003-wal.md)"
    superseded = "Superseded by [2. SQLite](0002-sqlite.md)"
    lore.write("adr/0001-files.md", ADR.format("1. Use flat files", "2020-01-31", superseded))
    lore.write("adr/0002-sqlite.md", ADR.format("2. Use SQLite", "2021-02-28", links))
    head = '\ufeff---\nstatus: "proposed"\ndate: 2022-02-30\n---\n\n# WAL mode\n'
    text = "\n## Context\n\nSee [files](0001-files.md) and [a page](../x.md).\n"
    lore.write("adr/0003-wal.md", head + text)
    lore.write("adr/template.md", "# Template\n")
    done = lore("import", "-", stdin=made("adr-tools", "adr")).json
    assert done["added"] == 6 and done["dangling"] == 0
    assert lore("import", "-", stdin=made("adr-tools", "adr")).json["unchanged"] == 6
    rows = {
        row.get("id") or (row["from_id"][13:17], row["relation"], row["to_id"][13:17]): row
        for row in lore("export", "--type", "decision").rows
    }
    edges = [" ".join(key) for key in rows if isinstance(key, tuple)]
    assert {*edges} == {"0002 supersedes 0001", "0003 links_to 0001", "0003 relates_to 0002"}
    first, second, third = (row for key, row in sorted(rows.items(), key=str) if "id" in row)
    assert (first["title"], first["status"]) == ("Use flat files", "superseded")
    assert second["created_at"] == "2021-02-28T00:00:00Z"
    assert (third["status"], third["body"][:5]) == ("staged", "# WAL")
    lore.write("issues.jsonl", "{}\n")
    assert b"no NUMBER-name.md" in made("adr-tools", "issues.jsonl", code=1)


def test_importer_of_beads_brings_tasks_and_memories(lore: Lore) -> None:
    lore.write("issues.jsonl", ISSUES)
    done = lore("import", "-", stdin=made("beads", stdin="issues.jsonl")).json
    assert (done["nodes"], done["edges"]) == (3, 3)
    again = lore("import", "-", stdin=made("beads", stdin="issues.jsonl")).json
    assert (again["added"], again["updated"]) == (0, 0)
    assert lore("search", "close the database", "--ids", "-n", "1").lines == ["note-db-lock"]
    assert lore("list", "--type", "task", "--ids").lines == ["task-bd-1", "task-bd-2"]
    task = lore("show", "task-bd-1").json
    assert task["body"] == "Once a day.\n\n## Design\n\nBy cron."
    assert (task["created_at"], task["category"]) == ("2026-01-02T01:04:05Z", "bug")
    assert task["status"] == "superseded"
    assert {edge["relation"] for edge in task["edges"]} == {"depends_on", "part_of", "relates_to"}
    for rest, why in (
        ("", b"line 1 is not JSON"),
        (',"labels":5}', b"line 1: labels is not a list"),
        (',"created_at":"0001-01-01T00:00:00+05:00"}', b"is not a time"),
    ):
        lore.write("issues.jsonl", f'{{"id":"bd-1","title":"x"{rest}\n')
        assert why in made("beads", stdin="issues.jsonl", code=1)


DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMANDS = "home of a user/config/lore/commands"


@pytest.fixture
def filled(lore: Lore) -> Lore:
    """Run commands in a project of two records, with a retriever that notes that it ran."""
    lore.fill(
        {"id": "decision-a", "title": "Sessions are signed tokens"},
        {"id": "note-b", "title": "Of another matter"},
    )
    rows = json.dumps([{"id": "note-b", "score": 1}])
    lore.program(f"{COMMANDS}/lore-retriever-mine", f"touch '{lore.root}/ran'", f"echo '{rows}'")
    return lore


def test_user_enables_a_retriever(filled: Lore) -> None:
    filled.print_each("search tokens | decision-a")
    assert not (filled.root / "ran").exists()
    filled.print_each("""
        search tokens --retrievers 'fulltext mine' | decision-a note-b
        search tokens --retrievers mine | note-b
    """)
    filled.config.write_text('retrievers="mine"\n')
    filled.print_each("search tokens | note-b")
    filled.patch.setenv("LORE_RETRIEVERS", "fulltext")
    filled.print_each("search tokens | decision-a")


def test_retriever_is_not_taken_from_the_working_folder(filled: Lore) -> None:
    filled.program("a project/lore-retriever-here", f"touch '{filled.root}/ran'")
    filled.patch.setenv("PATH", ".", prepend=":")
    done = filled("search", "tokens", "--retrievers", "fulltext here", "--ids")
    assert done.lines == ["decision-a"] and not (filled.root / "ran").exists()
    assert "no program lore-retriever-here in " in done.err
    filled.refuse_each("""
        search tokens --retrievers 'fulltext ../x' | 2 | give names
        search tokens --retrievers a/b | 2 | give names
        search tokens --retrievers Mine | 2 | give names
        search tokens --retrievers vectro | 2 | did you mean 'vector'?
    """)


def test_documented_retriever_works(filled: Lore) -> None:
    blocks = re.findall(r"^```bash\n(#!.*?)^```$", (DOCS / "plugins.md").read_text(), re.M | re.S)
    [script] = [text for text in blocks if "lore-retriever-grep" in text]
    filled.program(f"{COMMANDS}/lore-retriever-grep", *script.splitlines())
    Repository(filled.project)
    text = 'def rotate_token():\n  """Token rotation, once a day."""\n'
    filled.write("src/with space/rotation.py", text)
    filled.write("src/auth.py", "token = None\n")
    filled.git("add", "src")
    for path in ("src/with space/rotation.py", "src/auth.py"):
        filled("add", "file", path)
    query = ("search", "expiring token", "--retrievers", "fulltext grep", "--type", "file", "--ids")
    found = filled(*query).lines
    assert sorted(found) == ["file-src/auth.py", "file-src/with space/rotation.py"]
