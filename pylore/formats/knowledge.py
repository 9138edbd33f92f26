"""The file that knowledge travels in by git: what people write, out of the lines of an export.

Left out is what a machine finds by itself (files, symbols, commits, runs, and edges that
are counted or computed), what is of one machine alone (verdicts, stamps, counts of reads,
folders outside of the project), and the past: of the states before it a record tells names.
So two stores with the same records write the same file.
"""

from __future__ import annotations

import json

from ..core.vocabulary import CO_CHANGES, NO_RECORDS, RUN_IDS
from ..records.canonical import GONE
from .lines import READS, line_of
from .merge_lines import anchor_key, both_sides, key_of, parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .merge_lines import Fields, Key

FILE = "knowledge.jsonl"
"""The name of the file, beside the store of a project."""

_DERIVED = frozenset({"similar_to", CO_CHANGES, "used_in_run"})
_NODE = '{"id": "'
_OF_THIS_MACHINE = ("verdict", "reason", "verified_at", "commit_id")


class KnowledgeFile:
    """The file as it is now: ``lines``, which can be read several times.

    What reads them raises LoreError for a broken one, with the file's name and the number.
    """

    def __init__(self, name: str, lines: Iterable[bytes]) -> None:
        self._name = name
        self._lines = lines

    def lines(self, exported: Iterable[str]) -> Iterator[str]:
        """Yield those of the lines of an export that are shared, in its order, as the file has
        them."""
        gone: dict[Key, Fields] = {}
        anchors: dict[Key, str] = {}
        said = self._anchors()
        for line in exported:
            if _is_shared_as_it_is(line):
                yield line
                continue
            fields = json.loads(line)
            if "anchor_history_of" in fields:
                _note_departure(gone, fields)
            elif "anchor_of" in fields:
                told = shared_anchor(fields)
                if told is not None:
                    key = key_of(told)[1:]
                    anchors[key] = line_of(_as_said(told, said.get(key, {})))
            else:
                told = shared(fields)
                if told is not None:
                    yield line_of(told)
        yield from anchors.values()
        for key in sorted(gone.keys() - anchors.keys()):
            yield line_of(gone[key])

    def changes(self, lines: Iterable[str]) -> dict[str, int]:
        """Return how many of these lines the file does not have, has otherwise, or has alone."""
        left = {key: line_of(fields) for fields, key, _ in parsed(self._name, self._lines)}
        counts = {"added": 0, "updated": 0, "removed": 0}
        for line in lines:
            old = left.pop(key_of(json.loads(line)), None)
            if old != line:
                counts["added" if old is None else "updated"] += 1
        counts["removed"] = len(left)
        return counts

    def _anchors(self) -> dict[Key, Fields]:
        """Return the anchors that the file has."""
        some = (line for line in both_sides(self._lines) if b'"anchor_of"' in line)
        found = parsed(self._name, some)
        return {key[1:]: fields for fields, key, _ in found if key[0] == "anchor_of"}


def _is_shared_as_it_is(line: str) -> bool:
    """Return whether this is the line of a record that nobody has read: most are, and need no
    parsing."""
    return line.startswith(_NODE) and _is_record(line[len(_NODE) :]) and not any(
        name in line for name in READS
    )  # fmt: skip


def _as_said(anchor: Fields, said: Fields) -> Fields:
    """Return an anchor with the fingerprint that the file has: another one is this machine's."""
    same = said.get("created_at") == anchor.get("created_at")
    return {**anchor, "hash": said["hash"]} if same and "hash" in said else anchor


def shared(fields: Fields) -> Fields | None:
    """Return what is shared of a line; None: nothing."""
    if "from_id" in fields:
        return _edge(fields)
    if "id" in fields and _is_record(fields["id"]):
        return {name: fields[name] for name in fields if name not in READS}
    told = ("declare_type", "declare_relation", "purged")
    if "purged" in fields and not _is_record(fields["purged"]):
        return None
    return fields if any(name in fields for name in told) else None


def _edge(fields: Fields) -> Fields | None:
    ends = (fields["from_id"], fields["to_id"])
    if fields["relation"] in _DERIVED or fields.get("source") == "system":
        return None
    if not any(map(_is_record, ends)) or any(map(_is_of_this_machine, ends)):
        return None
    return {name: fields[name] for name in fields if name not in READS}


def _is_record(id: str) -> bool:
    return id.partition("-")[0] not in NO_RECORDS


def _is_of_this_machine(id: str) -> bool:
    return id.startswith(RUN_IDS)


# --- anchors: where they lead to, and that they were taken away


def shared_anchor(fields: Fields) -> Fields | None:
    """Return what is shared of an anchor; None: nothing."""
    if fields.get("root") or not _is_record(fields["anchor_of"]):
        return None
    # Of a file that may change the fingerprint is what this machine has seen last.
    left_out = (*_OF_THIS_MACHINE, "hash") if fields["kind"] == "file" else _OF_THIS_MACHINE
    return {name: fields[name] for name in fields if name not in left_out}


def _note_departure(gone: dict[Key, Fields], fields: Fields) -> None:
    """Keep the last time that an anchor went from where it was: it must not come back there."""
    if fields["change"] in GONE and _is_record(fields["anchor_history_of"]):
        key = anchor_key(fields, "anchor_history_of")
        gone[key] = max(fields, gone.get(key, fields), key=_when_left)


def _when_left(fields: Fields) -> list[str]:
    return [fields["changed_at"], *map(str, fields.values())]
