"""Words, queries and snippets, with the two full-text engines as the judges."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from string import ascii_letters, digits

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from new_stores import new_store
from things import whole_passages

from pylore.core.model import Node
from pylore.core.text import (
    MAX_TERMS,
    STOP_WORDS,
    camel_parts,
    clean_tags,
    identifier_parts,
    parse_query,
    printable,
    snippet,
    split_location,
    title_of,
    words,
)
from pylore.search.legs import coverage
from pylore.store.filter import Scope
from pylore.store.fulltext import FullText

WEIGHTS = {"title": 4.0, "body": 1.0, "tags": 2.0, "file": 1.0, "parts": 0.5}
ANYTHING = st.text(max_size=60) | st.text("aB_'\"*()-^: /.é\u0301\0\n", max_size=40)


ASCII_SIGNS = {chr(code) for code in range(128)} - {*ascii_letters, *digits}


def _known_to_sqlite(letter: str) -> bool:
    """Whether this character's kind has stood since before SQLite's tables were made."""
    old = unicodedata.ucd_3_2_0.category(letter)
    return old == unicodedata.category(letter) and old not in ("Cn", "Co", "Cs")


TYPED = st.text(
    st.characters(min_codepoint=1, max_codepoint=0x2FFF).filter(_known_to_sqlite)
    | st.sampled_from("aZ09 _-'\"*():^+/.\n\u0301\u0308éÉßñ"),
    max_size=40,
)


@pytest.fixture(scope="module", params=["fts5", "fts4"])
def fulltext(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FullText]:
    """The full text of a store with a node."""
    folder = tmp_path_factory.mktemp(request.param)
    with new_store(str(folder), fulltext=request.param) as store:
        store.nodes.put(Node("note-1", "note"))
        yield store.fulltext


def found(fulltext: FullText, text: str, typed: str, how: str) -> bool:
    """Return True if a query finds a passage of this text."""
    fulltext.remove(fulltext.of_nodes(["note-1"]))
    [passage] = whole_passages(["note-1"], "texts")
    fulltext.add([(passage, ("", text, "", "", identifier_parts(text)))])
    rows = fulltext.search("texts", parse_query(typed), how, Scope(), WEIGHTS, 10)
    return [id for _, id, _ in rows] == ["note-1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it's a/b.py, snake_case", ["it", "s", "a", "b", "py", "snake", "case"]),
        ("naïve Straße 東京 x²", ["naïve", "Strasse", "東京", "x2"]),
        ("cafe\u0301s", ["cafés"]),
        ("ＡＢ ﬁn ٣ 한국 🤖a 😀", ["AB", "fin", "3", "한국", "u1f916", "a", "u1f600"]),
        ("co\xadop Lo\U000e0100re™ 2½ … ｶﾞ", ["coop", "Lore", "TM", "2", "1", "2", "ガ"]),
        ("API接続を, 語 บิน", ["API", "接続", "続を", "語", "บน"]),
        ("\u0301 \u200d", []),
        ("أحمد على ⼈間 दिन हिंदी", ["احمد", "علي", "人間", "दइन", "हइदई"]),
        ("a\0b\u200bc\u2028d", ["a", "b", "c", "d"]),
    ],
)
def test_words_are_runs_of_letters_and_digits(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(ANYTHING)
def test_words_contain_no_signs(text: str) -> None:
    for word in words(text):
        assert not ASCII_SIGNS & set(word)
        assert words(word) == [word]
    assert words(" ".join(words(text))) == words(text)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserByID", ["get", "user", "by", "id"]),
        ("HTTPServer", ["http", "server"]),
        ("parseURLs", ["parse", "ur", "ls"]),
        ("plain", ["plain"]),
        ("aB", ["a", "b"]),
        ("sha256Sum", ["sha256", "sum"]),
        ("éclairÀla", ["eclair", "ala"]),
    ],
)
def test_camel_case_is_split_where_a_word_begins(word: str, parts: list[str]) -> None:
    assert camel_parts(word) == parts


def test_terms_omit_stop_words_unless_alone() -> None:
    assert parse_query("what isn't the JWT?").terms == [[["jwt"]]]
    assert parse_query("to be or not").terms == [[["to"]], [["be"]], [["or"]], [["not"]]]
    assert parse_query("jwt JWT Jwt").terms == [[["jwt"]]]
    assert [len(parse_query(one).terms) for one in ("Où est la clé", "la clé")] == [1, 2]
    (term,) = parse_query("src/getUser.py").terms
    assert term == [["src", "getuser", "py"], ["src", "get", "user", "py"]]


@given(ANYTHING)
def test_any_text_is_a_query(typed: str) -> None:
    query = parse_query(typed)
    assert bool(query) == bool(words(typed))
    assert query.cut == 0
    mere = [STOP_WORDS.issuperset(term[0]) for term in query.terms]
    assert all(mere) or not any(mere)


@pytest.mark.parametrize(
    "separator", [" ", ",", "/", "A"], ids=["spaces", "commas", "slashes", "one camelCase word"]
)
def test_long_query_is_cut_to_its_head(fulltext: FullText, separator: str) -> None:
    text = separator.join(f"w{number}" for number in range(2_000))
    query = parse_query(text)
    assert max(sum(map(len, ways)) for ways in zip(*query.terms, strict=False)) <= MAX_TERMS
    assert query.cut == (0 if separator == "A" else 2_000 - MAX_TERMS)
    for how in ("some", "prefix"):
        assert found(fulltext, text, text, how) or (separator, how) == ("A", "prefix")


@given(TYPED)
@example("it's NEAR(a b) AND -c")
@example('"quoted" OR')
@example("title:jwt ^jwt jwt* {a b}")
@example("snake_case camelCase a/b.py")
@example("cafe\u0301s Cafés")
@example("straße ÀÉÎ Ёлка")
@settings(deadline=None)
def test_queries_find_the_text_they_copy(fulltext: FullText, typed: str) -> None:
    query = parse_query(typed)
    if not query:
        assert fulltext.search("texts", query, "some", Scope(), WEIGHTS, 10) == []
        return
    assert found(fulltext, typed, typed, "some")
    fulltext.search("texts", query, "prefix", Scope(), WEIGHTS, 10)
    assert coverage(query, f"{typed} {identifier_parts(typed)}") == 1.0


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("cafe\u0301s", "cafés"),
        ("Vie\u0323\u0302t", "việt"),
        ("ΟΔΌΣ", "οδός"),
        ("İstanbul", "istanbul"),
        ("STRAẞE", "straße"),
        ("\u1112\u1161\u11ab", "한"),
        ("क\u093c", "\u0958"),
        ("Łódź", "łodz"),
        ("The getUserByID call", "user by id"),
        ("see src/auth.py for more", "auth.py"),
        ("ｔｈｅ ﬁle", "the file"),
        ("co\xadoperation", "cooperation"),
        ("\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f", "\u0645\u062d\u0645\u062f"),
        ("5 \u338f", "kg"),
        ("用户登录时会话过期", "会话过期"),
        ("데이터베이스연결시간초과를수정했다", "시간초과"),
        ("猫が好き", "猫"),
    ],
)
def test_spellings_that_mean_the_same_find_each_other(
    fulltext: FullText, text: str, typed: str
) -> None:
    assert found(fulltext, text, typed, "some")
    assert typed == "猫" or coverage(parse_query(typed), f"{text} {identifier_parts(text)}") > 0.75


def test_prefixes_match_only_on_request(fulltext: FullText) -> None:
    assert found(fulltext, "one two", "one three", "some")
    assert not found(fulltext, "kubernetes", "kuber", "some")
    assert found(fulltext, "kubernetes", "kuber", "prefix")
    assert not found(fulltext, "kubernetes", "ku", "prefix")


FILLER = st.lists(st.sampled_from(["lorem", "ipsum", "x" * 50, "y", "z" * 90]), max_size=200)


@given(FILLER, FILLER, st.integers(60, 300))
def test_snippet_has_the_word_within_the_width(
    before: list[str], after: list[str], width: int
) -> None:
    body = " ".join([*before, "Rotation", *after])
    shown = snippet(body, parse_query("rotation of keys"), width)
    assert "Rotation" in shown
    assert len(shown.strip("… ")) <= width
    assert shown.startswith("…") == (not body.startswith(shown.strip("… ")))
    assert shown.strip("… ") in body


def test_snippet_finds_words_with_any_accents() -> None:
    body = f"{'lorem ipsum ' * 100} the office in Zürich {'lorem ipsum ' * 100}"
    for typed in ("zurich", "ZÜRICH", "zu\u0308rich"):
        assert "Zürich" in snippet(body, parse_query(typed))


def test_a_snippet_cuts_no_word_in_two() -> None:
    body = " ".join(f"{number}word" for number in range(200))
    for number in (0, 77, 120, 199):
        shown = snippet(body, parse_query(f"{number}word"))
        assert f"{number}word" in shown.split()
        assert set(shown.strip("… ").split()) <= set(body.split())
    assert len(snippet("x" * 10_000_000, parse_query("zebra"))) < 300


OBEYED = [*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F]
OBEYED += [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]


@given(st.text())
def test_printable_text_has_no_control_characters(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not {chr(code) for code in OBEYED} & set(shown)
    assert all(b == a or (b == "?" and ord(a) in OBEYED) for a, b in zip(text, shown, strict=True))


def test_tags_are_folded_and_a_text_is_split() -> None:
    assert clean_tags(["Code Review", "auth", "#\t#AUTH", " "]) == ("auth", "code-review")
    assert clean_tags("auth, #Api  x") == ("api", "auth", "x")
    assert clean_tags(["Zu\u0308rich", "Zürich，C#"]) == ("c#", "zürich")


def test_title_is_the_first_sentence() -> None:
    long = title_of("word " * 100)
    assert len(long) <= 200 and long.endswith("word…")
    assert len(title_of("x" * 1_000_000)) == 200  # not quadratic
    texts = ["One.| Two.", "ok.| Two.", "हाँ।| दो", 'Say "no."| Then', "一。|二。", "A.|\nB"]
    texts += ["1. Do it.| So", "J. Doe did.| So", "#5: keys etc. fail.| So", "v1.2 is out|"]
    assert [title_of(one.replace("|", "")) for one in texts] == [one.split("|")[0] for one in texts]


def test_location_is_a_path_and_lines() -> None:
    assert split_location("a.py:7") == ("a.py", 7, 7)
    assert split_location("a:b.py:1-2") == ("a:b.py", 1, 2)
    assert Node("note-a", "note", file="a.py", line_start=7).location == ("a.py", "7-7")
    for path in ("a.py", "C:/a.py", "a.py:-3", ":7", "a.py:" + "9" * 30):
        assert split_location(path) == (path, None, None)
