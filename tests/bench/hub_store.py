"""Fill a hub of any size as a sync does, with records of ``scale_material``, without code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from random import Random
from time import monotonic

from places import CACHE, ROOT
from scale_material import PREDICATES, Material, Text

sys.path.insert(0, str(ROOT / "tests" / "support"))
from hub_copies import push

from pylore.core.stamps import Stamped
from pylore.core.vocabulary import CODE_TYPES
from pylore.embed.static import StaticEmbedder
from pylore.formats.export import shared_fields
from pylore.hub.connection import Hub
from pylore.hub.indexing import index_hub
from pylore.hub.lines import HubLine, order_text
from pylore.store.changes import thing_of

_NO_CODE = (*CODE_TYPES, "run")


class Records(Material):
    """Material without code."""

    def __init__(self, text: Text, size: int) -> None:
        super().__init__(text, size)
        self._types = [type for type in self._types if type not in _NO_CODE]

    def _target(self, rng: Random, type: str, place: int) -> tuple[str, str]:
        while True:
            try:
                return super()._target(rng, type, place)
            except (IndexError, ZeroDivisionError, ValueError):  # to nodes of code: another one
                continue


def build_hub(hub: Hub, size: int) -> None:
    """Fill a hub that has its schema; print the seconds of each part."""
    start = monotonic()
    push(hub, _lines(Records(Text.of_library(CACHE), size)))
    _say(f"{size:,} records and their links pushed", start)
    start = monotonic()
    embedder = StaticEmbedder()
    index_hub(hub, lambda: embedder, [])
    _say("indexed", start)
    hub.ask("VACUUM ANALYZE lore.passages, lore.nodes, lore.edges, lore.words", seconds=3600)


def _lines(material: Records) -> Iterator[list[str]]:
    for name in PREDICATES:
        line = HubLine("", "x", {"declare_relation": name, "weight": 0.7, "at": "x"}, name)
        yield [line.order, line.line]
    for thing in chain(material.nodes(), material.edges()):
        fields = shared_fields(thing)
        line = HubLine(thing_of(thing), order_text(Stamped.of(thing)), fields)
        yield [line.order, line.line]


def questions(count: int) -> list[str]:
    """Return sentences to ask for, the same each time."""
    return Random(7).sample(Text.of_library(CACHE).questions, count)


def _say(what: str, start: float) -> None:
    sys.stderr.write(f"bench: {monotonic() - start:7.0f} s  {what}\n")
    sys.stderr.flush()
