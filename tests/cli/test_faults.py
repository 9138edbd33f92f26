"""Test invalid words, broken stores and locks: a clear line, the right exit code, no loss."""

from __future__ import annotations

import os

import apsw
from commands import Lore

KEPT = ("add", "note", "one to keep", "--id", "note-kept")


def test_misspelled_words_are_refused(lore: Lore) -> None:
    for id in ("note-one", "note-two"):
        lore("add", "note", id, "--id", id)
    lore.refuse_each("""
        search jwt --graph-dept 1 | 2 | --graph-dept
        search jwt --graph-depth 9 | 2 | give a whole number from 0 to 3
        search jwt --type decison | 2 | did you mean 'decision'?
        search note --graph-depth 1 --edges implement | 2 | did you mean 'implements'?
        link note-one relate_to note-two | 2 | did you mean 'relates_to'?
        related note-one --edges relate_to | 2 | did you mean 'relates_to'?
        import --type nots . | 2 | did you mean 'note'?
        link note-one relates_to note-twx | 1 | see 'lore search'
        related note-twx | 1 | see 'lore search'
    """)
    lore("add", "note", "tagged", "--tags", "auth")
    for command in ("list", "search tagged"):
        assert "did you mean 'auth'?" in lore(*command.split(), "--tag", "auht").err
    assert not lore("list", "--tag", "auth", "--type", "decision").err


def test_missing_store_is_named(lore: Lore) -> None:
    (lore.store / "search.db").unlink()
    below = lore.project / "below"
    below.mkdir()
    assert f"no store for {lore.project}: run 'lore init'" in lore.refuse("list", code=1)
    lore.patch.chdir(below)
    assert f"no store for {lore.project}" in lore.refuse("search", "x", code=1)
    (lore.project / ".lore").rmdir()
    assert "no store for this folder" in lore.refuse("list", code=1)
    lore.patch.setenv("LORE_DIR", str(lore.project / "nowhere"))
    assert f"no store in {lore.project}/nowhere" in lore.refuse("list", code=1)


def test_writer_is_waited_for_then_named(lore: Lore) -> None:
    lore(*KEPT)
    lore.patch.setenv("LORE_BUSY_TIMEOUT", "0.1")
    other = apsw.Connection(str(lore.store / "search.db"))
    other.execute("BEGIN IMMEDIATE")
    for words in ("add note another", "import -", "reindex"):
        refused = lore.refuse(*words.split(), stdin='{"id":"note-2"}', code=1)
        assert "is locked by another writer" in refused
    assert lore("search", "keep", "--ids").lines == ["note-kept"]
    other.execute("ROLLBACK")
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN IMMEDIATE")
    other.pragma("user_version", 2)
    assert "is locked by another writer" in lore.refuse("search", "keep", code=1)
    other.close()


def test_store_without_write_permission_is_only_read(lore: Lore) -> None:
    lore(*KEPT)
    lore.forbid_writes()
    for words in ("search keep", "list", "show note-kept"):
        assert lore(*words.split(), "--ids").lines == ["note-kept"]
    for words in ("add note another", "import -", "reindex", "forget note-kept"):
        assert "cannot be written" in lore.refuse(*words.split(), stdin="{}", code=1)


def test_store_is_not_overwritten_or_read_as_text(lore: Lore) -> None:
    lore(*KEPT)
    (lore.project / "named").symlink_to(lore.store / "search.db")
    lore.write("search.db-other", '{"id":"note-other"}\n')
    for name in (f"{lore.store}/search.db", "search.db-other", "named"):
        for words in ("export", "graph view --output"):
            assert f"{name}: is a file of a store" in lore.refuse(*words.split(), name, code=1)
    for words in ("import", "search --batch", "sync"):
        lore(*words.split(), "named", code=1)
    assert lore("list", "--ids").lines == ["note-kept"]


def test_text_with_nul_or_excess_length_is_refused(lore: Lore) -> None:
    assert "NUL byte" in lore.refuse("add", "note", "-", stdin=b"a\0b", code=1)
    lore.patch.setenv("LORE_MAX_TEXT", "1000")
    assert "longer than 1000 bytes" in lore.refuse("add", "note", "-", stdin="x" * 1001, code=1)


def test_words_that_are_not_utf8_are_refused(lore: Lore) -> None:
    word = os.fsdecode(b"caf\xe9")
    for words in ("list --tag", "add note", "search", "import", "show", "config get"):
        assert "is not UTF-8" in lore.refuse(*words.split(), word)
    lore.refuse(word)


def test_data_folder_needs_no_home(lore: Lore) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        lore.patch.delenv(name)
    assert lore("list").json == []


def test_jq_runs_no_text_of_a_record(lore: Lore) -> None:
    evil = "$(touch canary)`touch canary`;touch canary"
    lore("add", "note", evil, "--id", f"note-{evil}")
    assert lore("show", f"note-{evil}", "--jq", ".title").out == f"{evil}\n"
    assert lore("show", f"note-{evil}", "--ids").out == f"note-{evil}\n"
    assert not (lore.project / "canary").exists()
