"""What full text and vectors see of a file and of a symbol: their titles and bodies."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.text import one_line
from .facts import Symbol
from .signatures import Source

FILE_LENGTH = 2000
"""Characters of a file's body."""
WHOLE_LENGTH = 200_000
"""Characters of a file that full text over whole files sees."""
SYMBOL_LENGTH = 700
"""Characters of a symbol's body: doc and source are cut to fit one passage."""
TITLE_LENGTH = 160


def file_body(source: Source, symbols: Sequence[Symbol], is_code: bool) -> str:
    """Code: what it says of itself, then the names that it defines. Other text: its beginning."""
    if not is_code:
        return source.text[:FILE_LENGTH].strip()
    names = dict.fromkeys(symbol.qualified for symbol in symbols)
    return f"{source.leading()}\n{' '.join(names)}".strip()[:FILE_LENGTH]


def symbol_title(symbol: Symbol) -> str:
    """The qualified name, with the parameters and result that its head has.

    ``Login.check(self, user: str) -> bool``
    """
    _, opening, rest = symbol.signature.partition(f"{symbol.name}(")
    title = f"{symbol.qualified}({rest}" if opening else symbol.qualified
    return title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1] + "…"


def symbol_body(symbol: Symbol, source: Source) -> str:
    """Signature, documentation, and the beginning of the source after the head."""
    parts = [symbol.signature]
    if symbol.doc:
        parts.append(symbol.doc)
    room = SYMBOL_LENGTH - sum(map(len, parts))
    if room > 80 and symbol.line_end > symbol.line_start:
        parts.append(one_line(source.excerpt(symbol.line_start, symbol.line_end, 2 * room))[:room])
    return "\n".join(parts)[: 2 * SYMBOL_LENGTH]
