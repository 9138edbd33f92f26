"""Keeping full text and vectors in step with the nodes."""

from __future__ import annotations

from ..core import scoring as tuning
from ..core.ids import fact_sentence
from ..core.paths import is_changelog
from ..core.text import identifier_parts
from ..core.vocabulary import (
    COLLECTIONS,
    HIDDEN,
    HIDDEN_STATUSES,
    NAMES,
    TEXTS,
    THING_IDS,
    collection_of,
)

NEXT = "embedder_next"
"""The key of ``meta`` with whose vectors are being made beside those in use."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..core.model import EdgeKey, Node
    from ..store import Store
    from ..store.nodes import NewPassage


if TYPE_CHECKING:
    Passage = tuple[str, str]
    """The heading of the entry that it is of, or nothing; the stretch of the text."""

LONGEST_STRETCH = 100
_STRETCH = rf"\S{{1,{LONGEST_STRETCH}}}"  # what has no white space for long is cut too
_HASHES = r"(#{1,6})[ \t]+(\S.*)"
_ADORNMENT = r"([=\-~^\"'`+*:._#])\1{2,}[ \t]*$"
_FENCE = r" {0,3}(`{3,}|~{3,}(?=[ \t]*\w))"  # tildes alone are an underline of reStructuredText
_ITEM = r"(?:[-*+•]|\d{1,9}[.)])[ \t]"
_VERSION = r"(?m)^[ \t]*\.\. changelog::[ \t]*\n(?:[ \t]+:.*\n)*?[ \t]+:version:[ \t]*(\S.*)"
_CHANGE = r"(?m)^(?=[ \t]*\.\. change::)"
"""A version and a change of it as Sphinx's extension ``changelog`` has them."""
_NO_HEADING = ("- ", "* ", "+ ", "> ", "|")
_LEVELS = {1: "=", 2: "-"}
"""Headings with a # or two, as they are underlined in Markdown."""

MOST_HEADING = 120
"""Characters of a line that may be a heading."""


def passages(body: str) -> list[str]:
    """``body`` cut into stretches of about ``PASSAGE_WORDS`` words, at white space.

    An empty body is one empty passage.
    """
    if _is_short(body):
        return [body]
    starts = _word_starts(body)
    return _cut(body, starts[tuning.PASSAGE_WORDS :: tuning.PASSAGE_WORDS])


def prose_passages(body: str, file: str = "") -> list[Passage]:
    """Return a document as passages, with headings where ``file`` is a changelog."""
    log = is_changelog(file)
    if not log and _is_short(body):
        return [("", body)]
    headings = list(_headings(body))
    entries = (_versions(body) or _entries(headings)) if log else []
    if not entries:
        return [("", text) for text in _by_headings(body, [at for at, _, _ in headings])]
    before = body[: entries[0][0]]
    found = [("", text) for text in (_by_headings(before, []) if before else ())]
    ends = [*(at for at, _ in entries[1:]), len(body)]
    for (at, heading), end in zip(entries, ends, strict=True):
        found += [(heading, text) for part in _changes(body[at:end]) for text in _by_blocks(part)]
    return found


def _is_short(body: str) -> bool:
    """Return True if a text has no more stretches than a passage: to count these takes longer."""
    room = tuning.PASSAGE_WORDS
    return len(body) < 2 * room or len(body.split()) + len(body) // LONGEST_STRETCH <= room


def _cut(body: str, places: Sequence[int]) -> list[str]:
    cuts = [0, *places, len(body)]
    return [body[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]


def _word_starts(body: str) -> list[int]:
    import re  # indexing long texts alone needs it

    return [match.start() for match in re.finditer(_STRETCH, body)]


def _by_headings(body: str, headings: Sequence[int]) -> list[str]:
    """Whole sections together as long as they have room, one that is longer cut between words.

    What is short does not stand alone: the next section goes on in its passage.
    """
    from bisect import bisect_left

    starts, room = _word_starts(body), tuning.PASSAGE_WORDS
    first = [bisect_left(starts, at) for at in headings if at] + [len(starts)]
    cuts, begun = [], 0
    for at, after in zip(first, [*first[1:], len(starts)], strict=True):
        while at - begun > room:
            begun += room
            cuts.append(starts[begun])
        if after - begun > room and at - begun >= tuning.LEAST_PASSAGE:
            begun = at
            cuts.append(starts[begun])
    return _cut(body, cuts)


def _changes(entry: str) -> list[str]:
    """Return an entry in one, or the changes in one that Sphinx reads, the first with its head."""
    import re

    head, *changes = re.split(_CHANGE, entry)
    return [head + "".join(changes[:1]), *changes[1:]]


def _by_blocks(text: str) -> list[str]:
    """Cut where an item or a paragraph begins, as late as there is room; else between words."""
    import re
    from bisect import bisect_left

    starts, room = _word_starts(text), tuning.PASSAGE_WORDS
    if len(starts) <= room:
        return [text]
    blocks = re.finditer(rf"(?m)^(?={_ITEM})|(?<=\n\n)(?=\S)", text)
    places = [bisect_left(starts, match.start()) for match in blocks] + [len(starts)]
    cuts, begun, last = [], 0, 0
    for place in places:
        if place - begun > room and last > begun:
            begun = last
            cuts.append(starts[begun])
        while place - begun > room:
            begun += room
            cuts.append(starts[begun])
        last = place
    return _cut(text, cuts)


def _entries(headings: Sequence[tuple[int, str, str]]) -> list[tuple[int, str]]:
    """Return the headings of entries: those with a version, of levels where most have one."""
    from ..core.query import version_of

    total: dict[str, int] = {}
    with_version: dict[str, int] = {}
    for _, level, text in headings:
        total[level] = total.get(level, 0) + 1
        with_version[level] = with_version.get(level, 0) + bool(version_of(text))
    return [
        (at, text) for at, level, text in headings
        if version_of(text) and 2 * with_version[level] >= total[level]
    ]  # fmt: skip


def _versions(body: str) -> list[tuple[int, str]]:
    """Return the entries of a changelog of Sphinx."""
    import re

    return [(match.start(), match[1].strip()) for match in re.finditer(_VERSION, body)]


def _headings(body: str) -> Iterator[tuple[int, str, str]]:
    """``(offset, level, text)`` of what looks like a heading of Markdown or reStructuredText."""
    import re

    hashes, adornment, fence = re.compile(_HASHES), re.compile(_ADORNMENT), re.compile(_FENCE)
    lines = body.split("\n")
    at, fenced, over = 0, "", ""
    for number, line in enumerate(lines):
        begins = at - len(lines[number - 1]) - 1 if over else at
        under = lines[number + 1] if number + 1 < len(lines) else ""
        bare = line.strip()
        before = lines[number - 1].strip() if number else ""
        mark = fence.match(line)
        if fenced:
            fenced = "" if bare.startswith(fenced) else fenced
        elif mark:
            fenced = mark[1]
        else:
            hashed = hashes.match(line) if len(line) <= MOST_HEADING else None
            text = hashed[2].rstrip(" \t#") if hashed else ""
            if hashed and text:
                level = len(hashed[1])
                yield at, _LEVELS.get(level, "#" * level), text
            elif (
                adornment.match(under)
                and not adornment.match(line)
                and (_is_title(line, under, over) and (over or not before))
            ):
                yield begins, over + under[0], bare
        is_over = adornment.match(line) and not before and under.strip()
        over = line[0] if is_over and not fenced else ""
        at += len(line) + 1


def _is_title(line: str, under: str, over: str) -> bool:
    """Return whether a line can be a title that is underlined so; ``over``: as it is overlined."""
    bare = line.strip()
    if not bare or len(bare) > MOST_HEADING or line.startswith(_NO_HEADING):
        return False
    if over:
        return under[0] == over
    return not line[0].isspace() and (len(under.rstrip()) >= len(bare) or under[0] in "=-")


BATCH = 256
"""Things whose facts are looked at together."""


def sentences(store: Store, ids: Sequence[str]) -> dict[EdgeKey, str]:
    """Return the facts of these things, each with its sentence."""
    return {
        edge: fact_sentence(subject, predicate, object)
        for edge, subject, predicate, object in store.facts.of(ids)
    }


if TYPE_CHECKING:
    Row = tuple[str, str, str, str, str, str]
    """Title, body, tags, file and the parts of names, the columns of the full-text tables; the
    heading that the title ends with. The bodies of a node's rows are its text."""

INDEXER_BATCH = 256
"""Nodes that are indexed together: embedding is several times faster in bulk."""

_BATCH_TEXT = 8_000_000
"""Letters of text that are indexed together, about: memory has to hold them."""

_REPEATED = 1000
"""Letters of a title, of tags and of a path that passages after the first one repeat."""


class Index:
    """Write the passages of nodes; the caller holds a transaction. Their vectors are made after
    it: ``embed.embed_missing``.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def replace(self, collection: str, entries: Sequence[tuple[str, list[Row]]]) -> None:
        """Put ``(id, rows)`` that were made elsewhere in the place of the passages of these ids."""
        self._remove([id for id, _ in entries])
        hidden = self._hidden([id for id, _ in entries])
        self._write([(id, HIDDEN if id in hidden else collection, rows) for id, rows in entries])

    def _hidden(self, ids: Sequence[str]) -> set[str]:
        return self._store.nodes.hidden_among(ids, HIDDEN_STATUSES)

    def _write(self, made: Iterable[tuple[str, str, list[Row]]]) -> None:
        """Write the passages of nodes, ``(id, collection, rows)``."""
        new: list[NewPassage] = []
        all: list[tuple[str, Row]] = []
        for id, collection, rows in made:
            start = 1
            for row in rows:
                new.append((id, collection, row[5], start, len(row[1]), None, None))
                start += len(row[1])
                all.append((collection, row))
        keys = self._store.nodes.new_passages(new)
        parts: dict[str, list[tuple[int, str, str, str, str, str]]] = {}
        for key, (collection, row) in zip(keys, all, strict=True):
            parts.setdefault(collection, []).append((key, *row[:5]))
        for collection, part in parts.items():
            self._store.fulltext.add(collection, part)

    def update(self, nodes: Sequence[Node]) -> None:
        """Index these nodes again: live ones as they are now, forgotten ones not at all; and the
        facts about them. Of one node that comes twice, the last one counts.
        """
        self.write(nodes)
        things = sorted({node.id for node in nodes if node.id.startswith(THING_IDS)})
        if things or self._store.edges.stated:
            with self._store.whole():  # what others state of them is told by their names
                self.keep_facts([*things, *self._store.facts.leading_to(things)])

    def write(self, nodes: Sequence[Node]) -> None:
        """Index these nodes again, without facts."""
        nodes = list({node.id: node for node in nodes}.values())
        for start in range(0, len(nodes), INDEXER_BATCH):
            batch = nodes[start : start + INDEXER_BATCH]
            self._remove([node.id for node in batch])
            self._write(
                (node.id, HIDDEN if node.status in HIDDEN_STATUSES else collection_of(node.type),
                 rows_of(node))
                for node in batch if node.invalidated_at is None
            )  # fmt: skip

    def keep_facts(self, ids: Iterable[str] = ()) -> None:
        """Brings the passages that state facts of these things in step with their edges, and
        those of the things whose edges were written since this was last done."""
        due = sorted({*ids, *self._store.edges.stated})
        self._store.edges.stated.clear()
        if not due:
            return
        with self._store.whole():
            for start in range(0, len(due), INDEXER_BATCH):
                self._keep_facts(due[start : start + INDEXER_BATCH])

    def _keep_facts(self, ids: Sequence[str]) -> None:
        wanted = sentences(self._store, ids)
        held = self._store.facts.passages(ids)
        hidden = self._hidden(ids)
        of = {id: HIDDEN if id in hidden else NAMES for id in ids}
        gone = [(key, edge) for edge, (key, text) in held.items() if wanted.get(edge) != text]
        self._drop([(key, of[edge[0]]) for key, edge in gone])
        new = [edge for edge, text in wanted.items() if held.get(edge, (0, ""))[1] != text]
        keys = self._store.nodes.new_passages([
            (subject, of[subject], wanted[subject, to, relation], 1, 0, to, relation)
            for subject, to, relation in new
        ])  # fmt: skip
        rows: dict[str, list[tuple[int, str, str, str, str, str]]] = {HIDDEN: [], NAMES: []}
        for key, edge in zip(keys, new, strict=True):
            text = wanted[edge]
            rows[of[edge[0]]].append((key, "", text, "", "", identifier_parts(text)))
        for collection, part in rows.items():
            self._store.fulltext.add(collection, part)

    def _remove(self, ids: Sequence[str]) -> None:
        self._drop(self._store.nodes.passages(ids))

    def _drop(self, held: Sequence[tuple[int, str]]) -> None:
        if not held:
            return
        for collection in {collection for _, collection in held}:
            self._store.fulltext.remove(collection, [key for key, of in held if of == collection])
        self._store.vectors.remove(key for key, _ in held)
        self._store.nodes.remove_passages(key for key, _ in held)


class Waiting:
    """Nodes that wait for the index, until there are enough of them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._nodes: list[Node] = []
        self._text = 0

    def add(self, node: Node) -> None:
        """Lets one more wait, and indexes all where they are many."""
        self._nodes.append(node)
        self._text += len(node.body)
        if len(self._nodes) == INDEXER_BATCH or self._text > _BATCH_TEXT:
            self.flush()

    def flush(self) -> None:
        """Indexes all that wait."""
        self._index.update(self._nodes)
        self._nodes, self._text = [], 0


def rows_of(node: Node) -> list[Row]:
    """Return what is indexed of a node: a row for each of its passages."""
    return passage_rows(
        node.title, indexed_text(node), " ".join(node.tags), node.file or "",
        prose=COLLECTIONS.get(node.type, TEXTS) == TEXTS,
    )  # fmt: skip


def passage_rows(title: str, body: str, tags: str, file: str, *, prose: bool = False) -> list[Row]:
    """Return what is indexed of a text: a row for each passage of it. ``prose``: it may have
    headings.
    """
    if not (title or body or tags or file):
        return []  # nothing to find it by, as with a run: it would only count for BM25
    rows = []
    for name, text, heading in _titled(title, body, file, prose=prose):
        parts = identifier_parts(f"{name} {text} {file}")
        rows.append((name, text, tags, file, parts, heading))
        tags, file = tags[:_REPEATED], file[:_REPEATED]
    return rows


def _titled(title: str, body: str, file: str, *, prose: bool) -> list[tuple[str, str, str]]:
    """Return the passages of a text, ``(title, passage, heading of its entry)``: the title is that
    of all, and the heading."""
    found = prose_passages(body, file) if prose else [("", text) for text in passages(body)]
    rows = []
    for heading, text in found:
        rows.append((f"{title} {heading}" if heading else title, text, heading))
        title = title[:_REPEATED]
    return rows


def embedded_text(title: str, text: str) -> str:
    """Return what is embedded of a passage."""
    return f"{title} {text}"


def write_nodes(store: Store, nodes: Sequence[Node]) -> None:
    """Write new nodes and index them; the caller holds a transaction."""
    for node in nodes:
        store.nodes.put(node)
    Index(store).update(nodes)


def indexed_text(node: Node) -> str:
    """Return what full text and vectors see of a node beside its title: its body, and why."""
    return f"{node.body}\n{node.why}" if node.why else node.body


def rebuild(
    store: Store, fulltext: str, progress: Callable[[int], None] = lambda done: None
) -> int:
    """Make the passages again from the nodes, in one transaction; return the number of nodes.

    ``fulltext`` is the engine's setting (auto, fts5, fts4); ``progress`` is called with the number
    of nodes that are done. Vectors are made after it.
    """
    with store.transaction():
        store.fulltext.renew(fulltext)
        store.whole_files.renew()
        store.commits.renew()
        store.vectors.renew()
        for name in ("embedder", "embedder_dimension", NEXT):
            store.meta.set(name, None)
        store.nodes.remove_all_passages()
        index = Index(store)
        done = 0
        batch: list[Node] = []
        for node in store.nodes.all(live_only=True):
            batch.append(node)
            if len(batch) == INDEXER_BATCH:
                index.write(batch)
                done += len(batch)
                progress(done)
                batch = []
        index.write(batch)
        index.keep_facts(store.facts.subjects())
        store.ratings.recount()
    return done + len(batch)
