"""Names of methods that say nothing of the class that has them."""

from __future__ import annotations

from ..languages.spec import LanguageSpec

_ANYWHERE = frozenset(
    "add all any append apply assign at back begin bind call clear clone close compare contains"
    " copy count create data debug decode default delete difference done each empty encode end"
    " entries equals error every execute exists exit extend fields fill filter find finish first"
    " flush format from front get group has hash head id includes index info init insert"
    " intersection invoke items iter join key keys last length listen load lock log lower main"
    " map match matches max merge message min name new next of off ok on once open parse path"
    " peek pop print push put query read reduce release remove replace reserve reset resolve"
    " resume reverse run save seek select send set show size sleep slice sort split start stop"
    " stream string strip submit sum take tell test title to translate trim try union unlock"
    " update upper use value values wait warn with write".split()
)
"""What lists, texts, files and the like are asked for in one language as in the other."""


def is_common(name: str, language: LanguageSpec) -> bool:
    """Whether a method's name is no way to know a receiver's class by."""
    return name in _ANYWHERE or name in language.common_names
