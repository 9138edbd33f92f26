"""Conflicts of a merge: the fields that both sides changed, and the notes about a merge."""

from __future__ import annotations

from ..core.model import Record
from ..core.text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


def merge_notes(purges: Sequence[tuple[str, bool]], back: Sequence[str]) -> list[str]:
    """Return what is to be said of what was deleted elsewhere, or is ``back`` after that."""
    notes = []
    if back:
        what = _listed(back, "was", "were")
        notes.append(f"{what} deleted for good here, and edited elsewhere after that: back again")
    for id, lives in purges[:_NAMED]:
        after = ", and edited after that: it stays" if lives else ""
        notes.append(f"{id} was deleted for good elsewhere{after}")
    if len(purges) > _NAMED:
        notes.append(f"{len(purges) - _NAMED} more were deleted for good elsewhere")
    return notes


def notes_of_proposed(ids: Sequence[str], edited: Sequence[str]) -> list[str]:
    """Return what is to be said of records that were forgotten since a file has their purge, and
    of those that were ``edited`` after that."""
    notes = []
    if edited:
        one = edited[0]
        notes.append(f"{_listed(edited, 'was', 'were')} deleted for good elsewhere, and edited "
                     f"after that: others are told of the edits alone; 'lore restore {one}' tells "
                     f"all of it, 'lore forget --purge {one}' deletes it")  # fmt: skip
    if len(ids) == 1:
        id = ids[0]
        notes.append(f"{id} was deleted for good elsewhere, and is forgotten here: 'lore forget "
                     f"--purge {id}' deletes it, 'lore undo {id}' brings it back")  # fmt: skip
    elif ids:
        more = ", …" if len(ids) > _NAMED else ""
        notes.append(f"{len(ids)} records were deleted for good elsewhere, and are forgotten here "
                     f"({', '.join(ids[:_NAMED])}{more}): 'lore forget --purge --proposed' deletes "
                     "them, 'lore undo' brings them back")  # fmt: skip
    return notes


def notes_of_forgotten(ids: Sequence[str]) -> list[str]:
    """Return what is to be said of lines by hand for what is forgotten."""
    if not ids:
        return []
    them = "it" if len(ids) == 1 else "them"
    return [
        f"{_listed(ids, 'is', 'are')} forgotten and {'stays' if len(ids) == 1 else 'stay'} so: "
        f"'lore undo {ids[0] if len(ids) == 1 else 'ID'}' brings {them} back"
    ]


def notes_of_contested(edges: Sequence[Edge]) -> list[str]:
    """Return what is to be said of values that came in and stand beside another."""
    facts = [f"{edge.from_id} {edge.relation} {edge.to_id}" for edge in edges[:_NAMED]]
    notes = [f"{fact} stands beside another value, and the predicate has one: "
             f"'lore confirm {fact}' or another settles it" for fact in facts]  # fmt: skip
    if len(edges) > _NAMED:
        notes.append(f"{len(edges) - _NAMED} more stand beside another value")
    return notes


def _listed(ids: Sequence[str], one: str, many: str) -> str:
    """Return the first of the ids and how many more there are, with the verb."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"{', '.join(ids[:_NAMED])}{more} {one if len(ids) == 1 else many}"


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
