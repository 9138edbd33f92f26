"""What one change took away and what it brought, of definitions: which is whose successor."""

from __future__ import annotations

from .fingerprint import lines_of, stretch_hash
from .likeness import Bag, bag_of, similarity

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

_KINDS = {"function": "callable", "method": "callable", "class": "type", "interface": "type"}


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
            text = b"\n".join(self._lines).decode("utf-8", "replace")
            self._bag = bag_of(self.path, text, self.name)
        return self._bag


Alike = tuple[float, Defined]
"""A similarity, 0 to 1, and the definition that has it."""


class DefinitionChange:
    """The definitions that a change has ``lost``, and those that are ``new`` with it.

    ``before`` and ``after`` are the texts of the files that it changed, by their paths;
    ``paths`` pairs those of one file, empty where there was or is none.
    """

    def __init__(
        self, paths: Sequence[tuple[str, str]], before: Mapping[str, bytes],
        after: Mapping[str, bytes], outline: Outline,
    ) -> None:  # fmt: skip
        found = outline(
            {f"before/{path}": text for path, text in before.items()}
            | {f"after/{path}": text for path, text in after.items()}
        )
        self.lost: list[Defined] = []
        self.new: list[Defined] = []
        for old, new in paths:
            was = definitions_of(old, before.get(old, b""), found.get(f"before/{old}", ()))
            has = definitions_of(new, after.get(new, b""), found.get(f"after/{new}", ()))
            names_before = {one.qualified for one in was}
            names_after = {one.qualified for one in has}
            self.lost += [one for one in was if one.qualified not in names_after]
            self.new += [one for one in has if one.qualified not in names_before]

    def candidates(self, path: str, qualified: str, wanted: Bag) -> list[Alike]:
        """What is new and of the kind of a lost definition, the most alike to ``wanted`` first.

        What takes the place of another lost one is left out.
        """
        lost = next(
            (one for one in self.lost if (one.path, one.qualified) == (path, qualified)), None
        )
        if lost is None:
            return []
        alike = [(similarity(wanted, one.bag), one) for one in self.new if one.kind == lost.kind]
        alike.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].qualified))
        found: list[Alike] = []
        for figure, one in alike:
            if figure < LEAST_NAMED or len(found) == NAMED:
                break
            if not self._belongs_to_another(one, lost, figure):
                found.append((figure, one))
        return found

    def _belongs_to_another(self, new: Defined, lost: Defined, figure: float) -> bool:
        """Whether another lost definition is more like it, or like it and of its name."""
        for other in self.lost:
            if other is lost or other.kind != new.kind:
                continue
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
