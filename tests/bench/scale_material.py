"""Material for stores of any size: nodes and edges that look like a project's own.

The words are those of the standard library's docstrings and comments. A passage is
seven or so stretches of them, most from one package, so that passages are distinct,
words follow each other as people write them, and what is about one thing stands
together. Words that grow in number with a store (names, issues, hashes) come in beside
them. Who points to whom is skewed: a few nodes are hubs.

Everything follows from the number of a node, so memory holds ids alone, and the same
interpreter and size give the same store.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from hashlib import sha1
from pathlib import Path
from random import Random

from corpus import Module, first_sentence, read_modules

from pylore.core.ids import named_id, record_id
from pylore.core.model import Edge, Node
from pylore.core.vocabulary import symbol_id

PREDICATES = ("uses", "owned_by", "runs_on", "replaces", "documented_in", "written_in")
"""Relations of facts about entities; a store has to declare them."""

_MIX = {
    **{"symbol": 42, "file": 6, "entity": 10, "note": 8, "observation": 7, "lesson": 6},
    **{"decision": 5, "doc": 4, "failure": 3, "task": 2, "pattern": 2, "concept": 2},
    **{"commit": 2, "run": 1},
}
"""Nodes of each type per hundred."""
_RECORDS = ("note", "observation", "lesson", "decision", "doc", "failure", "task", "pattern")
_FIRST_DAY = datetime(2023, 1, 2, 8, tzinfo=timezone.utc)
_SECONDS = 3 * 365 * 86_400
_LEAST_WORDS = 400
"""Minimum words of a topic; smaller packages share a topic."""


@dataclass
class Text:
    """The words of each topic, in the order they were written, and sentences to ask for."""

    topics: list[list[str]]
    names: list[str]
    questions: list[str]

    @staticmethod
    def of_library(folder: Path) -> Text:
        """Return the standard library's text; a file in ``folder`` caches it."""
        cache = folder / f"text-{'.'.join(map(str, sys.version_info[:3]))}.json"
        if not cache.exists():
            library = Path(sysconfig.get_path("stdlib"))
            modules = [*read_modules(library, tests=False), *read_modules(library, tests=True)]
            folder.mkdir(parents=True, exist_ok=True)
            cache.write_text(json.dumps(vars(_text_of(modules))), encoding="utf-8")
        return Text(**json.loads(cache.read_text(encoding="utf-8")))

    @staticmethod
    def of_packages(*names: str) -> Text:
        """Return the text of some packages, which takes a second or two."""
        library = Path(sysconfig.get_path("stdlib"))
        read = ((name, read_modules(library / name, tests=False)) for name in names)
        return _text_of(
            [replace(one, name=f"{name}.{one.name}") for name, some in read for one in some]
        )


def _text_of(modules: list[Module]) -> Text:
    topics: dict[str, list[str]] = {}
    for module in modules:
        place = module.name.partition(".")[0]
        topics.setdefault(place, []).extend(" ".join(_texts(module)).split())
    small = [words for words in topics.values() if len(words) < _LEAST_WORDS]
    large = [words for words in topics.values() if len(words) >= _LEAST_WORDS]
    merged = [word for words in small for word in words]
    large += [merged[at : at + 2_000] for at in range(0, len(merged) - _LEAST_WORDS, 2_000)]
    names = {word for words in large for word in words if word.isascii() and word.isalpha()}
    questions = {first_sentence(text) for module in modules for text in module.symbols}
    return Text(
        large,
        sorted({name.lower() for name in names if 3 <= len(name) <= 12}),
        sorted(text for text in questions if 5 <= len(text.split()) <= 15 and text.isascii()),
    )


def _texts(module: Module) -> Iterator[str]:
    yield from (module.docstring, *module.symbols, *module.comments)


class Material:
    """The nodes and edges of a store of ``size`` nodes."""

    def __init__(self, text: Text, size: int, edges_each: int = 10) -> None:
        self._text = text
        self._size = size
        self._edges_each = edges_each
        self._weights = [len(words) for words in text.topics]
        self._ids: dict[str, list[str]] = {type: [] for type in _MIX}
        self._place: list[int] = []
        self._taken: set[str] = set()
        self._types = [type for type, share in _MIX.items() for _ in range(share)]
        Random(1).shuffle(self._types)

    def nodes(self) -> Iterator[Node]:
        """Every node, in the order in which they came into being."""
        for number in range(self._size):
            node = self._node(number)
            of_type = self._ids[node.type]
            self._place.append(len(of_type))
            of_type.append(node.id)
            yield node

    def edges(self) -> Iterator[Edge]:
        """Every edge, by the number of the node it leads from; ``nodes`` has been read."""
        for number in range(self._size):
            yield from self._edges(number)

    def any_id(self, rng: Random) -> str:
        """The id of a node that has edges in both directions, or may well have."""
        others = self._ids[rng.choice(("symbol", "decision", "entity", "file"))]
        return others[rng.randrange(len(others))]

    def _type(self, number: int) -> str:
        return self._types[number % len(self._types)]

    def _node(self, number: int) -> Node:
        rng = Random(number)
        type = self._type(number)
        topic = rng.choices(range(len(self._weights)), self._weights)[0]
        at = _moment(number / self._size * _SECONDS)
        title = self._stretch(rng, topic, rng.randint(4, 9)).strip(".,:;()\"'`")
        body = self._body(rng, topic, number)
        node = Node("", type, title, body, created_at=at, updated_at=at)
        getattr(self, f"_{type}", self._record)(node, rng, number)
        return node

    def _record(self, node: Node, rng: Random, number: int) -> None:
        node.id = self._distinct(record_id(node.type, node.body), number)
        node.tags = tuple(sorted({self._tag(rng) for _ in range(rng.randint(0, 3))}))
        node.source = "conversation" if rng.random() < 0.3 else "user_edit"
        chance = rng.random()
        node.status = "superseded" if chance < 0.02 else "staged" if chance < 0.05 else "confirmed"
        node.confidence = round(rng.uniform(0.5, 1), 2)
        if node.type == "decision":
            node.data = json.dumps({"why": self._stretch(rng, number % len(self._weights), 9)})

    def _file(self, node: Node, rng: Random, number: int) -> None:
        node.title = node.file = self._path(len(self._ids["file"]))
        node.id, node.source = f"file-{node.file}", "file"
        node.line_start, node.line_end = 1, rng.randint(20, 900)

    def _symbol(self, node: Node, rng: Random, number: int) -> None:
        own = len(self._ids["symbol"])
        node.file = self._path(own // 7)
        name = "_".join(rng.choices(self._text.names, k=2))
        owner = rng.choice(self._text.names).title()
        node.title = f"{owner}.{name}" if own % 7 else owner
        node.id = self._distinct(symbol_id(node.file, node.title), number)
        node.source = "file"
        node.line_start = rng.randint(1, 800)
        node.line_end = node.line_start + rng.randint(2, 60)

    def _entity(self, node: Node, rng: Random, number: int) -> None:
        node.title = " ".join(word.title() for word in rng.choices(self._text.names, k=2))
        node.id = self._distinct(named_id(node.type, node.title), number)

    _concept = _entity

    def _commit(self, node: Node, rng: Random, number: int) -> None:
        node.id = f"commit-{sha1(str(number).encode()).hexdigest()}"
        node.source = "file"

    def _run(self, node: Node, rng: Random, number: int) -> None:
        self._record(node, rng, number)
        node.status, node.tags = "confirmed", ()

    def _distinct(self, id: str, number: int) -> str:
        id = f"{id}-{number}" if id in self._taken else id
        self._taken.add(id)
        return id

    def _path(self, number: int) -> str:
        names, rng = self._text.names, Random(-1 - number)
        folder = Random(number // 40)
        name = f"{rng.choice(names)}_{rng.choice(names)}_{number}.py"
        return "/".join(["src", *folder.choices(names, k=2), name])

    def _tag(self, rng: Random) -> str:
        return self._text.names[_skewed(rng, min(300, len(self._text.names)))]

    def _body(self, rng: Random, topic: int, number: int) -> str:
        wanted = rng.randint(38, 76)
        parts: list[str] = []
        while wanted > 0:
            length = min(wanted, rng.randint(5, 12))
            of = topic if rng.random() < 0.8 else rng.randrange(len(self._weights))
            parts.append(self._stretch(rng, of, length))
            wanted -= length
        parts.insert(rng.randint(0, len(parts)), self._name(rng))
        parts.append(f"#{number}" if rng.random() < 0.3 else self._name(rng))
        return " ".join(parts)

    def _stretch(self, rng: Random, topic: int, length: int) -> str:
        words = self._text.topics[topic]
        at = rng.randrange(len(words) - length)
        return " ".join(words[at : at + length])

    def _name(self, rng: Random) -> str:
        """Return a name in code: as varied as the number of nodes, some frequent."""
        names = Random(_skewed(rng, self._size)).choices(self._text.names, k=2)
        return f"{names[0]}{names[1].title()}"

    def _edges(self, number: int) -> Iterator[Edge]:
        rng = Random(~number)
        type = self._type(number)
        id = self._ids[type][self._place[number]]
        at = _moment(number / self._size * _SECONDS)
        found: dict[tuple[str, str], float] = {}
        for _ in range(self._count(rng)):
            relation, other = self._target(rng, type, self._place[number])
            if other != id:
                found[other, relation] = round(rng.uniform(0.5, 1), 2)
        if type == "symbol":
            owner = self._place[number] // 7
            if owner < len(self._ids["file"]):
                yield Edge(self._ids["file"][owner], id, "defines", 1.0, "file", created_at=at)
        source = "file" if type in ("symbol", "file", "commit") else "user_edit"
        for (other, relation), weight in found.items():
            yield Edge(id, other, relation, weight, source, created_at=at)

    def _count(self, rng: Random) -> int:
        """Return the number of edges from a node: mostly few, sometimes a hundred."""
        mean = self._edges_each - 0.45  # symbols also have an edge from their file
        return max(1, min(400, round(rng.expovariate(1 / mean) + 0.3)))

    def _target(self, rng: Random, type: str, place: int) -> tuple[str, str]:
        """Return the relation and the other end of an edge."""
        relation, kinds, near = _POINTS_TO[type if type in _POINTS_TO else "record"][
            rng.randrange(4)
        ]
        kind = rng.choice(kinds)
        if relation == "":
            relation = rng.choice(PREDICATES)
        others = self._ids[kind]
        if near and rng.random() < near:
            return relation, others[(place + rng.randint(-20, 20)) % len(others)]
        return relation, others[_skewed(rng, len(others))]


_POINTS_TO: dict[str, tuple[tuple[str, tuple[str, ...], float], ...]] = {
    "symbol": (
        ("calls", ("symbol",), 0.7),
        ("calls", ("symbol",), 0.7),
        ("calls", ("symbol",), 0.3),
        ("instantiates", ("symbol",), 0.3),
    ),
    "file": (
        ("imports", ("file",), 0.6),
        ("imports", ("file",), 0.0),
        ("co_changes_with", ("file",), 0.9),
        ("co_changes_with", ("file",), 0.5),
    ),
    "entity": (
        ("", ("entity",), 0.5),
        ("", ("entity",), 0.0),
        ("", ("concept",), 0.5),
        ("relates_to", _RECORDS, 0.5),
    ),
    "concept": (
        ("relates_to", ("entity",), 0.5),
        ("relates_to", ("concept",), 0.5),
        ("part_of", ("concept",), 0.0),
        ("mentions", ("entity",), 0.0),
    ),
    "commit": (("changes", ("file",), 0.8),) * 4,
    "run": (("part_of", ("task",), 0.9),) * 1 + (("relates_to", _RECORDS, 0.9),) * 3,
    "record": (
        ("mentions", ("entity",), 0.3),
        ("anchored_to", ("file", "symbol", "symbol"), 0.8),
        ("relates_to", _RECORDS, 0.7),
        ("used_in_run", ("run",), 0.9),
    ),
}
"""Type to four kinds of edges, equally likely: relation ("" for a fact), types of the other end,
and the probability of a node of about the same time."""


def _skewed(rng: Random, count: int) -> int:
    """Return a number below ``count``, small numbers far more often: rank to the power of -2/3."""
    return int(count * rng.random() ** 3)


def _moment(seconds: float) -> str:
    return (_FIRST_DAY + timedelta(seconds=int(seconds))).strftime("%Y-%m-%dT%H:%M:%SZ")
