"""Count the matches of claims about code."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from ..anchors.claims import ClaimCount, ClaimPlace
from ..anchors.definitions import LARGEST
from ..anchors.project import Unreadable, digest
from ..core.json import dumps
from ..system.atomic_write import temporary_folder
from .rules import load_rules
from .scan import refusal, scan, short_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..anchors.claims import Claim, Rule
    from ..anchors.project import Project
    from .scan import Match

    File = tuple[str, str]  # a path, and any name for the state of the file

_BATCH = 500
_MARK = 8  # digits

_VARIABLE = re.compile(r"\$+[A-Z_0-9]*")
_WORD = re.compile(r"\b[A-Za-z_]\w+", re.ASCII)
_ARGUMENTS = r"([^(){};]|\(([^(){};]|\([^(){};]*\))*\))*"
_CALL = re.compile(rf"((\w|[$.:\[\]]|->)+\({_ARGUMENTS}\))+")
_BODIES = {"Go": "func f() {\n%s\n}", "C": "void f() { %s; }", "Cpp": "void f() { %s; }"}
"""By grammar, the function around a call, which is parsed as a type or a declaration outside."""


def count(project: Project, claims: Sequence[Claim]) -> list[ClaimCount | Unreadable]:
    """Return the matches of each claim in the project.

    A claim that ast-grep rejects, or of an unknown language, is ``Unreadable``. ast-grep runs once,
    over the files with the words of a pattern.
    """
    listed = project.paths()
    counter = ClaimCounter(claims, listed)
    files = Counter(index for path in listed for index in counter.about(path))
    texts = (((path, ""), project.text(path)) for path in counter.may_match(project, listed))
    found = [[*each.values()] for each in counter.count(texts)]
    return [
        counter.faults.get(index)
        or ClaimCount(
            files[index],
            sorted(place for one in counts for place in one.matched),
            sorted(place for one in counts for place in one.rest),
            sum(one.unread for one in counts),
        )
        for index, counts in enumerate(found)
    ]


class ClaimCounter:
    """Claims, ready to match with texts; ``faults`` has the invalid claims by index."""

    def __init__(self, claims: Sequence[Claim], paths: Sequence[str]) -> None:
        """Read ``paths`` as the project's, for extensions that languages share."""
        self._claims = claims
        self._rules = load_rules()
        self._rules.choose_shared(paths)
        self.faults = {
            index: Unreadable(f"its language '{claim.lang}' is not known")
            for index, claim in enumerate(claims)
            if claim.lang not in self._rules.languages
        }
        self._words = [words_of(claim.of or claim.rule) for claim in claims]
        self._compiled = {
            index: compiled(self._rules.grammars(claim.lang), claim, index)
            for index, claim in enumerate(claims)
            if index not in self.faults
        }
        if refusal("---\n".join(self._compiled.values())):  # ast-grep takes all rules or none
            for index, text in [*self._compiled.items()]:
                if why := refusal(text):
                    self.faults[index] = Unreadable(f"its rule is not taken: {why}")
                    del self._compiled[index]
        self._covers = [claim.covering() for claim in claims]
        self._about: dict[str, list[int]] = {}

    def about(self, path: str) -> list[int]:
        """Return the indexes of the claims that are about a file."""
        if path not in self._about:
            language = self._rules.language_of(path)
            self._about[path] = [
                index
                for index in self._compiled
                if self._claims[index].lang == language and self._covers[index](path)
            ]
        return self._about[path]

    def may_match(self, project: Project, paths: Iterable[str]) -> list[str]:
        """Return the files that git finds the longest word of a claim in that is about them."""
        longest = [max(words, key=len, default="") for words in self._words]
        having = {*project.files_with([*{*longest} - {""}])}
        return [
            path
            for path in paths
            if any(not longest[index] or path in having for index in self.about(path))
        ]

    def count(self, texts: Iterable[tuple[File, bytes]]) -> list[dict[File, ClaimCount]]:
        """Return the counts of each claim by text; texts without a match are left out."""
        found: list[dict[File, ClaimCount]] = [{} for _ in self._claims]
        batch: list[tuple[File, bytes, list[int]]] = []
        for file, content in texts:
            words = {index: self._words[index] for index in self.about(file[0])}
            wanting = [n for n, some in words.items() if all(w.encode() in content for w in some)]
            if len(content) > LARGEST:
                for index in wanting:
                    found[index][file] = ClaimCount(unread=1)
            elif wanting:  # grammars end comments at line feeds
                text = content if b"\n" in content else content.replace(b"\r", b"\n")
                batch.append((file, text, wanting))
            if len(batch) == _BATCH:
                self._match(batch, found)
                batch = []
        if batch:
            self._match(batch, found)
        return found

    def _match(
        self, batch: Sequence[tuple[File, bytes, list[int]]], found: list[dict[File, ClaimCount]]
    ) -> None:
        names = [short_name(number, path) for number, ((path, _), *_) in enumerate(batch)]
        with temporary_folder() as folder:
            for name, (_, content, _) in zip(names, batch, strict=True):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(content)
            os.mkdir(os.path.join(folder, "_"))
            used = sorted({index for _, _, wanting in batch for index in wanting})
            text = "---\n".join(self._compiled[index] for index in used)
            config = self._rules.configure(os.path.join(folder, "_"), text, {})
            seen = scan(folder, config, names, min(os.cpu_count() or 1, 8))
        for name, (key, content, wanting) in zip(names, batch, strict=True):
            lines, matches = content.split(b"\n"), seen.matches.get(name, ())
            unread = int(name in seen.failed)
            for index in wanting:
                one = _counted(index, key[0], lines, matches, unread)
                if one.unread or one.matched or one.rest:
                    found[index][key] = one


def _counted(
    index: int, path: str, lines: Sequence[bytes], matches: Iterable[Match], unread: int
) -> ClaimCount:
    """Return the matches of a claim in a text: ``of`` less ``rule`` is the rest."""
    found: dict[str, Counter[tuple[int, int]]] = {"rule": Counter(), "of": Counter()}
    for match in matches:
        number, _, part = match.rule.partition(".")
        if number == str(index):
            found[part][match.first, match.last] += 1

    def places(spans: Counter[tuple[int, int]]) -> list[ClaimPlace]:
        return [
            ClaimPlace(path, first, digest(lines[first - 1].strip())[:_MARK])
            for first, _ in sorted(spans.elements())
        ]

    return ClaimCount(1, places(found["rule"]), places(found["of"] - found["rule"]), unread)


def compiled(grammars: Sequence[str], claim: Claim, index: int) -> str:
    """Return a claim's rules in the text of a rule file, with ids ``GRAMMAR/claim.INDEX.PART``.

    With ``of``, a match of it counts if it, or the node right around it, matches the rule: a
    decorated function is part of a larger node.
    """
    whole = claim.rule if isinstance(claim.rule, dict) else {}
    shared = {name: whole[name] for name in ("constraints", "utils") if name in whole}
    texts = []
    for grammar in grammars:
        rule, of = _rule(grammar, claim.rule), _rule(grammar, claim.of)
        within = {"all": [of, {"any": [rule, {"inside": rule}]}]}
        parts = {"rule": within, "of": of} if claim.of else {"rule": rule}
        for part, one in parts.items():
            head = {"id": f"{grammar}/claim.{index}.{part}", "language": grammar, "rule": one}
            texts.append(dumps({**head, **(shared if part == "rule" else {})}) + "\n")
    return "---\n".join(texts)


def _rule(grammar: str, given: Rule) -> object:
    if isinstance(given, str) and grammar in _BODIES and _CALL.fullmatch(given):
        return {"pattern": {"context": _BODIES[grammar] % given, "selector": "call_expression"}}
    return given.get("rule") if isinstance(given, dict) else {"pattern": given}


def words_of(rule: object) -> list[str]:
    """Return literal words that every match of a pattern, or a rule, has in its text.

    >>> words_of("session.save($X, force=0xFF)"), words_of({"rule": {"kind": "call"}})
    (['force', 'save', 'session'], [])
    """
    if isinstance(rule, str):
        return sorted({*_WORD.findall(_VARIABLE.sub(" ", rule))})
    found: set[str] = set()
    if isinstance(rule, dict):
        for name in ("rule", "pattern"):
            found.update(words_of(rule.get(name)))
        for one in rule["all"] if isinstance(rule.get("all"), list) else ():
            found.update(words_of(one))
    return sorted(found)
