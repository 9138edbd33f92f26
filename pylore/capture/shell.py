"""Find the files that a shell command writes, without running the command."""

from __future__ import annotations

import os
import re
from shlex import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Word = str | None

_LONGEST = 100_000
_MOST_HERE_TEXTS = 20
_HERE_TEXT = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)(\w+)\1")
_BEFORE = re.compile(r"(?:[!{]|command|do|else|env|sudo|then|time|\w+=.*)\Z", re.DOTALL)
_IN_SED = re.compile(r"-[Enrsuz]*i|--in-place")
_IN_PLACE = {"sed": _IN_SED, "gsed": _IN_SED, "perl": re.compile(r"-[0-9al-pw]*i")}
_SCRIPT = re.compile(r"-[a-zA-Z0-9]*[ef]\Z|--(?:expression|file)\Z")


def written_files(command: str, here: str = "") -> list[str]:
    """Return the files that a command names as written, from ``here``: behind a redirection, or
    given to ``tee``, ``sed -i``, ``perl -i``, ``mv``, ``cp`` or ``git mv``.

    A name with a variable or a glob is left out; a malformed command has none.

    >>> written_files("sed -i '' 's/a/b/' a.py && cat > src/b.py <<EOF\\necho > c\\nEOF")
    ['a.py', 'src/b.py']
    >>> written_files("(cd web; git mv a.js lib/ 2> log); make > $OUT; echo > x", "/project")
    ['/project/web/lib/a.js', '/project/x']
    """
    found: dict[str, None] = {}
    places: list[Word] = [here]
    for words, targets, end in _commands(_without_here_texts(command[:_LONGEST])):
        place = places[-1]
        if place is not None:
            named = filter(None, (*targets, *_given(words)))
            files = (path for path in named if not path.startswith("/dev/"))
            found.update(dict.fromkeys(os.path.join(place, path) for path in files))
        if words[:1] == ["cd"] and place is not None:
            to = words[1] if len(words) > 1 else None
            places[-1] = None if to is None else os.path.join(place, to)
        places += [places[-1]] * end.count("(")
        del places[max(1, len(places) - end.count(")")) :]
    return [*found]


def _commands(text: str) -> Iterator[tuple[list[Word], list[Word], str]]:
    """Yield the words of each simple command, the files it is redirected into, and the signs
    after it; None for a word with a variable or a glob."""
    reader = shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    reader.whitespace, reader.commenters = " \t", ""
    try:
        tokens = [*reader]
    except ValueError:
        return  # a quote without an end
    words: list[Word] = []
    targets: list[Word] = []
    to: list[Word] = words
    is_comment = False
    for token in [*tokens, ";"]:
        is_comment = (is_comment or token[0:1] == "#") and "\n" not in token
        if is_comment:
            continue
        if token and set(token) <= set(";&|()\n"):
            yield _bare(words), targets, token
            words, targets = [], []
            to = words
        elif token and set(token) <= set("<>&|"):
            number = words.pop() if words and words[-1] in ("1", "2") else ""
            into = token in (">", ">>", "&>", "&>>", ">|") and number != "2"
            to = targets if into else []
        else:
            has_sign = any(sign in token for sign in "$`*?[{") or token.startswith("~")
            to.append(None if has_sign else token)
            to = words


def _without_here_texts(text: str) -> str:
    """Return a command without here texts, with continued lines joined."""
    for _ in range(_MOST_HERE_TEXTS):
        found = _HERE_TEXT.search(text)
        if found is None:
            break
        begins = text.find("\n", found.end())
        ends = re.compile(rf"^[ \t]*{found[2]}\b", re.MULTILINE).search(text, max(begins, 0))
        rest = text[found.end() : begins] + text[ends.end() :] if begins >= 0 and ends else ""
        text = f"{text[: found.start()]}{rest}"
    return text.replace("\\\n", " ")


def _bare(line: list[Word]) -> list[Word]:
    """Return a command without prefixes such as ``sudo``."""
    at = 0
    while at < len(line) and _BEFORE.match(line[at] or ""):
        at += 1
    return line[at:]


def _given(words: list[Word]) -> Iterator[Word]:
    """Yield the operands that a command writes."""
    name = os.path.basename(words[0] or "") if words else ""
    rest = words[1:]
    if name == "git" and rest[:1] == ["mv"]:
        name, rest = "mv", rest[1:]
    options = {word for word in rest if word and word.startswith("-")}
    scripts = {word for word in options if _SCRIPT.match(word)}
    operands = [
        word
        for before, word in zip([None, *rest], rest, strict=False)
        if word != "" and word not in options and before not in scripts
    ]
    in_place = _IN_PLACE.get(name)
    if name == "tee":
        yield from operands
    elif in_place and any(map(in_place.match, options)):
        yield from operands if scripts else operands[1:]
    elif name in ("cp", "mv") and len(operands) > 1:
        *sources, target = operands
        if len(sources) == 1 and not (target or "/").endswith("/"):
            yield target
        elif target:
            yield from (os.path.join(target, os.path.basename(one)) for one in sources if one)
