"""Test responses to lines against the schemas of the protocol."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from wire import META, MODERN, PREFIX, answers, initialize, legacy, request, served, text_of, tool

from pylore.core.errors import UsageError
from pylore.core.settings import Settings
from pylore.mcp.arguments import read, schema
from pylore.mcp.server import LEGACY, LONGEST_LINE
from pylore.mcp.tools import TOOLS
from pylore.records.records import Records


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two records that are linked."""
    folder = tmp_path_factory.mktemp("data")
    with new_store(str(folder)) as store:
        records = Records(store, Settings(), None)
        first = records.add("decision", "Sessions are signed tokens in a cookie")
        records.add("lesson", "Rotate the keys", links=[(first.id, "derived_from")])
    return folder


def lines_of(*messages: Any) -> bytes:
    """Return messages as lines; bytes stay as they are."""
    return b"".join(
        one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages
    )


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/call", {"name": "lore_search", "arguments": {"query": "cookie", "depth": 1}}),
    ("tools/call", {"name": "lore_context", "arguments": {"question": "cookie"}}),
    ("tools/call", {"name": "lore_show", "arguments": {"ids": []}}),
]


@pytest.mark.parametrize("version", [MODERN, *LEGACY])
def test_responses_fit_the_schema_of_the_version(folder: Path, version: str) -> None:
    methods = pytest.importorskip("mcp_types.methods")
    is_modern = version == MODERN
    asked = [("server/discover" if is_modern else "ping", {}), *CALLS]
    make, begin = (request, []) if is_modern else (legacy, [initialize(version)])
    sent = [make(number, *call) for number, call in enumerate(asked)]
    found = answers(folder, lines_of(*begin, *sent))
    if not is_modern:
        methods.validate_server_result("initialize", version, found.pop(0)["result"])
    assert [answer["id"] for answer in found] == [*range(len(asked))]
    for (method, _), answer in zip(asked, found, strict=True):
        methods.validate_server_result(method, version, answer["result"])


def test_wrong_requests_have_the_code_of_their_error(folder: Path) -> None:
    types = pytest.importorskip("mcp_types")
    no_capabilities = {"_meta": {f"{PREFIX}protocolVersion": MODERN}}
    unknown_version = {"_meta": {**META, f"{PREFIX}protocolVersion": "1900-01-01"}}
    cases: list[tuple[dict[str, Any] | bytes, int]] = [
        (b"{\n", -32700),
        (b"\xff\xfe\n", -32700),
        (b'{"a":' * 5000 + b"\n", -32700),
        (b'[[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]]\n', -32600),
        (b"[]\n", -32600),
        (b"x" * (LONGEST_LINE + 5) + b"\n", -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        (tool(1, "lore_search", query="a\0b"), -32600),
        (tool(1, "lore_search", query="a\ud800b"), -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": 1e400}}\n', -32600),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}\n', -32600),
        (legacy(1, "tools/list"), -32602),
        (request(1, "no/such"), -32601),
        (request(1, "tools/list", {"cursor": "x"}), -32602),
        (tool(1, "lore_drop"), -32602),
        (tool(1, "lore_remember", type="note", text="x"), -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": no_capabilities}, -32602),
        (legacy(1, "tools/list", unknown_version), -32022),
    ]
    found = answers(folder, lines_of(*(line for line, _ in cases)))
    assert [answer["error"]["code"] for answer in found] == [code for _, code in cases]
    batch = [{"jsonrpc": "2.0", "id": id, "method": "ping"} for id in (7.0, "\ud800", "x")]
    whole = answers(folder, lines_of([*batch, {"jsonrpc": "2.0", "method": "none"}]))
    assert [(one.get("id"), "result" in one) for one in whole] == [(7, 1), (None, 0), ("x", 1)]
    for answer in found:
        if "id" in answer:
            types.JSONRPCError.model_validate(answer)
            assert answer["id"] == 1
    assert found[-1]["error"]["data"] == {"supported": [MODERN], "requested": "1900-01-01"}


@pytest.mark.parametrize(
    "params", ["NaN", "1" * 5000, "[" * 50_000, "tru", f'"{"x" * LONGEST_LINE}"']
)
def test_unreadable_request_gets_an_error_with_id(folder: Path, params: str) -> None:
    line = f'{{"jsonrpc": "2.0", "id": "a-1", "method": "ping", "params": {params}}}\n'
    (answer,) = answers(folder, lines_of(line.encode()))
    assert answer["id"] == "a-1" and answer["error"]["code"] in (-32700, -32600)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("lore_search", {}, "query is missing: give a text"),
        ("lore_search", {"query": ["a", "b"]}, 'query is ["a","b"]: give a text'),
        ("lore_search", {"query": "x", "limit": 51}, "limit is 51: give a whole number from 1 to"),
        ("lore_search", {"query": "x", "limit": True}, "limit is true: give a whole number"),
        ("lore_search", {"query": "x", "types": ["decisio"]}, "decisio"),
        ("lore_show", {"ids": ["a-1"] * 51}, "give at most 50 items"),
        ("lore_show", {"ids": ["note-00000000"]}, "no node 'note-00000000'"),
        ("lore_related", {"id": "nowhere.py\n\u202e"}, "nowhere.py ?"),
        ("lore_remember", {"type": "note", "text": "x", "links": ["y"]}, "give ID:RELATION"),
        ("lore_remember", {"type": "goal", "text": "x"}, "give one of decision, lesson"),
        ("lore_remember", {"id": "note-1", "kind": "hash"}, "kind needs a file"),
        ("lore_feedback", {}, "no ids"),
    ],
)
def test_errors_explain_the_correction(folder: Path, name: str, arguments: Any, said: str) -> None:
    call = request(1, "tools/call", {"name": name, "arguments": arguments})
    (answer,) = answers(folder, lines_of(call), write=True)
    assert answer["result"]["isError"] is True
    text = text_of(answer)
    assert text.startswith("lore: ") and said in text and text.count("\n") == 1


def test_notifications_and_responses_get_no_response(folder: Path) -> None:
    notes = (("initialized", {}), ("nothing", [1]), ("cancelled", {"requestId": ["none"]}))
    sent = [
        {"jsonrpc": "2.0", "method": f"notifications/{name}", "params": params}
        for name, params in notes
    ]
    assert answers(folder, lines_of(*sent, {"jsonrpc": "2.0", "id": 4, "result": {}}, b"\n")) == []


def test_unknown_version_gets_the_newest_with_a_handshake(folder: Path) -> None:
    (answer,) = answers(folder, lines_of(initialize("2031-01-01")))
    assert answer["result"]["protocolVersion"] == "2025-11-25"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda one: st.lists(one, max_size=4) | st.dictionaries(st.text(max_size=9), one, max_size=4),
    max_leaves=8,
)
METHODS = st.sampled_from(["tools/list", "tools/call", "initialize", "ping", "server/discover"])
NAMES = sorted({one.name for tool in TOOLS.values() for one in tool.parameters})
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([*TOOLS]) | JSON,
        "arguments": ARGUMENTS | JSON,
        "_meta": st.just(META) | JSON,
        "cursor": JSON,
    },
)
REQUESTS = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.integers() | st.text(max_size=5) | JSON,
        "method": METHODS | st.text(max_size=20),
        "params": PARAMS | JSON,
    }
)
LINES = st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" ") + b"\n")
LINES |= (JSON | REQUESTS).map(lambda value: json.dumps(value).encode() + b"\n")


@given(lines=st.lists(LINES, min_size=20, max_size=30))
def test_requests_between_any_lines_are_answered_in_order(folder: Path, lines: list[bytes]) -> None:
    sent, marks = [], []
    for number, line in enumerate(lines):
        if b"cancelled" not in line and b"lore_index" not in line:
            marks.append(f"mark-{number}")
            sent += [line, request(marks[-1], "server/discover")]
    found = answers(folder, lines_of(*sent), write=True)
    assert [id for one in found if (id := str(one.get("id"))).startswith("mark-")] == marks


def test_idle_store_is_closed_and_opened_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reading, writing = os.pipe()
    asked = lines_of(tool(1, "lore_search", query="cookie"))
    closed = threading.Event()
    with os.fdopen(reading, "rb") as lines, served(folder) as (current, server):
        close = current.close
        monkeypatch.setattr(current, "close", lambda: (close(), closed.set()))
        loop = threading.Thread(target=server.run, args=(lines, 0.05))
        loop.start()
        os.write(writing, asked)
        assert closed.wait(10)
        os.write(writing, asked)
        os.close(writing)
        loop.join(10)
    said = [json.loads(line)["result"]["isError"] for line in capsys.readouterr().out.splitlines()]
    assert said == [False, False]


@given(value=JSON, name=st.sampled_from([*TOOLS]))
def test_arguments_fit_the_schema_or_are_refused(value: Any, name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    parameters = TOOLS[name].parameters
    try:
        found = read(parameters, value)
    except UsageError:
        return
    given = {name: value for name, value in found.items() if value not in (None, (), "")}
    jsonschema.validate(json.loads(json.dumps(given)), schema(parameters))


def test_arguments_are_read_as_they_are_meant() -> None:
    search, related = TOOLS["lore_search"].parameters, TOOLS["lore_related"].parameters
    found = read(search, {"question": ["x"], "limit": 5.0, "hops": "2", "types": "note"})
    given = {"query": "x", "limit": 5, "depth": 2, "types": ("note",)}
    assert found == {**given, "files": (), "explain": False}
    assert isinstance(found["limit"], int)
    with pytest.raises(UsageError, match="unknown argument 'question'"):
        read(search, {"question": "x", "query": "y"})
    other = read(related, {"file": "a.py", "relations": ["imports"], "depth": 2, "types": None})
    assert other == read(related, {"id": "a.py", "edges": ["imports"], "hops": 2})
