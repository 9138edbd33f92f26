"""What ``lore list`` prints and refuses."""

from __future__ import annotations

import json

import pytest
from commands import Lore

ROWS = (
    ("note-1", "one", "auth", "confirmed", "src/a.py"),
    ("goal-2", "two", "auth", "staged", "docs/b.md"),
    ("note-3", "three", "api", "superseded", "src/a.py"),
    ("decision-4", "four", "api", "confirmed", ""),
    ("note-5", "five", "web", "retracted", "src/c.py"),
)
"""Id, title, tag, status and file of a record that was changed on the first of the next month."""


@pytest.fixture
def records(lore: Lore) -> Lore:
    """Five records, changed at noon of five days."""
    lore.patch.setenv("LORE_EMBEDDER", "none")
    lines = [
        json.dumps({
            "id": id, "type": id.partition("-")[0], "title": title, "tags": [tag, "all"],
            "status": status, "file": file, "created_at": "2026-01-01T00:00:00Z",
            "updated_at": f"2026-0{month}-01T12:00:00Z",
        })
        for month, (id, title, tag, status, file) in enumerate(ROWS, 1)
    ]  # fmt: skip
    lore("import", "-", "--quiet", stdin="\n".join(lines))
    return lore


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ("", "54321"),
        ("--oldest", "12345"),
        ("--type note", "531"),
        ("--type goal,decision", "42"),
        ("--type goal --type decision", "42"),
        ("--tag auth", "21"),
        ("--tag AUTH,all", "21"),
        ("--tag auth,api", ""),
        ("--status confirmed", "41"),
        ("--status staged,retracted", "52"),
        ("--file src/*", "531"),
        ("--file *.md,src/c.py", "52"),
        ("--since 2026-03-01", "543"),
        ("--since 2026-03-01T12:00:01Z", "54"),
        ("--until 2026-02-01", "1"),
        ("--since 2026-02-01 --until 2026-04-01 --type note", "3"),
        ("-n 2", "54"),
        ("--limit 1 --oldest", "1"),
        ("--since 1h", ""),
    ],
)
def test_list_filters_and_sorts_by_change(records: Lore, options: str, numbers: str) -> None:
    ids = [ROWS[int(number) - 1][0] for number in numbers]
    assert records("list", *options.split(), "--ids").lines == ids


def test_list_since_takes_a_span_of_time(records: Lore) -> None:
    records("edit", "goal-2", "--why", "new")
    assert records("list", "--since", "1h", "--ids").lines == ["goal-2"]


def test_list_prints_every_form(records: Lore) -> None:
    rows = records("list", "--type", "note").json
    assert [row["id"] for row in rows] == ["note-5", "note-3", "note-1"]
    assert {"tags", "status"} <= rows[0].keys() and "body" not in rows[0]
    assert records("list", "--type", "note", "--jsonl").rows == rows
    text = "2026-05-01  note-5  five  [retracted]\n"
    for terminal, options in ((False, ["--text"]), (True, [])):
        assert records("list", "-n", "1", *options, terminal=terminal).out == text
    assert records("list", "-n", "1", "--oneline").out.count("\n") == 1
    assert records("list", "--type", "run").out == "[]\n"
    assert records("list", "--type", "run", "--jsonl").out == ""
    for form in ("--oneline", "--json"):
        assert "exclude each other" in records.refuse("list", form, "--ids")


def test_list_has_files_only_on_request(lore: Lore) -> None:
    lore("add", "file", "src/auth.py")
    assert lore("list").json == []
    lore("add", "note", "one", "--id", "note-1")
    assert lore("list", "--ids").lines == ["note-1"]
    assert lore("list", "--type", "file", "--ids").lines == ["file-src/auth.py"]
    for options in (["--type", "file,note"], ["--all"]):
        assert len(lore("list", *options).json) == 2
    assert "exclude each other" in lore.refuse("list", "--all", "--type", "file")
    lore("forget", "note-1")
    empty = lore("list", "--ids")
    assert (empty.out, empty.notes) == ("", ["no records, only 1 file: 'lore list --all' has them"])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("--type nots", "unknown type 'nots' (did you mean 'note'?)"),
        ("--status done", "unknown status 'done'"),
        ("--since soon", "'soon' is not a valid date"),
        ("-n 0", "0"),
        ("extra", "extra"),
    ],
)
def test_list_refuses_impossible_filters(lore: Lore, options: str, part: str) -> None:
    assert part in lore.refuse("list", *options.split())
