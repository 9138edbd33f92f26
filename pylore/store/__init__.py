"""search.db behind one small interface; nothing outside this folder speaks SQL.

``open_store`` gives a ``Store`` with one attribute for each kind of thing it
keeps: ``nodes``, ``edges``, ``fulltext``, ``vectors``, ``words``, ``meta``. A
part is made when it is first used, so a plain search never touches the graph.
"""

from __future__ import annotations

from .sqlite.store import Store, create_store, open_store

__all__ = ["Store", "create_store", "open_store"]
