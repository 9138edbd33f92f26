"""Full text over passages: FTS5 with weighted BM25, or FTS4 ranked by sqlite-fts4.

There is a table for each collection (texts, names, code), so that each has word
counts of its own. Words are indexed as they are written, not stemmed: on the
retrieval sets that ranks better, and a search takes a third less time. What a
person typed in another form is found by ``text.inflections``.
"""

from __future__ import annotations

from math import log

from ...core.errors import StoreError
from ...core.text import composed, inflections
from ...core.tuning import PREFIX_LENGTH, SHORT_QUERY
from ...core.vocabulary import CODE, COLLECTIONS, NAMES, TEXTS
from .conditions import passages_in
from .driver import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...core.text import Query
    from ..filter import Scope

COLUMNS = ("title", "body", "tags", "file", "parts")

TABLES = {TEXTS: "texts_fts", NAMES: "names_fts", CODE: "code_fts"}
"""Collection to its table."""

CREATE = {
    "fts5": "CREATE VIRTUAL TABLE {table} USING fts5({columns},"
    " tokenize='unicode61 remove_diacritics 2')",
    "fts4": "CREATE VIRTUAL TABLE {table} USING fts4({columns},"
    " tokenize=unicode61 'remove_diacritics=2')",
}
"""Engine to the statement that makes one of the tables."""


class SqliteFullText:
    """The full-text tables. Rows have the keys of ``passages``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._engine = ""

    @property
    def engine(self) -> str:
        """``fts5`` or ``fts4``: what this store's tables are made with."""
        if not self._engine:
            self._engine = (
                self._db.execute("SELECT value FROM meta WHERE key = 'fulltext'").get or "fts5"
            )
        return self._engine

    def renew(self, wanted: str) -> None:
        """Makes the index anew, empty, by the engine that is wanted, or ``auto``.

        Raises:
            StoreError: there is no such engine here.
        """
        engine = choose_engine(wanted)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('fulltext', ?)", (engine,))
        self.create(engine)

    def create(self, engine: str) -> None:
        """Makes the tables, empty; older ones are dropped with all that they held."""
        for table in TABLES.values():
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(CREATE[engine].format(table=table, columns=", ".join(COLUMNS)))
        self._engine = engine

    def add(self, collection: str, rows: Iterable[tuple[int, str, str, str, str, str]]) -> None:
        """Adds ``(key, title, body, tags, file, parts)`` rows, their texts composed."""
        self._db.executemany(
            f"INSERT INTO {TABLES[collection]}(rowid, {', '.join(COLUMNS)})"
            " VALUES (?, ?, ?, ?, ?, ?)",
            ((key, *map(composed, columns)) for key, *columns in rows),
        )

    def remove(self, collection: str, keys: Iterable[int]) -> None:
        """Takes the passages with these keys out."""
        self._db.executemany(
            f"DELETE FROM {TABLES[collection]} WHERE rowid = ?", ((key,) for key in keys)
        )

    def body(self, key: int) -> str:
        """The text of one passage."""
        return self._columns(key, "body")[0]

    def indexed(self, key: int) -> tuple[str, str]:
        """The title of one passage, and all that is indexed of it."""
        title, everything = self._columns(key, "title, " + " || ' ' || ".join(COLUMNS))
        return title, everything

    def _columns(self, key: int, columns: str) -> tuple[str, ...]:
        collection = self._db.execute("SELECT collection FROM passages WHERE key = ?", (key,)).get
        if collection in TABLES:
            for row in self._db.execute(
                f"SELECT {columns} FROM {TABLES[collection]} WHERE rowid = ?", (key,)
            ):
                return tuple(map(str, row))
        return ("", "")

    def collections(self, types: Iterable[str]) -> list[str]:
        """The collections that nodes of these types are in, less those that are empty.

        Without types, all of them.
        """
        wanted = {COLLECTIONS.get(type, TEXTS) for type in types} or TABLES.keys()
        return [name for name in TABLES if name in wanted and self._holds_any(name)]

    def _holds_any(self, collection: str) -> bool:
        # FTS5 and FTS4 both keep a row a document in this table of theirs.
        table = f"{TABLES[collection]}_docsize"
        return self._db.execute(f"SELECT 1 FROM {table} LIMIT 1").get is not None

    def search(
        self,
        collection: str,
        query: Query,
        how: str,
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> list[tuple[int, str, float]]:
        """The best passages, ``(key, id of its node, BM25 score)``, best first.

        ``how``: ``all`` terms must match, ``some`` must, ``inflected``: some in another
        form, or ``prefix``: some word must begin so. The score grows with relevance.
        """
        expression = _EXPRESSIONS[how](query, self.engine)
        if not expression:
            return []
        table = TABLES[collection]
        within, parameters = passages_in(scope, "+rowid")
        rank, rank_parameters = self._rank(table, weights)
        rows: list[tuple[int, str, float]] = self._db.execute(  # type: ignore[assignment]
            f"SELECT p.key, n.id, f.score FROM (SELECT rowid, -{rank} AS score"
            f" FROM {table} WHERE {table} MATCH ?{within}"
            " ORDER BY score DESC, rowid LIMIT ?) f CROSS JOIN passages p ON p.key = f.rowid"
            " CROSS JOIN nodes n ON n.key = p.node_key ORDER BY f.score DESC, p.key",
            (*rank_parameters, expression, *parameters, limit),
        ).fetchall()
        return rows

    def nodes_with_all(self, collection: str, query: Query, scope: Scope, limit: int) -> set[str]:
        """Ids of nodes that have all terms in one passage: any ``limit`` passages' of them."""
        table = TABLES[collection]
        within, parameters = passages_in(scope, "+rowid")
        rows = self._db.execute(
            f"SELECT n.id FROM (SELECT rowid FROM {table}"
            f" WHERE {table} MATCH ?{within} LIMIT ?) f"
            " CROSS JOIN passages p ON p.key = f.rowid CROSS JOIN nodes n ON n.key = p.node_key",
            (_all(query, self.engine), *parameters, limit),
        )
        return {id for (id,) in rows}

    def _rank(self, table: str, weights: Mapping[str, float]) -> tuple[str, list[float]]:
        if self.engine == "fts5":
            marks = ", ".join("?" * len(COLUMNS))
            return f"bm25({table}, {marks})", [weights.get(name, 1.0) for name in COLUMNS]
        self._db.create_scalar_function("rank_bm25", rank_bm25, 1)  # type: ignore[arg-type]
        return f"rank_bm25(matchinfo({table}, 'pcnalx'))", []


def choose_engine(wanted: str) -> str:
    """``fts5`` or ``fts4``: what was asked for, or the best that this SQLite has.

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
    """What sqlite-fts4's function of this name gives for ``matchinfo(…, 'pcnalx')``.

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


def _all(query: Query, engine: str) -> str:
    short = len(query.terms) <= SHORT_QUERY
    terms = [
        " OR ".join(map(_phrase, alternatives + (_other_forms(alternatives) if short else [])))
        for alternatives in query.terms
    ]
    return " AND ".join(f"({term})" for term in terms)


def _other_forms(alternatives: list[list[str]]) -> list[list[str]]:
    return [[form] for words in alternatives if len(words) == 1 for form in inflections(words[0])]


def _some(query: Query, engine: str) -> str:
    phrases = [_phrase(phrase) for term in query.terms for phrase in term if len(phrase) > 1]
    return " OR ".join([*(_phrase([word]) for word in query.single_words()), *phrases])


def _inflected(query: Query, engine: str) -> str:
    forms = [form for word in query.single_words() for form in inflections(word)]
    return " OR ".join(_phrase([form]) for form in dict.fromkeys(forms))


def _prefix(query: Query, engine: str) -> str:
    beginnings = [word for word in query.single_words() if len(word) >= PREFIX_LENGTH]
    form = '"{}"*' if engine == "fts5" else '"{}*"'
    return " OR ".join(form.format(word) for word in beginnings)


_EXPRESSIONS = {"all": _all, "some": _some, "inflected": _inflected, "prefix": _prefix}
