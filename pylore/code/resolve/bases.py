"""What classes inherit, and methods that stand apart from their type: joined to their classes."""

from __future__ import annotations

from collections.abc import Sequence

from .confidence import REASONS
from .edges import Draft
from .inference import Values
from .scopes import OUTSIDE, Def, File, Instance


def adopt(files: Sequence[File], values: Values) -> None:
    """Gives methods that are defined outside of their type's file to that type.

    In some languages they may be: ``Login.check`` in a file that has no ``Login``.
    """
    for file in files:
        for made in file.defs.values():
            container, _, name = made.qualified.rpartition(".")
            if not container or made.outer is not None:
                continue
            for value in values.chain(file, "", container)[0]:
                if isinstance(value, Def) and value.is_class:
                    made.outer = value
                    value.children.setdefault(name, made)
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


def inherit(files: Sequence[File], values: Values, draft: Draft) -> None:
    """Finds the bases of every class, and draws the edges ``inherits``."""
    found = []
    for file in files:
        for symbol in file.facts.symbols:
            made = file.defs.get(symbol.qualified)
            if symbol.bases and made is not None and made.is_class:
                found += [(made, base) for base in symbol.bases]
    # The names of bases are looked up before any class has bases: in scopes, not in classes.
    known = [
        (made, values.chain(made.file, made.qualified.rpartition(".")[0], base))
        for made, base in found
    ]
    for made, (bases, sure) in known:
        reason = "unresolved"
        for value in bases:
            base = value.of if isinstance(value, Instance) else value
            if base is OUTSIDE:
                made.open, reason = True, "external"
            elif isinstance(base, Def) and base.is_class and base is not made:
                reason = REASONS.get(sure, "resolved")
                _join(made, base, sure)
                draft.add(made.id, base.id, "inherits", sure, reason)
        draft.count(made.file.facts.language, "inherits", reason)
    values.forget()


def _join(made: Def, base: Def, sure: float) -> None:
    if all(known is not base for known, _ in made.bases):
        made.bases.append((base, sure))
        base.subclasses.append(made)
