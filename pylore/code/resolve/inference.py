"""Infer the value of a chain of names (``self.user.check``, ``make().run``) in its scope."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from zlib import crc32

from ..languages.spec import LanguageSpec
from . import scopes
from .kept import Reads
from .modules import Answers, Modules, Search
from .scopes import (
    EXTERNAL,
    IMPORTED,
    KNOWN_CLASS,
    MOST_VALUES,
    NOTHING,
    OUTSIDE,
    OWN_METHOD,
    PACKAGE,
    PASSED_ON,
    SAME_FILE,
    SUBCLASS,
    Def,
    File,
    Instance,
    Known,
    Module,
    Place,
    Rows,
    Super,
    Value,
    all_of,
    linearised,
)

_DEEPEST = 50
"""Questions asked one within the other: about a dozen calls each, of Python's thousand."""


def _split(chain: str) -> list[tuple[str, int]]:
    """Turn ``self.make().run`` into its names, and how often each is called."""
    names = [(part.rstrip("()"), part) for part in chain.split(".")]
    return [(name, (len(part) - len(name)) // 2) for name, part in names]


_split_again = lru_cache(maxsize=65536)(_split)
_AGAIN = 100
"""Characters of a chain that may come again: the parts of a longer one take much room."""


def _parts(chain: str) -> list[tuple[str, int]]:
    return _split_again(chain) if len(chain) <= _AGAIN else _split(chain)


def _text_mark(file: File, scope: str, text: str) -> int:
    return crc32(f"{scope} {text}".encode(), file.place)


def _result_mark(value: Instance | Module) -> int:
    if isinstance(value, Instance):
        return scopes.mark(value.of.place, "()")
    return scopes.top(value.key, "()")


class Values:
    def __init__(
        self, files: Mapping[str, File], languages: Mapping[str, LanguageSpec],
        packages: Mapping[str, list[str]],
    ) -> None:  # fmt: skip
        self.search: Search[Known] = Search(NOTHING, _DEEPEST)
        self.modules = Modules(files, languages, packages, self)
        self._orders: dict[Def, list[Def]] = {}
        self._rows: Rows = {}
        self._supers: dict[Def, Super] = {}
        table = self.search.table
        self._assignments: Answers[tuple[File, str, str], Known] = table(self._several)
        self._members: Answers[tuple[Def, str, int], Known] = table(self._find_in_order)
        self._properties: Answers[tuple[Def, str], Known] = table(self._of_result)
        self._results: Answers[tuple[Instance | Module], Known] = table(self._result)
        self.shared: dict[tuple[str, str], Def] = {}
        """(family, full name) → the one definition, where namespaces span files."""
        self.argument_types: dict[Place, dict[Value, None]] = {}
        """Values that callers pass for a parameter of a function."""

    def looked_up(self) -> Reads:
        """Return what was looked up for each answer since this was asked; now nothing is known of
        that."""
        reads: Reads = {}
        put = reads.setdefault
        exports = self.modules.exports.reads
        for (key, name), looked in exports.items():
            put(key, {})[scopes.top(key, name)] = looked
        for (file, scope, text), looked in self._assignments.reads.items():
            put(file.path, {})[_text_mark(file, scope, text)] = looked
        for made, name, looked in self._of_members():
            held, mark = put(made.file.path, {}), scopes.mark(made.place, name)
            held[mark] = held.get(mark, b"") + looked
        for (value,), looked in self._results.reads.items():
            owner = value.of.file.path if isinstance(value, Instance) else value.key
            put(owner, {})[_result_mark(value)] = looked
        for answers in self.search.tables:
            answers.reads = {}
        return {
            owner: {mark: array("I", sorted(set(array("I", looked)))).tobytes()
                    for mark, looked in entries.items()}
            for owner, entries in reads.items()
        }  # fmt: skip

    def _of_members(self) -> Iterator[tuple[Def, str, bytes]]:
        for (made, name, _), looked in self._members.reads.items():
            yield made, name, looked
        for (made, name), looked in self._properties.reads.items():
            yield made, name, looked

    def forget(self) -> None:
        """Forget answers; called when classes have got bases or members."""
        self._orders.clear()
        self._rows.clear()
        self.search.forget()

    def pass_on(self, more: Mapping[Place, Iterable[Value]]) -> set[Place]:
        """Add to what callers pass, and forget what depended on that; for which it was new."""
        grown = set()
        for place, values in more.items():
            types = self.argument_types.setdefault(place, {})
            before = len(types)
            if before <= MOST_VALUES:
                types.update(dict.fromkeys(values))
                if len(types) > before:
                    grown.add(place)
        self.search.forget_grown(grown)
        return grown

    # A chain, from left to right.

    def chain(self, file: File, scope: str, text: str) -> Known:
        """Return what ``text`` is in ``scope``; nothing where a name in it is not known."""
        (name, calls), *rest = _parts(text)
        values, sure = self._name(file, scope, name)
        for _ in range(calls):
            values, sure = self.called(values, sure)
        language = file.language
        own = name in language.self_names or name in language.super_names
        for name, calls in rest:
            if not values:
                return NOTHING
            if values[0] is OUTSIDE:
                return EXTERNAL
            values, sure = self.members(values, sure, name, own)
            for _ in range(calls):
                values, sure = self.called(values, sure)
            own = False
        return values, sure

    def several(self, file: File, scope: str, text: str) -> Known:
        """Return what a variable is to which ``text`` was assigned: chains, with spaces between."""
        self.search.reads.add(_text_mark(file, scope, text))
        return self._assignments[file, scope, text]

    def _several(self, file: File, scope: str, text: str) -> Known:
        self.search.reads.add(scopes.scope(file.place, scope))
        if " " not in text:
            return self.chain(file, scope, text)
        return all_of([self.chain(file, scope, one) for one in text.split()[: 2 * MOST_VALUES]])

    # One name, from the innermost scope outwards.

    def _name(self, file: File, scope: str, name: str) -> Known:
        language = file.language
        special = self._special(file, scope, name)
        if special is not None:
            return special
        here = scope
        while here:
            place = file.defs.get(here)
            is_class = place is not None and place.is_class
            if not is_class or here == scope or language.class_scope:
                found = self._local(file, here, place, name)
                if found is not None:
                    return found
            if is_class and place is not None and language.members_bare:
                values, _ = self.of_class(place, name)
                if values and values[0] is not OUTSIDE:
                    return values, OWN_METHOD
            here = here.rpartition(".")[0]
        if scope and language.members_bare:
            cls = self.class_around(file, scope)
            if cls is not None and cls.file is not file:
                values, _ = self.of_class(cls, name)
                if values and values[0] is not OUTSIDE:
                    return values, OWN_METHOD
        return (
            self._global(file, name)
            if not language.namespaces
            else self._spanning(file, scope, name)
        )

    def _spanning(self, file: File, scope: str, name: str) -> Known:
        """Return a name of the file, of a namespace around the scope, of an included file."""
        if name in file.top or name in file.assigned:
            return self._global(file, name)
        here = scope
        while True:
            made = self.shared.get((file.language.family, f"{here}.{name}" if here else name))
            if made is not None and (here or made.is_class):
                return (made,), PACKAGE
            if not here:
                return self._global(file, name)
            here = here.rpartition(".")[0]

    def _special(self, file: File, scope: str, name: str) -> Known | None:
        language = file.language
        if name in language.self_names:
            cls = self.class_around(file, scope)
            return None if cls is None else ((cls.instance,), OWN_METHOD)
        if name in language.super_names:
            cls = self.class_around(file, scope)
            if cls is not None:
                return (self.super_of(cls),), OWN_METHOD
        elif name in language.class_names:
            cls = self.class_around(file, scope)
            return None if cls is None else ((cls,), OWN_METHOD)
        return None

    def super_of(self, cls: Def) -> Super:
        return self._supers.setdefault(cls, Super(cls))

    def class_around(self, file: File, scope: str) -> Def | None:
        """Return the class whose body ``scope`` is in; for a method outside of it, its type."""
        if scope in file.classes:
            return file.classes[scope]
        here, found = scope, None
        while here and found is None:
            place = file.defs.get(here)
            if place is not None and place.is_class and place.kind != "module":
                found = place
            elif place is not None and place.outer is not None and place.outer.is_class:
                found = place.outer
            here = here.rpartition(".")[0]
        file.classes[scope] = found
        return found

    def _local(self, file: File, here: str, place: Def | None, name: str) -> Known | None:
        """Return a name of one scope; None where it has none of that name."""
        inner = f"{here}.{name}"
        made = file.defs.get(inner)
        if made is not None and made.kind != "constant":
            return (made,), SAME_FILE
        text = file.assigned.get(inner)
        is_parameter = place is not None and name in place.params
        if text is None and not is_parameter:
            return None if made is None else ((made,), SAME_FILE)
        found = []
        if text is not None:
            values, sure = self.several(file, here, text)
            found.append((values, min(sure, SAME_FILE)))
        if place is not None and is_parameter:
            self.search.asked.add((place, name))
            types = self.argument_types.get((place, name), ())
            if len(types) <= MOST_VALUES:
                known = found[0][0] if found else ()
                found.append((tuple(v for v in types if v not in known), PASSED_ON))
        return all_of(found)

    def _global(self, file: File, name: str) -> Known:
        """Return a name of the file itself, of an import, of the package, of the language."""
        values, sure = self.modules.exported(file.path, name)
        if values:
            return values, SAME_FILE if sure >= IMPORTED and self._is_own(file, name) else sure
        if file.mates:
            values, sure = self.modules.exported(file.mates, name)
            if values:
                return values, PACKAGE
        return EXTERNAL if name in file.language.builtin else NOTHING

    def _is_own(self, file: File, name: str) -> bool:
        return name in file.top or (name in file.assigned and name not in file.bound)

    # What an object has, and what calling it gives.

    def members(
        self, values: tuple[Value, ...], sure: float, name: str, own: bool = False
    ) -> Known:
        """Return ``.name`` of each; ``own`` says that the object is ``self``."""
        if len(values) == 1:
            return self._member(values[0], sure, name, own)
        return all_of([self._member(value, sure, name, own) for value in values])

    def _member(self, value: Value, sure: float, name: str, own: bool) -> Known:
        if isinstance(value, Module):
            if value is OUTSIDE:
                return EXTERNAL
            values, how = self.modules.exported(value.key, name)
            return values, min(sure, how)
        if isinstance(value, Def):
            if not value.is_class:
                return self._of_function(value, sure, name)
            values, how = self.of_class(value, name)
            return values, min(sure, how)
        if isinstance(value, Super):
            self.search.reads.add(scopes.mark(value.of.place, name))
            values, how = self._members[value.of, name, 1]
            return values, min(how, OWN_METHOD)
        values, how = self.of_class(value.of, name)
        if not values:
            values, how = self._of_subclasses(value.of, name) if own else NOTHING
        return values, min(sure, how, OWN_METHOD if own else KNOWN_CLASS)

    def _of_function(self, made: Def, sure: float, name: str) -> Known:
        """Return a function's own attribute; else a property's value has it."""
        self.search.reads.add(scopes.mark(made.place, name))
        if made.file.language.functions_have_members and name in made.children:
            return (made.children[name],), sure
        values, how = self._properties[made, name]
        return values, min(how, sure)

    def _of_result(self, made: Def, name: str) -> Known:
        values, sure = self.called((made,), 1.0)
        return self.members(values, sure, name)

    def order(self, cls: Def) -> list[Def]:
        found = self._orders.get(cls)
        if found is None:
            found = self._orders[cls] = linearised(cls, self._rows)
        return found

    def of_class(self, cls: Def, name: str) -> Known:
        """Return a member of a class or of the first base that has it."""
        self.search.reads.add(crc32(name.encode(), cls.place))
        if name and name == cls.file.language.maker and name not in cls.children:
            return (cls,), OWN_METHOD
        return self._members[cls, name, 0]

    def _find_in_order(self, cls: Def, name: str, start: int) -> Known:
        order = self.order(cls)
        self.search.reads.add(scopes.mark(cls.place, scopes.BASES))
        for one in order[start:]:
            made = one.children.get(name)
            if made is not None and made.kind != "constant":
                return (made,), OWN_METHOD
            text = one.file.assigned.get(f"{one.qualified}.{name}")
            if text is not None:
                values, sure = self._attribute(one, text)
                if values:
                    return values, min(sure, OWN_METHOD)
            if made is not None:
                return (made,), OWN_METHOD
        return EXTERNAL if any(one.open for one in order) else NOTHING

    def _attribute(self, cls: Def, text: str) -> Known:
        """Return a value that a method gave to ``self``: its names are that method's."""
        head = text.partition(".")[0].rstrip("()")
        self.search.reads.add(scopes.mark(cls.place, scopes.PARAMETERS))
        for made in cls.children.values():
            if head in made.params and head not in cls.file.language.self_names:
                values, sure = self.several(cls.file, made.qualified, text)
                if values:
                    return values, sure
        return self.several(cls.file, cls.qualified, text)

    def _of_subclasses(self, cls: Def, name: str) -> Known:
        found: dict[Value, None] = {}
        reads = self.search.reads
        reads.add(scopes.mark(cls.place, scopes.SUBCLASSES))
        pending, seen = list(cls.subclasses), {cls}
        while pending and len(seen) < 1000:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            reads.add(scopes.mark(one.place, name))
            reads.add(scopes.mark(one.place, scopes.SUBCLASSES))
            values, _ = self._members[one, name, 0]
            found.update((value, None) for value in values if value is not OUTSIDE)
            pending += one.subclasses
        return (tuple(found), SUBCLASS) if 0 < len(found) <= MOST_VALUES else NOTHING

    def called(self, values: tuple[Value, ...], sure: float) -> Known:
        """Return what calling each of them gives."""
        if len(values) == 1:
            return self._called(values[0], sure)
        return all_of([self._called(value, sure) for value in values])

    def _called(self, value: Value, sure: float) -> Known:
        if value is OUTSIDE:
            return EXTERNAL
        if isinstance(value, Def):
            if value.is_class:
                return (value.instance,), sure
            self.search.reads.add(scopes.mark(value.place, "return"))
            text = value.file.assigned.get(f"{value.qualified}.return")
            if text is None:
                return NOTHING
            values, how = self.several(value.file, value.qualified, text)
            return values, min(sure, how, PASSED_ON)
        if isinstance(value, Super):
            return (value,), sure
        self.search.reads.add(_result_mark(value))
        return self._results[value,]

    def _result(self, value: Instance | Module) -> Known:
        """Return what calling an object gives, or a module that exports a function."""
        values, sure = (
            self.of_class(value.of, value.of.file.language.called)
            if isinstance(value, Instance)
            else self.modules.exported(value.key, "default")
        )
        return self.called(values, sure)
