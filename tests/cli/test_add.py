"""What ``lore add`` keeps, prints and refuses."""

from __future__ import annotations

from commands import Lore


def test_add_prints_the_id_and_the_state(lore: Lore) -> None:
    added = lore("add", "decision", "Use JWT").json
    assert added["id"].startswith("decision-") and added["state"] == "added"
    again = lore("add", "decision", "Use", "JWT").json
    assert again == {"id": added["id"], "state": "unchanged"}
    assert lore.id("add", "decision", "Use JWT", "--tags", "auth") == added["id"]
    assert lore("add", "decision", "Use JWT", "--text", "--tag", "api").out == (
        f"updated  {added['id']}\n"
    )


def test_add_refuses_a_text_that_is_not_utf8_or_empty(lore: Lore) -> None:
    assert "stdin is not UTF-8" in lore.refuse("add", "note", stdin=b"caf\xe9", code=1)
    assert "the text is empty" in lore.refuse("add", "note", code=1)


def test_show_in_terminal(lore: Lore) -> None:
    id = lore.id("add", "note", "hello there")
    assert "hello" in lore("show", id, terminal=True).out
    assert lore("search", "hello").json[0]["id"] == id
