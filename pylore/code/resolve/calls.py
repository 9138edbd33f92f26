"""Calls and bases that names resolve to, as edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from typing import Any, NamedTuple

from ...core.vocabulary import file_id
from ..facts import Call
from ..languages.spec import LanguageSpec
from . import scopes
from .inference import Values
from .kept import ADOPTED, BASES, FileAnswers, Reads, put
from .scopes import (
    AMBIGUOUS,
    MOST_CANDIDATES,
    MOST_VALUES,
    OUTSIDE,
    REASONS,
    UNIQUE_FUNCTION,
    UNIQUE_METHOD,
    Def,
    File,
    Instance,
    Known,
    Module,
    Place,
    Value,
    is_common,
    stronger,
)

Ends = tuple[str, str, str]
"""From, to, and the relation: imports, calls, inherits or instantiates."""

Told = tuple[float, str]
"""The confidence of an edge, 0..1, and the reason for it, an import's with its kind."""


Counts = dict[str, dict[str, dict[str, int]]]
"""Language → imports, calls, inherits → outcome or reason → how many."""


class Resolution(NamedTuple):
    """Resolved names of all files."""

    edges: dict[Ends, Told]
    counts: Counts
    answers: dict[str, FileAnswers]
    """Answers to keep of each file, so that it is resolved again only after a change."""
    posts: dict[str, set[int]]
    """Path → the marks by which a file is found."""
    reads: Reads
    manifests: dict[str, str]
    """Path → hash of what importers have read; "" for what was absent."""
    adopting: set[str]
    """Families with classes that have members from other files."""


class Draft:
    """Edges and counts in the making."""

    def __init__(self) -> None:
        self.edges: dict[Ends, Told] = {}
        self.counts: dict[str, dict[str, dict[str, int]]] = {}
        """Path → imports, calls, inherits → outcome or reason → how many."""

    def count(self, path: str, what: str, reason: str, number: int = 1) -> None:
        reasons = self.counts.setdefault(path, {}).setdefault(what, {})
        reasons[reason] = reasons.get(reason, 0) + number

    def add(self, from_id: str, to_id: str, relation: str, sure: float, reason: str) -> None:
        """Add an edge; of two with the same ends keep the surer, of imports the stronger."""
        if from_id == to_id:
            return
        ends = (from_id, to_id, relation)
        known = self.edges.get(ends)
        if known is not None and relation == "imports":
            self.edges[ends] = stronger(known, (sure, reason))
        elif known is None or sure > known[0]:
            self.edges[ends] = (sure, reason)

    def join(self, other: Draft) -> None:
        for ends, told in other.edges.items():
            self.add(*ends, *told)
        for path, kinds in other.counts.items():
            for what, reasons in kinds.items():
                for reason, number in reasons.items():
                    self.count(path, what, reason, number)

    def by_language(self, languages: Mapping[str, str]) -> Counts:
        """Return the counts of all files, of which ``languages`` has the languages."""
        found: Counts = {}
        for path, kinds in self.counts.items():
            held = found.setdefault(languages[path], {})
            for what, reasons in kinds.items():
                sums = held.setdefault(what, {})
                for reason, number in reasons.items():
                    sums[reason] = sums.get(reason, 0) + number
        return found


def adopt(files: Iterable[File], values: Values, reads: Reads) -> None:
    """Give methods that are defined outside of their type's file to that type.

    In some languages they may be: ``Login.check`` in a file that has no ``Login``.
    """
    for file in files:
        for made in file.defs.values():
            container, _, name = made.qualified.rpartition(".")
            if not container or made.outer is not None:
                continue
            values.search.reads = set()
            for value in values.chain(file, "", container)[0]:
                if isinstance(value, Def) and value.is_class:
                    made.outer = value
                    value.children.setdefault(name, made)
            put(reads, file.path, ADOPTED, values.search.reads)
    values.forget()


def merge(files: Sequence[File], values: Values) -> None:
    """Share members among the parts of namespaces and classes that span files."""
    parts: dict[tuple[str, str], list[Def]] = {}
    for file in files:
        if file.language.namespaces:
            for made in file.defs.values():
                parts.setdefault((file.language.family, made.qualified), []).append(made)
    for key, found in parts.items():
        whole = max(found, key=lambda one: (one.is_class, len(one.children)))
        if len(found) == 1:
            values.shared[key] = whole
        elif whole.kind == "module" or (whole.is_class and whole.file.language.classes_reopen):
            values.shared[key] = whole
            for part in found:
                if part is not whole and part.is_class:
                    whole.children.update({**part.children, **whole.children})
                    part.children, part.bases = whole.children, whole.bases


Asked = list[tuple[Def, Known]]
"""Each class with what one of its bases is, in the order of the file."""


def inherit(files: Iterable[File], values: Values, draft: Draft, reads: Reads) -> None:
    """Find the bases of every class, and draw the edges ``inherits``."""
    # The names of bases are looked up before any class has bases: in scopes, not in classes.
    known = [one for file in files for one in bases_in(file, values, reads)]
    bases, is_open = draw_bases(known, draft)
    for made, found in bases.items():
        for base, sure in found:
            made.bases.append((base, sure))
            base.subclasses.append(made)
    for made in is_open:
        made.open = True
    values.forget()


def bases_in(file: File, values: Values, reads: Reads) -> Asked:
    """Return what the bases are of the classes in a file."""
    known = []
    values.search.reads = set()
    for symbol in file.facts.symbols:
        made = file.defs.get(symbol.qualified)
        if symbol.bases and made is not None and made.is_class:
            scope = made.qualified.rpartition(".")[0]
            known += [(made, values.chain(file, scope, base)) for base in symbol.bases]
    if values.search.reads:
        put(reads, file.path, BASES, values.search.reads)
    return known


def draw_bases(
    known: Asked, draft: Draft
) -> tuple[dict[Def, list[tuple[Def, float]]], dict[Def, None]]:
    """Draw the edges; the bases of each class, and the classes with bases outside the tree."""
    found: dict[Def, list[tuple[Def, float]]] = {}
    is_open: dict[Def, None] = {}
    for made, (bases, sure) in known:
        reason = "unresolved"
        for value in bases:
            base = value.of if isinstance(value, Instance) else value
            if base is OUTSIDE:
                is_open[made] = None
                reason = "external"
            elif isinstance(base, Def) and base.is_class and base is not made:
                reason = REASONS.get(sure, "resolved")
                held = found.setdefault(made, [])
                if all(one is not base for one, _ in held):
                    held.append((base, sure))
                draft.add(made.id, base.id, "inherits", sure, reason)
        draft.count(made.file.path, "inherits", reason)
    return found, is_open


_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__|__mocks__|fixtures)/|[._](?:test|spec)\.\w+$"
)


@cache
def only_tests_call(path: str, named: str = "") -> bool:
    """Return whether nothing but tests calls what a file defines: tests, their fixtures and mocks.

    A name counts where its language takes it for a test's, by the pattern ``named``: other
    than for ``text.is_test``, by which a search ranks, ``test_helpers`` may well be what a
    library offers.

    >>> only_tests_call("src/tests/a.x"), only_tests_call("a_test.x")
    (True, True)
    >>> only_tests_call("lib/test_helpers.x"), only_tests_call("lib/test_helpers.x", "/test_")
    (False, True)
    """
    return _TESTS.search(path) is not None or bool(named and re.search(named, path))


ArgumentTypes = dict[Place, dict[Value, None]]
"""Values that calls pass for a parameter of a function."""


class Calls:
    """Resolve calls in rounds, each with the argument types of the rounds before."""

    def __init__(self, files: Iterable[File], values: Values, draft: Draft) -> None:
        self._values = values
        self._draft = draft
        self._functions: dict[tuple[str, str], list[Def]] = {}
        self._methods: dict[tuple[str, str], list[Def]] = {}
        self._waiting: list[tuple[File, Call, bool, set[Place]]] = []
        """Calls of which callers may yet tell more, or of their arguments alone: they are drawn."""
        self._argument_types: ArgumentTypes = {}
        self._round_number = 0
        self.emitted: dict[str, dict[Place, dict[Value, int]]] = {}
        """Path → what its calls pass, each with the round in which they first did.

        ``OUTSIDE`` among the values of a place: there are more, at which nobody looked.
        """
        self.reads: dict[str, set[int]] = {}
        """Path → what its calls looked up."""
        self.awaits: dict[str, set[int]] = {}
        """Path → the marks of the parameters that its calls depend on, directly or not."""
        for file in files:
            for made in file.defs.values():
                self._index(made)

    def _index(self, made: Def) -> None:
        """Index candidates: not those without a name outside of their function."""
        if made.kind not in ("function", "method"):
            return
        outer = made.outer
        index = self._functions if outer is None else self._methods
        while outer is not None:
            if not outer.is_class:
                return
            outer = outer.outer
        index.setdefault((made.file.language.family, made.name), []).append(made)

    def first(self, files: Iterable[File]) -> ArgumentTypes:
        """Resolve every call of these files; what they pass on."""
        return self._round((file, call, False) for file in files for call in file.facts.calls)

    def again(self, types: Mapping[Place, Iterable[Value]]) -> ArgumentTypes:
        """Resolve calls again that depend on these argument types; return the new ones."""
        grown = self._values.pass_on(types)
        pending = [(file, call, drawn) for file, call, drawn, on in self._waiting if on & grown]
        self._waiting = [one for one in self._waiting if not one[3] & grown]
        return self._round(pending)

    def onwards(self, grown: Set[Place], more: Iterable[File]) -> None:
        """Run a round of the calls that depend on what has grown, and all calls of more files."""
        self._values.search.forget_grown(grown)
        pending = [(file, call, drawn) for file, call, drawn, on in self._waiting if on & grown]
        self._waiting = [one for one in self._waiting if not one[3] & grown]
        pending += [(file, call, False) for file in more for call in file.facts.calls]
        self._round(pending)

    def finish(self) -> None:
        """Draw the calls of which callers might have told more."""
        for file, call, drawn, _ in self._waiting:
            if not drawn:
                self._values.search.reads = self.reads[file.path]
                self._draw(file, call, self._values.chain(file, call.caller, call.callee))

    def _round(self, pending: Iterable[tuple[File, Call, bool]]) -> ArgumentTypes:
        self._argument_types = {}
        self._round_number += 1
        search = self._values.search
        for file, call, drawn in pending:
            search.reads = self.reads.setdefault(file.path, set())
            asked: set[Any] = set()
            search.asked = asked
            found = self._values.chain(file, call.caller, call.callee)
            if not asked and not drawn:
                self._draw(file, call, found)
                drawn = True
            if call.args and found[0] and found[0][0] is not OUTSIDE:
                self._pass_on(file, call, found[0])
            if asked:
                awaits = self.awaits.setdefault(file.path, set())
                awaits.update(scopes.mark(made.place, name) for made, name in asked)
                self._waiting.append((file, call, drawn, asked))
        return self._argument_types

    # What a call reaches.

    def _draw(self, file: File, call: Call, found: Known) -> None:
        values, sure = found
        if not values:
            self._by_name(file, call)
            return
        if values[0] is OUTSIDE:
            self._draft.count(file.path, "calls", "external")
            return
        caller = self._caller(file, call.caller)
        reason = REASONS.get(sure, "resolved")
        self._draft.count(file.path, "calls", reason)
        for value in values:
            self._reach(caller, value, sure, reason)

    def _reach(self, caller: str, value: Value, sure: float, reason: str) -> None:
        if isinstance(value, Def) and not value.is_class:
            if value.kind in ("function", "method"):
                self._draft.add(caller, value.id, "calls", sure, reason)
        elif isinstance(value, Def):
            self._draft.add(caller, value.id, "instantiates", sure, reason)
            made = self.constructor(value)
            if made is not None:
                self._draft.add(caller, made.id, "calls", sure, reason)
        elif isinstance(value, Instance):
            called = value.of.file.language.called
            for inner in self._values.of_class(value.of, called)[0]:
                if isinstance(inner, Def):
                    self._draft.add(caller, inner.id, "calls", sure, reason)
        elif isinstance(value, Module) and value is not OUTSIDE:
            for inner in self._values.modules.exported(value.key, "default")[0]:
                if not isinstance(inner, Module):
                    self._reach(caller, inner, sure, reason)

    def constructor(self, cls: Def) -> Def | None:
        """Return the constructor of a class: its own, or the first of its bases'."""
        reads = self._values.search.reads
        reads.add(scopes.mark(cls.place, scopes.BASES))
        for one in self._values.order(cls):
            for name in cls.file.language.constructors:
                reads.add(scopes.mark(cls.place, name or one.name))
                made = one.children.get(name or one.name)
                if made is not None and made.kind in ("function", "method"):
                    return made
        return None

    def _caller(self, file: File, scope: str) -> str:
        """Return the innermost symbol around a call; the file at its top level."""
        while scope:
            made = file.defs.get(scope)
            if made is not None:
                return made.id
            scope = scope.rpartition(".")[0]
        return file_id(file.path)

    # What a call passes.

    def _pass_on(self, file: File, call: Call, values: tuple[Value, ...]) -> None:
        for value in values:
            made: Value | None = value
            if isinstance(value, Def) and value.is_class:
                made = self.constructor(value)
            if not isinstance(made, Def) or not made.params:
                continue
            own = made.file.language
            offset = 1 if made.params[0] in own.self_names | own.class_names else 0
            for position, argument in enumerate(call.args):
                name, equals, text = argument.partition("=")
                if not equals:
                    text = argument
                    place = position + offset
                    name = made.params[place] if place < len(made.params) else ""
                if text and name in made.params:
                    self._pass(file, call.caller, text, made, name)

    def _pass(self, file: File, scope: str, text: str, made: Def, name: str) -> None:
        types = self._argument_types.setdefault((made, name), {})
        emitted = self.emitted.setdefault(file.path, {}).setdefault((made, name), {})
        if len(types) > MOST_VALUES:
            emitted.setdefault(OUTSIDE, self._round_number)
            return
        for value in self._values.chain(file, scope, text)[0]:
            if value is not OUTSIDE:
                types[value] = None
                emitted.setdefault(value, self._round_number)

    # What is left when a receiver is not known.

    def _by_name(self, file: File, call: Call) -> None:
        language, path = file.language, file.path
        receiver, _, name = call.callee.rpartition(".")
        name = name.rstrip("()")
        count = self._draft.count
        if receiver and is_common(name, language):
            count(path, "calls", "unresolved_common_name")
            return
        found: Sequence[Def] = ()
        unique = UNIQUE_METHOD
        if receiver or language.functions_global:
            self._values.search.reads.add(scopes.named(language.family, name))
            found = self.candidates(language, name, bool(receiver), path)
            unique = UNIQUE_METHOD if receiver else UNIQUE_FUNCTION
        if not found:
            count(path, "calls", "unresolved")
        elif len(found) > MOST_CANDIDATES:
            count(path, "calls", "unresolved_ambiguous")
        else:
            reason = REASONS[unique] if len(found) == 1 else "ambiguous"
            sure = unique if len(found) == 1 else round(AMBIGUOUS / len(found), 3)
            count(path, "calls", reason)
            caller = self._caller(file, call.caller)
            for made in found:
                self._draft.add(caller, made.id, "calls", sure, reason)

    def candidates(
        self, language: LanguageSpec, name: str, is_method: bool, path: str
    ) -> Sequence[Def]:
        """Return what a call in the file at ``path`` may reach by a name alone."""
        index = self._methods if is_method else self._functions
        found = index.get((language.family, name), [])
        if only_tests_call(path, language.tests):
            return found
        return [
            made for made in found
            if not only_tests_call(made.file.path, made.file.language.tests)
        ]  # fmt: skip
