"""What classes inherit, and methods that stand apart from their type: joined to their classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .confidence import REASONS
from .edges import Draft
from .inference import Values
from .kept import ADOPTED, BASES, Reads, put
from .scopes import OUTSIDE, Def, File, Instance, Known


def adopt(files: Iterable[File], values: Values, reads: Reads) -> None:
    """Gives methods that are defined outside of their type's file to that type.

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
    """Namespaces span files, and classes may: their parts get each other's members."""
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
    """Finds the bases of every class, and draws the edges ``inherits``."""
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
    """What the bases are of the classes in a file."""
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
    """Draws the edges; the bases of each class, and the classes with bases outside the tree."""
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
