"""Words' pieces from the table: those that the tokenizer gives them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from real_tokenizer import real_pieces, tokenizer
from samples import some

from pylore.core.text import words
from pylore.embed.bpe import PieceTable, stamp_of_tokenizer
from pylore.embed.static import tokenizer_file

ROOT = Path(__file__).parents[2]
TEXTS = {
    "Latin": "Straße naïve façade Łódź žluťoučký kůň İstanbul Đặng ﬁne e\u0301te\u0301 œuvre ſ",
    "Greek": "Η γρήγορη καφέ αλεπού ΟΔΟΣ ᾳ ἀρχή",
    "Cyrillic": "Съешь же ещё этих мягких булок Їжак ѣ",
    "Arabic": "الجلسات موقّعة بمفتاح ٢٠٢٦ کتاب",
    "Hebrew": "שָׁלוֹם עולם מפתחות",
    "Devanagari": "सत्र कुंजी से हस्ताक्षरित हैं क्षत्रिय १२३",
    "Thai": "เซสชันถูกลงนามด้วยกุญแจ ๑๒๓",
    "Chinese": "会话由轮换密钥签名 東京 𠮷野家",
    "Japanese": "セッションは鍵で署名される ひらがな ｶﾀｶﾅ",
    "Korean": "세션은 키로 서명된다 한국어 \u1112\u1161\u11ab",
    "identifiers": "getUserByID HTTPServer snake_case __init__ std::vector<int> sha256 x86_64 i18n",
    "numbers": "0 7 42 1990 3.14159 1e-9 0xDEADBEEF ½ ² Ⅷ 1_000_000 ١٢٣",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 a👍b 🫠 \U0001fae8",
    "controls": "a\0b c\x1bd e\u200bf g\u202eh \ufeffi j\u00adk l\u2060m",
    "pieces": "<s> </s> <unk> <0x41> ▁word ▁▁▁ word▁ ▁",
    "odd": "\ud800 a\udfffb \ufffd \ufffe \U0010ffff \ue000 \u0378 \u0301",
    "long": f"{'a' * 100} {'abc' * 33} {'Ж' * 100} {'字' * 100} {'ab12' * 25} {'🫠' * 50}",
}


@pytest.fixture(scope="module")
def table(made_table: Path) -> PieceTable:
    return PieceTable(str(made_table), stamp_of_tokenizer(tokenizer_file()), own=True)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_word_has_the_tokenizers_pieces(table: PieceTable, text: str) -> None:
    found = words(text)
    assert table.encode(found) == real_pieces(found)


@given(st.text(max_size=60).map(words))
@example(["\ufffe", "ﷺ", "a" * 300])
def test_words_of_any_text_have_the_tokenizers_pieces(table: PieceTable, found: list[str]) -> None:
    assert table.encode(found) == real_pieces(found)


@cache
def parts() -> list[str]:
    """The pieces that words are made of."""
    pieces = (piece.lstrip("▁") for piece in tokenizer().get_vocab())
    return sorted({word for piece in pieces for word in words(piece)})


@given(st.data())
def test_words_of_pieces_have_the_tokenizers_pieces(table: PieceTable, data: st.DataObject) -> None:
    # More merges begin in these than in what is random: each pair of pieces may be one.
    joined = "".join(data.draw(st.lists(st.sampled_from(parts()), max_size=8)))
    found = words(joined)
    assert table.encode(found) == real_pieces(found)


def test_all_pieces_and_our_pages_words_have_the_tokenizers_pieces(
    table: PieceTable,
) -> None:
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("pylore/store/**/*.py")]
    found = {word for page in pages for word in words(page.read_text())}.union(parts())
    assert len(found) > 20_000
    chosen = some(sorted(found), 4)
    assert table.encode(chosen) == real_pieces(chosen)
