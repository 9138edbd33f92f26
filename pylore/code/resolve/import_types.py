"""What kind of import leads from one file to another: ``import_type`` in an edge's metadata."""

from __future__ import annotations

from ..languages.spec import LanguageSpec
from ..parse.facts import TYPING, Import

STATIC, RE_EXPORT, EFFECT, DYNAMIC, TYPES = (
    "static", "re-export", "side effect", "dynamic", "type-only",
)  # fmt: skip

_ORDER = (STATIC, RE_EXPORT, EFFECT, DYNAMIC, TYPES)
"""Of several imports of one file by another the first of these is the edge's."""

_KINDS = {"export": RE_EXPORT, "effect": EFFECT, "dynamic": DYNAMIC, TYPING: TYPES}


def import_type(path: str, item: Import, spec: LanguageSpec) -> str:
    """What kind of import of a file this one is, of those of ``_ORDER``."""
    if item.kind in _KINDS:
        return _KINDS[item.kind]
    if spec.effect_alias and item.alias == spec.effect_alias:
        return EFFECT
    if spec.packages_pass_on and item.name:
        stem = path.rpartition("/")[2].partition(".")[0]
        return RE_EXPORT if stem == spec.package_file else STATIC
    return STATIC


def told(reason: str, kind: str) -> str:
    """The reason for an edge with the kind of its import."""
    return f"{reason}\n{kind}"


def fields_of(reason: str) -> dict[str, str]:
    """The metadata of an edge with this reason."""
    why, _, kind = reason.partition("\n")
    return {"reason": why, **({"import_type": kind} if kind else {})}


def stronger(one: tuple[float, str], other: tuple[float, str]) -> tuple[float, str]:
    """Of two imports of the same file: the surer one's reason, and the kind that counts more."""
    surer = max(one, other, key=lambda each: each[0])
    kind = min((each[1].partition("\n")[2] for each in (one, other)), key=_ORDER.index)
    return surer[0], told(surer[1].partition("\n")[0], kind)
