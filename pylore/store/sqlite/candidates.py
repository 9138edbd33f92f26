"""Candidates: a table of its own, which no search, walk or export reads."""

from __future__ import annotations

from ...system.json_encode import dumps
from ..candidate import BY_RULE_AT, KeptCandidate
from .driver import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLUMNS = ", ".join(KeptCandidate.__slots__)
_PLACES = ", ".join("?" for _ in KeptCandidate.__slots__)


class StoredCandidates:
    """Proposals for records, until somebody has decided: nothing else reads them.

    Under a scope only its own are there: what is not decided yet is not common.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def get_many(self, ids: Iterable[str]) -> dict[str, KeptCandidate]:
        """Return those that are there, by id."""
        found = self._select("WHERE id IN (SELECT value FROM json_each(?))", dumps([*ids]))
        return {one.id: one for one in found}

    def all(self, statuses: Sequence[str] = ()) -> list[KeptCandidate]:
        """Return all, or those of these statuses: the best first, of two the one found in
        earlier."""
        order = "ORDER BY score DESC, first_at, id"
        if not statuses:
            return self._select(order)
        where = "WHERE status IN (SELECT value FROM json_each(?))"
        return self._select(f"{where} {order}", dumps([*statuses]))

    def decided_by(self, command: int) -> list[KeptCandidate]:
        """Return those that this command decided, by id."""
        return self._select("WHERE command = ? ORDER BY id", command)

    def let_in_since(self, moment: str) -> int:
        """Return how many a rule has let in at this time or later: of all scopes, taken back or
        not."""
        counted = "SELECT count(*) FROM main.candidates WHERE json_valid(data) AND"
        (row,) = self._db.execute(f"{counted} json_extract(data, '$.{BY_RULE_AT}') >= ?", (moment,))
        return int(row[0])

    def put(self, candidates: Iterable[KeptCandidate]) -> None:
        """Add candidates, or puts them in the place of what has their ids."""
        self._db.executemany(
            f"INSERT OR REPLACE INTO main.candidates({_COLUMNS}) VALUES ({_PLACES})",
            ([*one.to_dict().values()] for one in candidates),
        )

    def remove(self, ids: Iterable[str]) -> None:
        """Forget candidates altogether: found again, they are new."""
        self._db.execute(
            "DELETE FROM main.candidates WHERE id IN (SELECT id FROM candidates"
            " WHERE id IN (SELECT value FROM json_each(?)))",
            (dumps([*ids]),),
        )

    def _select(self, rest: str, *values: str | int) -> list[KeptCandidate]:
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM candidates {rest}", values)
        return [KeptCandidate(*row) for row in rows]
