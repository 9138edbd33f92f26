"""Ruby: ``require_relative``, and ``require`` from the ``lib`` folders of the tree."""

from __future__ import annotations

from ..facts import BY_CONVENTION, BY_SUFFIX, CERTAIN, NOWHERE, FileFacts, Found, Import, whole
from ..tree import Importer, above, folder_of, join, nearest, step
from . import LanguageSpec

_LAYOUTS = ("lib", "", "spec", "test", "app", "ext")


class RubyImports(Importer):
    def find(self, facts: FileFacts, item: Import) -> Found:
        name = item.module.strip("'\"")
        if not name or "#{" in name:
            return NOWHERE
        tail = name if name.endswith(".rb") else name + ".rb"
        if item.kind == "require_relative" or name.startswith("."):
            place = step(folder_of(facts.path), tail)
            return whole(place) if place and place in self.tree.paths else NOWHERE
        for folder in above(folder_of(facts.path)):
            for layout in _LAYOUTS:
                place = step(join(folder, layout), tail)
                if place is not None and place in self.tree.paths and place != facts.path:
                    return whole(place, CERTAIN if layout == "lib" else BY_CONVENTION)
        # Each gem of a tree has a ``lib``.
        ending = self.tree.ending("lib/" + tail) or ("/" in tail and self.tree.ending(tail)) or []
        best = nearest(ending, facts.path)
        return NOWHERE if best is None else whole(best, BY_SUFFIX)


SPEC = LanguageSpec(
    "ruby",
    "ruby",
    letters="?!",
    self_marks=("@",),
    no_class=frozenset("nil self String Object".split()),
    no_value=frozenset("nil true false".split()),
    self_names=frozenset({"self"}),
    super_names=frozenset({"super"}),
    constructors=("initialize",),
    common_names=frozenset(
        "catch chars collect concat drop end_with eql exist file frozen has_key include is_a nil"
        " none one printf respond_to shift start_with throw to_s unshift".split()
    ),
    maker="new",
    members_bare=True,
    class_scope=True,
    functions_global=True,
    namespaces=True,
    classes_reopen=True,
    importer=RubyImports,
)
