"""Searches at the command line: output forms, filters, notes, depths and refusals."""

from __future__ import annotations

import pytest
from commands import Lore

SESSIONS, LIMITS, KEYS = "decision-sessions", "decision-limits", "lesson-keys"
AUTH = "file-src/auth.py"
WEB: dict[str, object] = {"tags": ["web"], "file": "src/auth.py"}
RECORDS: tuple[dict[str, object], ...] = (
    {"id": SESSIONS, "title": "Sessions are signed tokens, kept in a cookie", **WEB},
    {"id": LIMITS, "title": "Requests above sixty a minute are refused", **WEB},
    {"id": KEYS, "title": "Rotate the keys that sign tokens", "tags": ["auth"]},
    {"id": AUTH, "title": "src/auth.py"},
    {"id": "note-red", "title": "a \x1b[31mhostile\x9b1m title", "body": "\x1b]0;x\x07 hostile"},
    {"from_id": SESSIONS, "relation": "anchored_to", "to_id": AUTH},
    {"from_id": LIMITS, "relation": "anchored_to", "to_id": AUTH},
    {"from_id": KEYS, "relation": "relates_to", "to_id": SESSIONS},
)
FIELDS = (
    "id type title snippet file line_start line_end score rrf_score bm25_score vector_score "
    "recency_score feedback_score hops path edge edge_type verdict match weak"
)


@pytest.fixture
def filled(lore: Lore) -> Lore:
    """Run commands in a project of five records."""
    lore.fill(*RECORDS)
    return lore


# --- forms


def test_piped_search_is_a_json_array(filled: Lore) -> None:
    done = filled("search", "cookie", "--graph-depth", "2")
    assert not done.err and {" ".join(hit) for hit in done.json} == {FIELDS}
    assert sorted(done.json, key=lambda hit: -hit["score"]) == done.json
    hits = {
        hit["id"]: (hit["hops"], hit["path"], hit["edge_type"], hit["match"]) for hit in done.json
    }
    assert hits[SESSIONS] == (0, [SESSIONS], None, "words")
    assert hits[LIMITS] == (2, [SESSIONS, AUTH, LIMITS], "anchored_to", "graph")


def test_forms_of_a_search(filled: Lore) -> None:
    cookie = ("search", "cookie", "--graph-depth", "1", "--edges", "anchored_to")
    assert [hit["id"] for hit in filled(*cookie, "--jsonl").rows] == [SESSIONS, AUTH]
    assert filled(*cookie, "--ids").lines == [SESSIONS, AUTH]
    text = filled(*cookie, "--text").out
    assert f"{SESSIONS}  Sessions are signed tokens, kept in a cookie" in text.splitlines()[0]
    assert f"1 hop: {SESSIONS} > {AUTH} (anchored_to)" in text and "\x1b" not in text


def test_terminal_gets_text_and_colour(filled: Lore) -> None:
    plain = filled("search", "cookie", terminal=True).out
    assert f"{SESSIONS}  Sessions" in plain and "\x1b" not in plain and "{" not in plain
    assert f'[\n{{"id":"{SESSIONS}"' in filled("search", "cookie", "--json", terminal=True).out
    filled.patch.delenv("NO_COLOR")
    assert f"\x1b[1m{SESSIONS}\x1b[0m  Sessions" in filled("search", "cookie", terminal=True).out


def test_jq_filters_the_output(filled: Lore) -> None:
    assert filled("search", "cookie", "--jq", ".[].id").out == f"{SESSIONS}\n"
    assert filled("search", "cookie", "--jsonl", "--jq", ".hops").out == "0\n"
    assert "--jq: jq: " in filled("search", "cookie", "--jq", ".[", code=2).err
    filled("search", "cookie", "--jq", ".[0].title | error", code=1)
    filled.patch.setenv("PATH", str(filled.root))
    assert "jq is not installed" in filled.refuse("search", "cookie", "--jq", ".", code=1)


# --- trees


def test_tree_has_hops_as_branches(filled: Lore) -> None:
    assert [line[6:] for line in filled("search", "cookie", "--tree").lines] == [
        f"{SESSIONS}  Sessions are signed tokens, kept in a cookie",
        f"  relates_to {KEYS}  Rotate the keys that sign tokens",
        f"  anchored_to {AUTH}  src/auth.py",
        f"    anchored_to {LIMITS}  Requests above sixty a minute are refused",
    ]


def test_tree_of_few_results(filled: Lore) -> None:
    assert filled("search", "zebra", "--tree").notes == ["nothing matches these words"]
    assert filled("search", "zebra", "--tree", "--expand", "-q").out == "nothing found\n"
    filled.patch.setenv("LORE_GRAPH_DEPTH", "0")
    assert len(filled("search", "cookie", "--tree").lines) == 1
    assert "note-red  a ?[31mhostile?1m title" in filled("search", "hostile", "--tree").out


# --- queries, notes and exit codes


def test_query_is_words_or_stdin(filled: Lore) -> None:
    ids = filled("search", "signed cookie", "--ids").out
    assert ids == filled("search", "signed", "cookie", "--ids").out
    assert ids == filled("search", "--ids", "-", stdin="signed cookie\n").out
    assert ids == filled("search", "--ids", "--", "signed", "--cookie").out
    assert "not UTF-8 (byte 3)" in filled.refuse("search", "-", stdin=b"caf\xe9", code=1)
    assert "NUL byte" in filled.refuse("search", "-", stdin="a\0b", code=1)


@pytest.mark.parametrize(
    ("query", "note"),
    [("xyzzyx", "nothing matches"), ("?!", "no words"), ("signed cookie 東京 xx", "for 'xx';")],
)
def test_notes_go_to_stderr_unless_quiet(filled: Lore, query: str, note: str) -> None:
    found = filled("search", query)
    assert note in found.err and found.err.count("\n") == 1
    assert found.json == [] or "cookie" in query
    assert not filled("search", query, "-q").err


def test_filters_and_operators(filled: Lore) -> None:
    filled.print_each(f"""
        search cookie --graph-depth 2 --type decision | {SESSIONS} {LIMITS}
        search tokens --tag WEB | {SESSIONS}
        search tokens --file 'src/*' | {SESSIONS}
        search tokens --since 2999-01-01 |
        search cookie --graph-depth 2 --tag web --filter-expanded | {SESSIONS} {LIMITS}
        search cookie --graph-depth 2 --exclude {AUTH},{KEYS} | {SESSIONS}
        search cookie --expand --edges ANCHORED_TO | {SESSIONS} {LIMITS} {AUTH}
        search '"signed tokens"' | {SESSIONS}
        search 'tokens -cookie tag:auth' | {KEYS}
        search 'rota* type:lesson' | {KEYS}
    """)


def test_search_and_related_refuse_wrong_words(filled: Lore) -> None:
    filled.refuse_each(f"""
        search | 2 | needs a query
        search x --since yesterday | 2 | not a valid date
        search x --json --text | 2 | exclude each other
        search x --tree --ids | 2 | exclude each other
        search x --tree --explain | 2 | exclude each other
        related x --tree --jq . | 2 | exclude each other
        search x --min-confidence 2 | 2 | from 0 to 1
        related | 2 | needs an id
        related {KEYS} --hops 4 | 2 | from 1 to 3
        related src/a.py::f | 1 | no symbol 'f' in src/a.py: list all with --type symbol
    """)


# --- related


def test_related_prints_the_nearest_first(filled: Lore) -> None:
    filled.print_each(f"""
        related {AUTH} | {LIMITS} {SESSIONS}
        related {AUTH} --hops 2 | {LIMITS} {SESSIONS} {KEYS}
        related {KEYS} {LIMITS} --type decision,file | {AUTH} {SESSIONS}
        related {AUTH} --hops 2 --exclude {SESSIONS} | {LIMITS}
        related note-red |
    """)


def test_related_has_the_path_to_each(filled: Lore) -> None:
    hits = filled("related", "-", "--hops", "2", "--edges", "relates_to,anchored_to", stdin=KEYS)
    assert [hit["path"] for hit in hits.json] == [[KEYS, SESSIONS], [KEYS, SESSIONS, AUTH]]


# --- documents


def test_document_shows_the_line_of_the_passage(lore: Lore) -> None:
    lines = [f"the line {n} says nothing of much worth" for n in range(1, 191)]
    last = ".. note::\na gadget came\n-------------"
    lore.write("CHANGES.md", "\n".join(["---\ntags: [a]\n---\n# Changes\n", *lines, last]))
    lore("import", "CHANGES.md")
    hit = lore("search", "gadget").json[0]
    assert (hit["file"], hit["line_end"]) == ("CHANGES.md", None)
    assert 190 <= hit["line_start"] <= 196, "of the snippet"
    assert "(doc-CHANGES, CHANGES.md:181)" in lore("context", "gadget", "--as", "prompt").out
    assert f"CHANGES.md:{hit['line_start']}\n" in lore("search", "gadget", "--text").out
    assert lore("search", "nothing").json[0]["line_start"] == 6
    assert "much worth a gadget came\n" in lore("search", "gadgets", "--text").out


NO_EDGES = "DROP TABLE links"


@pytest.fixture
def jwt(lore: Lore) -> Lore:
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


def search(jwt: Lore, *options: str, **variables: object) -> str:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(f"LORE_{name.upper()}", str(value))
        return jwt("search", "jwt sessions", *options).out


def test_depth_0_is_a_plain_search(jwt: Lore) -> None:
    user, project = jwt.config, jwt.project / ".lore" / ".config"
    plain, deep = search(jwt), search(jwt, "--graph-depth", "2")
    assert plain.count('"id"') == 2 and deep.count('"id"') == 4
    assert search(jwt, "--graph-depth", "0") == search(jwt, graph_depth=0) == plain
    assert search(jwt, "--graph-max-depth", "1") == plain, "limits, and does not ask for more"
    assert search(jwt, "--graph-max-depth", "2", "--graph-depth", "3") == deep
    for asked, allowed, wanted in ((0, 3, plain), (2, 3, deep), (2, 0, plain)):
        for file in (user, project):
            file.write_text(f"graph_depth={asked}\ngraph_max_depth={allowed}\n")
            assert search(jwt) == wanted, file
            assert search(jwt, graph_depth=0) == search(jwt, graph_max_depth=0) == plain
            if allowed == 0:
                assert search(jwt, "--expand") == search(jwt, graph_depth=3) == plain
            file.unlink()
    user.write_text("graph_depth=2\n")
    project.write_text("graph_depth=2\ngraph_depth=0\n")
    assert search(jwt) == plain


@pytest.mark.parametrize("damage", [NO_EDGES, f"{NO_EDGES}; CREATE TABLE links(a, b)"])
def test_damaged_graph_leaves_plain_results(jwt: Lore, damage: str) -> None:
    plain = search(jwt)
    jwt.sql(f"PRAGMA foreign_keys = OFF; {damage}")
    done = jwt("search", "jwt sessions")
    assert (done.out, done.err) == (plain, "")
    deeper = jwt("search", "jwt sessions", "--graph-depth", "2")
    (note,) = deeper.notes
    assert deeper.out == plain and "plain results only" in note
