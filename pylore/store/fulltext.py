"""Full text over passages: FTS5 with weighted BM25, or FTS4 where SQLite has no FTS5 (fts4.py).

There is a table for each collection (texts, names, code, hidden), so that each has word counts of
its own. The tables keep no texts: a passage is a stretch of its node's text, or the sentence of a
fact. Words are indexed as they are written, not stemmed: on the retrieval sets that ranks better,
and a search takes a third less time. Other forms that a person typed are found by
``text.inflections``.
"""

from __future__ import annotations

from _operator import itemgetter  # "operator" itself takes a while to load

from ..core import scoring as tuning
from ..core.errors import StoreError
from ..core.json import dumps
from ..core.text import identifier_parts, indexed, inflections, is_spaceless
from ..core.vocabulary import CODE, COLLECTIONS, HIDDEN, HIDDEN_STATUSES, NAMES, TEXTS
from .conditions import Passages
from .connection import apsw, changes_seen
from .filter import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..core.text import Query
    from .fts4 import Fts4

    Engine = type["Fts5"] | type[Fts4]
    Found = list[tuple[int, str, float]]
    """(key of a passage, id of its node, BM25 score)"""


COLUMNS = ("title", "body", "tags", "file", "parts")

TABLES = {TEXTS: "texts_fts", NAMES: "names_fts", CODE: "code_fts", HIDDEN: "hidden_fts"}
"""Collection to its table."""

FILES, MESSAGES = "files_fts", "commits_fts"
WHOLE = {FILES: ("path", "body", "parts"), MESSAGES: ("message",)}
"""Table of texts that are no passages (``whole_text.py``) to its columns."""

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


class Fts5:
    """Statements and expressions of FTS5."""

    name = "fts5"
    beginning = '"{}"*'

    @staticmethod
    def create(table: str, columns: Iterable[str]) -> str:
        """Return the statement that makes a table."""
        return (
            f"CREATE VIRTUAL TABLE {table} USING fts5({', '.join(columns)},"
            " tokenize='unicode61 remove_diacritics 2', content='', contentless_delete=1)"
        )

    @staticmethod
    def score(
        db: apsw.Connection, table: str, weights: Sequence[float]
    ) -> tuple[str, Sequence[float]]:
        """Return the BM25 score as an expression, and its parameters."""
        return f"-bm25({table}{', ?' * len(weights)})", weights

    @staticmethod
    def within(column: str, phrases: Iterable[str]) -> str:
        """Return a MATCH for a column that has one of the phrases."""
        return f"{column} : ({' OR '.join(map(quoted, phrases))})"


def engine_of(name: str) -> Engine:
    """Return the statements of an engine, ``fts5`` or ``fts4``."""
    if name == Fts5.name:
        return Fts5
    from .fts4 import Fts4

    return Fts4


def choose_engine(wanted: str) -> str:
    """Return ``fts5`` or ``fts4``: what was asked for, or the best that this SQLite has.

    Raises:
        StoreError: the linked SQLite has not got it.
    """
    has = {name for name in ("FTS5", "FTS4", "FTS3") if f"ENABLE_{name}" in apsw.compile_options}
    version = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    available = {
        "fts5": "FTS5" in has and version >= _CONTENTLESS_DELETE,
        "fts4": bool(has & {"FTS4", "FTS3"}),
    }
    engine = wanted if wanted != "auto" else "fts5" if available["fts5"] else "fts4"
    if not available.get(engine):
        raise StoreError(f"this SQLite has no {engine}: set fulltext to another engine")
    return engine


_CONTENTLESS_DELETE = (3, 43)
"""The first version of SQLite whose FTS5 deletes rows of tables without texts."""


class FullText:
    """The full-text tables, a collection (texts, names, code, hidden) with word counts of its own.

    Rows have the keys of ``passages``. Case and diacritics do not count.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._engine: Engine | None = None
        self._last: dict[str, int] = {}
        self._seen: tuple[object, ...] = ()
        self._counts: dict[tuple[str, str], int] = {}
        """(table, phrase in quotes) to the number of rows with it, ``LARGE`` at most: as long as
        nothing is written, by others or here (``_seen``)."""
        self.scoped = False
        """Whether passages are there that are not seen: ``scoped.py``."""

    @property
    def engine(self) -> Engine:
        """Return the engine that this store's tables are made with."""
        if self._engine is None:
            held: str | None = self._db.execute("SELECT value FROM meta WHERE key = 'fulltext'").get
            self._engine = engine_of(held or "fts5")
        return self._engine

    def renew(self, wanted: str) -> None:
        """Make the index anew, empty, by the engine that is wanted, or ``auto``.

        Raises:
            StoreError: there is no such engine here.
        """
        name = choose_engine(wanted)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('fulltext', ?)", (name,))
        self._engine = engine_of(name)
        for table in TABLES.values():
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(self._engine.create(table, COLUMNS))

    def add(self, collection: str, rows: Iterable[tuple[int, str, str, str, str, str]]) -> None:
        """Index ``(key, title, body, tags, file, parts)`` rows."""
        self._db.executemany(
            f"INSERT INTO {TABLES[collection]}(rowid, {', '.join(COLUMNS)})"
            " VALUES (?, ?, ?, ?, ?, ?)",
            ((key, *map(indexed, columns)) for key, *columns in rows),
        )

    def remove(self, collection: str, keys: Iterable[int]) -> None:
        """Remove the passages with these keys from the index."""
        self._db.executemany(
            f"DELETE FROM {TABLES[collection]} WHERE rowid = ?", ((key,) for key in keys)
        )

    def drop_removed(self) -> None:
        """Write the tables anew without the words of passages, files and commits that were
        removed."""
        known = {name for (name,) in self._db.execute("SELECT name FROM sqlite_schema")}
        for table in known.intersection((*TABLES.values(), *WHOLE)):
            self._db.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")

    def body(self, key: int) -> str:
        """Return the text of one passage."""
        return self._columns([key]).get(key, _NOTHING)[1]

    def indexed(self, key: int) -> tuple[str, str]:
        """Return the title of one passage, and all that is indexed of it."""
        columns = self._columns([key]).get(key, _NOTHING)
        return columns[0], " ".join(filter(None, columns))

    def texts(self, keys: Iterable[int]) -> dict[int, str]:
        """Return all that is indexed of each of these passages."""
        return {
            key: " ".join(filter(None, columns)) for key, columns in self._columns(keys).items()
        }

    def _columns(self, keys: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """Return what is indexed of passages, in the order of ``COLUMNS``."""
        found: dict[int, tuple[str, ...]] = {}
        for key, *texts in self._db.execute(_TEXTS, (dumps([*keys]),)):
            title, body, tags, file = map(str, texts)
            parts = identifier_parts(f"{title} {body} {file}")
            found[key] = (title, body, tags, file, parts)
        return found

    def collections(self, scope: Scope | None = None) -> list[str]:
        """Return the collections that nodes within a scope may be in, less those that are empty.

        Without a scope, all of them.
        """
        scope = Scope() if scope is None else scope
        wanted = {COLLECTIONS.get(type, TEXTS) for type in scope.types} or {TEXTS, NAMES, CODE}
        if scope.statuses and frozenset(HIDDEN_STATUSES).issuperset(scope.statuses):
            wanted = set()
        if scope.hidden_shown:
            wanted.add(HIDDEN)
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
    ) -> Found:
        """Return the best passages, ``(key, id of its node, BM25 score)``, best first, equal ones
        by key.

        ``how``: ``some`` word must match, ``inflected``: one in another form, ``begins``: one, or
        a beginning of ``query.beginnings``, or ``prefix``: some word must begin so. The caller
        relaxes from one to the next. The score grows with relevance; ``weights`` are of the
        fields. Only passages within ``scope`` count for ``limit``. Of a collection of ``LARGE``
        the passages with rare words alone are ranked.
        """
        table = TABLES[collection]
        # A phrase that no passage has adds nothing to a score, and yet costs time at each passage.
        count = {
            phrase: number
            for phrase in _PHRASES[how](query, self.engine.beginning)
            if (number := self._count(table, phrase))
        }
        if not count:
            return []
        if collection not in self._last:
            self._holds_any(collection)
        within = Passages(self._db, scope, collection, scoped=self.scoped)
        all = " OR ".join(count)
        is_large = self._last[collection] >= tuning.LARGE and self.engine is Fts5
        match = match_of(count) if is_large else all
        found = self._best(table, match, within, weights, limit)
        if match != all and len(found) < limit // tuning.FEW:
            found = self._best(table, all, within, weights, limit)
        return found

    def _best(
        self, table: str, match: str, within: Passages, weights: Mapping[str, float], limit: int
    ) -> Found:
        condition, parameters = within.condition(f"+{table}.rowid")
        own = [weights.get(name, 1.0) for name in COLUMNS]
        score, given = self.engine.score(self._db, table, own)
        rows: Found = self._db.execute(  # type: ignore[assignment]
            f"SELECT p.key, n.id, f.score FROM (SELECT rowid, {score} AS score"
            f" FROM {table} WHERE {table} MATCH ?{condition}"
            " ORDER BY score DESC, rowid LIMIT ?) f CROSS JOIN passages p ON p.key = f.rowid"
            " CROSS JOIN nodes n ON n.key = p.node_key",
            (*given, match, *parameters, limit),
        ).fetchall()
        rows.sort()  # by key, as equal ones stay
        rows.sort(key=itemgetter(2), reverse=True)
        return rows

    def titled(self, collection: str, phrases: Iterable[str], limit: int) -> list[str]:
        """Return ids of nodes whose title has one of these phrases: any ``limit`` passages' of
        them."""
        return self._matching(collection, self.engine.within("title", phrases), limit)

    def having(self, collection: str, phrase: str, *, titled: bool = False) -> set[str]:
        """Return ids of all nodes that have this phrase in a passage, or in the title of one.

        A phrase is folded words with a space between them.
        """
        match = self.engine.within("title", (phrase,)) if titled else quoted(phrase)
        return set(self._matching(collection, match, -1))

    def _matching(self, collection: str, match: str, limit: int) -> list[str]:
        table = TABLES[collection]
        rows = self._db.execute(
            f"SELECT DISTINCT n.id FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?) f"
            " CROSS JOIN passages p ON p.key = f.rowid CROSS JOIN nodes n ON n.key = p.node_key",
            (match, limit),
        )
        return [str(id) for (id,) in rows]

    def frequencies(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        """Return about how many passages there are, and how many of them have each word, each
        collection counted up to a bound."""
        tables = self.collections()
        found = {
            word: sum(self._count(TABLES[name], quoted(word)) for name in tables) for word in words
        }
        return sum(self._last[name] for name in tables), found

    def _count(self, table: str, phrase: str) -> int:
        if self._seen != (seen := changes_seen(self._db)):
            self._seen, self._counts = seen, {}
        if (table, phrase) not in self._counts:
            rows = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT {tuning.LARGE}"
            count = self._db.execute(f"SELECT count(*) FROM ({rows})", (phrase,)).get
            self._counts[table, phrase] = int(count)
        return self._counts[table, phrase]


_NOTHING = ("",) * len(COLUMNS)


def match_of(count: Mapping[str, int]) -> str:
    """Return a MATCH for a large collection: the rarest words of a long query; of a short one the
    passages with a rare word, ranked by all words.

    ``count``: phrase to the number of passages that have it.

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
    """Return a phrase for MATCH. It is made of words (text.words), which have nothing that the
    tokenizers split at: no quote can occur."""
    return f'"{phrase}"'


def _some(query: Query, beginning: str) -> list[str]:
    phrases = [" ".join(phrase) for term in query.terms for phrase in term if len(phrase) > 1]
    # A single letter of a script without spaces begins the pairs that are indexed.
    words = [
        (beginning.format(word) if len(word) == 1 and is_spaceless(word) else quoted(word))
        for word in query.single_words()
    ]
    return [*words, *map(quoted, phrases)]


def _inflected(query: Query, beginning: str) -> list[str]:
    forms = (form for word in query.single_words() for form in inflections(word))
    return [quoted(form) for form in dict.fromkeys(forms)]


def _prefix(query: Query, beginning: str) -> list[str]:
    words = query.single_words()
    return [beginning.format(word) for word in words if len(word) >= tuning.PREFIX_LENGTH]


def _begins(query: Query, beginning: str) -> list[str]:
    return _some(query, beginning) + [beginning.format(word) for word in query.beginnings]


_PHRASES: dict[str, Callable[[Query, str], list[str]]] = {
    "some": _some, "inflected": _inflected, "begins": _begins, "prefix": _prefix,
}  # fmt: skip
"""The ways to match, each as phrases: a passage must have one of them."""


def phrases_of(query: Query, how: str) -> list[str]:
    """Return the phrases that ``some`` or ``inflected`` ask for, without quotes."""
    return [phrase.rstrip("*").strip('"') for phrase in _PHRASES[how](query, Fts5.beginning)]
