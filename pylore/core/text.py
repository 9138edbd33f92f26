"""Texts: their words, titles, snippets and locations, and full-text queries.

Words are what the tokenizers of FTS5 and FTS4 make of ``indexed`` text. Nothing here needs ``re``:
a search imports this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    Parts = list[list[list[str]]]
    """Terms, each a list of alternatives, each a list of words"""

STOP_WORDS = frozenset(
    "a about all also an and any are aren as at be been being both but by can could couldn d did"
    " didn do does doesn don during each few for from had hadn has hasn have haven he her his how"
    " i if in into is isn it its just ll m may me might more most my no not of on only or other"
    " our over own re s same she should shouldn so some such t than that the their them then there"
    " these they this to too us ve very was wasn we were weren what when where which while who"
    " whom whose why will with won would wouldn you your".split()
)

_FOREIGN = frozenset(
    "alla als auch auf aus aux avec bei che chi con cual cuando dal dans das del della dem den"
    " der des di die donde du ein eine einem einen einer el elle en es est et fur gli het hoe ich"
    " il ist je kann konnen la las le les lo los mein meine mes mit mon nel nicht non nous oder ou"
    " par para pas peut peux por porque pour pourquoi puedo puis qual quale quand quando que quel"
    " quelle quelles quels qui quoi se sich sind sont sur um und una une van vom von voor vous"
    " waarom wann warum wat welche welcher welches welke wenn wie wieso wird wo zu zum zur".split()
)

MAX_QUERY = 100_000  # maximum characters of a query
MAX_TERMS = 200  # maximum words of a query
PREFIX_LENGTH = 3  # minimum length of a word used as a prefix
ENDING = 2  # last characters of a word that may differ in inflected forms
TITLE_LENGTH = 200  # maximum characters of a title that is derived from a text
_SNIPPET_LOOK = 20_000  # characters of a passage in which a snippet is looked for
_BIDIRECTIONAL = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *_BIDIRECTIONAL)  # a terminal may obey them
_QUESTION_MARKS = {code: "?" for code in CONTROLS if code not in (0x09, 0x0A)}
_SIGNS = (0xA0, 0xA7, 0xB1, 0xB7, 0xD7, *range(0x2010, 0x2040), *range(0x2190, 0x2200))
_PLAIN = frozenset(map(chr, (*range(0x80), *_SIGNS)))
"""ASCII, dashes, quotation marks, arrows: most English texts have no other characters."""


class _Table(dict[int | str, str]):
    """A table that calls a function for a missing key; keys of ``str.translate`` are numbers."""

    def __init__(self, replacement: Callable[[str], str]) -> None:
        self.replacement = replacement

    def __missing__(self, key: int | str) -> str:
        if len(self) > 1 << 17:  # words or characters
            self.clear()
        self[key] = made = self.replacement(key if isinstance(key, str) else chr(key))
        return made


def _token(letter: str) -> str | None:
    """Return a character as SQLite's unicode61 tokenizer folds it: empty for a dropped mark, None
    for a separator."""
    if letter in _PLAIN:
        return letter.lower() if letter.isalnum() else None
    if "\ud800" <= letter <= "\udfff":
        return None
    import apsw

    if not _tokenizers:
        connection = apsw.Connection(":memory:")
        _tokenizers.append(connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"]))
    text, tokenize = f"a{letter}b".encode(), _tokenizers[0]
    tokens = tokenize(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
    return tokens[0][0][1:-1] if len(tokens) == 1 else None


def _compatible(letter: str) -> str:
    """Return the characters that a character is compatible with (NFKC). A sign that is compatible
    with letters, as ™, is a word, and so is an emoji. Soft hyphens, joiners, marks of Hindi to
    Khmer, vowel marks of Arabic and Hebrew, and variant selectors (U+E0100…) are dropped."""
    from unicodedata import category, combining, decimal, normalize

    same = str(decimal(letter, "")) or normalize("NFKC", letter)
    same = "".join(one for one in same if one < "\U000e0100" and one not in _OMITTED)
    if letter >= "\u2600" and category(letter) == "So" and not any(map(str.isalnum, same)):
        return f" u{ord(letter):x} "
    if same == normalize("NFC", letter) or not (letter.isalnum() or same.strip().isalnum()):
        return same and letter
    is_word = letter.isalnum() and all(one.isalnum() or combining(one) for one in same)
    return same if is_word or is_spaceless(same[:1]) else f" {same} "


_tokenizers: list[Any] = []
_OMITTED = {
    *"\xad\u0640\u0670\u2060\ufeff\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0e31\u0eb1",
    *map(chr, (*range(0x591, 0x5BE), *range(0x64B, 0x653), *range(0xE34, 0xE3B))),
    *map(chr, (*range(0xE47, 0xE4F), *range(0xEB4, 0xEBD), *range(0xEC8, 0xECF))),
    *map(chr, (*range(0x102B, 0x103F), *range(0x17B4, 0x17D4))),
    *(chr(block + sign) for block in range(0x900, 0xD80, 0x80) for sign in (1, 2, 0x3C, 0x4D)),
}
_PLAINER = dict(zip("øØłŁđĐıёЁѐЀάέήίόύώϊϋΐΰΆΈΉΊΌΎΏ", "oOlLdDiеЕеЕαεηιουωιυιυΑΕΗΙΟΥΩ", strict=True))
_PLAINER |= zip("أإآٱىیکةہ", "ااااييكهه", strict=True)
_PLAINER |= {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "Ϊ": "Ι", "Ϋ": "Υ"}
"""Letters that many texts write without the accent, or as two letters."""
_INDIC = (block + sign for block in range(0x900, 0xD80, 0x80) for sign in range(0x3E, 0x4D))
_PLAINER |= {chr(sign): chr(sign - 0x38) for sign in _INDIC}  # FTS5 cuts words at vowel signs
_WORDS = _Table(lambda letter: " " if (token := _token(letter)) is None else token and letter)
_FOLDS = _Table(lambda letter: letter if (token := _token(letter)) is None else token)
_COMPATIBLE = _Table(_compatible)
_PLAIN_LETTERS = _Table(lambda letter: _PLAINER.get(letter, letter))
_PARTS = _Table(lambda word: " ".join(camel_parts(word)))


def composed(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """Return ``text`` with letters and accents composed."""
    if text.isascii() or _PLAIN.issuperset(text):
        return text
    from unicodedata import normalize

    return normalize(form, text)


def _normal(text: str) -> str:
    """Replace full-width characters, ligatures and the like by plain letters."""
    is_plain = text.isascii() or _PLAIN.issuperset(text)
    return text if is_plain else composed(text.translate(_COMPATIBLE)).translate(_PLAIN_LETTERS)


_SPACELESS = "e01-eff 1000-109f 1780-17ff 3005-3007 3040-30ff 3105-9fff ac00-d7af 20000-3ffff"
BLOCKS = [tuple(int(end, 16) for end in block.split("-")) for block in _SPACELESS.split()]
"""First and last code of blocks of Thai, Lao, Burmese, Khmer and East Asian scripts."""
_BLOCK = _Table(lambda letter: letter if any(a <= ord(letter) <= z for a, z in BLOCKS) else "")


def is_spaceless(letter: str) -> bool:
    """Return True for a character of a script without spaces between words."""
    return letter >= "\u0e01" and _BLOCK[letter] != ""


def _paired(text: str, *, last: bool = False) -> str:
    """Replace each run of a script without spaces by pairs of characters. With ``last`` also add
    the last character, so that each character starts a word."""
    if text.isascii() or not any(map(is_spaceless, {*text})):
        return text
    from itertools import groupby

    found = []
    for spaceless, letters in groupby(text, is_spaceless):
        run = "".join(letters)
        if spaceless:
            pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
            run = f" {' '.join([*pairs, run[-1]] if last and len(run) > 1 else pairs)} "
        found.append(run)
    return "".join(found)


def indexed(text: str) -> str:
    """Return ``text`` as full text indexes it."""
    return _paired(_normal(text), last=True)


def words(text: str, *, paired: bool = True) -> list[str]:
    """Return every word, with its case; of scripts without spaces pairs of characters, or runs."""
    plain = _normal(text)
    return (_paired(plain) if paired else plain).translate(_WORDS).split()


def phrase_of(text: str) -> str:
    """Return the folded words of ``text`` as ``indexed`` texts with it have them."""
    found = _paired(fold(text), last=True).translate(_WORDS).split()
    more = is_spaceless("".join(found[-1:])) and "".join(found[-2:-1])[1:] == found[-1]
    return " ".join(found[:-1] if more else found)


def spaced(text: str) -> str:
    """Return the folded words of ``text`` with spaces around each."""
    return f" {_paired(fold(text)).translate(_WORDS)} "


def fold(text: str) -> str:
    """Return ``text`` in lower case and without accents, as full text compares it."""
    return text.lower() if text.isascii() else _normal(text).translate(_FOLDS)


def camel_parts(word: str) -> list[str]:
    """Return the parts of a camelCase word, folded; one part if there is nothing to split."""
    if word.islower() or word.isupper() or word[1:].islower():
        return [fold(word)]
    parts, start = [], 0
    for i in range(1, len(word)):
        begins = not word[i - 1].isupper() or word[i + 1 : i + 2].islower()
        if word[i].isupper() and begins:
            parts.append(fold(word[start:i]))
            start = i
    return [*parts, fold(word[start:])]


def identifier_parts(text: str) -> str:
    """Return the parts of every camelCase word of ``text``, which the index adds to the words.

    >>> identifier_parts("call getUserByID twice")
    'get user by id'
    """
    mixed = [one for one in words(text) if not (one.islower() or one[1:].islower())]
    parts = map(_PARTS.__getitem__, dict.fromkeys(mixed))
    return " ".join(dict.fromkeys(some for some in parts if " " in some))


_ENDINGS: tuple[str, ...] = ("", "s", "es", "ed", "d", "ing", "e")
_ENDINGS_OF_Y = ("y", "ies", "ied")


def inflections(word: str) -> list[str]:
    """Return other forms that an English word may have; some of them are not words.

    >>> inflections("tokens")
    ['token', 'tokenes', 'tokened', 'tokend', 'tokening', 'tokene']
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return []
    base, endings = word, _ENDINGS
    if word.endswith(("ies", "ied")) or (word.endswith("y") and word[-2] not in "aeiou"):
        base, endings = word[: -1 if word.endswith("y") else -3], _ENDINGS_OF_Y
    elif not word.endswith("ss"):
        bases = (word.removesuffix(ending) for ending in ("ing", "es", "ed", "s", "e"))
        base = next((one for one in bases if 2 < len(one) < len(word)), word)
    return [base + ending for ending in endings if base + ending != word]


def stem(word: str) -> str:
    """Return the first characters of a word, which inflected forms share."""
    return word[: max(PREFIX_LENGTH, len(word) - ENDING)]


class Query:
    """The terms of a query, without stop words unless all words are stop words. A term is a list of
    alternatives, each a list of adjacent words. ``cut`` is the number of dropped words;
    ``beginnings`` are words that match as prefixes."""

    beginnings: tuple[str, ...] = ()

    def __init__(self, text: str, terms: Parts, cut: int) -> None:
        self.text, self.terms, self.cut = text, terms, cut

    def __bool__(self) -> bool:
        return bool(self.terms)

    def single_words(self) -> list[str]:
        """Return every distinct word of the terms, in order."""
        return [*dict.fromkeys(word for term in self.terms for phrase in term for word in phrase)]

    def phrases(self) -> list[str]:
        """Return the single words, then the phrases of several words."""
        phrases = [" ".join(phrase) for term in self.terms for phrase in term if len(phrase) > 1]
        return [*self.single_words(), *phrases]


def joined(text: str) -> list[str]:
    """Return adjacent words of the first twelve as a word, across stop words as well.

    >>> joined("time limit of a unit of work")
    ['timelimit', 'unitofwork']
    """
    folded = [fold(word) for word in words(text)[:12]]
    plain = [word not in STOP_WORDS and word.isalpha() for word in folded]
    ends = [(at, at + (2 if plain[at + 1] else 3)) for at in range(len(plain) - 1)]
    spans = [(at, end) for at, end in ends if plain[at] and any(plain[end - 1 : end])]
    return ["".join(folded[at:end]) for at, end in spans]


def parse_query(text: str) -> Query:
    """Make terms of any text; never fails, and may return no terms."""
    text, rest = text[:MAX_QUERY], text[MAX_QUERY:]
    chunks = list(dict.fromkeys(text.split()))
    names = {chunk.lower() for chunk in chunks if chunk.isupper()}  # MIT or DES
    foreign = _FOREIGN.intersection(spaced(text).split()) - names  # "la" alone may be of a name
    stop_words = STOP_WORDS | foreign if len(foreign) > 1 else STOP_WORDS
    terms = _terms(chunks, stop_words) or _terms(chunks, STOP_WORDS) or _terms(chunks, frozenset())
    kept, room = [], MAX_TERMS
    for term in terms:
        if room > 0:
            kept.append([phrase[:room] for phrase in term])
            room -= max(map(len, term))
    lost = sum(len(term[0]) for term in terms) - sum(len(term[0]) for term in kept)
    return Query(text, kept, lost + len(rest.split()))


def _terms(chunks: Iterable[str], stop_words: frozenset[str]) -> Parts:
    terms, seen = [], set()
    for written in map(words, chunks):
        folded = [fold(word) for word in written]
        if not folded or tuple(folded) in seen or stop_words.issuperset(folded):
            continue
        seen.add(tuple(folded))
        alternatives = [folded]
        parts = [part for word in written for part in camel_parts(word)]
        if parts != folded and len(parts) <= MAX_TERMS:
            alternatives.append(parts)
        terms.append(alternatives)
    return terms


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with a noun: ``2 edges``; the default plural has an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def printable(text: str) -> str:
    """Return ``text`` for a terminal: controls but tab and newline, and the characters that turn
    the reading direction around, become ``?``."""
    return text if text.isprintable() else text.translate(_QUESTION_MARKS)


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return sorted tags in lower case without ``#``, with dashes for spaces; a text is split."""
    tags = tags.split() if isinstance(tags, str) else tags
    split = (part for tag in tags for part in tag.replace("，", ",").replace("、", ",").split(","))
    folded = (one_line(composed(tag).lower()).lstrip("# ").replace(" ", "-") for tag in split)
    return tuple(sorted({tag for tag in folded if tag}))


def one_line(text: str) -> str:
    """Replace each run of white space by a space."""
    return " ".join(text.split())


def split_location(file: str) -> tuple[str, int | None, int | None]:
    """Turn ``a.py:20-10`` into ``("a.py", 10, 20)``; without numbers, the lines are None."""
    path, _, lines = file.rpartition(":")
    ends = lines.split("-", 1)
    if not path or not all(end.isascii() and end.isdigit() and len(end) < 10 for end in ends):
        return file, None, None
    numbers = sorted(map(int, ends))
    return path, numbers[0], numbers[-1]


def snippet(body: str, query: Query, width: int = 240) -> str:
    """Return the stretch of about ``width`` characters with most of the query's stems."""
    text = one_line(body[:_SNIPPET_LOOK])
    if len(text) <= width:
        return text
    stems = {stem(word) for word in query.single_words()}
    stretches = [_stretch(text, start, width) for start in range(0, len(text), width // 3)]
    folded = [fold(one.strip("… ")) for one in stretches]  # ASCII folds faster
    counts = [sum(stem in one for stem in stems) for one in folded]
    return stretches[counts.index(max(counts))]


def _stretch(text: str, start: int, width: int) -> str:
    """Return ``text`` from about ``start``, cut between words unless a word is very long."""
    third = width // 3
    start = start and max(start, text.find(" ", start - 1, start + third) + 1)
    end = start + width
    if end < len(text):
        space = text.rfind(" ", end - third, end + 1)
        end = space if space >= 0 else end
    return ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")


_CLOSING = "\"')]}”’»*_`"
_ABBREVIATIONS = ("approx", "cf", "dr", "etc", "incl", "mr", "mrs", "vs")


def title_of(text: str) -> str:
    """Return the first sentence of a text's first line that is no fence or rule, without Markdown's
    heading marks.

    >>> title_of("---\\n# Use JWT\\n\\nNo state."), title_of("Use e.g. Redis 7.2. It is fast.")
    ('Use JWT', 'Use e.g. Redis 7.2.')
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = (one for one in lines if one[:3] not in ("```", "~~~") and one.strip("-=*_ "))
    line = next(said, lines[0] if lines else "")
    line = _first_sentence(line.lstrip("#").strip() if line.lstrip("#")[:1] == " " else line)
    if len(line) <= TITLE_LENGTH:
        return line
    return line[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _first_sentence(line: str) -> str:
    for at, sign in enumerate(line[:TITLE_LENGTH]):
        if sign not in ".!?。！？।؟۔":
            continue
        after = line[at + 1 :].lstrip(_CLOSING)
        if sign in "。！？" or (after[:1] == " " and not (sign == "." and _is_short(line[:at]))):
            return line[: len(line) - len(after)]
    return line


def _is_short(before: str) -> bool:
    """Return True if a full stop marks an abbreviation, an initial or the number of an item."""
    word = before.rpartition(" ")[2].lstrip("(").lower()
    is_initials = all(len(part) == 1 and part.isalpha() for part in word.split("."))
    return is_initials or word in _ABBREVIATIONS or (word == before and word.isdigit())
