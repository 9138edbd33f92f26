"""What is said of records that were changed on both sides."""

from __future__ import annotations

from ..core.text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..records.merge import Conflict

_NAMED = 10
_SIDES = {"ours": "here", "theirs": "there"}


def conflict_notes(conflicts: Sequence[Conflict]) -> list[str]:
    """Names the first ones, and how to see both states of one and to take the other one."""
    if not conflicts:
        return []
    notes = [_note(conflict) for conflict in conflicts[:_NAMED]]
    more = len(conflicts) - _NAMED
    rest = f"{more} more were changed on both sides; " if more > 0 else ""
    what = counted(len(conflicts), "conflict", "conflicts")
    return [*notes, f"{what}: {rest}'lore show ID --history' has both states, "
                    "'lore restore ID --at N' takes the other one"]  # fmt: skip


def _note(conflict: Conflict) -> str:
    stands = f"what is {_SIDES[conflict.stands]} stands"
    if not conflict.forgotten:
        return f"{conflict.id} was changed here and there: {stands}"
    edited = "ours" if conflict.forgotten == "theirs" else "theirs"
    where, other = _SIDES[conflict.forgotten], _SIDES[edited]
    if conflict.stands == edited:
        return f"{conflict.id} was forgotten {where}, and edited {other} after it: {stands}"
    return f"{conflict.id} was edited {other}, and forgotten {where} after it: {stands}"
