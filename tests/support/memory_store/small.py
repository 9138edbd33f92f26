"""What a store knows of itself: facts, types, relations."""

from __future__ import annotations

from collections.abc import Iterable

from pylore.core.errors import (
    UsageError,
    nearest,
)
from pylore.core.vocabulary import (
    LEARNING,
    RECORDS,
    types_named,
)

from .state import Part


class Meta(Part):
    def all(self) -> dict[str, str]:
        return dict(self._state.meta)

    def get(self, key: str) -> str | None:
        return self._state.meta.get(key)

    def set(self, key: str, value: str | None) -> None:
        if value is None:
            self._changing.meta.pop(key, None)
        else:
            self._changing.meta[key] = value


class Types(Part):
    def all(self) -> dict[str, str]:
        return dict(sorted(self._state.types.items()))

    def require(self, names: Iterable[str]) -> tuple[str, ...]:
        known = list(self.all())
        wanted = types_named(names, known)
        for name in wanted:
            if name not in known:
                names = [RECORDS, LEARNING, *known]
                raise UsageError(f"unknown type '{name}'{nearest(name, names)}: "
                                 f"one of {', '.join(names)}")  # fmt: skip
        return tuple(wanted)

    def declare(self, name: str, description: str) -> None:
        self._changing.types[name] = description


class Relations(Part):
    def all(self) -> dict[str, tuple[float, float, str]]:
        return dict(sorted(self._state.relations.items()))

    def declare(self, name: str, weight: float, backward: float, description: str) -> None:
        self._changing.relations[name] = (weight, backward, description)
