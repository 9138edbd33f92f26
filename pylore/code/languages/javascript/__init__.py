"""JavaScript, and the part that TypeScript shares."""

from __future__ import annotations

from ..spec import LanguageSpec
from .imports import JavaScriptImports

SPEC = LanguageSpec(
    "javascript",
    "javascript",
    self_marks=("self.",),  # a common name of ``this`` for functions within
    prefixes=("await", "new", "yield", "typeof", "delete", "void"),
    no_class=frozenset(
        "null undefined void any unknown never object string number boolean String Object this"
        " self let const var".split()
    ),
    no_value=frozenset(
        "null undefined true false this self string number boolean void any".split()
    ),
    no_owner=frozenset({"exports", "module.exports", "this", "self", "window", "global"}),
    owner_end=".prototype",
    modifiers=("private", "public", "protected", "readonly", "override"),
    base_words=("extends", "implements"),
    self_names=frozenset({"this"}),
    super_names=frozenset({"super"}),
    constructors=("constructor",),
    common_names=frozenset(
        "catch charAt concat endsWith finally findIndex forEach hasOwnProperty indexOf setTimeout"
        " shift splice startsWith substr substring then toLowerCase toString toUpperCase unshift"
        " valueOf".split()
    ),
    functions_have_members=True,
    importer=JavaScriptImports,
)
