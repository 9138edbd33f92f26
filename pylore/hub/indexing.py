"""Make the passages, phrases and vectors of a hub, the same as search.db has them."""

from __future__ import annotations

from ..core.errors import EmbedderError
from ..core.ids import fact_sentence
from ..core.json import dumps
from ..core.text import fold, identifier_parts, words
from ..core.vocabulary import COLLECTIONS, TEXTS
from ..indexing.passages import passage_rows
from ..store.fulltext import COLUMNS, phrases_of
from ..store.vectors import quantise
from .answer import ORDER
from .connection import ahead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Protocol

    from ..embed import Embedder as embed_Embedder
    from .connection import Hub


__all__ = ["COLUMNS", "LONGEST_WORD", "phrases_of"]

LONGEST_WORD = 200
"""Letters of a word that a hub keeps, and that is looked for there."""


if TYPE_CHECKING:

    class Embedder(Protocol):
        """Whose vectors they are."""

        @property
        def name(self) -> str: ...
        @property
        def dimension(self) -> int: ...


Lacking = tuple[int, str, list[int], str, str, "str | None", str, str, "list[Any] | None"]
"""(key, scope, steps, type, title, text, tags, file, facts): see ``lore.lacking``; no type: its
passages are to go"""

BATCH = 1024
"""Nodes that are indexed in one transaction."""

AT_ONCE = 4 * BATCH
"""Nodes that a hub tells of at once: all but the first batch of these are made while it works."""

_SECONDS = 3600
"""Seconds that the last of many batches may take: it has the index of all vectors to build."""

_INDEX = "SELECT set_config('statement_timeout', %s, true); SELECT lore.index_passages(%s, %s, %s)"


def embedder_of_hub(hub: Hub) -> str:
    """Whose vectors a hub holds; nothing where it has none yet."""
    rows = hub.ask("SELECT value FROM lore.meta WHERE name = 'embedder'")
    return str(rows[0][0]) if rows else ""


def lacking(hub: Hub, most: int, *, with_vectors: bool) -> list[Lacking]:
    """Nodes whose passages are to be made anew, the longest waiting first; ``with_vectors``: then
    those, without steps, whose passages nobody has made vectors for."""
    return hub.ask("SELECT * FROM lore.lacking(%s, %s)", (most, with_vectors))


def index_passages(hub: Hub, batch: Sequence[dict[str, Any]], embedder: Embedder | None) -> int:
    """Puts passages in the place of those that nodes have; how many nodes were still as they
    were told."""
    name, dimension = (embedder.name, embedder.dimension) if embedder is not None else (None, 0)
    values = (dumps(batch), name, dimension)
    rows = hub.ask(_INDEX, (f"{_SECONDS}s", *values), seconds=_SECONDS)
    return int(rows[0][0])


_BYTES = [str(byte - 256 if byte > 127 else byte) for byte in range(256)]


def vector_text(vector: bytes | None) -> str | None:
    """Little-endian float32 as pgvector reads it: rounded as in search.db, so that cosines are
    the same there. None for what has no direction."""
    rounded = None if vector is None else quantise(vector)
    return f"[{','.join([_BYTES[byte] for byte in rounded])}]" if rounded and any(rounded) else None


def index_hub(
    hub: Hub,
    embedder_of: Callable[[], embed_Embedder | None],
    notes: list[str],
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Indexes what lacks at a hub, whoever has pushed it; how many nodes that were.

    So are the vectors made that somebody without an embedder has left out. One that fails costs
    vectors, and ``notes`` say so. Where the hub holds another one's, none are sent.

    Raises:
        LoreError: the hub cannot; what was indexed until then is.
    """
    done = 0
    embedder: embed_Embedder | None = None
    with_vectors = is_first = True
    while rows := lacking(hub, AT_ONCE, with_vectors=with_vectors):
        if is_first:
            is_first, told = False, notes if any(row[2] for row in rows) else []
            embedder = _fitting(hub, embedder_of(), told)
        if with_vectors and embedder is None:
            with_vectors = False
            continue
        try:
            for batch in ahead(_batches(rows, embedder)):
                indexed = index_passages(hub, batch, embedder)
                if not indexed:  # somebody else does it, or they change faster than that
                    return done
                done += indexed
                progress(done)
        except EmbedderError as error:
            notes.append(f"{error}; what is indexed now has no vectors at {hub.name}")
            embedder = None
    return done


def _batches(
    rows: Sequence[Lacking], embedder: embed_Embedder | None
) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(rows), BATCH):
        entries = [entry_of(row) for row in rows[start : start + BATCH]]
        texts = [text for _, of in entries for _, text in of]
        vectors = embedder.embed(texts) if embedder is not None and texts else []
        yield _filled(entries, vectors)


def _fitting(hub: Hub, embedder: embed_Embedder | None, notes: list[str]) -> embed_Embedder | None:
    held = embedder_of_hub(hub)
    if embedder is None or held in ("", embedder.name):
        return embedder
    notes.append(f"the vectors of {hub.name} are {held}'s, not {embedder.name}'s: what is "
                 "indexed from here has none")  # fmt: skip
    return None


def entry_of(lacking: Lacking) -> tuple[dict[str, Any], list[tuple[list[Any], str]]]:
    """Return what is sent of a node: with each of its passages, and what is embedded of it."""
    node, scope, steps, type, title, text, tags, file, facts = lacking
    made: list[tuple[list[Any], str]] = []
    if type and text is not None:
        at = 1
        prose = COLLECTIONS.get(type, TEXTS) == TEXTS
        rows = passage_rows(title, text, tags, file, prose=prose)
        for n, row in enumerate(rows, start=1):
            name, part = row[:2]
            words = _words(row[:5])
            made.append(([n, at, len(part), *words, None], f"{name} {part}"))
            at += len(part)
    for to, relation, predicate, other in facts or ():
        sentence = fact_sentence(title, predicate, other)
        fields = ("", sentence, "", "", identifier_parts(sentence))
        entry = [0, 1, 0, *_words(fields), None, to, relation, sentence]
        made.append((entry, f" {sentence}"))
    number = ORDER.index(COLLECTIONS.get(type, TEXTS))
    return {"node": node, "scope": scope, "steps": steps, "collection": number}, made


def _words(fields: Sequence[str]) -> tuple[int, str]:
    """Return how many words the fields have, and the words: those that full text makes of them."""
    split = [[word[:LONGEST_WORD] for word in words(fold(field))] for field in fields]
    text = "|".join(f" {' '.join(own)} " for own in split)
    return sum(map(len, split)), text


def _filled(
    entries: Sequence[tuple[dict[str, Any], list[tuple[list[Any], str]]]],
    vectors: Sequence[bytes | None],
) -> list[dict[str, Any]]:
    given = iter(vectors)
    for node, made in entries:
        for passage, _ in made:
            passage[5] = vector_text(next(given, None))
        node["passages"] = [passage for passage, _ in made]
    return [node for node, _ in entries]
