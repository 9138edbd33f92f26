"""What ``lore add`` keeps, prints and refuses."""

from __future__ import annotations

import shlex

from commands import Lore

TEXT = '# A title\n\nline one\n  line "two"\n'


def test_add_prints_the_id_and_the_state(lore: Lore) -> None:
    added = lore("add", "decision", "Use JWT").json
    assert added["id"].startswith("decision-") and added["state"] == "added"
    again = lore("add", "decision", "Use", "JWT").json
    assert again == {"id": added["id"], "state": "unchanged"}
    updated = lore("add", "decision", "Use JWT", "--tag", "api", terminal=True)
    assert updated.out == f"updated  {added['id']}\n"


def test_add_keeps_every_field(lore: Lore) -> None:
    other = lore.id("add", "failure", "All logins failed")
    options = f"""--title Keys --why 'they leak' --tags 'Auth,a b' --tag web
        --file src/auth.py:3-9 --link {other}:learned_from --status staged --source conversation
        --confidence 0.5 --category security"""
    shown = lore("show", lore.id("add", "lesson", "Rotate keys", *shlex.split(options))).json
    assert shown | {
        "title": "Keys", "body": "Rotate keys", "data": {"why": "they leak"},
        "tags": ["a-b", "auth", "web"], "file": "src/auth.py", "line_start": 3, "line_end": 9,
        "status": "staged", "source": "conversation", "confidence": 0.5, "category": "security",
    } == shown  # fmt: skip
    assert {(edge["direction"], edge["relation"], edge["id"]) for edge in shown["edges"]} == {
        ("out", "anchored_to", "file-src/auth.py"), ("out", "learned_from", other),
    }  # fmt: skip


def test_add_reads_the_text_from_stdin(lore: Lore) -> None:
    id = lore.id("add", "note", stdin=TEXT)
    assert lore.id("add", "note", "-", stdin=TEXT) == id
    shown = lore("show", id).json
    assert (shown["title"], shown["body"]) == ("A title", TEXT.rstrip("\n"))
    assert "stdin is not UTF-8" in lore.refuse("add", "note", stdin=b"caf\xe9", code=1)


def test_add_names_near_duplicates(lore: Lore) -> None:
    text = "Sessions are signed with a rotating key"
    lore("add", "decision", text, "--id", "decision-a")
    (note,) = lore("add", "decision", f"{text}.").notes
    assert note == "looks like decision-a (1.00): see 'lore show decision-a'"
    assert not lore("add", "decision", f"{text}!", "--quiet").err


def test_refused_add_changes_nothing(lore: Lore) -> None:
    lore.refuse_each("""
        add note | 1 | the text is empty
        add nots x | 2 | unknown type 'nots' (did you mean 'note'?): declare it as a new type
        add note x --link note-none:relates | 2 | did you mean 'relates_to'?
        add note x --link note-none:relates_to | 1 | no node 'note-none'
        add note x --link nonsense | 2 | ID:RELATION
        add note x --id decision-x | 1 | is not of type note
        add note x --status done | 2 | --status is 'done'
        add note x --confidence 2 | 2 | 2
        add note x --titel x | 2 | --titel
        add note x --max-text 5 | 2 | max_text is '5'
    """)
    assert lore("list").json == []
    assert lore.id("add", "recipe", "Soup", "--new-type", "--id", "recipe-soup") == "recipe-soup"


def test_learning_is_a_lesson_and_five_types(lore: Lore) -> None:
    lore.patch.setenv("LORE_EMBEDDER", "none")
    assert lore.id("add", "learning", "Rotate the keys").startswith("lesson-")
    for type in ("decision", "pattern", "failure", "observation", "note"):
        lore("add", type, f"A {type} of tokens")
    for words, count in (("list", 5), ("graph orphans", 5), ("search tokens", 4)):
        rows = lore(*words.split(), "--type", "learning").json
        assert len(rows) == count and "note" not in {row["type"] for row in rows}


def test_titles_cannot_steer_a_terminal(lore: Lore) -> None:
    lore("add", "note", "text", "--id", "note-2", "--title", "\x1b]0;x\a\x1b[31m")
    for words in ("list", "list --jq .[].title", "show note-2", "show note-2 --json"):
        shown = lore(*words.split(), terminal=True).out.replace("\n", "")
        assert "31m" in shown and shown.isprintable(), words
    lore.patch.delenv("NO_COLOR")
    assert "\x1b[1mnote-2\x1b[0m  ?]0;x??[31m" in lore("list", terminal=True).out
