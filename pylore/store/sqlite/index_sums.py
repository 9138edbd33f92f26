"""Whether the parts of an FTS5 index agree with each other: its rows, their sizes, its words.

An index that keeps no texts has nothing that FTS5's own check could hold it against. What it
counts several times over has to come to the same: https://sqlite.org/fts5.html#fts5_data_structures
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .driver import apsw

_TOTALS = 1
"""The row of ``TABLE_data`` with the number of rows and of tokens in each column."""
_MOST_BYTES = 9
"""Of a number; all bits of the last one count."""
_COLUMNS = ("title", "body", "tags", "file", "parts")


def disagreements(connection: apsw.Connection, table: str) -> list[str]:
    """What is wrong with the sums of a table; empty where they agree."""
    try:
        rows, sizes = _sizes(connection, table)
        totals = _totals(connection, table)
    except ValueError as error:
        return [f"{table}: {error}"]
    if (rows, *sizes) != totals:
        return [f"{table} has {rows} rows of {sum(sizes)} tokens, and says that it has "
                f"{totals[0]} of {sum(totals[1:])}"]  # fmt: skip
    words = _words(connection, table)
    if words != sizes:
        return [f"{table} has {sum(words)} words in its index, and {sum(sizes)} in its rows"]
    return []


def _sizes(connection: apsw.Connection, table: str) -> tuple[int, tuple[int, ...]]:
    """How many rows there are, and the tokens of each column in all of them."""
    count, sums = 0, [0] * len(_COLUMNS)
    for (size,) in connection.execute(f"SELECT sz FROM {table}_docsize"):
        found = _numbers(size, "the size of a row")
        if len(found) != len(sums):
            raise ValueError("the size of a row is not one of its columns")
        count += 1
        for place, number in enumerate(found):
            sums[place] += number
    return count, tuple(sums)


def _totals(connection: apsw.Connection, table: str) -> tuple[int, ...]:
    (block,) = connection.execute(
        f"SELECT block FROM {table}_data WHERE id = ?", (_TOTALS,)
    ).fetchone() or (b"",)
    found = _numbers(block, "the row of totals")
    return tuple(found) if found else (0,) * (1 + len(_COLUMNS))


def _words(connection: apsw.Connection, table: str) -> tuple[int, ...]:
    """The tokens of each column by the index itself."""
    connection.execute(
        f"CREATE VIRTUAL TABLE temp.words_of_it USING fts5vocab('main', '{table}', 'col')"
    )
    try:
        found = dict(connection.execute(
            "SELECT col, sum(cnt) FROM temp.words_of_it GROUP BY col"
        ))  # fmt: skip
    finally:
        connection.execute("DROP TABLE temp.words_of_it")
    return tuple(found.get(column, 0) for column in _COLUMNS)


def _numbers(block: object, what: str) -> list[int]:
    """The variable-length integers of a blob, as SQLite writes them."""
    if not isinstance(block, bytes):
        raise ValueError(f"{what} is not a blob")
    found, number, length = [], 0, 0
    for byte in block:
        length += 1
        last = length == _MOST_BYTES
        number = number << 8 | byte if last else number << 7 | byte & 0x7F
        if last or not byte & 0x80:
            found.append(number)
            number = length = 0
    if length:
        raise ValueError(f"{what} ends within a number")
    return found
