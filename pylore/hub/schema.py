"""Migrate the schema of a hub, check lines by a grammar there, and grant rights.

The grammar is made from ``core/lines.py``, as readers of stores use.
"""

from __future__ import annotations

import os
from functools import cache

from ..core.errors import StoreError
from ..core.ids import LONGEST_ID, MARK
from ..core.lines import (
    CHOICES,
    COMMIT,
    DEEPEST,
    FIELDS,
    LARGEST,
    LONG,
    RELATION,
    REQUIRED,
    SCOPE,
    STAMP,
    TIME,
    TYPE,
    record_line,
)
from ..core.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .connection import Hub


_FUNCTION = """
CREATE OR REPLACE FUNCTION lore.fault(kind text, line text, fields jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $grammar$
DECLARE
  unprintable constant text := '[{unprintable}]';
BEGIN
  RETURN CASE {whole} ELSE CASE kind {kinds} END END;
END $grammar$;
INSERT INTO lore.meta VALUES ('longest', '{longest}')
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_NOT = "is not a line of an export: "

_IDS = {
    "node": ("fields->>'id'",),
    "edge": ("fields->>'from_id'", "fields->>'to_id'"),
    "state": ("fields->>'state_of'",),
    "edge_state": ("fields->'history_of'->>0", "fields->'history_of'->>1"),
    "anchor": ("fields->>'anchor_of'",),
    "anchor_state": ("fields->>'anchor_history_of'",),
    "purged": ("fields->>'purged'",),
}
"""Where the ids stand in a line of each kind."""

STAMP_IN_JSON = STAMP.replace("\\", "\\\\")
_RULES = {
    "text": ("string", ""),
    "string": ("string", ""),
    "moment": ("string", f"TEXT !~ '^(?:{TIME})?$'"),
    "fraction": ("number", "NOT VALUE::numeric BETWEEN 0 AND 1"),
    # jsonb does not say whether a number has an exponent: the line itself does.
    "count": ("number", "line::json->>'NAME' !~ '^(-0|[0-9]{1,16})$' OR "
     f"VALUE::numeric > {LARGEST}"),
    "object": ("object null", ""),
    "tags": ("array string", """VALUE @? 'strict $[*] ? (@.type() != "string")'"""),
    "stamp": ("string", f"TEXT !~ '^{STAMP}$'"),
    "seen": ("array", f"""VALUE @? 'strict $[*] ? (@.type() != "string"
      || !(@ like_regex "^{STAMP_IN_JSON}$"))'"""),
    "stamps": ("object", f"""VALUE @? 'strict $.* ? (@.type() != "string"
      || !(@ like_regex "^({STAMP_IN_JSON})?$"))'"""),
    **{name: ("string", f"TEXT <> ALL ('{{{','.join(words)}}}')")
       for name, words in CHOICES.items()},
}  # fmt: skip
"""Each rule: the types of JSON that it takes, and what it does not take of the first of these."""

_WORDS = {
    "text": "a string", "string": "a string", "moment": "a time", "fraction": "from 0 to 1",
    "count": "a whole number", "object": "a JSON object", "tags": "a list of strings",
    "stamp": "the stamp of a change", "seen": "a list of stamps of changes",
    "stamps": "an object of stamps of changes",
    **{name: f"one of {', '.join(words)}" for name, words in CHOICES.items()},
}  # fmt: skip
"""Each rule in a message."""

_KINDS = (*_IDS, "type", "relation")


def grammar(max_text: int) -> str:
    """Return the SQL that makes ``lore.fault``, for texts of at most ``max_text`` bytes, and keeps
    how long a line may be."""
    longest = record_line(max_text)
    kinds = (f"WHEN '{kind}' THEN CASE {' '.join(_faults(kind, max_text))} END" for kind in _KINDS)
    return _FUNCTION.format(
        unprintable=_unprintable(), whole=" ".join(_whole(longest)), kinds="\n  ".join(kinds),
        longest=longest,
    )  # fmt: skip


def _when(condition: str, why: str) -> str:
    return f"WHEN {condition} THEN '{why}'\n "


def _whole(longest: int) -> Iterator[str]:
    """Yield what holds for lines of each kind."""
    yield _when(f"octet_length(line) > {longest}", f"is longer than {longest} bytes")
    yield _when("fields IS NULL", f"{_NOT}not JSON that a store takes")
    yield _when("jsonb_typeof(fields) <> 'object'", f"{_NOT}not a JSON object")
    yield _when("kind = ''", f"{_NOT}of no kind that this hub knows")
    brackets = " - ".join(f"octet_length(replace(line, '{one}', ''))" for one in "[{")
    of_containers = '(@.type() == "object" || @.type() == "array")'
    yield _when(
        f"2 * octet_length(line) - {brackets} > {DEEPEST} AND jsonb_path_exists("
        f"fields, 'strict $.**{{{DEEPEST}}} ? {of_containers}')",
        f"is nested more than {DEEPEST} deep",
    )
    too_large = '(@.type() == "number" && (@ > 1.7e308 || @ < -1.7e308))'
    yield _when(
        f"jsonb_path_exists(fields, 'strict $.** ? {too_large}')", "has a number that is too large"
    )


def _faults(kind: str, max_text: int) -> Iterator[str]:
    """Yield what holds for lines of one kind."""
    rules = FIELDS[kind]
    for name in REQUIRED.get(kind, ()):
        yield _when(f"coalesce(fields->>'{name}', '') = ''", f"{_NOT}{name} is missing")
    yield from _of_names(kind)
    for name, rule in rules.items():
        types, beyond = _RULES[rule]
        first, *others = types.split()
        allowed = "', '".join([first, *others, "null"])
        no = f"jsonb_typeof(fields->'{name}') NOT IN ('{allowed}')"
        if beyond:
            no += f" OR CASE jsonb_typeof(fields->'{name}') WHEN '{first}' THEN {beyond} END"
        for word, sql in (("TEXT", f"(fields->>'{name}')"), ("VALUE", f"(fields->'{name}')")):
            no = no.replace(word, sql)
        is_no = f"{_NOT}{name} is not {_WORDS[rule]}"
        yield _when(no.replace("NAME", name), is_no)
    if "body" in rules:
        for name in LONG:
            yield _when(f"octet_length(fields->>'{name}') > {max_text}",
                        f"{name} is longer than {max_text} bytes (max_text)")  # fmt: skip


def _of_names(kind: str) -> Iterator[str]:
    """Yield what holds for the ids and the names in a line."""
    for id in _IDS.get(kind, ()):
        yield _when(_unless(id, _is_id(id)), f"{_NOT}its id is not valid")
    if kind == "node":
        other = "fields->>'type' IS DISTINCT FROM split_part(fields->>'id', '-', 1)"
        yield _when(f"fields ? 'type' AND {other}", f"{_NOT}its id is of another type")
    elif kind == "edge_state":
        yield _when("jsonb_array_length(fields->'history_of') <> 3 OR fields @? "
                    """'strict $.history_of[*] ? (@.type() != "string")'""",
                    f"{_NOT}history_of is not a list of three names")  # fmt: skip
    if kind in ("edge", "edge_state"):
        a, b = _IDS[kind]
        relation = "fields->>'relation'" if kind == "edge" else "fields->'history_of'->>2"
        yield _when(_unless(relation, _is_relation(relation)),
                    f"{_NOT}its relation is not valid")  # fmt: skip
        yield _when(f"{a} = {b}", "links a record to itself")
    elif kind == "relation":
        name = "fields->>'declare_relation'"
        yield _when(_unless(name, _is_relation(name)), f"{_NOT}its name is not valid")
    elif kind == "type":
        name = "fields->>'declare_type'"
        yield _when(_unless(name, f"{name} ~ '^{TYPE}$'"), f"{_NOT}its name is not valid")
    elif kind in ("anchor", "anchor_state"):
        path = "fields->>'path'"
        yield _when(f"{path} ^@ '/' OR {path} ~ '(^|/)[.][.](/|$)'",
                    "has a path that leads out of the project")  # fmt: skip
        yield _when(f"fields->>'commit_id' !~ '^({COMMIT})?$'",
                    f"{_NOT}commit_id is not the hash of a commit")  # fmt: skip


def _unless(name: str, condition: str) -> str:
    """Return the SQL for what is no string for which this holds."""
    value = "->".join(name.rsplit("->>", 1))
    return f"NOT coalesce(jsonb_typeof({value}) = 'string' AND {condition}, false)"


def _is_id(id: str) -> str:
    plain = f"split_part({id}, '{MARK}', 1)"
    scope = f"substr({id}, strpos({id}, '{MARK}') + {len(MARK)})"
    return (
        f"{plain} ~ '^{TYPE}- *[^ ]' AND length({id}) <= {LONGEST_ID}"
        f" AND ({id} ~ '^[ -~]*$' OR {id} !~ unprintable)"
        f" AND (strpos({id}, '{MARK}') = 0 OR {id} ~ '^(file|symbol)-' OR {scope} ~ '^{SCOPE}$')"
    )


def _is_relation(name: str) -> str:
    return f"{name} ~ '^{RELATION}({MARK}{SCOPE})?$'"


@cache
def _unprintable() -> str:
    """Return the letters that no id has, as ranges of a regular expression."""
    found: list[list[int]] = []
    for code in range(1, 0x110000):
        if not 0xD800 <= code <= 0xDFFF and not chr(code).isprintable():
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return "".join(f"\\U{first:08X}-\\U{last:08X}" for first, last in found)


ROLES = ("reader", "writer", "curator")

_LET = "SELECT lore.let(%s, %s, %s)"
_BAR = "SELECT lore.bar(%s, %s)"
_KNOWN = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)"
_AUDIT = """
SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), role, client, action, kind,
  owner, detail, scope
FROM lore.audit WHERE at >= %s::timestamptz ORDER BY seq
"""
_AUDITED = ("at", "role", "client", "action", "kind", "id", "detail", "scope")


class Rights:
    """What whoever keeps a hub asks of it, each in a transaction of its own."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def is_role(self, name: str) -> bool:
        """Return whether the server has a role of this name."""
        return bool(self._hub.ask(_KNOWN, [name])[0][0])

    def let(self, name: str, role: str, scope: str = "") -> None:
        """Makes somebody a reader, a writer or a curator, and a member of a scope, too."""
        self._hub.ask(_LET, [name, role, scope])

    def bar(self, name: str, scope: str = "") -> bool:
        """Takes a scope away, or all there is; whether there was anything."""
        return bool(self._hub.ask(_BAR, [name, scope])[0][0])

    def scopes(self, name: str) -> list[str]:
        """Return those that somebody has been let into by name."""
        rows = self._hub.ask("SELECT scope FROM lore.members WHERE role = %s ORDER BY 1", [name])
        return [str(scope) for (scope,) in rows]

    def audit(self, since: str = "") -> Sequence[dict[str, Any]]:
        """Return who changed what from this time on, the oldest first."""
        rows = self._hub.ask(_AUDIT, [since or "-infinity"])
        return [dict(zip(_AUDITED, row, strict=True)) for row in rows]


FOLDER = os.path.join(os.path.dirname(__file__), "migrations")

_ALONE = """
DO $$ BEGIN
  IF to_regnamespace('lore') IS NULL THEN
    CREATE SCHEMA lore;
  END IF;
EXCEPTION WHEN duplicate_schema OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
  IF to_regclass('lore.meta') IS NOT NULL THEN
    LOCK TABLE lore.meta IN SHARE ROW EXCLUSIVE MODE;
  END IF;
END $$
"""
"""Makes the schema, or waits for whoever makes it, and for whoever changes it. An advisory lock
would be anybody's to hold."""

_SECONDS = 3600
"""What a migration may take: it may have all lines to write anew."""

_VERSION = """
SELECT to_regclass('lore.meta') IS NOT NULL
"""
_SET = """
INSERT INTO lore.meta VALUES ('version', %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_OWNER = "SELECT pg_get_userbyid(nspowner) = current_user FROM pg_namespace WHERE nspname = 'lore'"
_PATH = "SET LOCAL search_path = lore, pg_temp;\n"
"""What is not qualified is PostgreSQL's own: public may be anybody's to write to."""


def migrations() -> list[tuple[int, str]]:
    """(version, file), version 1 first."""
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".sql"))
    return [(int(name.partition("_")[0]), os.path.join(FOLDER, name)) for name in names]


def newest() -> int:
    """Return the version that this lore knows."""
    return migrations()[-1][0]


def version_of(hub: Hub) -> int:
    """Return the version of the hub's schema; 0: there is none."""
    if not hub.ask(_VERSION)[0][0]:
        return 0
    rows = hub.ask("SELECT value FROM lore.meta WHERE name = 'version'")
    return int(rows[0][0]) if rows else 0


def require_version(hub: Hub, version: int | None) -> None:
    """Goes on where the schema is that of this lore.

    Raises:
        StoreError: it is not.
    """
    here = newest()
    if version is None:
        raise StoreError(f"{hub.name}: has no hub in it: 'lore hub init URL' makes one")
    if version > here:
        raise StoreError(f"{hub.name}: is of schema version {version}, this lore knows {here}: "
                         "bring lore up to date")  # fmt: skip
    if version < here:
        raise StoreError(f"{hub.name}: is of schema version {version}, this lore has {here}: "
                         "whoever keeps the hub brings it there by 'lore hub init'")  # fmt: skip


def migrate(hub: Hub, max_text: int = 0) -> list[int]:
    """Bring the schema to the newest version, and return the versions that were made.

    Texts of records may have ``max_text`` bytes there; 0: what the setting is by default.

    Raises:
        StoreError: it is newer than this lore knows, or the role may not make it.
    """
    before = version_of(hub)
    if before > newest():
        require_version(hub, before)
    made = []
    for version, path in migrations():
        if version <= before:
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if _carried_out(hub, version, text):
            made.append(version)
    with hub.transaction():
        _make_schema(hub)  # so that nobody else writes the function meanwhile
        hub.ask(grammar(max_text or Settings().max_text))
    hub.ask("SELECT lore.hello()", seconds=_SECONDS)  # which has all to do in a restored dump
    return made


def _carried_out(hub: Hub, version: int, text: str) -> bool:
    """Return whether the file of this version was carried out now, and not by somebody else
    before."""
    with hub.transaction():
        _make_schema(hub)
        if version_of(hub) >= version:
            return False
        hub.ask(_PATH + text, seconds=_SECONDS)
        hub.ask(_SET, [str(version)])
    return True


def _make_schema(hub: Hub) -> None:
    """Make the schema where there is none, and let nobody else change it before this transaction
    ends. Who owns it could change what is made in it.

    Raises:
        StoreError: it is somebody else's.
    """
    hub.ask(_ALONE, seconds=_SECONDS)
    if not hub.ask(_OWNER)[0][0]:
        raise StoreError(f"{hub.name}: the schema 'lore' of this database is somebody else's: "
                         "connect as whoever made it, or take another database")  # fmt: skip
