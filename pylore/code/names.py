"""Resolve names as the language does: in scopes, imports, classes and bases.

A variable has the values of assignments and annotations. Lookups are not iterated: a lookup
that returns to itself, nests too deep or takes too many steps finds no value there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ..core.vocabulary import symbol_id
from .facts import Bound, FileFacts, Import, Symbol
from .languages import language
from .tree import Importer, SourceTree

SAME_FILE, IMPORTED, OWN_METHOD, PACKAGE, KNOWN_CLASS, RETURNED = 0.95, 0.92, 0.9, 0.88, 0.85, 0.7
"""Confidence in a name of the file, of an import, a member of ``self``, a name of the package or an
included file, a member of a known class, a returned value. docs/quality.md has shares."""
REASONS = {
    SAME_FILE: "same_file",
    IMPORTED: "imported",
    OWN_METHOD: "own_method",
    PACKAGE: "package",
    KNOWN_CLASS: "known_class",
    RETURNED: "passed_on",
}

DEPTH = 20  # lookups within lookups; each takes about eight calls of Python's thousand
STEPS = 50  # lookups for a name that return to a pending lookup; real code needs 10
SPARE = 1000  # such lookups for all names, and as many as there are variables; real code needs few
MOST_STARS = 50  # packages and classes that a file imports whole
MOST_VALUES = 8  # a name that may be more things than this is unknown
MOST_CHAINS = 16  # chains of a variable that are read
REACHED = 500  # files with their includes in memory; each may include all others

CLASSES = frozenset({"class", "interface", "type", "module"})  # kinds of symbols that have members


class Def:
    """A symbol of the tree. Members and bases may come from other files."""

    def __init__(self, symbol: Symbol, file: File) -> None:
        self.file = file
        self.id = symbol_id(file.path, symbol.qualified)
        self.name, self.qualified, self.kind = symbol[:3]
        self.params = symbol.params
        self.is_global = symbol.signature[:12] == "macro_rules!" or file.language.functions_global
        self.is_class = symbol.kind in CLASSES
        self.outer: Def | None = None
        self.children: dict[str, Def] = {}
        self.bases: list[Def] = []
        self.twins: list[Def] = []  # of several files, in a namespace


class File:
    """The names that a file defines and imports."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.path = facts.path
        self.stem = facts.path.rpartition(".")[0]
        self.language = language(facts.language)
        self.assigned = facts.assigned
        self.bound: dict[str, list[Bound]] = {}
        self.stars: list[Bound] = []
        if facts.language == "javascript":
            self.bind([Bound("exports", facts.path)])
        self.importer: Importer | None = None
        self.mates = ""  # the package with names that are visible without an import
        self.used = [  # namespaces, and the visible names of each
            (item.module.replace("::", "."), item.name)
            for item in facts.imports
            if item.kind == "use" and item.module
        ]
        self.defs: dict[str, Def] = {}
        self.top: dict[str, Def] = {}
        for symbol in facts.symbols:
            made = self.defs[symbol.qualified] = Def(symbol, self)
            container, _, name = symbol.qualified.rpartition(".")
            made.outer = self.defs.get(container)
            if not container:
                self.top[name] = made
            elif made.outer is not None:
                made.outer.children[name] = made

    def bind(self, bound: Iterable[Bound]) -> None:
        for one in bound:
            if one.local == "*":
                self.stars.append(one)
            else:
                self.bound.setdefault(one.local, []).append(one)


class Thing(NamedTuple):
    """A value; ``of`` is a ``Def``, the path or key of a module, or empty outside the tree."""

    kind: str
    of: Any
    sure: float


DEFINITION, OBJECT, SUPER, MODULE = "definition", "object", "super", "module"
OUTSIDE = Thing("outside", "", 1.0)

Things = list[Thing]


class Names:
    """The names of all files; ``chain`` looks up a chain in a scope."""

    def __init__(self, files: Mapping[str, File], tree: SourceTree) -> None:
        self._files = files
        self._tree = tree
        self._shared: dict[tuple[str, str], Def] = {}  # family, full name in namespaces
        self._known: dict[Any, Things] = {}
        self._pending: set[Any] = set()
        self._meanwhile: dict[Any, Things] = {}  # for the pending name; may be incomplete
        self._is_cut = False
        self._spare = SPARE + sum(len(file.assigned) for file in files.values())
        self.order = cache(self._order)
        self._class_around = cache(self._find_class_around)
        self._reached = lru_cache(REACHED)(self._find_reached)
        self._stems = lru_cache(REACHED)(self._find_stems)
        self._used = lru_cache(REACHED)(self._find_used)
        self._having: dict[tuple[str, str], list[File]] = {}  # by family and top-level name
        for file in files.values():
            more = () if file.language.functions_global else (*file.bound, *file.assigned)
            for name in {*file.top, *more}:
                self._having.setdefault((file.language.family, name), []).append(file)
        specs = {file.language: 0 for file in files.values() if file.language.modules}
        packages = (f"/{one.package_file}{one.modules[0]}" for one in specs)
        self._modules = [*packages, *(ending for one in specs for ending in one.modules)]
        self._merge()
        for file in files.values():
            self._adopt(file)
        self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self.order.cache_clear()
        self._class_around.cache_clear()

    def _merge(self) -> None:
        """Share members between the parts of namespaces and classes that span files."""
        parts: dict[tuple[str, str], list[Def]] = {}
        for file in self._files.values():
            for made in file.defs.values() if file.language.namespaces else ():
                parts.setdefault((file.language.family, made.qualified), []).append(made)
        for key, found in parts.items():
            whole = max(found, key=lambda one: (one.is_class, len(one.children)))
            reopened = whole.is_class and whole.file.language.classes_reopen
            if len(found) == 1 or whole.kind == "module" or reopened:
                self._shared[key] = whole
                for part in found:
                    if part is not whole and part.is_class:
                        whole.children.update({**part.children, **whole.children})
                        part.children, part.bases = whole.children, whole.bases
            elif found[0].outer is None or found[0].outer.kind == "module":
                for part in found:
                    part.twins = found

    def _adopt(self, file: File) -> None:
        """Give methods that are defined outside of their type's file to that type."""
        unknown: dict[str, Def] = {}  # objects without a symbol, as ``var app = {}``
        for made in file.defs.values():
            container, _, name = made.qualified.rpartition(".")
            if container and made.outer is None:
                things = self.chain(file, "", container)
                owners = [one.of for one in things if one.kind == DEFINITION and one.of.is_class]
                if file.language.functions_have_members:
                    stand_in = Def(Symbol(container, container, "constant", 0, 0), file)
                    owners.append(unknown.setdefault(container, stand_in))
                for owner in owners[:1]:
                    made.outer = owner
                    owner.children.setdefault(name, made)

    def inherit(self) -> Iterator[tuple[Def, Def, float]]:
        """Yield class, base and confidence; all are looked up before classes have bases."""
        found = [
            (made, thing.of, thing.sure)
            for file in self._files.values()
            for symbol in file.facts.symbols
            if symbol.bases
            if (made := file.defs[symbol.qualified]).is_class
            for written in symbol.bases
            for thing in self.chain(file, made.qualified.rpartition(".")[0], written)
            if thing.kind == DEFINITION or (thing.kind == OBJECT and not file.language.paths)
            if thing.of.is_class and thing.of is not made
        ]
        for made, base, _ in found:
            if base not in made.bases:
                made.bases.append(base)
        self._forget()
        yield from (one for one in found if one[0].kind != "type")  # an alias inherits nothing

    def chain(self, file: File, scope: str, text: str) -> Things:
        """Return the things that ``text`` may be in ``scope``; [] with an unknown name in it."""
        (head, calls), *rest = _parts(text)
        things = self._included(file, self._name(file, scope, head))
        path = text.partition("(")[0]
        if not things and "." in path and file.language.paths:
            things = self._path(file, scope, path)
            (_, calls), *rest = _parts(text[path.rfind(".") + 1 :])
        if rest and not things and text in file.defs:  # dots in a name, as shells take them
            return [Thing(DEFINITION, file.defs[text], SAME_FILE)]
        while rest and not (things or calls) and file.language.namespaces:  # class A::B, without A
            head, calls = f"{head}.{rest[0][0]}", rest.pop(0)[1]
            things = self._spanning(file, scope, head)
        things = self._called(things, calls)
        own = head in file.language.self_names
        for name, calls in rest:
            things = self._included(file, self._members(things, name, own))
            things, own = self._called(things, calls), False
        return things

    def _included(self, file: File, things: Things) -> Things:
        """Replace definitions with twins in other files by definitions of included files."""
        found = []
        for one in things:
            twins = getattr(one.of, "twins", ())
            if twins and one.of.file.stem not in (stems := self._stems(file)):
                one = one._replace(of=next((x for x in twins if x.file.stem in stems), one.of))
            found.append(one)
        return found

    def _find_stems(self, file: File) -> set[str]:
        return {self._files[path].stem for path in (file.path, *self._reached(file)[0])}

    def _called(self, things: Things, times: int = 1) -> Things:
        for _ in range(times):
            things = self._join(self.result(one) for one in things)
        return things

    def _members(self, things: Things, name: str, own: bool = False) -> Things:
        return self._join(self.member(one, name, own) for one in things)

    def _join(self, found: Iterable[Things]) -> Things:
        """Return each value once; [] for too many."""
        once: dict[tuple[str, Any], Thing] = {}
        for things in found:
            for one in things:
                once.setdefault(one[:2], one)
        if len(once) > 1:
            once.pop(OUTSIDE[:2], None)
        return list(once.values()) if len(once) <= MOST_VALUES else []

    def _path(self, file: File, scope: str, text: str) -> Things:
        """Return the target of a path from a crate or a package, or from a module around."""
        module = _module_around(file, scope)
        head, _, rest = text.partition(".")
        if module and head in ("self", "super"):
            if head == "super":
                module = _module_around(file, module.rpartition(".")[0])
            return self.chain(file, module, rest)
        module, _, name = text.rpartition(".")
        item = Import(module, name, kind="use")
        bound = file.importer.find(file.facts, item).bound if file.importer else ()
        return self._join(self.exported(*one[1:]) for one in bound if one.module)

    def _name(self, file: File, scope: str, name: str) -> Things:
        spec = file.language
        if name in spec.self_names or name in spec.super_names or name in spec.class_names:
            cls = self._class_around(file, scope)
            if cls is not None:
                kind = DEFINITION if name in spec.class_names else SUPER
                kind = OBJECT if name in spec.self_names else kind
                return [Thing(kind, cls, OWN_METHOD)]
            made = file.defs.get(scope)
            if spec.functions_have_members and made and made.kind == "method":
                return [Thing(MODULE, file.path, OWN_METHOD)]  # its object is exported, or unknown
            if name not in spec.super_names:
                return self._global(file, name) if name in file.bound else []
        found = self._in_scopes(file, scope, name)
        if found is not None:
            return found
        if spec.namespaces and name not in file.top and name not in file.assigned:
            return self._spanning(file, scope, name)
        return self._global(file, name)

    def _in_scopes(self, file: File, scope: str, name: str) -> Things | None:
        """Return a name of a scope or class around; None if they have no such name."""
        spec, here = file.language, scope
        while here:
            around = file.defs.get(here)
            is_class = around is not None and (around.is_class or around.kind == "constant")
            is_own = "" in spec.constructors and here.rpartition(".")[2] == name
            is_open = not is_own and (not is_class or here == scope or spec.class_scope)
            if is_open or (around is not None and around.kind == "module"):
                found = self._local(file, here, around, name)
                if found is not None:
                    return found
            owner = around if is_class and spec.members_bare else None
            if owner and (found := self._own_member(owner, name)):
                return found
            here = here.rpartition(".")[0]
        cls = self._class_around(file, scope) if scope and spec.members_bare else None
        found = self._own_member(cls, name) if cls and cls.file is not file else []
        return found or None

    def _own_member(self, cls: Def, name: str) -> Things:
        is_named = "" in cls.file.language.constructors  # a constructor has the name of the class
        if is_named and any(one.name == name for one in self.order(cls)):
            return []
        found = self.member(Thing(OBJECT, cls, OWN_METHOD), name, own=True)
        return [one for one in found if one is not OUTSIDE]

    def _local(self, file: File, here: str, around: Def | None, name: str) -> Things | None:
        """Return a name of a scope; None if the scope has no such name."""
        inner = f"{here}.{name}"
        made = file.defs.get(inner)
        if made is not None and made.kind != "constant":
            return [Thing(DEFINITION, made, SAME_FILE)]
        text = file.assigned.get(inner)
        if text is not None and text != f"{name}()":  # its type or maker is of an outer scope
            return _at_most(self._values(file, here, text), SAME_FILE)
        if around is not None and name in around.params:
            return []
        return None if made is None else [Thing(DEFINITION, made, SAME_FILE)]

    def _spanning(self, file: File, scope: str, name: str) -> Things:
        """Return a name of a namespace around the scope, or of a file that is included."""
        family, here = file.language.family, scope
        while here:
            made = self._shared.get((family, f"{here}.{name}"))
            if made is not None:
                return [Thing(DEFINITION, made, PACKAGE)]
            here = here.rpartition(".")[0]
        made = self._shared.get((family, name))
        if made is None or not made.is_class:
            used = (
                self._shared.get((family, f"{space}.{name}"))
                for space, visible in self._used(file)
                if visible in ("*", name)
            )
            made = next(filter(None, used), None)
        return [Thing(DEFINITION, made, PACKAGE)] if made else self._global(file, name)

    def _find_used(self, file: File) -> list[tuple[str, str]]:
        """Return the ``used`` of a file and the files that it includes."""
        paths = {file.path: 0, **dict.fromkeys(sorted(self._reached(file)[0]))}
        return [one for path in paths for one in self._files[path].used]

    def _global(self, file: File, name: str) -> Things:
        """Return a name of the file itself, of an import, of the package, of the language."""
        found = self.exported(file.path, name)
        if found:
            own = name in file.top or (name in file.assigned and name not in file.bound)
            return [
                one._replace(sure=SAME_FILE) if own and IMPORTED <= one.sure < 1 else one
                for one in found
            ]
        if file.mates:
            found = _at_most(self.exported(file.mates, name), PACKAGE)
        return found or ([OUTSIDE] if name in file.language.builtin else [])

    def _find_class_around(self, file: File, scope: str) -> Def | None:
        """Return the class around ``scope``; for a method outside of it, the type or object."""
        in_objects = file.language.functions_have_members
        while scope:
            made = file.defs.get(scope)
            if made is not None and made.is_class and made.kind != "module":
                return made
            outer = made.outer if made else None
            if made and outer and (outer.is_class or (in_objects and made.kind == "method")):
                return outer
            if made and in_objects and any(d.kind == "method" for d in made.children.values()):
                return made  # a constructor without a class
            scope = scope.rpartition(".")[0]
        return None

    def _values(self, file: File, scope: str, text: str) -> Things:
        """Return the things that a variable with these chains may be."""
        found = (self.chain(file, scope, one) for one in text.split()[:MOST_CHAINS])
        return self._once((file.path, scope, text), lambda: self._join(found))

    def _once(self, key: Any, find: Callable[[], Things]) -> Things:
        """Return the result of ``find``; [] if it is pending, or too deep."""
        known = self._known.get(key)
        if known is not None:
            return known
        if key in self._meanwhile:
            self._is_cut = True
            return self._meanwhile[key]
        pending = self._pending
        depth, steps = (DEPTH, STEPS) if self._spare > 0 else (3, 1)
        if key in pending or len(pending) >= depth or len(self._meanwhile) >= steps:
            self._is_cut = True
            return []
        was_cut, self._is_cut = self._is_cut, False
        pending.add(key)
        found = find()
        pending.discard(key)
        if self._is_cut and pending:
            self._meanwhile[key] = found
            self._spare -= 1
        else:
            self._known[key] = found
        self._is_cut = (self._is_cut or was_cut) and bool(pending)
        if not pending:
            self._meanwhile.clear()
        return found

    def exported(self, key: str, name: str) -> Things:
        """Return the export of a module by name; without a name, the module."""
        if not key:
            return [OUTSIDE]
        if not name:
            return [Thing(MODULE, key, IMPORTED)]
        return self._once((key, name), lambda: self._exported(key, name))

    def _exported(self, key: str, name: str) -> Things:
        outer, _, last = name.rpartition(".")
        if outer:
            return self._members(self.exported(key, outer), last)
        file = self._files.get(key)
        if file is not None:
            return self._from_file(file, name)
        if key in self._tree.packages:
            files = [self._files[path] for path in self._tree.packages[key]]
            return self._join(self._from_own(file, name) for file in files)
        return self._submodule(key, name)

    def _from_own(self, file: File, name: str) -> Things:
        """Return a definition or an assignment at the top level of a file."""
        made = file.top.get(name)
        if made is not None and made.kind != "constant":
            return [Thing(DEFINITION, made, IMPORTED)]
        if found := self._values(file, "", file.assigned.get(name, "")):
            return _at_most(found, IMPORTED)
        return [Thing(DEFINITION, made, IMPORTED)] if made is not None else []

    def _from_file(self, file: File, name: str) -> Things:
        found = self._without_stars(file, name)
        if found or name == "default":
            return found
        found = self._from_stars(file, name)
        if not found and ("default" in file.bound or "default" in file.assigned):
            # A function or object that a file exports whole has the names.
            found = self._members(self.exported(file.path, "default"), name)
        return found

    def _without_stars(self, file: File, name: str) -> Things:
        found = self._from_own(file, name)
        if found and (found[0] is not OUTSIDE or name not in file.bound):
            return found
        if name in file.bound:
            found = self._join(self.exported(one.module, one.name) for one in file.bound[name])
            if found:
                return _at_most(found, IMPORTED)
        spec = file.language
        if spec.modules and file.path.endswith(spec.package_file + spec.modules[0]):
            found = self._submodule(file.path.rpartition("/")[0], name)
        if not found and name == "default":
            whole = [one for one in file.top.values() if one.kind in ("class", "function")]
            found = [Thing(DEFINITION, whole[0], RETURNED)] if len(whole) == 1 else []
        return found

    def _from_stars(self, file: File, name: str) -> Things:
        """Return a name of a file imported by a star, directly or by the stars of such a file."""
        having = self._having.get((file.language.family, name), ())
        reached, inside = self._reached(file) if having or file.stars else (set(), [])
        for other in having:
            if other.path in reached:
                found = self._without_stars(other, name)
                if found and found[0] is not OUTSIDE:
                    return _at_most(found, PACKAGE)
        for module, outer in inside:
            found = self.exported(module, f"{outer}.{name}" if outer else name)
            if found and found[0] is not OUTSIDE:
                return _at_most(found, PACKAGE)
        return []

    def _find_reached(self, file: File) -> tuple[set[str], list[tuple[str, str]]]:
        """Return the files imported by stars, and packages and classes in such imports."""
        found: set[str] = set()
        inside: dict[tuple[str, str], None] = {}
        pending = list(file.stars)
        while pending:
            star = pending.pop()
            if star.name or star.module not in self._files:
                inside[star.module, star.name] = None
            elif star.module not in found:
                found.add(star.module)
                pending += self._files[star.module].stars
        return found, list(inside)[:MOST_STARS]

    def _submodule(self, folder: str, name: str) -> Things:
        base = f"{folder}/{name}" if folder else name
        for ending in self._modules:
            if base + ending in self._files:
                return [Thing(MODULE, base + ending, IMPORTED)]
        return [Thing(MODULE, base, IMPORTED)] if base in self._tree.folders else []

    def member(self, thing: Thing, name: str, own: bool = False) -> Things:
        """Return ``.name`` of a value; with ``own`` of the object of the method."""
        if thing is OUTSIDE:
            return [OUTSIDE]
        if thing.kind == MODULE:
            return self.exported(thing.of, name)
        cls: Def = thing.of
        if not cls.is_class:
            if cls.file.language.functions_have_members and name in cls.children:
                return [Thing(DEFINITION, cls.children[name], thing.sure)]
            text = cls.file.assigned.get(f"{cls.qualified}.{name}", "")
            if text and cls.kind == "constant":  # an object
                return _at_most(self._values(cls.file, "", text), thing.sure)
            surely = thing._replace(sure=1.0)  # the value of a property has it
            found = self._once((cls, name), lambda: self._members(self.result(surely), name))
            return _at_most(found, thing.sure)
        if thing.kind == DEFINITION and name in cls.file.language.self_names - cls.children.keys():
            return [Thing(OBJECT, cls, min(thing.sure, OWN_METHOD))]  # Java's ``Outer.this``
        if name and name == cls.file.language.maker and name not in cls.children:
            return [Thing(DEFINITION, cls, min(thing.sure, OWN_METHOD))]
        start = int(thing.kind == SUPER)
        found = self._once((cls, name, start), lambda: self._in_order(cls, name, start))
        if not found and cls.kind == "module" and cls.file.language.paths:
            found = self.exported(cls.file.path, name)  # ``pub use`` in a module
        how = KNOWN_CLASS if thing.kind == OBJECT and not own else OWN_METHOD
        return _at_most(found, min(thing.sure, how))

    def _in_order(self, cls: Def, name: str, start: int) -> Things:
        for one in self.order(cls)[start:]:
            made = one.children.get(name)
            if made is not None and made.kind != "constant":
                return [Thing(DEFINITION, made, OWN_METHOD)]
            text = one.file.assigned.get(f"{one.qualified}.{name}")
            if text and (found := self._attribute(one, text)):
                return found
            if made is not None:
                return [Thing(DEFINITION, made, OWN_METHOD)]
        return []

    def _attribute(self, cls: Def, text: str) -> Things:
        """Return a value that a method assigned to ``self``, in the scope of the method."""
        head = text.partition(".")[0].rstrip("()")
        for made in cls.children.values():
            if head in made.params and head not in cls.file.language.self_names:
                found = self._values(cls.file, made.qualified, text)
                if found:
                    return found
        return self._values(cls.file, cls.qualified, text)

    def _order(self, cls: Def) -> list[Def]:
        """Return the class and the bases, depth first; a shared base comes last."""
        found: dict[Def, None] = {}
        pending, steps = [cls], 0
        while pending and steps < 1000:
            one = pending.pop()
            steps += 1
            found.pop(one, None)
            found[one] = None
            pending += reversed([base for base in one.bases if base is not cls])
        return list(found)

    def result(self, thing: Thing) -> Things:
        """Return the things that a call of a value gives."""
        if thing.kind == DEFINITION and thing.of.is_class:
            return [Thing(OBJECT, thing.of, min(thing.sure, SAME_FILE))]
        if thing.kind == DEFINITION:
            made: Def = thing.of
            text = made.file.assigned.get(f"{made.qualified}.return")
            if text is None:  # an object of functions, perhaps
                has_members = made.file.language.functions_have_members and made.children
                return [Thing(OBJECT, made, min(thing.sure, RETURNED))] if has_members else []
            found = self._values(made.file, made.qualified, text)
            return _at_most(found, min(thing.sure, RETURNED))
        if thing.kind in (OBJECT, MODULE):
            surely = thing._replace(sure=1.0)
            found = self._once(("()", thing.of), lambda: self._called(self.called_of(surely)))
            return _at_most(found, thing.sure)
        return [thing]

    def called_of(self, thing: Thing) -> Things:
        """Return the function that runs in a call of an object or module."""
        if thing.kind == MODULE:
            return self.exported(thing.of, "default")
        name = thing.of.file.language.called
        return self.member(thing, name) if name else []


def _module_around(file: File, scope: str) -> str:
    """Return the innermost inline module that is ``scope`` or has it; "" outside of these."""
    while scope and (scope not in file.defs or file.defs[scope].kind != "module"):
        scope = scope.rpartition(".")[0]
    return scope


def _at_most(things: Things, sure: float) -> Things:
    """Return things with at most this confidence, but for ``OUTSIDE``."""
    return [
        one if one.sure <= sure or one is OUTSIDE else one._replace(sure=sure) for one in things
    ]


@lru_cache(maxsize=65536)
def _parts(chain: str) -> tuple[tuple[str, int], ...]:
    """Turn ``self.make().run`` into names, each with the number of calls."""
    chain = f"self.{chain.lstrip('@')}" if chain[:1] == "@" else chain
    names = [(part.rstrip("()"), part) for part in chain.split(".")]
    return tuple([(name, (len(part) - len(name)) // 2) for name, part in names])
