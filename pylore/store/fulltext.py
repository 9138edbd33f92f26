"""Full text over passages: FTS5 with weighted BM25, or FTS4 ranked by sqlite-fts4.

There is a table for each collection (texts, names, code), so that each has word
counts of its own. Words are indexed as they are written, not stemmed: on the
retrieval sets that ranks better, and a search takes a third less time. What a
person typed in another form is found by ``text.inflections``.
"""

from __future__ import annotations

from _operator import itemgetter  # "operator" itself takes a while to load
from math import log

from ..core import scoring as tuning
from ..core.errors import StoreError
from ..core.json import dumps
from ..core.text import composed, inflections
from ..core.vocabulary import CODE, COLLECTIONS, NAMES, TEXTS
from .conditions import Passages, first_shown, shown_id
from .connection import apsw, changes_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ..core.text import Query
    from .filter import Scope
    from .rare_terms import RareFirst


COLUMNS = ("title", "body", "tags", "file", "parts")

TABLES = {TEXTS: "texts_fts", NAMES: "names_fts", CODE: "code_fts"}
"""Collection to its table."""

FILES, MESSAGES = "files_fts", "commits_fts"
WHOLE = {FILES: ("path", "body", "parts"), MESSAGES: ("message",)}
"""Table of texts that are no passages (``whole_text.py``) to its columns."""

_CAN_SCORE = hasattr(apsw.Connection, "register_fts5_function")
"""apsw has it from 3.47 on."""

CREATE = {
    "fts5": "CREATE VIRTUAL TABLE {table} USING fts5({columns},"
    " tokenize='unicode61 remove_diacritics 2', content='')",
    "fts4": "CREATE VIRTUAL TABLE {table} USING fts4({columns},"
    " tokenize=unicode61 'remove_diacritics=2')",
}
"""Engine to the statement that makes one of the tables; FTS4 keeps its texts itself."""

TEXTS_OF = {
    "fts5": (
        {
            "title": "coalesce(t.title, n.title, '')",
            "body": "substr(coalesce(t.body, f.sentence, n.body, ''), coalesce(t.start, 1),"
            " coalesce(t.length, 1 << 40))",
            "tags": "coalesce(t.tags, n.tags, '')",
            "file": "coalesce(t.file, n.file, '')",
            "parts": "coalesce(t.parts, '')",
        },
        "LEFT JOIN passage_texts t ON t.key = p.key LEFT JOIN fact_passages f ON f.key = p.key"
        " LEFT JOIN nodes n ON n.key = p.node_key",
    ),
    "fts4": (
        {
            column: f"coalesce({', '.join(f'{table}.{column}' for table in TABLES.values())}, '')"
            for column in COLUMNS
        },
        " ".join(f"LEFT JOIN {table} ON {table}.rowid = p.key" for table in TABLES.values()),
    ),
}
"""Engine to what is to be read of a passage: column to expression, and joins to ``passages p``."""

_INDEXED = {
    engine: f"SELECT {', '.join(columns.values())} FROM passages p {joins} WHERE p.key = ?"
    for engine, (columns, joins) in TEXTS_OF.items()
}
_NOTHING = ("",) * len(COLUMNS)


class FullText:
    """The full-text tables, a collection (texts, names, code) with word counts of its own.

    Rows have the keys of ``passages``. Case and diacritics do not count.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._engine = ""
        self._last: dict[str, int] = {}
        self._added: dict[str, int] = {}
        self._rare_first: RareFirst | None = None
        self._there = There()
        self.scoped = False
        """Whether passages are there that are not seen: ``scoped.py``."""

    @property
    def engine(self) -> str:
        """Return ``fts5`` or ``fts4``: what this store's tables are made with."""
        if not self._engine:
            self._engine = (
                self._db.execute("SELECT value FROM meta WHERE key = 'fulltext'").get or "fts5"
            )
        return self._engine

    def renew(self, wanted: str) -> None:
        """Make the index anew, empty, by the engine that is wanted, or ``auto``.

        Raises:
            StoreError: there is no such engine here.
        """
        engine = choose_engine(wanted)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('fulltext', ?)", (engine,))
        self._db.execute("DELETE FROM common_words")
        self.create(engine)

    def create(self, engine: str) -> None:
        """Make the tables, empty; older ones are dropped with all that they held."""
        for table in TABLES.values():
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(creating(engine, table))
        self._db.execute("DELETE FROM passage_texts")
        self._db.execute("DELETE FROM former_texts")
        self._engine = engine

    def add(self, collection: str, rows: Iterable[tuple[int, str, str, str, str, str]]) -> None:
        """Add ``(key, title, body, tags, file, parts)`` rows, their texts composed."""
        indexed: list[Any] = [(key, *map(composed, columns)) for key, *columns in rows]
        if self.engine == "fts5":
            from .passages import keep_texts

            keep_texts(self._db, indexed)
        self._db.executemany(
            f"INSERT INTO {TABLES[collection]}(rowid, {', '.join(COLUMNS)})"
            " VALUES (?, ?, ?, ?, ?, ?)",
            indexed,
        )
        self._added[collection] = self._added.get(collection, 0) + len(indexed)
        if self._added[collection] >= tuning.COUNTED_AFTER:
            self._added[collection] = 0
            self.count_words(collection)

    def drop_removed(self) -> None:
        """Write the tables anew without the words of passages that were removed."""
        for table in TABLES.values():
            self._db.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")

    def count_words(self, collection: str) -> None:
        """Count the words that many passages have, where there are twice as many of these."""
        if self.engine == "fts5":
            from .rare_terms import count_words

            count_words(self._db, collection, TABLES[collection])

    def remove(self, collection: str, keys: Iterable[int]) -> None:
        """Remove the passages with these keys, before the caller deletes them and the facts they
        state."""
        table, keys = TABLES[collection], [*keys]
        if self.engine != "fts5":
            self._db.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((key,) for key in keys))
            return
        from .passages import remove_texts

        remove_texts(self._db, table, keys)

    def body(self, key: int) -> str:
        """Return the text of one passage."""
        return self._columns(key)[1]

    def indexed(self, key: int) -> tuple[str, str]:
        """Return the title of one passage, and all that is indexed of it."""
        columns = self._columns(key)
        return columns[0], " ".join(columns) if columns is not _NOTHING else ""

    def texts(self, keys: Iterable[int]) -> dict[int, str]:
        """Return all that is indexed of each of these passages."""
        columns, joins = TEXTS_OF[self.engine]
        rows = self._db.execute(
            f"SELECT p.key, {', '.join(columns.values())} FROM json_each(?) j"
            f" CROSS JOIN passages p ON p.key = j.value {joins}",
            (dumps([*keys]),),
        )
        return {key: " ".join(map(str, row)) for key, *row in rows}

    def _columns(self, key: int) -> tuple[str, ...]:
        for row in self._db.execute(_INDEXED[self.engine], (key,)):
            return tuple(map(str, row))
        return _NOTHING

    def collections(self, types: Iterable[str]) -> list[str]:
        """Return the collections that nodes of these types are in, less those that are empty.

        Without types, all of them.
        """
        wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or TABLES.keys()
        return [name for name in TABLES if name in wanted and self._holds_any(name)]

    def _holds_any(self, collection: str) -> bool:
        # FTS5 and FTS4 both keep a row a document in this table of theirs.
        table = f"{TABLES[collection]}_docsize"
        self._last[collection] = self._db.execute(f"SELECT max(rowid) FROM {table}").get or 0
        return self._last[collection] > 0

    def search(
        self,
        collection: str,
        query: Query,
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> list[tuple[int, str, float]]:
        """Return the best passages, ``(key, id of its node, BM25 score)``, best first, equal ones
        by key.

        ``how``: ``some`` word must match, ``inflected``: one in another form, ``begins``: one, or
        a beginning of ``query.beginnings``, or ``prefix``: some word must begin so. The caller
        relaxes from one to the next. The score grows with relevance; ``weights`` are of the
        fields. Only passages within ``scope`` count for ``limit``.
        """
        phrases = _PHRASES[how](query, self.engine)
        if not phrases:
            return []
        return first_shown(
            lambda asked: self._best(collection, phrases, how, scope, weights, asked, limit),
            scope,
            limit,
        )

    def _best(
        self,
        collection: str,
        phrases: list[str],
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
        wanted: int,
    ) -> list[tuple[int, str, float]]:
        """Return the same with what is hidden; ``wanted`` is how many there are to be without
        it."""
        if how not in _BEGINNINGS and self._is_large(collection):
            enough = limit if scope or self.scoped else wanted // 4
            best = self._by_rare_words(collection, phrases, scope, weights, limit, enough)
            if best is not None:
                return best
        table = TABLES[collection]
        if how == "some":
            phrases = [phrase for phrase in phrases if self._may_have(table, phrase)]
            if not phrases:
                return []
        within, parameters = self._passages(scope, collection).condition(f"+{table}.rowid")
        rank, rank_parameters = self._rank(table, weights)
        rows: list[tuple[int, str, float]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT p.key, {shown_id(scope)}, f.score FROM (SELECT rowid, -{rank} AS score"
            f" FROM {table} WHERE {table} MATCH ?{within}"
            " ORDER BY score DESC, rowid LIMIT ?) f CROSS JOIN passages p ON p.key = f.rowid"
            " CROSS JOIN nodes n ON n.key = p.node_key",
            (*rank_parameters, " OR ".join(phrases), *parameters, limit),
        ).fetchall()
        rows.sort()  # by key, as equal ones stay
        rows.sort(key=itemgetter(2), reverse=True)
        return rows

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        """Return ids of nodes whose title has one of these phrases: any ``limit`` passages' of
        them."""
        column = "title : {}" if self.engine == "fts5" else "title:{}"
        asked = " OR ".join(column.format(f'"{phrase}"') for phrase in phrases)
        rows = self._db.execute(
            f"SELECT DISTINCT n.id FROM (SELECT rowid FROM {TABLES[collection]}"
            f" WHERE {TABLES[collection]} MATCH ? LIMIT ?) f"
            " CROSS JOIN passages p ON p.key = f.rowid CROSS JOIN nodes n ON n.key = p.node_key",
            (asked, limit),
        )
        return [str(id) for (id,) in rows]

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        """Return ids of all nodes that have this phrase in a passage, or in the title of one.

        A phrase is folded words with a space between them.
        """
        asked = f'"{phrase}"'
        if titled and self.engine == "fts5":
            asked = f"title : {asked}"
        elif titled:  # FTS4 has no phrase of one column: all its words, then
            asked = " ".join([f"title:{word}" for word in phrase.split(" ")])
        rows = self._db.execute(
            f"SELECT DISTINCT n.id FROM (SELECT rowid FROM {TABLES[collection]}"
            f" WHERE {TABLES[collection]} MATCH ?) f"
            " CROSS JOIN passages p ON p.key = f.rowid CROSS JOIN nodes n ON n.key = p.node_key",
            (asked,),
        )
        return {str(id) for (id,) in rows}

    def frequencies(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        """Return about how many passages there are, and how many of them have each word, each
        collection counted up to a bound."""
        kept, tables = self.there().counts, self.collections(())
        for word in words:
            if word not in kept:
                kept[word] = sum(self._having(TABLES[name], word) for name in tables)
        return sum(self._last[name] for name in tables), kept

    def _having(self, table: str, word: str) -> int:
        counted = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT {tuning.LARGE}"
        return int(self._db.execute(f"SELECT count(*) FROM ({counted})", (_phrase([word]),)).get)

    def there(self) -> There:
        """Return what is known of the store as it is now."""
        seen = changes_seen(self._db)
        if self._there.seen != seen:
            self._there = There(seen)
        return self._there

    def _may_have(self, table: str, phrase: str) -> bool:
        """Return whether a table has every word of a phrase.

        One that it has not adds nothing to a score, and yet FTS5 asks for it at each passage.
        """
        if self.engine != "fts5":
            return True
        words = self.there().words
        for word in phrase[1:-1].split(" "):
            if (table, word) not in words:
                query = f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1"
                words[table, word] = bool(self._db.execute(query, (_phrase([word]),)).get)
            if not words[table, word]:
                return False
        return True

    def _passages(self, scope: Scope, collection: str) -> Passages:
        return Passages(self._db, scope, collection, scoped=self.scoped)

    def _is_large(self, collection: str) -> bool:
        """Return whether there may be so many passages that it pays not to rank all that match."""
        if collection not in self._last:
            self._holds_any(collection)
        return self._last[collection] >= tuning.LARGE and self.engine == "fts5" and _CAN_SCORE

    def _by_rare_words(
        self,
        collection: str,
        phrases: list[str],
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
        enough: int,
    ) -> list[tuple[int, str, float]] | None:
        if self._rare_first is None:
            from .rare_terms import RareFirst

            self._rare_first = RareFirst(self._db)
        table = TABLES[collection]
        within, parameters = self._passages(scope, collection).condition(f"+{table}.rowid")
        found = self._rare_first.search(
            collection,
            table,
            phrases,
            tuple(weights.get(name, 1.0) for name in COLUMNS),
            (within, parameters),
            limit,
            enough,
        )
        return None if found is None else self._named(found, scope)

    def _named(self, found: list[tuple[int, float]], scope: Scope) -> list[tuple[int, str, float]]:
        rows = self._db.execute(
            f"SELECT p.key, {shown_id(scope)} FROM json_each(?) j"
            " CROSS JOIN passages p ON p.key = j.value CROSS JOIN nodes n ON n.key = p.node_key",
            (dumps([key for key, _ in found]),),
        )
        ids: dict[int, str] = dict(rows)
        return [(key, ids[key], score) for key, score in found if key in ids]

    def _rank(self, table: str, weights: Mapping[str, float]) -> tuple[str, list[float]]:
        if self.engine == "fts5":
            marks = ", ".join("?" * len(COLUMNS))
            return f"bm25({table}, {marks})", [weights.get(name, 1.0) for name in COLUMNS]
        self._db.create_scalar_function("rank_bm25", rank_bm25, 1)  # type: ignore[arg-type]
        return f"rank_bm25(matchinfo({table}, 'pcnalx'))", []


def creating(engine: str, table: str, columns: Iterable[str] = COLUMNS) -> str:
    """Return the statement that makes one of the tables."""
    return CREATE[engine].format(table=table, columns=", ".join(columns))


class There:
    """Words that tables have and files that matched, as long as nothing is written, by others or
    here."""

    __slots__ = ("counts", "files", "legs", "seen", "words")

    def __init__(self, seen: tuple[object, ...] = ()) -> None:
        self.seen = seen
        self.counts: dict[str, int] = {}
        self.words: dict[tuple[str, str], bool] = {}
        self.files: dict[tuple[object, ...], list[tuple[str, float]]] = {}
        self.legs: dict[str, dict[str, dict[str, float]]] = {}
        """Scores that rank whole files for the last query."""


def choose_engine(wanted: str) -> str:
    """Return ``fts5`` or ``fts4``: what was asked for, or the best that this SQLite has.

    Raises:
        StoreError: the linked SQLite has not got it.
    """
    has = {name for name in ("FTS5", "FTS4", "FTS3") if f"ENABLE_{name}" in apsw.compile_options}
    available = {"fts5": "FTS5" in has, "fts4": bool(has & {"FTS4", "FTS3"})}
    engine = wanted if wanted != "auto" else "fts5" if available["fts5"] else "fts4"
    if not available.get(engine):
        raise StoreError(f"this SQLite has no {engine}: set fulltext to another engine")
    return engine


def rank_bm25(matchinfo: bytes) -> float:
    """Return what sqlite-fts4's function of this name gives for ``matchinfo(…, 'pcnalx')``.

    That one's time grows with the square of the phrases: for a query of 50 words on
    2,000 passages it took 3 seconds, and for one of 200 words a minute.
    """
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


def _phrase(words: list[str]) -> str:
    # A word has nothing that the tokenizers split at (text.words): no quote can occur.
    return '"' + " ".join(words) + '"'


def _some(query: Query, engine: str) -> list[str]:
    phrases = [_phrase(phrase) for term in query.terms for phrase in term if len(phrase) > 1]
    return [*(_phrase([word]) for word in query.single_words()), *phrases]


def _inflected(query: Query, engine: str) -> list[str]:
    forms = [form for word in query.single_words() for form in inflections(word)]
    return [_phrase([form]) for form in dict.fromkeys(forms)]


def _prefix(query: Query, engine: str) -> list[str]:
    beginnings = [word for word in query.single_words() if len(word) >= tuning.PREFIX_LENGTH]
    return _beginning(beginnings, engine)


def _begins(query: Query, engine: str) -> list[str]:
    return _some(query, engine) + _beginning(query.beginnings, engine)


def _beginning(words: Iterable[str], engine: str) -> list[str]:
    form = '"{}"*' if engine == "fts5" else '"{}*"'
    return [form.format(word) for word in words]


_PHRASES = {"some": _some, "inflected": _inflected, "begins": _begins, "prefix": _prefix}
"""The ways to match, each as phrases: a passage must have one of them."""

_BEGINNINGS = ("begins", "prefix")
"""Those with beginnings of words."""


def phrases_of(query: Query, how: str) -> list[str]:
    """Return the phrases that ``some`` or ``inflected`` ask for, without quotes."""
    return [phrase[1:-1] for phrase in _PHRASES[how](query, "fts5")]
