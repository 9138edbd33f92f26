"""The kinds of input that reach a store: queries, JSON lines, Markdown."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random

from kinds import Kind, one_line
from mutator import mutated
from pages import import_documents
from searching import options

from pylore.code.edges import mentioned
from pylore.code.rules import load_rules
from pylore.core.errors import LoreError, StoreError
from pylore.core.json import dumps
from pylore.core.model import Hits
from pylore.core.settings import Settings
from pylore.core.vocabulary import RELATIONS, SOURCES, STATUSES, TYPES
from pylore.embed.static import StaticEmbedder
from pylore.formats.export import export_lines
from pylore.formats.jsonl import Imported, import_lines
from pylore.records.records import Records
from pylore.search import Near
from pylore.search.pipeline import Request, search
from pylore.store import Store, create_store

TEXTS = (
    "The office is in Zürich",
    "it's a/b.py",
    "NEAR AND OR NOT",
    '"quoted" text*',
    "snake_case camelCase getUserByID",
    "ＡＢＣ ﬁn ٣ 東京 한국 🤖",
    "Sessions are signed tokens",
    "a\u0301 e\u0323\u0302 か\u3099",
    "x " * 900,
)


class Queries(Kind):
    """Queries, on both engines, with random options."""

    name, share = "queries", 0.12

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "a.py").touch()
        self._stores = [self._filled(engine) for engine in ("fts5", "fts4")]

    def words(self) -> list[bytes]:
        return [word.encode() for text in TEXTS for word in text[:60].split()]

    def _filled(self, engine: str) -> tuple[Store, StaticEmbedder]:
        store = create_store(str(self.folder / engine), fulltext=engine)
        embedder = StaticEmbedder()
        records = Records(store, Settings(), embedder, str(self.folder))
        added = [records.add("note", text, file="a.py").id for text in TEXTS]
        for one, other in zip(added, added[1:], strict=False):
            records.link(one, "relates_to", other)
        return store, embedder

    def check_one(self, data: bytes) -> None:
        query = data.decode("utf-8", "replace")
        ways = sha256(data).digest()
        settings = options(
            graph_depth=ways[0] % 3,
            fusion=("convex", "rrf")[ways[1] % 2],
            expansion=("accumulate", "best-path")[ways[2] % 2],
            retrievers=("fulltext", "vector", "fulltext vector")[min(ways[3] % 5, 2)],
        )
        store, embedder = self._stores[ways[6] % 8 == 0]
        near = Near(str(self.folder), ["a.py"]) if ways[7] % 4 == 0 else None
        least, explain = (0, 0, 0.5)[ways[5] % 3], ways[8] % 4 == 0
        request = Request(query, near=near, explain=explain, min_score=least)
        hits = search(store, settings, request, embedder if ways[9] % 2 else None)
        _sound(hits)

    def close(self) -> None:
        for store, _ in self._stores:
            store.close()


def _sound(hits: Hits) -> None:
    assert len(hits) or hits.notes, "silently empty"
    scores = [hit.score for hit in hits]
    assert all(math.isfinite(score) and 0 <= score <= 1 for score in scores), scores
    for hit in hits:
        assert json.loads(dumps(hit.to_dict()))["id"] == hit.id


LINES = (
    b'{"id":"note-1","type":"note","title":"one"}',
    b'{"id":"entity-a","type":"entity"}',
    b'{"from_id":"note-1","to_id":"entity-a","relation":"mentions"}',
)


class _Importing(Kind):
    """Imports into a store: a failed import changes no record."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._made = 0
        self._store: Store | None = None
        self._held: list[str] = []

    @property
    def store(self) -> Store:
        """A small store; after some imports it is checked and replaced."""
        if self._store is not None and len(self._held) > 60:
            self._look()
            self.close()
        if self._store is None:
            self._made += 1
            self._store = create_store(str(self.folder / f"store-{self._made}"))
            import_lines(self._store, Settings(), None, LINES)
            self._held = list(export_lines(self._store))
        return self._store

    def take(self, write: Callable[[], Imported]) -> Imported | None:
        """Run an import; return None after an expected error."""
        store = self.store
        try:
            done = write()
        except LoreError as error:
            assert not isinstance(error, StoreError), f"the store: {error}"
            one_line(error)
            assert list(export_lines(store)) == self._held, "not all or nothing"
            return None
        self._held = list(export_lines(store))
        return done

    def again(self, write: Callable[[], Imported]) -> None:
        """Assert that a second run adds no record."""
        done = write()
        assert (done.added, done.updated) == (0, 0), f"{done.added} added, {done.updated} updated"
        assert list(export_lines(self.store)) == self._held, "the same twice is another store"

    def _look(self) -> None:
        """Assert that the store is valid and equals an import of its export."""
        store = self.store_in_use
        assert not store.checks.damage(full=True) and not store.checks.fulltext_damage()
        with create_store(str(self.folder / "copy")) as copy:
            lines = [line.encode() for line in self._held]
            import_lines(copy, Settings(), None, lines)
            assert list(export_lines(copy)) == self._held, "its export is another store"
        shutil.rmtree(self.folder / "copy")

    @property
    def store_in_use(self) -> Store:
        assert self._store is not None
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
            shutil.rmtree(self.folder / f"store-{self._made}")


FIELDS = (
    "id type title body status source confidence category tags file line_start line_end data "
    "created_at updated_at accessed_at access_count invalidated_at from_id to_id relation "
    "weight metadata declare_type description declare_relation backward_weight history_of "
    "anchor_of kind path hash commit_id root detail verdict anchor_history_of unknown "
).split()
VALUES: tuple[object, ...] = (
    *(None, True, False, 0, -1, 0.5, 1e308, 2**53, 2**63, 10**400, -0.0, [], {}, [[]], ["a", 1]),
    *([None], {"a": {"b": []}}, ["note-1"] * 3, ["note-1", "entity-a", "mentions"], "A" * 5000),
    *("x note-1 entity-a file-a.py note- -x 0 hash glob symbol lines valid drifted".split()),
    *("", " ", "note-\u202e", "\0", "\ud800", "2026-01-01T00:00:00Z", "9999-99-99T99:99:99Z"),
    *("../../etc/passwd", "--output=MARKER", "$(touch MARKER)"),
    *(*TYPES, *RELATIONS, *SOURCES, *STATUSES),
)


class JsonLines(_Importing):
    """Lines of an import, mutated by byte or field."""

    name, share = "jsonl", 0.16

    def words(self) -> list[bytes]:
        return [f'"{name}":'.encode() for name in FIELDS]

    def make(self, random: Random) -> bytes:
        if random.random() < 0.3:
            return mutated(random, self.corpus, self.tokens)
        rows = []
        for line in random.choice(self.corpus).split(b"\n")[:6]:
            try:
                row = json.loads(line)
            except ValueError:
                rows.append(line)
                continue
            for _ in range(random.choice((0, 1, 1, 2))):
                if isinstance(row, dict):
                    name = random.choice((*row, random.choice(FIELDS)))
                    row[name] = random.choice(VALUES)
            rows.append(json.dumps(row).encode())
        return b"\n".join(rows)

    def check_one(self, data: bytes) -> None:
        ways = sha256(data).digest()
        lines = data.split(b"\n")

        names = {"skip_bad": 1, "new_relations": 2, "new_types": 4}
        ways_of = {name: bool(ways[0] & bit) for name, bit in names.items()}

        def write() -> Imported:
            return import_lines(self.store_in_use, Settings(), None, lines, **ways_of)

        done = self.take(write)
        assert done is not None or not ways[0] & 1, "skip_bad, and an error"


class MarkdownKind(_Importing):
    """Documents with links to two fixed documents."""

    name, share = "markdown", 0.10

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._docs = folder / "docs"
        self._docs.mkdir()
        (self._docs / "other.md").write_text("# Other\n\n[x](x.md) [[Note]]\n")

    def check_one(self, data: bytes) -> None:
        skip_bad = bool(sha256(data).digest()[0] & 1)
        (self._docs / "x.md").write_bytes(data)
        mentioned(data.decode("utf-8", "replace"), load_rules().mentioned)

        paths = [str(self._docs)], str(self.folder)

        def write() -> Imported:
            return import_documents(self.store_in_use, Settings(), None, *paths, skip_bad=skip_bad)

        done = self.take(write)
        assert done is not None or not skip_bad, "skip_bad, and an error"
        if done is not None:
            self.again(write)
