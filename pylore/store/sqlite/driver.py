"""``from .driver import apsw``: without the package ``collections``, a tenth of a search's time.

apsw asks for ``collections.abc`` when it is loaded, and Python answers with all of the
package around it. While apsw loads, the module that the package itself takes these
classes from stands in for both names; whoever asks for them later gets the real ones.
"""

from __future__ import annotations

import sys

__all__ = ["apsw", "changes_seen"]

_AROUND = ("collections", "collections.abc")

if sys.modules.keys().isdisjoint(("apsw", *_AROUND)):
    import _collections_abc

    sys.modules.update(dict.fromkeys(_AROUND, _collections_abc))
    try:
        import apsw
    finally:
        for name in _AROUND:
            del sys.modules[name]
else:
    import apsw


def changes_seen(connection: apsw.Connection) -> tuple[object, int]:
    """Return what is equal as long as a connection sees a store as it was.

    The one changes with what others commit, the other with what this connection writes.
    """
    return connection.pragma("data_version"), connection.total_changes()
