"""Whether a quote occurs: emphasis, bullets and the width of lines do not count."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SIGNS = str.maketrans(dict.fromkeys("*_`#>•-", " "))


class Texts:
    """Texts in which quotes are looked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._all = "\n".join(map(_bare, texts))

    def have(self, quote: str) -> bool:
        """Whether a quote occurs in one of them.

        >>> Texts(["- **Lesson:** never\\n  push"]).have("Lesson: never push")
        True
        >>> Texts(["never push"]).have("always push"), Texts(["x"]).have("  ")
        (False, False)
        """
        bare = _bare(quote)
        return bool(bare) and bare in self._all


def _bare(text: str) -> str:
    return " ".join(text.translate(_SIGNS).split())
