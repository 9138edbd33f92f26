"""The functions of code for anchors, as ``CodeReader``; each loads only the part it needs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..anchors.claims import Claim, ClaimCount
    from ..anchors.definitions import Definition
    from ..anchors.project import Project, Unreadable


def outline(texts: Mapping[str, bytes]) -> dict[str, list[Definition]]:
    from .symbols import outline

    return outline(texts)


def count(project: Project, claims: Sequence[Claim]) -> list[ClaimCount | Unreadable]:
    from .claims import count

    return count(project, claims)
