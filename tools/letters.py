"""Writes pylore/core/letters.py: which code points SQLite's tokenizers take for letters.

    .venv/bin/python tools/letters.py > pylore/core/letters.py

To be run where tests/core/test_letters.py says that the linked SQLite takes others.
"""

from textwrap import wrap

import apsw

HEAD = '''"""How SQLite's tokenizers see a character: which part words, what each is folded to.

Their tables are those of Unicode 6.1, other than Python's, and what it did not know is
a letter to them. Written by tools/letters.py; ASCII is not asked for here.

It stays: ``unicodedata`` knows other letters, so a query would miss words that are indexed; and to
fold all texts before they are indexed would split them twice.
"""

MARKS = frozenset(
{marks}
)
"""Dropped within a word, so that both ways of composing an accent are one word."""

_LETTERS = (
{letters}
)
_FOLDED = (
{folded}
)
_STARTS = (
{bounds}
)  # fmt: skip
"""Where separators begin and letters begin, in turns."""


def is_letter(code: int) -> bool:
    """Whether it is part of a word: a letter, a digit, or unknown to Unicode 6.1."""
    low, high = 0, len(_STARTS)
    while low < high:  # what the module bisect does, which takes longer to find than to do
        middle = (low + high) // 2
        if code < _STARTS[middle]:
            high = middle
        else:
            low = middle + 1
    return low % 2 == 0


def folded(code: int) -> str:
    """The letter in lower case, without its accents; itself where it has neither."""
    letter = chr(code)
    at = _LETTERS.find(letter)
    return letter if at < 0 else _FOLDED[at]
'''


def main() -> None:
    """Asks a tokenizer about every code point."""
    folds, letters, marks = {}, set(), []
    database = apsw.Connection(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE t USING fts5(text, tokenize='unicode61 remove_diacritics 2')"
    )
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
    codes = [code for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]
    with database:
        database.executemany(
            "INSERT INTO t(rowid, text) VALUES (?, ?)", ((c, f"q{chr(c)}") for c in codes)
        )
        database.executemany(
            "INSERT INTO t(rowid, text) VALUES (?, ?)",
            ((0x200000 + c, f"q{chr(c)}q") for c in codes),
        )
    for term, row in database.execute("SELECT term, doc FROM v"):
        if row < 0x200000 and len(term) > 1:
            letters.add(row)
            if term[1:] != chr(row):
                folds[chr(row)] = term[1:]
        elif row > 0x200000 and term == "qq":
            marks.append(row - 0x200000)
    bounds = [code for code in range(0x80, 0x110001) if (code in letters) != (code - 1 in letters)]
    bounds.insert(0, 0x80)
    print(
        HEAD.format(
            marks=lines("".join(f"\\u{mark:04x}" for mark in marks), 78),
            letters=lines("".join(folds)),
            folded=lines("".join(folds.values())),
            bounds=numbers(bounds),
        ),
        end="",
    )


def numbers(codes: list[int]) -> str:
    """The numbers, lines of them, with a comma behind each."""
    return "\n".join(f"    {line}" for line in wrap(", ".join(map(hex, codes)) + ",", 94))


def lines(text: str, width: int = 64) -> str:
    """The text as string literals, a line each."""
    return "\n".join(f'    "{text[at : at + width]}"' for at in range(0, len(text), width))


if __name__ == "__main__":
    main()
