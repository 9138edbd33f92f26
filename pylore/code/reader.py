"""Answer all that anchors ask of code, as ``CodeReader``; each function loads its own part."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..anchors.claims import Claim, ClaimCount
    from ..anchors.definitions import FindSymbol, Outlined
    from ..anchors.project import Project, Unreadable


def finder(root: str, path: str) -> FindSymbol:
    """Return what finds symbols in one file, by its grammar where there is one."""
    from .symbols import find_best

    return find_best(root, path)


def parse(root: str, paths: Sequence[str]) -> FindSymbol:
    """Return what finds symbols in these files by their grammars."""
    from .symbols import find_by_grammar

    return find_by_grammar(root, paths)


def outline(texts: Mapping[str, bytes]) -> dict[str, list[Outlined]]:
    """Return everything that each of these texts defines."""
    from .symbols import outline

    return outline(texts)


def count(
    project: Project, claims: Sequence[Claim], revision: str = ""
) -> list[ClaimCount | Unreadable]:
    """Return what each claim finds in the files as they are, or as a commit has them."""
    from .claims import count

    return count(project, claims, revision)
