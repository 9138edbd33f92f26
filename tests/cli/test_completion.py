"""Words that ``lore complete`` offers for the last word of a command line."""

from __future__ import annotations

import pytest
from commands import Lore

RECORDS = """\
{"id":"note-a","type":"note","title":"one","tags":["auth","web"]}
{"id":"symbol-src/a.py::Login","type":"symbol","body":"two"}
"""


def offered(lore: Lore, *words: str) -> str:
    """Return the offered words, separated by spaces."""
    done = lore("complete", *words)
    assert not done.err
    return " ".join(done.lines)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("se", "search"),
        ("show |", ""),
        ("list --status s", "staged superseded"),
        ("search --type decision,l", "decision,lesson"),
        ("add dec", "decision"),
        ("config |", "list get set unset"),
        ("config get graph_d", "graph_depth"),
        ("help graph pa", "path"),
        ("search --expansion b", "best-path"),
    ],
)
def test_offers_commands_options_and_values(
    lore_without_store: Lore, line: str, words: str
) -> None:
    assert offered(lore_without_store, *line.replace("|", "").split(" ")) == words


def test_offers_programs_of_the_user(lore_without_store: Lore) -> None:
    program = lore_without_store.config.parent / "commands" / "lore-serenade"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert offered(lore_without_store, "se") == "search serenade"
    assert offered(lore_without_store, "help", "ser") == "serenade"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("show note", "note-a"),
        ("graph path note", "note-a"),
        ("link note-a learned", "learned_from"),
        ("search --files @g", "@git"),
        ("search no", ""),
        ("add note --title n", ""),
        ("anchor note-a lib/", ""),
    ],
)
def test_offers_ids_tags_and_relations(lore: Lore, line: str, words: str) -> None:
    lore("import", "-", stdin=RECORDS)
    assert offered(lore, *line.replace("|", "").split(" ")) == words


def test_offers_forgotten_records_and_runs(lore: Lore) -> None:
    lore("import", "-", stdin=RECORDS)
    lore("forget", "note-a")
    assert offered(lore, "undo", "").split()[0] == "note-a"
    run = lore("run", "start").out.strip()
    assert offered(lore, "run", "finish", "") == run
