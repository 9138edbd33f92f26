"""What one change took away and what it brought, of definitions: which is whose successor."""

from __future__ import annotations

from .fingerprint import lines_of, stretch_hash
from .likeness import Bag, bag_of, renamed, similarity, words_in, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .definitions import Outline, Outlined

LEAST = 0.65
"""Similarity from which on a definition is a successor (measured: docs/quality.md)."""

MARGIN = 0.05
"""How much less alike the next one has to be, so that it is no question which one it is."""

NAMED = 3
"""Candidates that are named where none is a successor."""

LEAST_NAMED = 0.3
"""Similarity of a candidate that is worth a name."""

_SHARED = 0.5
"""Of the words of a definition, as many as a file has to have to be looked into."""

_MOST_COMPARED = 30
"""New definitions that are held against all that were lost."""

_KINDS = {"function": "callable", "method": "callable", "class": "type", "interface": "type"}


class Body:
    """The text of a definition, for what is like it: its tokens, and its words."""

    __slots__ = ("_name", "_path", "_text", "bag", "words")

    def __init__(self, path: str, text: str, name: str) -> None:
        self._path, self._text, self._name = path, text, name
        self.bag: Bag = bag_of(path, text, name)
        self.words = words_of(path, text, name)

    def hashes_as(self, name: str) -> list[str]:
        """The fingerprints that it would have under another name, one or two of them."""
        texts = renamed(self._path, self._text, self._name, name)
        return [stretch_hash(text.encode(errors="surrogateescape").split(b"\n")) for text in texts]


class Defined:
    """One definition in one version of a file."""

    __slots__ = ("_bag", "_lines", "kind", "path", "qualified")

    def __init__(self, path: str, lines: list[bytes], found: Outlined) -> None:
        self.path = path
        self.qualified = found.qualified
        self.kind = _KINDS.get(found.kind, found.kind)
        self._lines = lines[found.line_start - 1 : found.line_end]
        self._bag: Bag | None = None

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.qualified.rpartition(".")[2]

    @property
    def hash(self) -> str:
        """Its fingerprint, as anchors keep it."""
        return stretch_hash(self._lines)

    @property
    def bag(self) -> Bag:
        """Its tokens."""
        if self._bag is None:
            self._bag = bag_of(self.path, self._text, self.name)
        return self._bag

    @property
    def body(self) -> Body:
        """Its tokens and words."""
        return Body(self.path, self._text, self.name)

    @property
    def _text(self) -> str:
        return b"\n".join(self._lines).decode("utf-8", "surrogateescape")


Alike = tuple[float, Defined]
"""A similarity, 0 to 1, and the definition that has it."""


class DefinitionChange:
    """A change, and the definitions that it took away and brought, looked for where need be.

    ``before`` and ``after`` are the texts of the files that it changed, by their paths;
    ``paths`` pairs those of one file, empty where there was or is none.
    """

    def __init__(
        self, paths: Sequence[tuple[str, str]], before: Mapping[str, bytes],
        after: Mapping[str, bytes], outline: Outline,
    ) -> None:  # fmt: skip
        self._paths = paths
        self._before = {path: before.get(path, b"") for path, _ in paths}
        self._after = {path: after.get(path, b"") for _, path in paths}
        self._outline = outline
        self._turnover: dict[tuple[str, str], tuple[list[Defined], list[Defined]]] = {}
        """Paths before and after to what is lost there, and what is new."""
        self._words: dict[tuple[str, str], tuple[frozenset[str], frozenset[str]]] = {}

    def candidates(self, lost: Defined, wanted: Body) -> list[Alike]:
        """What is new and of the kind of a lost definition, the most alike to ``wanted`` first.

        What takes the place of another lost one is left out.
        """
        gone, new = self._lost_and_new(lost.path, wanted)
        others = [
            one for one in gone
            if one.kind == lost.kind and (one.path, one.qualified) != (lost.path, lost.qualified)
        ]  # fmt: skip
        alike = [(similarity(wanted.bag, one.bag), one) for one in new if one.kind == lost.kind]
        alike = [pair for pair in alike if pair[0] >= LEAST_NAMED]
        alike.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].qualified))
        found: list[Alike] = []
        for figure, one in alike[:_MOST_COMPARED]:
            if len(found) < NAMED and not _belongs_to(others, one, lost, figure):
                found.append((figure, one))
        return found

    def _lost_and_new(self, path: str, wanted: Body) -> tuple[list[Defined], list[Defined]]:
        """Of the file at ``path``, and of those with many of the words that are wanted."""
        near = [
            (old, new) for old, new in self._paths
            if old == path or any(
                len(wanted.words & words) >= _SHARED * len(wanted.words)
                for words in self._words_of(old, new)
            )
        ]  # fmt: skip
        unread = [pair for pair in near if pair not in self._turnover]
        found = self._outline(
            {f"before/{old}": self._before[old] for old, _ in unread if old}
            | {f"after/{new}": self._after[new] for _, new in unread if new}
        )
        for old, new in unread:
            was = definitions_of(old, self._before[old], found.get(f"before/{old}", ()))
            has = definitions_of(new, self._after[new], found.get(f"after/{new}", ()))
            names = {one.qualified for one in was}, {one.qualified for one in has}
            self._turnover[old, new] = (
                [one for one in was if one.qualified not in names[1]],
                [one for one in has if one.qualified not in names[0]],
            )
        turnovers = [self._turnover[pair] for pair in near]
        return [one for gone, _ in turnovers for one in gone], [
            one for _, new in turnovers for one in new
        ]

    def _words_of(self, old: str, new: str) -> tuple[frozenset[str], frozenset[str]]:
        if (old, new) not in self._words:
            before, after = self._before[old], self._after[new]
            self._words[old, new] = (
                words_in(before.decode("utf-8", "replace")),
                words_in(after.decode("utf-8", "replace")),
            )
        return self._words[old, new]


def _belongs_to(others: Sequence[Defined], new: Defined, lost: Defined, figure: float) -> bool:
    """Whether another lost definition is more like it than ``lost``, or like it and of its name."""
    for other in others:
        theirs = similarity(other.bag, new.bag)
        named = (other.name == new.name) - (lost.name == new.name)
        if (theirs, named) > (figure, 0) or (named > 0 and theirs >= LEAST):
            return True
    return False


def definitions_of(path: str, text: bytes, found: Sequence[Outlined]) -> list[Defined]:
    """What a text defines, by its outline."""
    lines = lines_of(text)
    return [Defined(path, lines, one) for one in found]


def equally_alike(candidates: Sequence[Alike], name: str) -> list[Alike]:
    """Those of the candidates, the most alike first, that may be the successor: one is it.

    Among several that are as alike the one decides whose name differs from ``name`` in
    nothing but case and underscores.
    """
    if not candidates or candidates[0][0] < LEAST:
        return []
    found = [one for one in candidates if one[0] > candidates[0][0] - MARGIN]
    named = [one for one in found if _plain(one[1].name) == _plain(name)]
    return named if len(named) == 1 else found


def _plain(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()
