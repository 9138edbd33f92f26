"""A repository → files, symbols, imports, calls, co-changes; and the ``CodeReader`` of anchors."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..anchors.claims import Claim, ClaimCount
    from ..anchors.definitions import Definition
    from ..anchors.project import Project, Unreadable

RULES, LARGEST, INDEXED, OWED = "code_rules", "code_largest", "code_indexed_at", "code_owed"


def outline(project: Project, texts: Mapping[str, bytes]) -> dict[str, list[Definition]]:
    """Call ``extract.outline``; the module is loaded on demand."""
    from .extract import outline

    return outline(project, texts)


def count(project: Project, claims: Sequence[Claim]) -> list[ClaimCount | Unreadable]:
    """Call ``claims.count``; the module is loaded on demand."""
    from .claims import count

    return count(project, claims)
