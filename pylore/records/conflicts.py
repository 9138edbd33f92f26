"""Notes about a merge: conflicts, purges, and facts that stand beside a rival."""

from __future__ import annotations

from ..core.model import Record
from ..core.text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.model import Edge

_NAMED = 10
"""Maximum of records that a note names."""


class Conflict(Record):
    """Fields of a record that were changed on both sides.

    ``stands`` is the side with the later values, ``ours`` or ``theirs``; the past has the earlier
    values. ``file`` is set if the other side is a document's file.
    """

    __slots__ = ("fields", "file", "id", "stands")

    def __init__(self, id: str, stands: str, file: str = "", fields: tuple[str, ...] = ()) -> None:
        self.id = id
        self.stands = stands
        self.file = file
        self.fields = fields


def conflicts_of(id: str, found: Mapping[str, str]) -> list[Conflict]:
    """Return the conflicts of a record from its fields in conflict, each with the later side."""
    sides = {
        side: tuple(sorted(name for name in found if found[name] == side))
        for side in ("ours", "theirs")
    }
    return [Conflict(id, side, fields=fields) for side, fields in sides.items() if fields]


def conflict_notes(conflicts: Sequence[Conflict]) -> list[str]:
    """Return a note for each of the first conflicts, and the commands to see and restore the other
    state."""
    if not conflicts:
        return []
    more = len(conflicts) - _NAMED
    rest = f"{more} more were changed on both sides; " if more > 0 else ""
    what = counted(len(conflicts), "conflict", "conflicts")
    return [
        *map(_note, conflicts[:_NAMED]),
        f"{what}: {rest}'lore show ID --history' has both "
        "states, 'lore undo ID --at N' takes the other one",
    ]


def _note(conflict: Conflict) -> str:
    side = "here" if conflict.stands == "ours" else "there"
    fields = f" ({', '.join(conflict.fields)})" if conflict.fields else ""
    for name, shown in (("data.", ""), ("tags.", "tag "), ("invalidated_at", "forgotten")):
        fields = fields.replace(name, shown)
    other = f"in {conflict.file}" if conflict.file else "there"
    return f"{conflict.id} was changed here and {other}{fields}: the version {side} stands"


_FATES = {
    "back": "deleted for good here, and edited elsewhere after that: back again",
    "purged": "deleted for good elsewhere",
    "kept": "deleted for good elsewhere, and edited after that: kept",
    "edited": "deleted for good elsewhere, and edited after that: only the edits are shared; "
    "'lore restore ID' shares all of it, 'lore forget --purge ID' deletes it",
    "proposed": "deleted for good elsewhere, and forgotten here: 'lore forget --purge --proposed' "
    "deletes it, 'lore undo ID' brings it back",
    "forgotten": "still forgotten: 'lore undo ID' brings it back",
}
"""Notes on records that were purged or forgotten here or elsewhere."""


def fate_notes(found: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note for each fate, a key of ``_FATES``, that has ids."""
    return [f"{_named(ids)}: {_FATES[name]}" for name, ids in found.items() if ids]


def contested_notes(edges: Sequence[Edge]) -> list[str]:
    """Return a note on facts with a rival, if their predicate has a single value."""
    facts = [f"{edge.from_id} {edge.relation} {edge.to_id}" for edge in edges]
    return (
        [
            f"{_named(facts)}: stands beside another value, and the predicate has one: "
            "'lore confirm A RELATION B' settles it"
        ]
        if facts
        else []
    )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
