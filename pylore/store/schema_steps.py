"""The way from one version of the schema to the next; version 1 has none before it.

To change the schema: raise ``opening.SCHEMA_VERSION``, keep the text of ``schema.sql`` as it was
in a file, and add a step. The store is compared with that text first, as when it is opened, and
with the new one afterwards: a step that leads elsewhere changes nothing.
"""

from __future__ import annotations

from ..core.errors import StoreError
from .connection import apsw
from .schema import own_statements, refuse_foreign

TYPE_CHECKING = False


if TYPE_CHECKING:
    Step = tuple[str, str]

STEPS: dict[int, Step] = {}
"""Version to the text of the schema before it, and the SQL that leads from there to it."""


def upgrade(connection: apsw.Connection, path: str, version: int, wanted: int) -> None:
    """Bring a store of an older version up to the wanted one, as a whole or not at all.

    Triggers and foreign keys are off meanwhile, as SQLite advises for changed tables; the keys are
    checked at the end. The caller closes the connection.

    Raises:
        StoreError: the store is not lore's own, or a step does not lead to the schema.
        StoreBusy: another writer did not end in time.
    """
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.pragma("user_version") == version:  # nobody else was faster
            _take_steps(connection, path, version, wanted)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _take_steps(connection: apsw.Connection, path: str, version: int, wanted: int) -> None:
    refuse_foreign(connection, path, own_statements(STEPS[version + 1][0]))
    for number in range(version + 1, wanted + 1):
        for _ in connection.execute(STEPS[number][1]):
            pass
    refuse_foreign(connection, path)
    if connection.execute("PRAGMA foreign_key_check").get is not None:
        raise StoreError(f"{path}: names types or relations that it does not have: "
                         "run 'lore doctor' with the lore that wrote it")  # fmt: skip
    connection.pragma("user_version", wanted)
