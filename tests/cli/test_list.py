"""Test ``lore list``."""

from __future__ import annotations

import pytest
from commands import Lore

ROWS = (
    ("note-1", "one", "auth", "confirmed", "src/a.py"),
    ("goal-2", "two", "auth", "staged", "docs/b.md"),
    ("note-3", "three", "api", "superseded", "src/a.py"),
    ("decision-4", "four", "api", "confirmed", ""),
    ("note-5", "five", "web", "retracted", "src/c.py"),
)
"""Id, title, tag, status and file; each was changed on the first of the next month at noon."""


@pytest.fixture
def records(lore: Lore) -> Lore:
    for month, (id, title, tag, status, file) in enumerate(ROWS, 1):
        row = {"id": id, "title": title, "tags": [tag, "all"], "status": status, "file": file}
        times = {"created_at": "2026-01-01", "updated_at": f"2026-0{month}-01T12:00:00Z"}
        lore.fill({**row, **times})
    return lore


def test_list_filters_and_sorts_by_change(records: Lore) -> None:
    records.print_each(f"""
        list | note-5 decision-4 note-3 goal-2 note-1
        list --oldest | note-1 goal-2 note-3 decision-4 note-5
        list --type goal,decision | decision-4 goal-2
        list --type goal --type decision | decision-4 goal-2
        list --tag AUTH,all | goal-2 note-1
        list --tag auth,api,{",".join(map(str, range(1000)))} |
        list --status staged,retracted | note-5 goal-2
        list --file 'src/*' | note-5 note-3 note-1
        list --file '*.md,src/c.py,{"[" * 1000}' | note-5 goal-2
        list --file src | note-5 note-3 note-1
        list --since 2026-03-01 | note-5 decision-4 note-3
        list --since 2026-03-01T12:00:01Z | note-5 decision-4
        list --until 2026-02-01 | goal-2 note-1
        list --until 2026-02-01T11 | note-1
        list --since 2026-03-01 --until 2026-03-01 | note-3
        list -n 2 | note-5 decision-4
        list --limit 1 --oldest | note-1
        list --since 1h |
        edit goal-2 --why new | goal-2
        list --since 1h | goal-2
    """)


def test_list_prints_every_form(records: Lore) -> None:
    rows = records("list", "--type", "note").json
    assert [row["id"] for row in rows] == ["note-5", "note-3", "note-1"]
    assert {"tags", "status"} <= rows[0].keys() and "body" not in rows[0]
    assert records("list", "--type", "note", "--jsonl").rows == rows
    assert rows[0]["verdict"] is None
    text = "2026-05-01  note-5  src/c.py  five  [retracted]\n"
    for terminal, form in ((False, ["--text"]), (True, [])):
        assert records("list", "-n", "1", *form, terminal=terminal).out == text
    assert records("list", "--type", "run").out == "[]\n"
    assert records("list", "--type", "run", "--jsonl").out == ""


def test_list_takes_brackets_and_braces(lore: Lore) -> None:
    paths = ("app/[id]/page.tsx", "app/i/page.tsx", "app/x/page.tsx", "app/{i,x}.tsx")
    for number, path in enumerate(paths):
        lore("add", "note", f"number {number}", "--file", path, "--id", f"note-{number}")
    lore.write(paths[0], "")
    for command in ("list", "search number"):
        assert lore(*command.split(), "--file", paths[0], "--ids").lines == ["note-0"]
        many = [f"--file={number}.py" for number in range(400)]
        found = lore(*command.split(), *many, "--file", "**/{i,x}/**/page.tsx", "--ids").lines
        assert {*found} == {"note-1", "note-2"}
        assert len(lore(*command.split(), "--file", ".", "--ids").lines) == 4
        for one, number in (("app/{i,x}.tsx", 3), ("app/[id]", 0), ("app/[!i]/*", 2)):
            assert lore(*command.split(), "--file", one, "--ids").lines == [f"note-{number}"]


def test_list_has_files_only_on_request(lore: Lore) -> None:
    lore("add", "file", "src/auth.py")
    empty = lore("list", "--ids")
    assert (empty.out, empty.notes) == ("", ["no records, only 1 file: 'lore list --all' has them"])
    lore("add", "note", "one", "--id", "note-1")
    lore.print_each("""
        list | note-1
        list --type file | file-src/auth.py
    """)
    for options in (["--type", "file,note"], ["--all"]):
        assert len(lore("list", *options).json) == 2


def test_list_refuses_impossible_filters(lore: Lore) -> None:
    lore.refuse_each("""
        list --type nots | 2 | unknown type 'nots' (did you mean 'note'?)
        list --since 'last week' | 2 | 'last week' is not a valid date
        list --all --type file | 2 | exclude each other
        list -n 9223372036854775808 | 2 | give a whole number from 1
    """)
