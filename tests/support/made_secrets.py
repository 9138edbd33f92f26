"""Secrets by chance from templates: none stands in a file that a scanner reads.

``«…»`` is the secret of a template. Within it ``<36>`` is 36 letters and digits; with a letter
behind the number: ``h`` hex, ``u`` base64 for URLs, ``U`` capitals and digits, ``l`` small letters
and digits, ``a`` letters, ``d`` digits, ``t`` base32, ``b`` so many bytes in base64, ``w`` words of
a seed phrase, ``c`` a card number of so many digits, ``p`` a password as people make them.
"""

from __future__ import annotations

import base64
import random
import re
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = string.ascii_letters + string.digits
_LETTERS_OF = {
    "": LETTERS,
    "h": "0123456789abcdef",
    "u": LETTERS + "-_",
    "U": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "a": string.ascii_letters,
    "d": "123456789",
    "t": string.ascii_uppercase + "234567",
}
_WORDS = (
    "abandon ability absorb actor bamboo barrel bicycle blossom cabin candy cactus carbon dolphin "
    "dragon dwarf eagle elbow ember fabric falcon fiscal galaxy ginger glove harvest hedgehog "
    "humor icon image insect jacket jelly jungle kitten knife ladder lemon lizard magnet mango "
    "napkin nephew noodle oak olive orbit panda pepper pigeon quantum quiz rabbit raven ribbon "
    "saddle salmon scorpion tiger tomato tunnel umbrella unicorn vacuum velvet walnut whisper "
    "yellow zebra zero"
).split()
_HOLE = re.compile(r"<(\d+)([a-zA-Z]?)>")


class Maker:
    """Return random letters; the same seed returns the same letters."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def some(self, number: int, letters: str = LETTERS) -> str:
        """Return ``count`` random letters, with a digit and each case if the alphabet has them."""
        found = [self._random.choice(letters) for _ in range(number)]
        kinds = (string.digits, string.ascii_uppercase, string.ascii_lowercase)
        places = self._random.sample(range(number), 3) if number >= 5 else []
        for place, kind in zip(places, kinds, strict=False):
            fit = [letter for letter in kind if letter in letters]
            if fit:
                found[place] = self._random.choice(fit)
        return "".join(found)

    def encoded(self, number: int) -> str:
        """Return ``count`` random bytes in base64."""
        return base64.b64encode(self._random.randbytes(number)).decode()

    def card(self, number: int) -> str:
        """Return a card number of ``count`` digits."""
        head = "4" if number == 16 else "37"
        digits = head + self.some(number - 1 - len(head), string.digits)
        doubled = [int(one) * (1 + (at % 2 == 0)) for at, one in enumerate(reversed(digits))]
        return digits + str(-sum(sum(divmod(one, 10)) for one in doubled) % 10)

    def password(self) -> str:
        """Return a password of words, digits and a sign, or a short random password."""
        one, other = self._random.choice(_WORDS), self._random.choice(_WORDS)
        number = self.some(3, "0123456789")
        words = one.title(), other.title()
        forms = [
            f"{words[0]}{number}!{other}",
            f"{words[0]}@{number}7",
            f"{''.join(words)}{number}!",
        ]
        forms += [f"{one}{number}{words[1]}", f"{words[0]}{number}{other}+"]
        forms += [f"{self.some(5)}#{self.some(5)}", f"{words[1][:3]}${number}{one}", self.some(10)]
        return self._random.choice(forms)

    def made(self, template: str, change: Callable[[str], str] = str) -> tuple[str, str]:
        """Return a template's text and the secret in the text, after ``change``."""
        text = _HOLE.sub(self._fill, template)
        head, _, rest = text.partition("«")
        secret, _, tail = rest.partition("»")
        secret = change(secret)
        return head + secret + tail, secret

    def _fill(self, hole: re.Match[str]) -> str:
        number, kind = int(hole.group(1)), hole.group(2)
        if kind == "b":
            return self.encoded(number)
        if kind == "c":
            return self.card(number)
        if kind == "p":
            return self.password()
        if kind == "w":
            return " ".join(self._random.choice(_WORDS) for _ in range(number))
        return self.some(number, _LETTERS_OF[kind])


def gets_through(secret: str, text: str) -> bool:
    """Return True if a text still has a third of a secret: at least six letters."""
    size = min(len(secret), max(6, len(secret) // 3))
    return any(secret[at : at + size] in text for at in range(len(secret) - size + 1))
