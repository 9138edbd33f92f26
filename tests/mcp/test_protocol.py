"""What is answered to lines, be they messages or not: by the protocol's own schemas."""

from __future__ import annotations

import io
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_stores import new_store
from wire import META, MODERN, PREFIX, initialize, legacy, request, tool

from pylore.core.errors import UsageError
from pylore.core.json import dumps
from pylore.core.settings import Settings
from pylore.mcp.calls import TOOLS, checked, tools
from pylore.mcp.current_store import CurrentStore
from pylore.mcp.messages import LONGEST_LINE
from pylore.mcp.server import LEGACY, serve
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


class Lines(io.BytesIO):
    """Stdin that has been read to its end."""


def answers(
    folder: Path, lines: Iterable[Mapping[str, Any] | bytes], monkeypatch: pytest.MonkeyPatch,
    *, write: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """What a server in this process answers to some lines."""
    said = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
            for line in lines]  # fmt: skip
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    bugs: list[Exception] = []

    def report(error: Exception) -> str:
        bugs.append(error)
        return "a bug"

    environ = {"LORE_STORE": str(folder), "LORE_DIR": str(folder), "LORE_EMBEDDER": "none",
               "HOME": str(folder)}  # fmt: skip
    current = CurrentStore(environ, str(folder))
    serve(current, write=write, report=report,
          lines=Lines(b"".join(said)))  # fmt: skip
    current.close()
    assert not bugs, bugs
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


EVERY: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("tools/call", {"name": "lore_search", "arguments": {"query": "cookie", "depth": 1}}),
    ("tools/call", {"name": "lore_context", "arguments": {"question": "cookie"}}),
    ("tools/call", {"name": "lore_show", "arguments": {"ids": []}}),
    ("resources/read", {"uri": "lore:///guide"}),
    ("prompts/get", {"name": "recall", "arguments": {"task": "cookie"}}),
]


@pytest.mark.parametrize("version", [MODERN, *LEGACY])
def test_every_answer_is_what_the_schema_of_its_version_says(
    folder: Path, version: str, patch: pytest.MonkeyPatch
) -> None:
    methods = pytest.importorskip("mcp_types.methods")
    asked = [("server/discover", {}), *EVERY] if version == MODERN else [("ping", {}), *EVERY]
    make = request if version == MODERN else legacy
    lines: list[dict[str, Any] | bytes] = [] if version == MODERN else [initialize(version)]
    found = answers(folder, lines + [make(n, *what) for n, what in enumerate(asked)], patch)
    if version != MODERN:
        methods.validate_server_result("initialize", version, found.pop(0)["result"])
    assert [answer["id"] for answer in found] == [*range(len(asked))]
    for (method, _), answer in zip(asked, found, strict=True):
        methods.validate_server_result(method, version, answer["result"])


def test_what_is_wrong_is_an_error_with_its_code(folder: Path, patch: pytest.MonkeyPatch) -> None:
    types = pytest.importorskip("mcp_types")
    no_capabilities = {"_meta": {f"{PREFIX}protocolVersion": MODERN}}
    cases: list[tuple[dict[str, Any] | bytes, int]] = [
        (b"{\n", -32700),
        (b"\xff\xfe\n", -32700),
        (b'{"a":' * 5000 + b"\n", -32700),
        (b"7\n", -32600),
        (b"[]\n", -32600),
        (b"x" * (LONGEST_LINE + 5) + b"\n", -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 3}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        (tool(1, "lore_search", query="a\0b"), -32600),
        (tool(1, "lore_search", query="a\ud800b"), -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": 1e400}}\n', -32600),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}\n', -32600),
        (legacy(1, "tools/list"), -32602),
        (request(1, "no/such"), -32601),
        (request(1, "subscriptions/listen"), -32601),
        (request(1, "tools/list", {"cursor": "x"}), -32602),
        (tool(1, "lore_drop"), -32602),
        (tool(1, "lore_remember", type="note", text="x"), -32602),
        (request(1, "tools/call", {"name": 5}), -32602),
        (request(1, "resources/read", {"uri": "file:///etc/passwd"}), -32602),
        (request(1, "resources/read", {"uri": "lore:///note-00000000"}), -32602),
        (request(1, "prompts/get", {"name": "recall"}), -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": no_capabilities}, -32602),
        (legacy(1, "tools/list", {"_meta": {**META, f"{PREFIX}protocolVersion": "1900-01-01"}}),
         -32022),
    ]  # fmt: skip
    found = answers(folder, [line for line, _ in cases], patch)
    assert [answer["error"]["code"] for answer in found] == [code for _, code in cases]
    for answer in found:
        types.JSONRPCError.model_validate(answer) if "id" in answer else None
        assert "id" not in answer or answer["id"] == 1
    assert found[-1]["error"]["data"] == {"supported": [MODERN], "requested": "1900-01-01"}


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("lore_search", {}, "query is missing"),
        ("lore_search", {"query": "  "}, "query is empty"),
        (
            "lore_search",
            {"query": "x", "limit": 51},
            "limit is 51: give a whole number from 1 to 50",
        ),
        ("lore_search", {"query": "x", "depth": "2"}, 'depth is "2": give a whole number'),
        (
            "lore_search",
            {"query": "x", "typs": []},
            "unknown argument 'typs' (did you mean 'types'?)",
        ),
        ("lore_search", {"query": "x", "types": ["decisio"]}, "decisio"),
        ("lore_search", [1], "the arguments are [1]: give an object"),
        ("lore_show", {"ids": ["a-1"] * 21}, "ids has 21 items: give 1 to 20"),
        ("lore_show", {"ids": [3]}, "an item of ids is 3: give a text"),
        ("lore_show", {"ids": ["note-00000000"]}, "no node 'note-00000000'"),
        ("lore_related", {"id": "nowhere.py"}, "nowhere.py"),
        ("lore_context", {"question": "x", "budget": 100}, "budget is 100"),
        ("lore_remember", {"type": "note", "text": "x", "links": ["y"]}, "give ID:RELATION"),
        ("lore_remember", {"type": "note"}, "give type and text, or the id"),
        ("lore_remember", {"id": "note-1", "text": "x", "file": "y"}, "not text"),
        ("lore_remember", {"id": "note-1", "kind": "hash"}, "kind needs a file"),
        ("lore_feedback", {}, "no ids"),
    ],
)
def test_what_a_model_can_mend_is_an_answer_that_says_how(
    folder: Path, name: str, arguments: Any, said: str, patch: pytest.MonkeyPatch
) -> None:
    call = request(1, "tools/call", {"name": name, "arguments": arguments})
    (answer,) = answers(folder, [call], patch, write=True)
    assert answer["result"]["isError"] is True
    (block,) = answer["result"]["content"]
    assert block["text"].startswith("lore: ") and said in block["text"]
    assert block["text"].count("\n") == 1


def test_notifications_and_answers_are_not_answered(
    folder: Path, patch: pytest.MonkeyPatch
) -> None:
    lines: list[dict[str, Any] | bytes] = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/nothing", "params": [1]},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "none"}},
        {"jsonrpc": "2.0", "id": 4, "result": {}},
        b"\n",
    ]
    assert answers(folder, lines, patch) == []


def test_a_list_of_messages_is_for_the_one_version_that_has_them(
    folder: Path, patch: pytest.MonkeyPatch
) -> None:
    pair = json.dumps([legacy(1, "ping"), {"jsonrpc": "2.0", "method": "x"}, 5]).encode() + b"\n"
    alone = [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines: list[Any] = [initialize("2025-03-26"), pair, json.dumps(alone).encode() + b"\n"]
    found = answers(folder, lines, patch)[1:]
    both: Any = found[0]
    assert [[one.get("id"), one.get("result")] for one in both] == [[1, {}], [None, None]]
    assert len(found) == 1
    assert answers(folder, [initialize("2025-06-18"), pair], patch)[1]["error"]["code"] == -32600


def test_a_version_that_nobody_knows_gets_the_newest_with_a_handshake(
    folder: Path, patch: pytest.MonkeyPatch
) -> None:
    (answer,) = answers(folder, [initialize("2031-01-01")], patch)
    assert answer["result"]["protocolVersion"] == "2025-11-25"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=8,
)
METHODS = st.sampled_from(
    [method for method, _ in EVERY] + ["initialize", "ping", "server/discover"]
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([one.name for one in TOOLS]) | JSON,
        "arguments": st.dictionaries(
            st.sampled_from(sorted({key for one in TOOLS for key in one.properties})),
            JSON,
            max_size=4,
        )
        | JSON,
        "uri": st.text(max_size=20).map("lore:///".__add__) | JSON,
        "_meta": st.just(META) | JSON,
        "cursor": JSON,
        "requestId": JSON,
    },
)
LINES = st.one_of(
    st.binary(max_size=40),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.builds(
        lambda method, params, id: json.dumps(
            {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        ).encode(),
        METHODS | st.text(max_size=20),
        PARAMS | JSON,
        st.integers() | st.text(max_size=5) | JSON,
    ),
).map(lambda line: line.replace(b"\n", b" ") + b"\n")


@given(lines=st.lists(LINES, min_size=20, max_size=30))
def test_whatever_the_lines_are_all_requests_are_answered_in_their_order(
    folder: Path, lines: list[bytes]
) -> None:
    marked: list[dict[str, Any] | bytes] = []
    for number, line in enumerate(lines):
        if b"cancelled" not in line:
            marked += [line, request(f"mark-{number}", "server/discover")]
    with pytest.MonkeyPatch.context() as patch:
        found = answers(folder, marked, patch, write=True)
    marks = [one["id"] for one in found if isinstance(one, dict) and
             str(one.get("id")).startswith("mark-")]  # fmt: skip
    assert marks == [line["id"] for line in marked if isinstance(line, dict)]


def test_a_store_that_nobody_asks_is_let_go_of_and_opened_again(folder: Path) -> None:
    reading, writing = os.pipe()
    environ = {"LORE_STORE": str(folder), "LORE_DIR": str(folder), "LORE_EMBEDDER": "none"}
    current = CurrentStore(environ, str(folder))
    closed = threading.Event()
    close = current.close

    def told() -> None:
        close()
        closed.set()

    out = io.StringIO()
    asked = json.dumps(tool(1, "lore_search", query="cookie")).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch, os.fdopen(reading, "rb") as lines:
        patch.setattr(current, "close", told)
        patch.setattr("sys.stdout", out)
        patch.setattr("pylore.mcp.server._end_with_parent", lambda: None)
        options = {"write": False, "report": str, "lines": lines, "idle": 0.05}
        loop = threading.Thread(target=serve, args=(current,), kwargs=options)
        loop.start()
        os.write(writing, asked)
        assert closed.wait(10)
        os.write(writing, asked)
        os.close(writing)
        loop.join(10)
    said = [json.loads(line)["result"]["isError"] for line in out.getvalue().splitlines()]
    assert said == [False, False]


def test_a_model_pays_little_for_the_tools() -> None:
    listed = dumps([one.listed(annotated=True) for one in tools(write=True)])
    assert len(listed.encode()) < 5000
    for one in TOOLS:
        assert one.writes == (one.name in ("lore_remember", "lore_feedback"))
        assert re.match(r"[A-Z].*\. ", one.description), "what it does, then when to call it"


@given(value=JSON, one=st.sampled_from(TOOLS))
def test_arguments_fit_the_schema_or_are_refused(value: Any, one: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    try:
        found = checked(value, one.schema)
    except UsageError:
        return
    jsonschema.validate(found, one.schema)


def test_a_number_without_a_fraction_is_whole() -> None:
    search = next(one for one in TOOLS if one.name == "lore_search")
    found = checked({"query": "x", "limit": 5.0}, search.schema)
    assert found["limit"] == 5 and isinstance(found["limit"], int)
    for wrong in (5.5, 1e400, float("nan"), True):
        with pytest.raises(UsageError):
            checked({"query": "x", "limit": wrong}, search.schema)
