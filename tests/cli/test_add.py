"""Test ``lore add``."""

from __future__ import annotations

import shlex

from commands import Lore

TEXT = '# A title\n\nline one\n  line "two"\n'


def test_add_prints_the_id_and_the_state(lore: Lore) -> None:
    added = lore("add", "decision", "Use JWT").json
    assert added["id"].startswith("decision-") and added["state"] == "added"
    for words in (["Use JWT"], ["Use JWT", ""], ["-m", "Use JWT"]):
        again = lore("add", "decision", *words).json
        assert again == {"id": added["id"], "state": "unchanged"}, words
    updated = lore("add", "decision", "Use JWT", "--tag", "api", terminal=True)
    assert updated.out == f"updated  {added['id']}\n"


def test_add_stores_every_field(lore: Lore) -> None:
    other = lore.id("add", "failure", "All logins failed")
    options = f"""--title Keys --why 'they leak' --tags 'Auth,a b' --tag web
        --file src/auth.py:3-9 --link {other}:learned_from --status staged --source conversation
        --confidence 0.5 --category security"""
    shown = lore("show", lore.id("add", "lesson", "Rotate keys", *shlex.split(options))).json
    names = "title body data tags file line_start line_end status source confidence category"
    assert [shown[name] for name in names.split()] == [
        *("Keys", "Rotate keys", {"why": "they leak"}, ["a-b", "auth", "web"], "src/auth.py", 3, 9),
        *("staged", "conversation", 0.5, "security"),
    ]
    edges = {edge["relation"]: (edge["direction"], edge["id"]) for edge in shown["edges"]}
    linked = {"anchored_to": ("out", "file-src/auth.py"), "learned_from": ("out", other)}
    assert edges == linked


def test_add_reads_the_text_from_stdin(lore: Lore) -> None:
    id = lore.id("add", "note", stdin=TEXT)
    assert lore.id("add", "note", "-", stdin=TEXT) == id
    shown = lore("show", id).json
    assert (shown["title"], shown["body"]) == ("A title", TEXT.rstrip("\n"))
    assert "stdin: not UTF-8" in lore.refuse("add", "note", stdin=b"caf\xe9", code=1)


def test_add_names_near_duplicates(lore: Lore) -> None:
    lore.patch.delenv("LORE_EMBEDDER")
    text = "Sessions are signed with a rotating key"
    lore("add", "decision", text, "--id", "decision-a")
    (note,) = lore("add", "decision", f"{text}.").notes
    assert note == "looks like decision-a (1.00): see 'lore show decision-a'"
    assert not lore("add", "decision", f"{text}!", "--quiet").err


def test_two_words_are_title_and_body(lore: Lore) -> None:
    for words, title, body in (
        (["One", "the body"], "One", "the body"),
        (["One. Two", "-m", "body"], "One. Two", "body"),
        (["Of", "three", "words", "--body", "body"], "Of three words", "body"),
        (["Of", "three", "words"], "Of three words", "Of three words"),
        (["a", "b", "--title", "Given"], "Given", "a b"),
        (["On stdin", "-"], "On stdin", "typed"),
        (["On stdin", "-m", "-"], "On stdin", "typed"),
    ):
        shown = lore("show", lore.id("add", "note", *words, stdin="typed\n")).json
        assert (shown["title"], shown["body"]) == (title, body), words


def test_same_body_under_two_titles_is_two_records(lore: Lore) -> None:
    ids = [lore.id("add", "note", title, "the body") for title in ("One", "Two", "One")]
    assert ids[0] == ids[2] != ids[1]
    assert lore("show", ids[0]).json["title"] == "One"


def test_text_without_type_suggests_a_command(lore: Lore) -> None:
    assert "write lore add note 'some note';" in lore.refuse("add", "some note", stdin="not read")


def test_lines_of_a_file_are_put_in_order(lore: Lore) -> None:
    shown = lore("show", lore.id("add", "note", "x", "--file", "src/a.py:20-10")).json
    assert (shown["line_start"], shown["line_end"]) == (10, 20)


def test_add_anchors_a_symbol(repository: Lore) -> None:
    repository.write("src/auth.py", "class Users:\n    def login(self):\n        return 1\n")
    place = ["--file", "src/auth.py::Users::login"]
    shown = repository("show", repository.id("add", "note", "Returns one", *place)).json
    assert shown["file"] == "src/auth.py"
    (anchor,) = shown["anchors"]
    assert anchor["kind"] == "symbol" and anchor["detail"] == "Users.login"
    repository.refuse("add", "note", "Lost", "--file", "src/auth.py::logout", code=1)
    assert len(repository("list", "--type", "note").json) == 1


def test_refused_add_leaves_the_store_unchanged(lore: Lore) -> None:
    lore.refuse_each("""
        add note | 1 | the text is empty
        add nots x | 2 | unknown type 'nots' (did you mean 'note'?); 'lore add --help'
        add records x | 2 | unknown type 'records': write lore add note
        add dec x | 2 | (did you mean 'decision'?)
        add note x -m y --title z | 2 | --title and TEXT exclude each other
        add note x --file a.py:0 | 2 | invalid line 0
        add note x --link note-none:relates | 2 | did you mean 'relates_to'?
        add note x --link note-none:relates_to | 1 | no node 'note-none'
        add note x --link nonsense | 2 | ID:RELATION
        add note x --id decision-x | 1 | is not of type note
        add note x --max-text 5 | 2 | max_text is '5'
    """)
    assert lore("list").json == []
    assert lore.id("add", "recipe", "Soup", "--new-type", "--id", "recipe-soup") == "recipe-soup"


def test_learning_is_a_lesson_and_five_types(lore: Lore) -> None:
    assert lore.id("add", "learning", "Rotate the keys").startswith("lesson-")
    for type in ("decision", "pattern", "failure", "observation", "note"):
        lore("add", type, f"A {type} of tokens")
    for words, count in (("list", 5), ("list --orphans", 5), ("search tokens", 4)):
        rows = lore(*words.split(), "--type", "learning").json
        assert len(rows) == count and "note" not in {row["type"] for row in rows}
