"""Calls of the SDK with odd arguments, as Python programs make them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import apsw
from kinds import Kind
from new_stores import new_store

from pylore import Lore
from pylore.core.errors import LoreError

_NOT_CALLED = ("close", "folder", "settings")

ODD: tuple[Callable[[], Any], ...] = (
    lambda: None, lambda: True, lambda: -1, lambda: 0, lambda: 3, lambda: 1 << 70,
    lambda: float("nan"), lambda: 0.5, lambda: 1e400, lambda: "", lambda: " ", lambda: "\ud800",
    lambda: "note-\udfff", lambda: "a\0b", lambda: "note-a", lambda: "note-none", lambda: "note",
    lambda: "file-a.py", lambda: "words of it", lambda: "../a", lambda: "a.py", lambda: "a.py:1-2",
    lambda: "2026-01-31", lambda: "7d", lambda: "relates_to", lambda: "x" * 100_000,
    lambda: b"bytes", list, dict, object, lambda: ["note-a"], lambda: [None], lambda: [["a"]],
    lambda: [("note-a", "uses")], lambda: ["\ud800"], lambda: {"a": 1}, lambda: {"\ud800": 1},
    lambda: {"a": object()}, lambda: {1: 2}, lambda: (one for one in ("note-a", 3)),
    lambda: Path("a.py"), lambda: {"deep": _deep(2_000)}, lambda: Exception, lambda: "*" * 300,
    lambda: "decision-\u202e", lambda: "\n", lambda: "a" * 2_000, lambda: range(5),
)  # fmt: skip
"""What is given for an argument."""

_FIELDS = ("title", "why", "tags", "file", "links", "status", "source", "confidence", "category",
           "id", "weight", "metadata", "text", "graph_depth", "budget", "limit", "edges", "near",
           "types", "statuses", "files", "since", "exclude", "hops", "form", "rounds",
           "none")  # fmt: skip


def _deep(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


class SdkCalls(Kind):
    """A call returns or raises an error of lore's, or of Python's for wrong types and values; what
    is stored is sound. An input is the seed of a call."""

    name, share = "sdk", 0.05

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        new_store(str(folder / "data")).close()
        self._lore = Lore(folder / "data", embedder="none")
        for id in ("note-a", "note-b"):
            self._lore.add("note", f"Sessions are signed tokens {id}", id=id)
        methods = inspect.getmembers(self._lore, inspect.ismethod)
        self._methods = [one for name, one in methods if name[0] != "_" and name not in _NOT_CALLED]

    def make(self, random: Random) -> bytes:
        return random.getrandbits(64).to_bytes(8, "big")

    def check_one(self, data: bytes) -> None:
        random = Random(data)
        method = random.choice(self._methods)
        given: list[Any] = []
        named: dict[str, Any] = {}
        parameters = inspect.signature(method).parameters
        for parameter in parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                chosen = random.sample(_FIELDS, random.choice((0, 0, 1, 2)))
                named.update(
                    {name: random.choice(ODD)() for name in chosen if name not in parameters}
                )
            elif parameter.kind is parameter.VAR_POSITIONAL:
                given += [random.choice(ODD)() for _ in range(random.randrange(3))]
            elif parameter.default is parameter.empty:
                given.append(random.choice(ODD)())
            elif random.random() < 0.3:
                named[parameter.name] = random.choice(ODD)()
        try:
            method(*given, **named)
        except LoreError as error:
            assert str(error), "an error says what is wrong"
        except (apsw.Error, AttributeError, OverflowError, RecursionError, TypeError, ValueError):
            pass  # a wrong type, or a text that cannot be encoded

    def close(self) -> None:
        store = self._lore._open().store
        assert store.checks.damage() == []
        self._lore.close()
