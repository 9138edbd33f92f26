"""Conflicts of a merge: the fields that both sides changed, and the notes about a merge."""

from __future__ import annotations

from ..core.model import Record
from ..core.text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.model import Edge
    from ..core.stamps import Stamped

_NAMED = 10
"""Records that a note names."""


class Conflict(Record):
    """A record of which fields were changed on both sides.

    Attributes:
        stands: ``ours`` or ``theirs``; the other values are in the past.
        forgotten: the side that had forgotten it, if one had.
        file: the other side, where that is the file of a document.
        fields: the fields.
    """

    __slots__ = ("fields", "file", "forgotten", "id", "stands")

    def __init__(
        self, id: str, stands: str, forgotten: str = "", file: str = "",
        fields: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.id = id
        self.stands = stands
        self.forgotten = forgotten
        self.file = file
        self.fields = fields


def conflicts_of(id: str, ours: Stamped, theirs: Stamped, found: dict[str, str]) -> list[Conflict]:
    """Return the conflicts of a record, one for each side of which a field stands."""
    end = "invalidated_at"
    gone = ""
    if end in found:
        gone = "ours" if ours.at(end)[1] else "theirs"
        found = {name: side for name, side in found.items() if side != found[end]}
        found[end] = "ours" if ours.at(end) > theirs.at(end) else "theirs"
    return [
        Conflict(id, side, gone if end in fields else "", fields=fields)
        for side in ("ours", "theirs")
        if (fields := tuple(sorted(name for name, stands in found.items() if stands == side)))
    ]


_FATES = {
    "back": "{were} deleted for good here, and edited elsewhere after that: back again",
    "purged": "{were} deleted for good elsewhere",
    "kept": "{were} deleted for good elsewhere, and edited after that: {they} {stay}",
    "edited": "{were} deleted for good elsewhere, and edited after that: others are told of the "
              "edits alone; 'lore restore {id}' tells all of it, 'lore forget --purge {id}' "
              "deletes it",
    "proposed": "{were} deleted for good elsewhere, and {are} forgotten here: "
                "'lore forget --purge {purge}' deletes {them}, 'lore undo {id}' brings {them} back",
    "forgotten": "{are} forgotten and {stay} so: 'lore undo {id}' brings {them} back",
}  # fmt: skip
"""Notes on records that were purged or forgotten here or elsewhere."""

_MANY = {
    "were": "were",
    "are": "are",
    "stay": "stay",
    "they": "they",
    "them": "them",
    "id": "ID",
    "purge": "--proposed",
}
_ONE = {"were": "was", "are": "is", "stay": "stays", "they": "it", "them": "it"}


def fate_notes(found: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note for each fate, a key of ``_FATES``, that has ids."""
    return [_fate(ids, _FATES[name]) for name, ids in found.items() if ids]


def _fate(ids: Sequence[str], fate: str) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    words = {**_ONE, "id": ids[0], "purge": ids[0]} if len(ids) == 1 else _MANY
    return f"{', '.join(ids[:_NAMED])}{more} {fate.format(**words)}"


def notes_of_contested(edges: Sequence[Edge]) -> list[str]:
    """Return what is to be said of values that came in and stand beside another."""
    facts = [f"{edge.from_id} {edge.relation} {edge.to_id}" for edge in edges[:_NAMED]]
    notes = [f"{fact} stands beside another value, and the predicate has one: "
             f"'lore confirm {fact}' or another settles it" for fact in facts]  # fmt: skip
    if len(edges) > _NAMED:
        notes.append(f"{len(edges) - _NAMED} more stand beside another value")
    return notes


_SIDES = {"ours": "here", "theirs": "there"}


def conflict_notes(conflicts: Sequence[Conflict]) -> list[str]:
    """Name the first ones, and how to see both states of one and to take the other one."""
    if not conflicts:
        return []
    notes = [_note(conflict) for conflict in conflicts[:_NAMED]]
    more = len(conflicts) - _NAMED
    rest = f"{more} more were changed on both sides; " if more > 0 else ""
    what = counted(len(conflicts), "conflict", "conflicts")
    return [*notes, f"{what}: {rest}'lore show ID --history' has both states, "
                    "'lore undo ID --at N' takes the other one"]  # fmt: skip


def _note(conflict: Conflict) -> str:
    stands = f"what is {_SIDES[conflict.stands]} stands"
    if conflict.file:
        return f"{conflict.id} was changed here and in {conflict.file}: {stands}"
    if not conflict.forgotten:
        return f"{conflict.id} was changed here and there{_in(conflict.fields)}: {stands}"
    edited = "ours" if conflict.forgotten == "theirs" else "theirs"
    where, other = _SIDES[conflict.forgotten], _SIDES[edited]
    if conflict.stands == edited:
        return f"{conflict.id} was forgotten {where}, and edited {other} after it: {stands}"
    return f"{conflict.id} was edited {other}, and forgotten {where} after it: {stands}"


def _in(fields: Sequence[str]) -> str:
    """Return which fields, for people: a tag and an entry of data by its name."""
    names = [name.replace("data.", "").replace("tags.", "tag ") for name in fields]
    return f" ({', '.join(names)})" if names else ""
