"""Test that each switch for the graph gives the results of a plain search."""

from __future__ import annotations

import pytest
from commands import Lore

NO_EDGES = "DROP TABLE links"


@pytest.fixture
def lore(lore: Lore) -> Lore:
    """Two records that match, each with a neighbour that does not."""
    lore.fill(
        {"id": "decision-jwt", "type": "decision", "body": "Use JWT for the sessions of the shop"},
        {"id": "lesson-expiry", "type": "lesson", "body": "Sessions that never expire are wrong"},
        {"id": "file-src/auth.py", "type": "file", "title": "src/auth.py"},
        {"id": "goal-audit", "type": "goal", "body": "Pass the audit in spring"},
        {"from_id": "file-src/auth.py", "relation": "implements", "to_id": "decision-jwt"},
        {"from_id": "lesson-expiry", "relation": "learned_from", "to_id": "goal-audit"},
    )
    return lore


def search(lore: Lore, *options: str, **variables: object) -> str:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(f"LORE_{name.upper()}", str(value))
        return lore("search", "jwt sessions", *options).out


def test_depth_0_is_a_plain_search(lore: Lore) -> None:
    user, project = lore.config, lore.project / ".lore" / ".config"
    plain, deep = search(lore), search(lore, "--graph-depth", "2")
    assert plain.count('"id"') == 2 and deep.count('"id"') == 4
    assert search(lore, "--graph-depth", "0") == search(lore, graph_depth=0) == plain
    assert search(lore, "--graph-max-depth", "1") == plain, "limits, and does not ask for more"
    assert search(lore, "--graph-max-depth", "2", "--graph-depth", "3") == deep
    for asked, allowed, wanted in ((0, 3, plain), (2, 3, deep), (2, 0, plain)):
        for file in (user, project):
            file.write_text(f"graph_depth={asked}\ngraph_max_depth={allowed}\n")
            assert search(lore) == wanted, file
            assert search(lore, graph_depth=0) == search(lore, graph_max_depth=0) == plain
            if allowed == 0:
                assert search(lore, "--expand") == search(lore, graph_depth=3) == plain
            file.unlink()
    user.write_text("graph_depth=2\n")
    project.write_text("graph_depth=2\ngraph_depth=0\n")
    assert search(lore) == plain


@pytest.mark.parametrize("damage", [NO_EDGES, f"{NO_EDGES}; CREATE TABLE links(a, b)"])
def test_damaged_graph_leaves_plain_results(lore: Lore, damage: str) -> None:
    plain = search(lore)
    lore.sql(f"PRAGMA foreign_keys = OFF; {damage}")
    done = lore("search", "jwt sessions")
    assert (done.out, done.err) == (plain, "")
    deeper = lore("search", "jwt sessions", "--graph-depth", "2")
    (note,) = deeper.notes
    assert deeper.out == plain and "plain results only" in note
