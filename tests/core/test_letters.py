"""Test words and folding against the tokenizers of FTS5 and FTS4."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest
from samples import is_chosen

from pylore.core.text import fold, indexed, words

TOKENIZERS: dict[str, tuple[str, str]] = {
    "fts5": (
        "CREATE VIRTUAL TABLE t USING fts5(text, tokenize='unicode61 remove_diacritics 2');"
        "CREATE VIRTUAL TABLE terms USING fts5vocab(t, instance)",
        "INSERT INTO t VALUES (?); SELECT term FROM terms ORDER BY offset; DELETE FROM t",
    ),
    "fts4": (
        "CREATE VIRTUAL TABLE terms USING fts3tokenize(unicode61, 'remove_diacritics=2')",
        "SELECT token FROM terms WHERE input = ? ORDER BY position",
    ),
}

BLOCKS = [*range(0x0, 0xD800, 0x200), *range(0xE000, 0x20000, 0x200), 0x2FA00, 0xE0000, 0x10FE00]
"""All of the first two planes, and of the others where something is assigned or ends."""


@pytest.fixture(scope="module", params=list(TOKENIZERS))
def tokens(request: pytest.FixtureRequest) -> Callable[[str], list[str]]:
    """Return the tokens of a text in order."""
    create, ask = TOKENIZERS[request.param]
    database = apsw.Connection(":memory:")
    database.execute(create)
    return lambda text: [term for (term,) in database.execute(ask, (text,))]


def test_letters_agree_with_the_tokenizers(tokens: Callable[[str], list[str]]) -> None:
    for start in (one for one in BLOCKS if one < 0x400 or is_chosen(f"{one:x}", 8)):
        letters = map(chr, range(max(1, start), start + 0x200))
        # single, in a word, and with a combining accent
        text = indexed(" ".join(f"{one} q{one}Q {one}\u0308z" for one in letters))
        assert words(fold(text)) == tokens(text), f"in the block {start:x}"
