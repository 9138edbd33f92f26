"""Bash: the file that ``source`` reads, if only the first folder of the path is computed."""

from __future__ import annotations

import re

from ..facts import BY_SUFFIX, CERTAIN, NOWHERE, FileFacts, Found, Import, whole
from ..tree import Importer, folder_of, nearest, step
from . import LanguageSpec

_COMPUTED = re.compile(r"^(?:(?:\$\{[^}]*\}|\$\w+|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`)+/)+")
"""A beginning that only the shell knows: ``$here/``, ``${1%/*}/``, ``$(dirname "$0")/``."""


class BashImports(Importer):
    def find(self, facts: FileFacts, item: Import) -> Found:
        written = item.module.strip().replace('"', "").replace("'", "")
        plain = _COMPUTED.sub("", written)
        if not plain or "$" in plain or "`" in plain or plain.startswith(("/", "~")):
            return NOWHERE
        for folder in (folder_of(facts.path), ""):
            place = step(folder, plain)
            if place is not None and place in self.tree.paths and place != facts.path:
                return whole(place, CERTAIN if plain == written or not folder else BY_SUFFIX)
        tail = re.sub(r"^(?:\.\.?/)+", "", plain)
        ending = [one for one in self.tree.ending(tail) if one != facts.path]
        best = nearest(ending, facts.path)
        return NOWHERE if best is None else whole(best, BY_SUFFIX)


SPEC = LanguageSpec("bash", "bash", letters="-:+/,", functions_global=True, importer=BashImports)
