"""Full text over passages: FTS5 with weighted BM25, or FTS4 if SQLite lacks FTS5.

Each collection (texts, names, code, hidden) has a table, and thus word counts. The tables store no
texts: a passage is a stretch of a node's text, or the sentence of a fact. Words are not stemmed,
which ranks better on the retrieval sets and is a third faster; ``text.inflections`` finds other
forms.
"""

from __future__ import annotations

from ..core.errors import StoreError
from ..core.json import dumps
from ..core.text import PREFIX_LENGTH, identifier_parts, indexed, inflections, is_spaceless, stem
from ..core.vocabulary import CODE, COLLECTIONS, HIDDEN, HIDDEN_STATUSES, NAMES, TEXTS
from .connection import Table, apsw, changes_seen
from .filter import Scope, passages_within
from .nodes import NAMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.text import Query

    Found = list[tuple[int, str, float]]
    """(key of a passage, id of its node, BM25 score)"""

    NewPassage = tuple[str, str, str, int, int, str | None, str | None]
    """(id of the node, collection, heading, start, length, other end of a fact's edge, relation)"""


COLUMNS = ("title", "body", "tags", "file", "parts")

TABLES = {TEXTS: "texts_fts", NAMES: "names_fts", CODE: "code_fts", HIDDEN: "hidden_fts"}
"""Collection to table."""

FILES, MESSAGES = "files_fts", "commits_fts"
WHOLE = {FILES: ("path", "body", "parts"), MESSAGES: ("message",)}
"""Table of texts other than passages (``whole_text.py``) to columns."""

# docs/decisions/0006 has measurements of these.
LARGE = 20_000
"""Passages of a collection from which not all matches are ranked; most that are counted."""
RAREST = 24
"""Words of a long query that are searched in a large collection."""
ROOM = 8_000
"""Passages with a rare word of a short query that are ranked."""
RARE, LONG = 10, 6
"""Maximum passages and minimum letters of a word that also matches by its stem, except in code and
large collections: 79.3 instead of 76.4 % of 242 questions in eight languages find the page."""
FEW = 4
"""All matches are ranked if those with rare words are fewer than this share of the limit."""

# The text of a node n that its passages p are stretches of: ``indexing.passages.rows_of``.
_WHY = "json_extract(n.data, '$.why')"
TEXT = f"""n.body || CASE WHEN instr(n.data, '"why"') AND json_type(n.data, '$.why') = 'text'
  AND {_WHY} <> '' THEN char(10) || {_WHY} ELSE '' END"""
TITLE = "iif(p.relation IS NULL, n.title || iif(p.heading = '', '', ' ') || p.heading, '')"
OF_PASSAGES = "passages p JOIN nodes n ON n.key = p.node_key"
"""``TITLE`` is an expression over this."""

_TEXTS = f"""
SELECT p.key, {TITLE}, iif(p.relation IS NULL, substr({TEXT}, p.start, p.length), p.heading),
  iif(p.relation IS NULL, n.tags, ''), iif(p.relation IS NULL, coalesce(n.file, ''), '')
FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value JOIN nodes n ON n.key = p.node_key
"""


_OPTIONS = {
    "fts5": "tokenize='unicode61 remove_diacritics 2', content='', contentless_delete=1",
    "fts4": "tokenize=unicode61 'remove_diacritics=2'",  # stores texts
}


def engine_in(connection: apsw.Connection) -> str:
    """Return the full-text engine of a store, ``fts5`` or ``fts4``."""
    name = connection.execute("SELECT value FROM meta WHERE key = 'fulltext'").get
    return "fts4" if name == "fts4" else "fts5"


def choose_engine(wanted: str) -> str:
    """Return the engine; for ``auto``, ``fts5`` if this SQLite has it, or ``fts4``. Raise
    StoreError if this SQLite lacks it."""
    options = {*apsw.compile_options}
    version = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    has = ["fts4"] if options & {"ENABLE_FTS3", "ENABLE_FTS4"} else []
    if "ENABLE_FTS5" in options and version >= (3, 43):  # deletes rows of contentless tables
        has.append("fts5")
    engine = max(has, default="fts5") if wanted == "auto" else wanted
    if engine not in has:
        raise StoreError(f"this SQLite has no {engine}: choose a different engine")
    return engine


def score_of(
    connection: apsw.Connection, engine: str, table: str, weights: Sequence[float]
) -> tuple[str, Sequence[float]]:
    """Return BM25 as an expression, and parameters; in FTS4 columns weigh alike."""
    if engine == "fts5":
        return f"-bm25({table}{', ?' * len(weights)})", weights
    from sqlite_fts4 import rank_bm25

    connection.create_scalar_function("rank_bm25", rank_bm25, 1)
    return f"-rank_bm25(matchinfo({table}, 'pcnalx'))", ()


def within(engine: str, column: str, phrases: Iterable[str]) -> str:
    """Return a MATCH for a column with any of the phrases; in FTS4, with the words of any."""
    if engine == "fts5":
        return f"{column} : ({' OR '.join(map(quoted, phrases))})"
    return " OR ".join(
        " ".join(f"{column}:{word}" for word in phrase.split(" ")) for phrase in phrases
    )


class FullText(Table):
    """Passages and their full text; case and diacritics do not count."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._seen: tuple[object, ...] = ()
        self._known: dict[tuple[str, tuple[str, ...]], int] = {}

    @property
    def engine(self) -> str:
        """Return the engine of this store's tables."""
        return engine_in(self._db)

    def renew(self, wanted: str) -> None:
        """Delete all passages; create empty tables (whole texts also), of an engine or ``auto``.
        Raise StoreError if this SQLite lacks it."""
        engine = choose_engine(wanted)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('fulltext', ?)", (engine,))
        self._db.execute("DELETE FROM main.passages")
        self._db.execute("DELETE FROM main.sqlite_sequence")
        for table, columns in {**dict.fromkeys(TABLES.values(), COLUMNS), **WHOLE}.items():
            given = ", ".join([*columns, _OPTIONS[engine]])
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(f"CREATE VIRTUAL TABLE {table} USING {engine}({given})")

    def add(self, passages: Sequence[tuple[NewPassage, Sequence[str]]]) -> list[int]:
        """Insert passages with the ``COLUMNS`` to index; return their keys."""
        last = self._value("SELECT seq FROM main.sqlite_sequence WHERE name = 'passages'")
        keys = [*range(1 + (last or 0), 1 + (last or 0) + len(passages))]
        self._db.executemany(
            "INSERT INTO main.passages VALUES (?, (SELECT key FROM nodes WHERE id = ?), ?, ?, ?, ?,"
            " (SELECT key FROM nodes WHERE id = ?), ?)",
            ((key, *row) for key, (row, _) in zip(keys, passages, strict=True)),
        )
        for name, table in TABLES.items():
            self._db.executemany(
                f"INSERT INTO {table}(rowid, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (key, *map(indexed, texts))
                    for key, (row, texts) in zip(keys, passages, strict=True)
                    if row[1] == name
                ),
            )
        return keys

    def of_nodes(self, ids: Sequence[str]) -> list[int]:
        """Return the keys of the passages of these nodes, sorted."""
        query = f"SELECT p.key FROM {NAMED} CROSS JOIN passages p ON p.node_key = n.key"
        return self._column(f"{query} ORDER BY p.key", dumps(ids))

    def first_passages(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the key of the first passage of each of these nodes."""
        query = f"SELECT n.id, min(p.key) FROM {NAMED} CROSS JOIN passages p ON p.node_key = n.key"
        return dict(self._rows(f"{query} GROUP BY n.id", dumps(ids)))

    def remove(self, keys: Sequence[int]) -> None:
        """Delete passages; the caller deletes their vectors."""
        given = dumps(keys)
        these = "(SELECT value FROM json_each(?))"
        for name, table in TABLES.items():
            found = f"SELECT key FROM main.passages WHERE key IN {these} AND collection = ?"
            self._db.execute(f"DELETE FROM {table} WHERE rowid IN ({found})", (given, name))
        self._db.execute(f"DELETE FROM main.passages WHERE key IN {these}", (given,))

    def drop_removed(self) -> None:
        """Rewrite the tables without the words of removed rows."""
        for table in (*TABLES.values(), *WHOLE):
            self._db.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")

    def shown(self, key: int) -> tuple[str, str]:
        """Return the title and the text of a passage."""
        rows = self._rows(_TEXTS, dumps([key]))
        return rows[0][1:3] if rows else ("", "")

    def texts(self, keys: Iterable[int]) -> dict[int, str]:
        """Return all indexed text of passages."""
        found = {}
        for key, title, body, tags, file in self._rows(_TEXTS, dumps([*keys])):
            parts = identifier_parts(f"{title} {body} {file}")
            found[key] = " ".join(filter(None, (title, body, tags, file, parts)))
        return found

    def collections(self, scope: Scope | None = None) -> list[str]:
        """Return the collections with passages in which nodes within a scope may be."""
        scope = Scope() if scope is None else scope
        wanted = {COLLECTIONS.get(type, TEXTS) for type in scope.types} or {TEXTS, NAMES, CODE}
        if scope.statuses and frozenset(HIDDEN_STATUSES).issuperset(scope.statuses):
            wanted = set()
        if scope.hidden_shown:
            wanted.add(HIDDEN)
        return [name for name in TABLES if name in wanted and self._size(name)]

    def _size(self, collection: str) -> int:
        """Return about the number of passages in a collection."""
        # Both engines have this table.
        return self._cached(f"SELECT max(rowid) FROM {TABLES[collection]}_docsize")

    def _count(self, collection: str, phrase: str) -> int:
        """Return the number of passages with a phrase, up to ``LARGE``."""
        table = TABLES[collection]
        rows = f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT {LARGE}"
        return self._cached(f"SELECT count(*) FROM ({rows})", phrase)

    def _cached(self, query: str, *given: str) -> int:
        """Return the number that a query finds, until the database changes."""
        if self._seen != (seen := changes_seen(self._db)):
            self._seen, self._known = seen, {}
        if (query, given) not in self._known:
            self._known[query, given] = self._value(query, *given) or 0
        return self._known[query, given]

    def search(
        self,
        collection: str,
        query: Query,
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> Found:
        """Return the best passages within ``scope``, ``(key, id of the node, BM25 score)``, best
        first, equal ones by key.

        ``how`` is a way to match: ``some`` word or beginning of ``query.beginnings``,
        ``inflected``: a form of a word, or ``prefix``: a beginning of a word.
        ``weights`` are of the columns. In a collection from ``LARGE`` on, only passages with rare
        words are ranked.
        """
        table, engine = TABLES[collection], self.engine
        count = self._phrases(query, how, collection)
        if not count:
            return []
        if collection == HIDDEN:
            scope = scope.but(statuses=scope.hidden_shown or scope.statuses)
        condition, parameters, _ = passages_within(self._db, scope, f"+{table}.rowid")
        columns = [weights.get(name, 1.0) for name in COLUMNS]
        score, given = score_of(self._db, engine, table, columns)
        best = (
            f"SELECT p.key, n.id, f.score FROM (SELECT rowid, {score} AS score"
            f" FROM {table} WHERE {table} MATCH ?{condition} ORDER BY score DESC, rowid LIMIT ?) f"
            " CROSS JOIN passages p ON p.key = f.rowid CROSS JOIN nodes n ON n.key = p.node_key"
            " ORDER BY f.score DESC, p.key"
        )
        all = " OR ".join(count)
        is_slow = engine == "fts4" or self._size(collection) >= LARGE
        match = match_of(count) if is_slow else all
        rows = self._rows(best, *given, match, *parameters, limit)
        if match != all and len(rows) < limit // FEW:
            rows = self._rows(best, *given, all, *parameters, limit)
        return rows

    def _phrases(self, query: Query, how: str, collection: str) -> dict[str, int]:
        """Return phrases, of which a passage must have any, with the number of passages of each. A
        phrase without passages would cost time for each match, and is left out."""
        words = query.single_words()
        beginning = '"{}"*' if self.engine == "fts5" else '"{}*"'
        if how == "inflected":
            found = [quoted(form) for word in words for form in inflections(word)]
        elif how == "prefix":
            found = [beginning.format(word) for word in words if len(word) >= PREFIX_LENGTH]
        else:
            # A single letter of a script without spaces starts indexed pairs.
            single = [word for word in words if len(word) == 1 and is_spaceless(word)]
            found = [quoted(phrase) for phrase in query.phrases() if phrase not in single]
            found += map(beginning.format, (*query.beginnings, *single))
        count = {phrase: self._count(collection, phrase) for phrase in found}
        rare = [one for one in words if len(one) >= LONG and count.get(quoted(one), LARGE) <= RARE]
        if rare and collection != CODE and self._size(collection) < LARGE:
            stems = (beginning.format(stem(word)) for word in rare)
            count |= {phrase: self._count(collection, phrase) for phrase in stems}
        return {phrase: number for phrase, number in count.items() if number}

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        """Return ids of nodes with any of these phrases in the title, of ``limit`` passages."""
        return self._matching(collection, within(self.engine, "title", phrases), limit)

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        """Return ids of nodes with a phrase of folded words in a passage, or in a title."""
        match = within(self.engine, "title", (phrase,)) if titled else quoted(phrase)
        return {*self._matching(collection, match, -1)}

    def _matching(self, collection: str, match: str, limit: int) -> list[str]:
        table = TABLES[collection]
        query = (
            f"SELECT DISTINCT n.id FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?) f"
            " CROSS JOIN passages p ON p.key = f.rowid CROSS JOIN nodes n ON n.key = p.node_key"
        )
        return self._column(query, match, limit)

    def frequencies(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        """Return about the number of passages, and with each word, up to ``LARGE``."""
        names = self.collections()
        found = {word: sum(self._count(name, quoted(word)) for name in names) for word in words}
        return sum(map(self._size, names)), found


def match_of(count: Mapping[str, int]) -> str:
    """Return a MATCH for a large collection: the rarest words of a long query, or passages with a
    rare word of a short one, ranked by all words.

    ``count`` maps a phrase to the number of passages with it.

    >>> match_of({"the": 2_990, "a": 9_000, "key": 8})
    '(key OR the) AND (key OR the OR a)'
    """
    phrases = sorted(count, key=count.__getitem__)
    if len(phrases) > RAREST:
        return " OR ".join(phrases[:RAREST])
    rare: list[str] = []
    room = ROOM
    for phrase in phrases:
        room -= count[phrase]
        if room < 0 and rare:
            return f"({' OR '.join(rare)}) AND ({' OR '.join(phrases)})"
        rare.append(phrase)
    return " OR ".join(phrases)


def quoted(phrase: str) -> str:
    """Return a phrase of words (text.words) for MATCH; words contain no quotes."""
    return f'"{phrase}"'
