"""Names and paths of live events without tokens, at a cost that a hook can afford.

Most are plain words: they are looked at without any pattern, none of which is even loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORTEST = 16
"""Letters of a token that says by its form alone what it is; all of them have a digit or twice as
many letters."""
_SIGNS = frozenset("=:@ \n")
"""What stands between a name, such as password, and its secret."""
_DASHES = (8, 13, 18, 23)


def without_tokens_in(texts: Sequence[str]) -> list[str]:
    """The texts, in their order, without what our own patterns know for secrets."""
    if not any(map(_may_hold, texts)):
        return [*texts]
    from . import secret_forms
    from .redaction import without_secrets

    plain = [text.replace("\0", " ") for text in texts]
    return without_secrets(
        plain,
        [secret_forms.found_by_form, secret_forms.found_by_chance],
        secret_forms.found_tokens,
        {},
    )


def _may_hold(text: str) -> bool:
    if len(text) < _SHORTEST and _SIGNS.isdisjoint(text):
        return False
    if not _SIGNS.isdisjoint(text):
        return True
    return any(map(_may_be_token, text.split("/")))


def _may_be_token(part: str) -> bool:
    if len(part) < _SHORTEST or _is_uuid(part):
        return False
    return len(part) >= 2 * _SHORTEST or any(letter.isdigit() for letter in part)


def _is_uuid(part: str) -> bool:
    return len(part) == 36 and all(part[at] == "-" for at in _DASHES)
