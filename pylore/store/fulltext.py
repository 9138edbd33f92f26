"""Full text over passages: FTS5 with weighted BM25, or FTS4 if SQLite lacks FTS5.

Each collection (texts, names, code, hidden) has a table, and thus word counts. The tables store no
texts: a passage is a stretch of a node's text, or the sentence of a fact. Words are not stemmed,
which ranks better on the retrieval sets and is a third faster; ``text.inflections`` finds other
forms.
"""

from __future__ import annotations

from ..core import scoring as tuning
from ..core.errors import StoreError
from ..core.json import dumps
from ..core.text import identifier_parts, indexed, inflections, is_spaceless
from ..core.vocabulary import CODE, COLLECTIONS, HIDDEN, HIDDEN_STATUSES, NAMES, TEXTS
from .conditions import passages_within
from .connection import Table, apsw, changes_seen
from .filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.text import Query

    Found = list[tuple[int, str, float]]
    """(key of a passage, id of its node, BM25 score)"""


COLUMNS = ("title", "body", "tags", "file", "parts")

TABLES = {TEXTS: "texts_fts", NAMES: "names_fts", CODE: "code_fts", HIDDEN: "hidden_fts"}
"""Collection to table."""

FILES, MESSAGES = "files_fts", "commits_fts"
WHOLE = {FILES: ("path", "body", "parts"), MESSAGES: ("message",)}
"""Table of texts other than passages (``whole_text.py``) to columns."""

# The text of a node n that its passages p are stretches of: ``indexer.indexed_text``.
_WHY = "json_extract(n.data, '$.why')"
_TEXT = f"""n.body || CASE WHEN instr(n.data, '"why"') AND json_type(n.data, '$.why') = 'text'
  AND {_WHY} <> '' THEN char(10) || {_WHY} ELSE '' END"""
TITLE = "iif(p.relation IS NULL, n.title || iif(p.heading = '', '', ' ') || p.heading, '')"
BODY = f"iif(p.relation IS NULL, substr({_TEXT}, p.start, p.length), p.heading)"
OF_PASSAGES = "passages p JOIN nodes n ON n.key = p.node_key"
"""``TITLE`` and ``BODY`` are expressions over this."""

_TEXTS = f"""
SELECT p.key, {TITLE}, {BODY}, iif(p.relation IS NULL, n.tags, ''),
  iif(p.relation IS NULL, coalesce(n.file, ''), '')
FROM json_each(?) j CROSS JOIN passages p ON p.key = j.value JOIN nodes n ON n.key = p.node_key
"""


_OPTIONS = {
    "fts5": "tokenize='unicode61 remove_diacritics 2', content='', contentless_delete=1",
    "fts4": "tokenize=unicode61 'remove_diacritics=2'",
}


class Engine:
    """Statements and expressions of ``fts5`` or ``fts4``, whose tables store texts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.beginning = '"{}"*' if name == "fts5" else '"{}*"'

    def create(self, table: str, columns: Iterable[str]) -> str:
        """Return the statement that makes a table."""
        given = ", ".join([*columns, _OPTIONS[self.name]])
        return f"CREATE VIRTUAL TABLE {table} USING {self.name}({given})"

    def score(
        self, db: apsw.Connection, table: str, weights: Sequence[float]
    ) -> tuple[str, Sequence[float]]:
        """Return BM25 as an expression, and parameters; in FTS4 columns weigh alike."""
        if self.name == "fts5":
            return f"-bm25({table}{', ?' * len(weights)})", weights
        db.create_scalar_function("rank_bm25", rank_bm25, 1)  # type: ignore[arg-type]
        return f"-rank_bm25(matchinfo({table}, 'pcnalx'))", ()

    def within(self, column: str, phrases: Iterable[str]) -> str:
        """Return a MATCH for a column with any of the phrases; in FTS4, with the words of any."""
        if self.name == "fts5":
            return f"{column} : ({' OR '.join(map(quoted, phrases))})"
        return " OR ".join(
            " ".join(f"{column}:{word}" for word in phrase.split(" ")) for phrase in phrases
        )


def engine_in(connection: apsw.Connection) -> Engine:
    """Return the full-text engine of a store."""
    name = connection.execute("SELECT value FROM meta WHERE key = 'fulltext'").get
    return Engine("fts4" if name == "fts4" else "fts5")


def choose_engine(wanted: str) -> str:
    """Return the engine; for ``auto``, ``fts5`` if this SQLite has it, or else ``fts4``. Raise
    StoreError if this SQLite lacks it."""
    options = {*apsw.compile_options}
    version = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    has = set()
    if "ENABLE_FTS5" in options and version >= (3, 43):  # deletes rows of contentless tables
        has.add("fts5")
    if options & {"ENABLE_FTS3", "ENABLE_FTS4"}:
        has.add("fts4")
    engine = max(has, default="fts5") if wanted == "auto" else wanted
    if engine not in has:
        raise StoreError(f"this SQLite has no {engine}: choose a different engine")
    return engine


class FullText(Table):
    """The full-text tables of passages; case and diacritics do not count."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._last: dict[str, int] = {}
        self._seen: tuple[object, ...] = ()
        self._counts: dict[tuple[str, str], int] = {}
        """(table, quoted phrase) to the number of rows, up to ``LARGE``, as of ``_seen``."""

    @property
    def engine(self) -> Engine:
        """Return the engine of this store's tables."""
        return engine_in(self._db)

    def renew(self, wanted: str) -> None:
        """Delete all passages; create empty tables, of whole texts too, with an engine or ``auto``.
        Raise StoreError if this SQLite lacks it."""
        name = choose_engine(wanted)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('fulltext', ?)", (name,))
        self._db.execute("DELETE FROM main.passages")
        self._db.execute("DELETE FROM main.sqlite_sequence")
        for table, columns in {**dict.fromkeys(TABLES.values(), COLUMNS), **WHOLE}.items():
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(self.engine.create(table, columns))

    def add(self, collection: str, rows: Iterable[tuple[int, str, str, str, str, str]]) -> None:
        """Index ``(key, title, body, tags, file, parts)`` rows."""
        self._db.executemany(
            f"INSERT INTO {TABLES[collection]}(rowid, {', '.join(COLUMNS)})"
            " VALUES (?, ?, ?, ?, ?, ?)",
            ((key, *map(indexed, columns)) for key, *columns in rows),
        )

    def remove(self, collection: str, keys: Iterable[int]) -> None:
        """Remove passages from the index."""
        self._db.executemany(
            f"DELETE FROM {TABLES[collection]} WHERE rowid = ?", ((key,) for key in keys)
        )

    def drop_removed(self) -> None:
        """Rewrite the tables without the words of removed rows."""
        for table in (*TABLES.values(), *WHOLE):
            self._db.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")

    def body(self, key: int) -> str:
        """Return the text of a passage."""
        return self._columns([key]).get(key, ("", ""))[1]

    def indexed(self, key: int) -> tuple[str, str]:
        """Return the title of a passage, and all indexed text."""
        columns = self._columns([key]).get(key, ("",))
        return columns[0], " ".join(filter(None, columns))

    def texts(self, keys: Iterable[int]) -> dict[int, str]:
        """Return all indexed text of passages."""
        return {key: " ".join(filter(None, texts)) for key, texts in self._columns(keys).items()}

    def _columns(self, keys: Iterable[int]) -> dict[int, tuple[str, ...]]:
        return {
            key: (title, body, tags, file, identifier_parts(f"{title} {body} {file}"))
            for key, title, body, tags, file in self._rows(_TEXTS, dumps([*keys]))
        }

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
        if self._seen != (seen := changes_seen(self._db)):
            self._seen, self._counts, self._last = seen, {}, {}
        if collection not in self._last:  # both engines have this table
            query = f"SELECT max(rowid) FROM {TABLES[collection]}_docsize"
            self._last[collection] = self._value(query) or 0
        return self._last[collection]

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

        ``how`` is a way to match: ``some`` word, ``inflected``: a form of a word, ``begins``: a
        word or a beginning of ``query.beginnings``, or ``prefix``: a beginning of a word.
        ``weights`` are of the columns. In a collection from ``LARGE`` on, only passages with rare
        words are ranked.
        """
        table = TABLES[collection]
        # A phrase without passages would cost time for each match.
        count = {
            phrase: number
            for phrase in _phrases(query, how, self.engine.beginning)
            if (number := self._count(collection, phrase))
        }
        if not count:
            return []
        if collection == HIDDEN:
            scope = scope.but(statuses=scope.hidden_shown or scope.statuses)
        condition, parameters, _ = passages_within(self._db, scope, f"+{table}.rowid")
        score, given = self.engine.score(
            self._db, table, [weights.get(name, 1.0) for name in COLUMNS]
        )
        all = " OR ".join(count)
        is_large = self._size(collection) >= tuning.LARGE and self.engine.name == "fts5"
        best = (
            f"SELECT p.key, n.id, f.score FROM (SELECT rowid, {score} AS score"
            f" FROM {table} WHERE {table} MATCH ?{condition} ORDER BY score DESC, rowid LIMIT ?) f"
            " CROSS JOIN passages p ON p.key = f.rowid CROSS JOIN nodes n ON n.key = p.node_key"
        )
        match = match_of(count) if is_large else all
        rows = self._rows(best, *given, match, *parameters, limit)
        if match != all and len(rows) < limit // tuning.FEW:
            rows = self._rows(best, *given, all, *parameters, limit)
        return sorted(rows, key=lambda row: (-row[2], row[0]))

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        """Return ids of nodes with any of these phrases in the title, of ``limit`` passages."""
        return self._matching(collection, self.engine.within("title", phrases), limit)

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        """Return ids of nodes with a phrase of folded words in a passage, or in a title."""
        match = self.engine.within("title", (phrase,)) if titled else quoted(phrase)
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

    def _count(self, collection: str, phrase: str) -> int:
        self._size(collection)
        table = TABLES[collection]
        if (table, phrase) not in self._counts:
            rows = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT {tuning.LARGE}"
            count = self._value(f"SELECT count(*) FROM ({rows})", phrase)
            self._counts[table, phrase] = count
        return self._counts[table, phrase]


def match_of(count: Mapping[str, int]) -> str:
    """Return a MATCH for a large collection: the rarest words of a long query, or passages with a
    rare word of a short one, ranked by all words.

    ``count`` maps a phrase to the number of passages with it.

    >>> match_of({"the": 2_990, "a": 9_000, "key": 8})
    '(key OR the) AND (key OR the OR a)'
    """
    phrases = sorted(count, key=count.__getitem__)
    if len(phrases) > tuning.RAREST:
        return " OR ".join(phrases[: tuning.RAREST])
    rare: list[str] = []
    room = tuning.ROOM
    for phrase in phrases:
        room -= count[phrase]
        if room < 0 and rare:
            return f"({' OR '.join(rare)}) AND ({' OR '.join(phrases)})"
        rare.append(phrase)
    return " OR ".join(phrases)


def quoted(phrase: str) -> str:
    """Return a phrase of words (text.words) for MATCH; words contain no quotes."""
    return f'"{phrase}"'


def _phrases(query: Query, how: str, beginning: str) -> list[str]:
    """Return the phrases of a way to match. A passage must have any of them."""
    words = query.single_words()
    if how == "inflected":
        return [
            quoted(form)
            for form in dict.fromkeys(form for word in words for form in inflections(word))
        ]
    if how == "prefix":
        return [beginning.format(word) for word in words if len(word) >= tuning.PREFIX_LENGTH]
    # A single letter of a script without spaces starts indexed pairs.
    found = [
        beginning.format(word) if len(word) == 1 and is_spaceless(word) else quoted(word)
        for word in words
    ]
    found += [quoted(" ".join(one)) for term in query.terms for one in term if len(one) > 1]
    if how == "begins":
        found += [beginning.format(word) for word in query.beginnings]
    return found


def rank_bm25(matchinfo: bytes) -> float:
    """Return the result of sqlite-fts4's ``rank_bm25``, which takes time by the square of the
    phrases (3 s for 50 words on 2,000 passages)."""
    from math import log

    from sqlite_fts4 import decode_matchinfo

    phrases, columns, rows, *numbers = decode_matchinfo(matchinfo)
    averages, lengths = numbers[:columns], numbers[columns : 2 * columns]
    hits = numbers[2 * columns :]  # for each phrase and column: here, in all rows, rows with any
    score = 0.0
    for cell in range(phrases * columns):
        here = hits[3 * cell]
        if here:
            column = cell % columns
            having = hits[3 * cell + 2]
            rarity = max(0.0, log((rows - having + 0.5) / (having + 0.5)))
            length = 0.25 + 0.75 * lengths[column] / averages[column] if averages[column] else 0.0
            score += rarity * here * 2.2 / (here + 1.2 * length)
    return -score
