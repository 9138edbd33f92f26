"""What a hub takes and what a store reads: held against each other, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hub_lines import AT, note
from hubs import PeopledHub
from new_stores import new_store
from samples import some

from pylore.core.settings import Settings
from pylore.formats.jsonl import import_lines
from pylore.graph.relations import fold
from pylore.hub.schema import grammar
from pylore.store import Store

LINES: dict[str, dict[str, Any]] = {
    "node": {
        "id": "note-a", "type": "note", "title": "A", "body": "b", "status": "staged",
        "source": "user_edit", "confidence": 0.5, "category": "x", "tags": ["t"], "file": "a.md",
        "line_start": 1, "line_end": 2, "data": {"why": "w"}, "created_at": AT, "updated_at": AT,
        "accessed_at": AT, "access_count": 3, "invalidated_at": AT, "changed_at": AT,
        "was": [f"{AT} 0123456789"], "stamps": {"*": f"{AT} 0123456789", "title": ""},
    },
    "edge": {
        "from_id": "note-a", "to_id": "note-b@@red", "relation": "relates_to", "weight": 1,
        "source": "user_edit", "status": "confirmed", "metadata": {"at": [1]}, "created_at": AT,
    },
    "state": {
        "state_of": "note-a", "stamp": f"{AT} 0123456789", "title": "A", "updated_at": AT,
        "tags": ["a"], "without": ["b"], "data": {"why": None}, "lacked": ["x"],
        "base": 1,
    },
    "edge_state": {
        "history_of": ["note-a", "note-b", "uses"], "weight": 0.5, "source": "file",
        "status": "confirmed", "metadata": {}, "stamp": f"{AT} 0123456789",
    },
    "anchor": {
        "anchor_of": "note-a", "kind": "symbol", "path": "src/a.py", "detail": "f",
        "verdict": "valid", "commit_id": "9a3a46f", "created_at": AT, "verified_at": AT,
    },
    "anchor_state": {
        "anchor_history_of": "note-a", "kind": "file", "path": "a.py", "verdict": "valid",
        "reason": "r", "stamp": f"{AT} 0123456789",
    },
    "purged": {"purged": "note-gone", "at": AT},
    "type": {"declare_type": "recipe", "description": "d"},
    "relation": {"declare_relation": "eats", "weight": 0.5, "backward_weight": 0.1},
}  # fmt: skip
"""A line of each kind, as exports have it."""

ODD: tuple[Any, ...] = (
    None, True, "", " ", "x", 0, 1, 2, -1, 0.5, 1.5, 1e300, 1 << 53, (1 << 53) - 1, [], ["x"], [1],
    [None], {}, {"a": {"b": [1]}}, "2026-01-31", "2026-13-31", "2026-01-31T12:00:00Z ", AT + "\n",
    "9999-01-01T00:00:00Z", "2026-01-31 12:00", "NOTE-a", "note", "note-", "note- ", "-a", "nöte-a",
    "note-\t", "note-\u200b", "note-\xa0x", "note-é日本", "note-a@@", "note-a@@Red", "note-a@@r@@b",
    "note-@@red", "file-a@@b", "symbol-a.py::f@@g", "note-" + "x" * 995, "note-" + "x" * 996,
    "confirmed", "gone", "file", "Uses", "uses-it", "1uses", "u" * 64, "u" * 65, "uses@@red",
    "uses@@", "../a", "/a", "a/../b", "a/..b", "9A3a", "--output", ["2026 0123456789"],
    {"title": "2026-01-31 0123456789"}, {"a": "", "b": 1},
    ["2026  0123456789"], [f"{AT} 012345678"], ["note-a", "note-a", "uses"], ["note-a", "note-b"],
    "a\\b\"c", "\x7f", "é" * 40,
)  # fmt: skip

START = f'{{"id": "note-a", "updated_at": "{AT}", '
RAW = (
    "", "{", "[]", "1", "null", '"x"', '{"id": "note-a"', '{"id": "note-a\\u0000"}',
    *(f"{START}{rest}}}" for rest in (
        '"body": "\\ud800"', '"body": "a\\u0000"', '"confidence": NaN', '"confidence": 1e999',
        '"line_start": 1e3', '"line_start": 1.0', '"line_start": -0', '"data": {"x": 1e999}',
        f'"data": {{"x": -{"9" * 400}.5}}', '"data": {"x": 1e-999}',
        *(f'"x": {"[" * deep}1{"]" * deep}' for deep in (99, 100, 30000)),
        '"x": ' + '{"a":' * 99 + "{}" + "}" * 99,
        *(f'"title": "{title}"' for title in ("x" * 2001, "é" * 1001, "x" * 2000)),
    )),
)  # fmt: skip
"""Lines with what ``json`` does not write, and of which the hub may read other numbers."""

SETTINGS = Settings().changed([("max_text", "2000")], "this test")
ASKED = """
SELECT lore.fault(t.kind, t.line, t.fields) FROM lore.told(%s) t ORDER BY n
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with new_store(str(tmp_path_factory.mktemp("reader"))) as store:
        yield store


@pytest.fixture(scope="module")
def small(hub: PeopledHub) -> PeopledHub:
    hub.do(grammar(SETTINGS.max_text))
    return hub


def faults(hub: PeopledHub, lines: list[str]) -> list[str | None]:
    return [why for (why,) in hub.do(ASKED, (json.dumps([[AT, line] for line in lines]),))]


def skipped(store: Store, lines: list[str]) -> dict[int, str]:
    """Return what a store does not read of these lines, by place, each with the reason."""
    done = import_lines(store, SETTINGS, None, [line.encode() for line in lines], skip_bad=True,
                        new_relations=True, new_types=True)  # fmt: skip
    return {int(place.removeprefix("line ")) - 1: why for place, why in done.skipped}


def changed(kind: str) -> Iterator[str]:
    """Lines of a kind, each without a field or with another value in one."""
    for name in LINES[kind]:
        rest = {key: value for key, value in LINES[kind].items() if key != name}
        yield json.dumps(rest)
        for value in ODD:
            yield json.dumps({**LINES[kind], name: value}, ensure_ascii=False)


@pytest.mark.parametrize("kind", LINES)
def test_what_exports_have_is_taken_and_read(small: PeopledHub, store: Store, kind: str) -> None:
    line = json.dumps(LINES[kind])
    assert faults(small, [line]) == [None]
    assert skipped(store, [line]) == {}


@pytest.mark.parametrize("kind", LINES)
def test_what_a_hub_takes_every_store_reads(small: PeopledHub, store: Store, kind: str) -> None:
    lines = some([*changed(kind)], 4)
    why_not = skipped(store, lines)
    taken = [place for place, why in enumerate(faults(small, lines)) if why is None]
    assert [(lines[place], why_not[place]) for place in taken if place in why_not] == []


BY_HAND = ("updated_at", "created_at")
"""Without these a line is an edit by hand for a store, and nothing for a hub."""


def is_as_exported(fields: dict[str, Any]) -> bool:
    """Return whether the name of a relation is what an import, which folds it, would make of it."""
    name = fields.get("declare_relation")
    return not isinstance(name, str) or name.partition("@@")[0] == fold(name.partition("@@")[0])


@pytest.mark.parametrize("kind", ["node", "anchor", "anchor_state", "purged", "type", "relation"])
def test_what_every_store_reads_a_hub_takes(small: PeopledHub, store: Store, kind: str) -> None:
    dating = [name for name in BY_HAND if name in LINES[kind]]
    dated = [
        line for line in some([*changed(kind)], 4)
        if all(json.loads(line).get(name) for name in dating)
    ]  # fmt: skip
    lines = [line for line in dated if is_as_exported(json.loads(line))]
    why_not = skipped(store, lines)
    refused = [(place, why) for place, why in enumerate(faults(small, lines)) if why]
    assert [(lines[place], why) for place, why in refused if place not in why_not] == []


def test_lines_that_are_no_plain_json_are_read_alike(small: PeopledHub, store: Store) -> None:
    why_not = skipped(store, [*RAW])
    said = faults(small, [*RAW])
    assert [
        RAW[n][:90] for n, why in enumerate(said) if RAW[n] and (why is None) == (n in why_not)
    ] == []


def test_one_bad_line_stops_no_other(own_hub: PeopledHub) -> None:
    own_hub.do(grammar(SETTINGS.max_text))
    long = note("note-big", body="x" * (SETTINGS.max_text + 1))[1]
    far = note("note-far", line_start=1 << 60)[1]
    bad = ["", "{", '{"id": "note-x\\u0000"}', "[" * 30000, long, far]
    lines = [[f"{AT} {n}", line] for n, line in enumerate(bad)]
    refused = own_hub.push("ann", *lines, note("note-good", line_start=1 << 50))
    assert [place for place, _ in refused] == [*range(len(bad))]
    assert own_hub.do("SELECT line_start FROM lore.nodes WHERE id = 'note-good'") == [(1 << 50,)]
