"""JavaScript, and what TypeScript has of it."""

from __future__ import annotations

from ..spec import LanguageSpec
from .imports import JavaScriptImports

SPEC = LanguageSpec(
    "javascript",
    "javascript",
    self_names=frozenset({"this"}),
    constructors=("constructor",),
    functions_have_members=True,
    importer=JavaScriptImports,
)
