"""Test rules about code: anchor --rule, verify, stale and hooks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from commands import Lore
from repositories import Repository

NEVER_SAVE = ("session.save($X)", "--in", "src/**", "--expect", "none")
VIEWS = "@route\ndef show():\n    def inner():\n        return 1\n    return inner()\n"
ROUTE = "@route\ndef $F(): $$$"


@pytest.fixture
def code(lore: Lore) -> Repository:
    """A repository with three files, and a store with ``decision-a``."""
    code = Repository(lore.project)
    code.write("src/auth.py", "import web\n\n\ndef login(user):\n    session.save(user)\n")
    code.write("src/views.py", f"{VIEWS}\n\ndef hide():\n    pass\n")
    code.write("tests/test_auth.py", "session.save(None)\n")
    code.commit("Begin")
    lore("add", "decision", "Sessions are never saved", "--id", "decision-a")
    return code


def append(code: Repository, path: str, text: str) -> None:
    with open(code.root / path, "a") as file:
        file.write(text)


def rule(lore: Lore, text: str, *words: str) -> dict[str, Any]:
    row: dict[str, Any] = lore("anchor", "decision-a", "--rule", text, *words).json
    return row


def judged(lore: Lore) -> tuple[str, str]:
    """The verdict of the only anchor, and the reason."""
    (row,) = lore("verify").json
    return row["verdict"], row["reason"]


def stale(lore: Lore, *words: str, code: int = 0) -> list[str]:
    """The lines of ``lore stale --fail``, without the title of the only record."""
    out = lore("stale", "--fail", "--text", *words, code=code).out
    return out.replace(" decision-a Sessions are never saved", "").splitlines()


def test_new_violations_fail_and_known_ones_pass(lore: Lore, code: Repository) -> None:
    row = rule(lore, *NEVER_SAVE)
    assert (row["kind"], row["path"], row["verdict"]) == ("rule", "src/**", "violated")
    assert row["reason"] == "holds in 1 of 2 files; against: src/auth.py:5 (known)"
    assert row["claim"] == "no `session.save($X)` in src/**"
    assert stale(lore) == ["src/auth.py:5: (known)"]
    more = "\n\ndef keep(user):\n    session.save(user)\n    session.save(all)\n"
    code.write("src/auth.py", f"\n\ndef login(user):\n    session.save(user)\n{more}")
    (row,) = lore("verify").json  # a known violation may move to a different line
    places = [(place["line"], place["new"]) for place in row["places"]]
    assert row["new"] and places == [(4, False), (8, True), (9, True)]
    assert stale(lore, code=1) == ["src/auth.py:4: (known)", "src/auth.py:8:", "src/auth.py:9:"]
    # restore accepts present violations, and so does adding the rule again
    lore("restore", "decision-a")
    assert stale(lore)[2] == "src/auth.py:9: (known)"
    for words in (["restore", "decision-a"], ["anchor", "decision-a", "--rule", *NEVER_SAVE]):
        append(code, "src/auth.py", f"session.save({len(words)})\n")
        stale(lore, code=1)
        lore(*words)
        stale(lore)


def test_stale_prints_sarif(lore: Lore, code: Repository) -> None:
    rule(lore, "session.save($X)", "--expect", "none", "--except", "tests/**")
    code.write("src/new,file.py", "session.save(2)\n")
    assert "exclude each other" in lore.refuse("stale", "--as", "sarif", "--ids")
    (log,) = lore("stale", "--as", "sarif", "--fail", code=1).json["runs"]
    assert log["tool"]["driver"]["rules"][0]["id"] == "decision-a"
    assert "in ** except tests/**)" in log["results"][0]["message"]["text"]
    listed = []
    for result in log["results"]:
        place = result["locations"][0]["physicalLocation"]
        uri, line = place["artifactLocation"]["uri"], place["region"]["startLine"]
        listed.append((result["level"], result["baselineState"], uri, line))
    new = ("error", "new", "src/new%2Cfile.py", 1)
    assert listed == [("note", "unchanged", "src/auth.py", 5), new]


def test_sarif_names_the_line_of_a_symbol(lore: Lore, code: Repository) -> None:
    code.write("src/shop.py", "class Shop:\n    tax = 1\n\n    def sell(self):\n        return 1\n")
    lore("anchor", "decision-a", "src/shop.py::Shop::sell")
    code.write("src/shop.py", "class Shop:\n    def sell(self):\n        return 2\n")
    (log,) = lore("stale", "--as", "sarif", "--fail", code=1).json["runs"]
    (place,) = [result["locations"][0]["physicalLocation"] for result in log["results"]]
    assert place["region"]["startLine"] == 2


def test_rules_expect_all_or_some(lore: Lore, code: Repository) -> None:
    rule(lore, ROUTE, "--of", "def $F(): $$$", "--in", "src/views.py", "--expect", "all")
    against = "src/views.py:3 (known), src/views.py:8 (known)"
    assert judged(lore) == ("violated", f"holds in 1 of 3 places; against: {against}")
    rule(lore, ROUTE, "--remove")
    rule(lore, "import web", "--expect", "some")
    assert judged(lore) == ("valid", "1 match")
    code.write("src/auth.py", "")
    assert judged(lore) == ("violated", "0 matches; expected some")


def test_anchor_refuses_bad_rules(lore: Lore, code: Repository) -> None:
    code.write("a.yml", "rule: &a {pattern: f()}\nutils: *a\n")
    code.write("long.yml", "rule:\n  any:\n" + "  - pattern: f(x)\n" * 2_000)
    lore.refuse_each("""
        anchor decision-a --rule 'session.save($X' --expect none | 2 | it does not parse
        anchor decision-a --rule 'a b c' --expect none | 2 | Multiple AST nodes
        anchor decision-a --rule 'f()' --expect all | 2 | does not say of what
        anchor decision-a --rule 'f()' --expect never | 2 | expects 'never'
        anchor decision-a --rule 'f()' | 2 | give --expect
        anchor decision-a --rule 'f()' --expect none --lang pyton | 2 | unknown language 'pyton'
        anchor decision-a src/auth.py --rule 'f()' --expect none | 2 | exclude each other
        anchor decision-a src/auth.py --expect none | 2 | go with --rule
        anchor decision-a --rule 'f()' --in 'src/**' --remove | 2 | PATTERN, without --remove
        anchor decision-a --rule 'f()' --expect none --in 'd/**' --lang python | 1 | no python file
        anchor decision-a --rule a.yml --expect none | 2 | refers to itself
        anchor decision-a --rule long.yml --expect none | 2 | is longer than 20000 bytes
        anchor decision-a --rule rules/none.yml --expect none | 2 | rules/none.yml
        anchor decision-a --rule '$A == $B' --of 'g($X)' --expect all | 1 | check --of
    """)


def test_a_rule_that_cannot_be_counted_is_invalid(lore: Lore, code: Repository) -> None:
    rule(lore, *NEVER_SAVE)
    exported = lore("export").out
    code.git("rm", "-rqf", "src")
    (row,) = lore("stale", "--fail", code=1).json
    assert (row["verdict"], row["reason"]) == ("invalid", "no python file in src/**")
    code.git("reset", "-q", "--hard")
    lore("import", "-", stdin=exported.replace("session.save($X)", "session save("))
    assert sorted(row["verdict"] for row in lore("verify").json) == ["invalid", "violated"]


def test_hooks_print_rules_and_new_violations(lore: Lore, code: Repository) -> None:
    def hook(event: str, file: str) -> str:
        sent = {"session_id": "s", "tool_name": "Edit", "tool_input": {"file_path": file}}
        return lore("hook", "run", event, "--client", "claude", stdin=json.dumps(sent)).out

    lore("trust")
    rule(lore, *NEVER_SAVE)
    claim = "Sessions are never saved [rule: no `session.save($X)` in src/**]"
    assert f"- decision-a {claim}" in hook("file", "src/views.py")
    assert hook("tool", "src/auth.py") == ""  # the violation was there before
    append(code, "src/views.py", "session.save(1)\n")
    assert f"src/views.py:10: {claim}" in hook("tool", str(code.root / "src/views.py"))
    append(code, "src/views.py", "session.save(user)\n")  # known of another file
    assert "src/views.py:11: Sessions" in hook("tool", "src/views.py")
    assert hook("tool", "src/views.py") == ""  # once a session
    assert hook("tool", "tests/test_auth.py") == ""
