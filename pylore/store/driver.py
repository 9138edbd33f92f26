"""Loads apsw without the package ``collections``, which is a tenth of a search's time.

apsw asks for ``collections.abc`` when it is loaded, and Python answers with all of the
package around it. While apsw loads, the module that the package itself takes these
classes from stands in for both names; whoever asks for them later gets the real ones.
"""

from __future__ import annotations

import sys

if not {"apsw", "collections"} & sys.modules.keys():
    import _collections_abc

    names = ("collections", "collections.abc")
    sys.modules.update(dict.fromkeys(names, _collections_abc))
    try:
        import apsw  # noqa: F401
    finally:
        for name in names:
            del sys.modules[name]
