"""What ``lore add`` keeps, prints and refuses."""

from __future__ import annotations

import json
import shlex

import pytest
from commands import Lore

TEXT = '# A title\n\nline one\n  line "two"\n'


def test_add_prints_the_id_and_the_state(lore: Lore) -> None:
    added = lore("add", "decision", "Use JWT").json
    assert added["id"].startswith("decision-") and added["state"] == "added"
    again = lore("add", "decision", "Use", "JWT").json
    assert again == {"id": added["id"], "state": "unchanged"}
    assert lore.id("add", "decision", "Use JWT", "--tags", "auth") == added["id"]
    assert lore("add", "decision", "Use JWT", "--text", "--tag", "api").out == (
        f"updated  {added['id']}\n"
    )
    assert lore("add", "note", "two", "--id", "note-2", terminal=True).out == "added  note-2\n"


def test_add_keeps_every_field(lore: Lore) -> None:
    other = lore.id("add", "failure", "All logins failed")
    options = f"""--title Keys --why 'they leak' --tags 'Auth,a b' --tag web
        --file src/auth.py:3-9 --link {other}:learned_from --status staged --source conversation
        --confidence 0.5 --category security"""
    id = lore.id("add", "lesson", "Rotate keys", *shlex.split(options))
    shown = lore("show", id).json
    assert {name: shown[name] for name in ("title", "body", "data", "tags", "file", "line_start",
            "line_end", "status", "source", "confidence", "category")} == {
        "title": "Keys", "body": "Rotate keys", "data": {"why": "they leak"},
        "tags": ["a-b", "auth", "web"], "file": "src/auth.py", "line_start": 3, "line_end": 9,
        "status": "staged", "source": "conversation", "confidence": 0.5, "category": "security",
    }  # fmt: skip
    assert {(edge["direction"], edge["relation"], edge["id"]) for edge in shown["edges"]} == {
        ("out", "anchored_to", "file-src/auth.py"), ("out", "learned_from", other),
    }  # fmt: skip


def test_add_reads_the_text_from_stdin(lore: Lore) -> None:
    id = lore.id("add", "note", stdin=TEXT)
    assert lore.id("add", "note", "-", stdin=TEXT) == id
    shown = lore("show", id).json
    assert (shown["title"], shown["body"]) == ("A title", TEXT.rstrip("\n"))


def test_add_declares_a_new_type(lore: Lore) -> None:
    assert "declare it as a new type" in lore.refuse("add", "recipe", "Soup")
    assert lore.id("add", "recipe", "Soup", "--new-type", "--id", "recipe-soup") == "recipe-soup"


def test_add_names_near_duplicates(lore: Lore) -> None:
    text = "Sessions are signed with a rotating key"
    lore("add", "decision", text, "--id", "decision-a")
    added = lore("add", "decision", f"{text}.", "--id", "decision-b")
    assert added.json["state"] == "added"
    assert added.notes == ["looks like decision-a (1.00): see 'lore show decision-a'"]
    assert not lore("add", "decision", f"{text}!", "--quiet").err


@pytest.mark.parametrize(
    ("line", "code", "part"),
    [
        ("add note", 1, "the text is empty"),
        ("add nots x", 2, "unknown type 'nots' (did you mean 'note'?)"),
        ("add note x --link note-none:relates", 2, "did you mean 'relates_to'?"),
        ("add note x --link note-none:relates_to", 1, "no node 'note-none'"),
        ("add note x --link nonsense", 2, "ID:RELATION"),
        ("add note x --id decision-x", 1, "is not of type note"),
        ("add note x --status done", 2, "--status is 'done'"),
        ("add note x --confidence 2", 2, "2"),
        ("add note x --titel x", 2, "--titel"),
        ("add note x --max-text 5", 2, "max_text is '5'"),
    ],
)
def test_refused_add_changes_nothing(lore: Lore, line: str, code: int, part: str) -> None:
    assert part in lore.refuse(*line.split(), code=code)
    assert lore("list").out == "[]\n"


def test_add_refuses_a_text_that_is_not_utf8(lore: Lore) -> None:
    assert "stdin is not UTF-8" in lore.refuse("add", "note", stdin=b"caf\xe9", code=1)


def test_learning_is_a_lesson_and_five_types(lore: Lore) -> None:
    lore.patch.setenv("LORE_EMBEDDER", "none")
    assert lore.id("add", "learning", "Rotate the keys").startswith("lesson-")
    for type in ("decision", "pattern", "failure", "observation", "note"):
        lore("add", type, f"A {type} of tokens")
    five = ["decision", "failure", "lesson", "observation", "pattern"]
    assert sorted(row["type"] for row in lore("list", "--type", "learning").json) == five
    assert len(lore("graph", "orphans", "--type", "learning").json) == 5
    found = lore("search", "tokens", "--type", "learning,note").json
    assert sorted(row["type"] for row in found) == sorted({*five, "note"} - {"lesson"})
    assert "did you mean 'learning'" in lore.refuse("list", "--type", "learnings")


def test_text_written_in_other_ways_is_one_record(lore: Lore) -> None:
    lore.patch.setenv("LORE_EMBEDDER", "none")
    id = lore.id("add", "note", "the café")
    assert lore.id("add", "note", "  the cafe\u0301\n") == id
    assert lore("search", "cafe\u0301", "--ids").lines == lore("list", "--ids").lines == [id]


def test_titles_cannot_steer_a_terminal(lore: Lore) -> None:
    title = "\x1b]0;x\a\x1b[31m"
    lore("add", "note", "text", "--id", "note-2", "--title", title)
    for words in (["list"], ["list", "--jq", ".[].title"], ["show", "note-2"],
                  ["show", "note-2", "--json"]):  # fmt: skip
        shown = lore(*words, terminal=True).out.replace("\n", "")
        assert "31m" in shown and shown.isprintable(), words
    lore.patch.delenv("NO_COLOR")
    assert "\x1b[1mnote-2\x1b[0m  ?]0;x??[31m" in lore("list", terminal=True).out
    assert json.loads(lore("show", "note-2").out)["title"] == title
