"""``lore mcp`` as a process: what a client that starts it relies on."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from homes import move_home
from store_places import copy_store, store_folder
from wire import LORE, lore, request, serving, text_of, tool

RECORDS = [
    {"id": "decision-cookie", "type": "decision", "title": "Sessions are tokens in a cookie",
     "body": "Sessions are signed tokens in a cookie. " * 8},
    {"id": "lesson-keys", "type": "lesson", "title": "Rotate the keys that sign tokens"},
    {"id": "note-clock", "type": "note", "title": "Clocks of servers differ"},
    {"from_id": "lesson-keys", "relation": "derived_from", "to_id": "decision-cookie"},
]  # fmt: skip


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with a store of its own, for tests that only read."""
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, tmp_path_factory.mktemp("home"))
        yield _project(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def project(shared: Path, tmp_path: Path) -> Path:
    """A copy of it, as a clone has it: not trusted."""
    copy = tmp_path / "a project"
    shutil.copytree(shared, copy)
    copy_store(os.environ["XDG_DATA_HOME"], shared, copy)
    return copy


def _project(folder: Path) -> Path:
    lore(folder, "init")
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    (folder / "records.jsonl").write_text(lines)
    lore(folder, "import", "records.jsonl", "-q")
    return folder


def test_answers_have_what_the_commands_print_without_what_says_nothing(shared: Path) -> None:
    with serving(shared) as wire:
        for call, words in (
            (tool(1, "lore_search", query="tokens"), ("search", "tokens", "-n", "5")),
            (tool(2, "lore_search", query="tokens cookie", depth=2, limit=1, types=["decision"]),
             ("search", "tokens cookie", "--graph-depth", "2", "-n", "1", "--type", "decision")),
            (tool(3, "lore_related", id="decision-cookie", hops=2, limit=1),
             ("related", "decision-cookie", "--hops", "2", "-n", "1")),
        ):  # fmt: skip
            answer = wire.ask(call)
            assert len(answer["result"]["content"]) == 1
            rows = json.loads(text_of(answer))
            printed = json.loads(lore(shared, *words, "--json"))
            assert [row["id"] for row in rows] == [row["id"] for row in printed]
            for row, whole in zip(rows, printed, strict=True):
                assert row["score"] == round(whole["score"], 2)
                assert row.get("hops", 0) == whole["hops"]
                assert None not in row.values()
                assert {*row} <= {"id", "title", "at", "snippet", "score", "hops", "path",
                                  "verdict", "weak"}  # fmt: skip
        explained = wire.ask(tool(4, "lore_search", query="tokens", explain=True))
        printed = lore(shared, "search", "tokens", "-n", "5", "--explain", "--json")
        assert text_of(explained) == printed
        # a text where a list is wanted is a list of one
        (node,) = json.loads(text_of(wire.ask(tool(5, "lore_show", ids=["lesson-keys"] * 2))))[:1]
        assert node == json.loads(text_of(wire.ask(tool(6, "lore_show", ids="lesson-keys"))))
        assert node["title"] == "Rotate the keys that sign tokens" and "status" not in node
        said = text_of(wire.ask(tool(7, "lore_context", question="tokens")))
        printed = json.loads(lore(shared, "context", "tokens", "--budget", "2000", "--json"))
        assert all(entry["id"] in said for entry in printed["included"])
        assert said.startswith("=== data ") and "```mermaid" not in said
        assert wire.end() == []


def test_a_hub_names_ten_edges_of_a_relation_and_counts_the_others(project: Path) -> None:
    for name in [f"src/part{number}.py" for number in range(14)]:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("from hub import meet\n")
    (project / "src/hub.py").write_text("def meet():\n    return 1\n")
    lore(project, "index", "--quiet")
    with serving(project) as wire:
        node = json.loads(text_of(wire.ask(tool(1, "lore_show", ids="hub.py"))))
        imports = [edge for edge in node["edges"] if edge["relation"] == "imports"]
        assert [(edge["direction"], edge["count"], len(edge["ids"])) for edge in imports] == [
            ("in", 14, 10)]  # fmt: skip
        found = json.loads(text_of(wire.ask(tool(2, "lore_related", id="hub.py", limit=3))))
        assert len(found) == 3
        for budget in (200, 500, 1000):
            asked = tool(budget, "lore_context", question="who meets in the hub", budget=budget)
            assert len(text_of(wire.ask(asked)).encode()) <= 4 * budget
        assert wire.end() == []


def test_reading_does_not_count_as_use(project: Path) -> None:
    lore(project, "add", "note", "a write, which counts reads in")
    before = json.loads(lore(project, "show", "lesson-keys", "--json"))["access_count"]
    with serving(project) as wire:
        for number in range(4):
            wire.ask(tool(number, "lore_show", ids=["lesson-keys"]))
            wire.ask(tool(f"c{number}", "lore_context", question="tokens"))
    lore(project, "add", "note", "another one")
    after = json.loads(lore(project, "show", "lesson-keys", "--json"))["access_count"]
    assert after == before + 1  # the first show


def test_long_answers_lose_whole_results_from_their_end_and_say_so(shared: Path) -> None:
    every = json.loads(lore(shared, "search", "tokens keys clocks", "--json"))
    assert len(every) == 3
    most = len(lore(shared, "search", "tokens keys clocks", "--explain", "--json").encode()) - 1
    with serving(shared, "--max-bytes", str(most)) as wire:
        answer = wire.ask(tool(1, "lore_search", query="tokens keys clocks", explain=True))
        blocks = [block["text"] for block in answer["result"]["content"]]
        assert [row["id"] for row in json.loads(blocks[0])] == [row["id"] for row in every[:-1]]
        assert blocks[1] == f"lore: 1 result left out: max_bytes is {most}\n"
        assert blocks[0] == lore(shared, "search", "tokens keys clocks", "--explain",
                                 "--max-bytes", str(most))  # fmt: skip
    with serving(shared, "--max-bytes", "1000") as wire:
        for call in (tool(1, "lore_show", ids=["decision-cookie", "note-clock"]),
                     tool(2, "lore_context", question="tokens")):  # fmt: skip
            answer = wire.ask(call)
            assert len(text_of(answer).encode()) <= 1000


def test_a_store_of_a_clone_is_read_only_until_it_is_trusted(project: Path) -> None:
    call = tool(1, "lore_remember", type="lesson", text="Check the clock first", why="skew",
                links=["note-clock:derived_from"], tags=["time"])  # fmt: skip
    with serving(project, "--write") as wire:
        refused = wire.ask(call)
        assert refused["result"]["isError"] and "lore trust" in text_of(refused)
        assert lore(project, "list", "--type", "lesson", "--ids") == "lesson-keys\n"
        lore(project, "trust")
        id = json.loads(text_of(wire.ask(call)))["id"]
        node = json.loads(lore(project, "show", id, "--json"))
        assert [node[key] for key in ("status", "source", "tags")] == [
            "staged",
            "conversation",
            ["time"],
        ]
        assert node["edges"][0]["id"] == "note-clock" and "skew" in str(node)
        # a link between two that are there, once, and staged; anchors of each kind, or nothing
        tied = tool(3, "lore_remember", id="note-clock", links=["lesson-keys:relates_to"],
                    file="clock.py::now")  # fmt: skip
        (project / "clock.py").write_text("def now():\n    return 1\n")
        assert [json.loads(text_of(wire.ask(tied)))["state"] for _ in "12"] == [
            "updated", "unchanged"]  # fmt: skip
        node = json.loads(lore(project, "show", "note-clock", "--json"))
        assert [(one["kind"], one["path"]) for one in node["anchors"]] == [("symbol", "clock.py")]
        new = {one["relation"]: one["status"] for one in node["edges"]}
        assert (new["relates_to"], new["anchored_to"]) == ("staged", "staged")
        assert node["file"] is None
        lost = tool(4, "lore_remember", type="learning", text="Lost", file="clock.py::never")
        assert wire.ask(lost)["result"]["isError"]
        globbed = tool(5, "lore_remember", type="learning", text="Kept", file="*.py", kind="glob")
        kept = json.loads(text_of(wire.ask(globbed)))["id"]
        assert lore(project, "list", "--type", "lesson", "--ids").split()[::-1] == [
            "lesson-keys", id, kept]  # fmt: skip
        rated = json.loads(text_of(wire.ask(tool(2, "lore_feedback", helpful=[id]))))
        assert [row["rating"] for row in rated] == ["helpful"]
        lore(project, "trust", "--revoke")
        assert wire.ask(call)["result"]["isError"]


def test_what_a_person_confirmed_or_forgot_an_agent_does_not_undo(project: Path) -> None:
    lore(project, "trust")
    id = json.loads(lore(project, "add", "lesson", "Measure first"))["id"]
    with serving(project, "--write") as wire:
        said = json.loads(
            text_of(wire.ask(tool(1, "lore_remember", type="lesson", text="Measure first")))
        )
        assert said == {"id": id, "state": "unchanged"}
        assert json.loads(lore(project, "show", id, "--json"))["status"] == "confirmed"
        lore(project, "forget", id)
        refused = wire.ask(tool(2, "lore_remember", type="lesson", text=" Measure first"))
        assert refused["result"]["isError"] and "forgotten" in text_of(refused)


def test_event_plugins_are_asked_and_told_of_what_an_agent_keeps(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for name, script in (
        ("pre-add", "grep -q secret && echo 'no secrets' >&2 && exit 1; exit 0"),
        ("post-add", f'echo "$LORE_STORE $PWD" >>"{own}/heard"; cat >>"{own}/heard"'),
    ):
        (own / f"lore-hook-{name}").write_text(f"#!/bin/sh\n{script}\n")
        (own / f"lore-hook-{name}").chmod(0o755)
    monkeypatch.setenv("LORE_PLUGIN_DIR", str(own))
    lore(project, "trust")
    with serving(project, "--write") as wire:
        refused = wire.ask(tool(1, "lore_remember", type="note", text="a secret"))
        assert refused["result"]["isError"]
        assert "lore-hook-pre-add: no secrets: nothing was written" in text_of(refused)
        kept = json.loads(text_of(wire.ask(tool(2, "lore_remember", type="note", text="plain"))))
        wire.ask(tool(3, "lore_search", query="plain"))  # it is answered when they have been told
    folder = store_folder(os.environ["XDG_DATA_HOME"], project)
    assert (own / "heard").read_text().splitlines() == [
        f"{folder} {project}", f'{{"event":"post-add","id":"{kept["id"]}","state":"added"}}',
    ]  # fmt: skip
    assert "a secret" not in lore(project, "list", "--type", "note")


def test_the_store_is_looked_up_at_every_call(project: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    call = tool(1, "lore_search", query="tokens")
    with serving(bare) as wire:
        assert len(wire.ask(request(0, "tools/list"))["result"]["tools"]) == 4
        assert "run 'lore init'" in text_of(wire.ask(call))
        lore(bare, "init")
        assert text_of(wire.ask(call)) == "[]\n"
        # another store in its place is opened, settings of a new config file hold
        data = os.environ["XDG_DATA_HOME"]
        shutil.rmtree(store_folder(data, bare))
        copy_store(data, project, bare)
        assert len(json.loads(text_of(wire.ask(call)))) == 2
        (bare / ".lore/.config").write_text("max_bytes=10\n")
        assert "give 0, or 1000" in text_of(wire.ask(call))
        (bare / ".lore/.config").write_text("fulltext_share=often\n")
        assert "fulltext_share" in text_of(wire.ask(call))
    with serving(tmp_path, "--store", str(store_folder(data, project)), "--write") as wire:
        assert len(json.loads(text_of(wire.ask(call)))) == 2
        answer = wire.ask(tool(2, "lore_remember", type="note", text="named by its user"))
        assert not answer["result"]["isError"]


def test_a_locked_store_is_read_and_a_write_waits_for_a_while(project: Path) -> None:
    lore(project, "trust")
    locking = (
        "import apsw, sys; c = apsw.Connection(sys.argv[1]); c.execute('begin immediate');"
        "print('locked', flush=True); sys.stdin.read()"
    )
    folder = store_folder(os.environ["XDG_DATA_HOME"], project)
    holder = subprocess.Popen(
        [sys.executable, "-I", "-c", locking, f"{folder}/search.db"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout and holder.stdout.readline()
    with serving(project, "--write", "--busy-timeout", "0.2") as wire:
        assert json.loads(text_of(wire.ask(tool(1, "lore_search", query="tokens"))))
        late = wire.ask(tool(2, "lore_remember", type="note", text="later"))
        assert late["result"]["isError"] and "another writer" in text_of(late)
        holder.communicate()
        assert not wire.ask(tool(3, "lore_remember", type="note", text="later"))["result"][
            "isError"
        ]


def test_what_is_cancelled_is_not_answered(shared: Path) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    with serving(shared) as wire:
        wire.send(*[tool(n, "lore_context", question="tokens keys", budget=8000)
                    for n in range(4)], cancel)  # fmt: skip
        assert [answer["id"] for answer in wire.end()] == [0, 1, 3]


@pytest.mark.parametrize("how", ["eof", "term", "parent"])
def test_it_ends_when_its_client_does(shared: Path, tmp_path: Path, how: str) -> None:
    if how == "parent":
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        script = f"exec 3<>'{fifo}'; bash '{LORE}' mcp <&3 & echo $!; sleep 60; :"
        parent = subprocess.Popen(["bash", "-c", script], cwd=shared, stdout=subprocess.PIPE)
        assert parent.stdout
        child = int(parent.stdout.readline())
        held = os.open(fifo, os.O_RDWR)  # so that its stdin stays open
        os.write(held, json.dumps(request(1, "server/discover")).encode() + b"\n")
        assert b"result" in parent.stdout.readline()  # it is up, and knows who its parent is
        subprocess.run(["pkill", "-9", "-P", str(parent.pid), "sleep"], check=False)
        parent.kill()
        parent.wait()
        _wait_until_gone(child)
        os.close(held)
        return
    with serving(shared) as wire:
        wire.ask(request(1, "server/discover"))
        if how == "eof":
            assert wire.end() == []
        else:
            wire.process.send_signal(signal.SIGTERM)
            assert wire.process.wait(timeout=10) == -signal.SIGTERM


def _wait_until_gone(process: int) -> None:
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("the server outlived its client")


def test_many_clients_use_one_store_while_it_is_written(project: Path) -> None:
    lore(project, "trust")

    def talk(number: int) -> list[str]:
        with serving(project, "--write") as wire:
            texts = []
            for turn in range(6):
                texts.append(text_of(wire.ask(tool(turn, "lore_search", query="tokens cookie"))))
                wire.ask(
                    tool(f"w{turn}", "lore_remember", type="note", text=f"{number} said {turn}")
                )
            assert wire.end() == []
            return texts

    for name in range(30):
        (project / f"m{name}.py").write_text(f"def f{name}():\n    return {name}\n")
    with ThreadPoolExecutor(9) as pool:
        index = pool.submit(lore, project, "index", "-q")
        texts = [text for found in pool.map(talk, range(8)) for text in found]
        index.result()
    assert all(json.loads(text)[0]["id"] == "decision-cookie" for text in texts)
    assert lore(project, "list", "--status", "staged", "--ids").count("note-") == 48
    assert json.loads(lore(project, "doctor", "--json"))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_is_served(shared: Path, mode: str) -> None:
    official = pytest.importorskip("mcp")
    server = official.StdioServerParameters(
        command="bash", args=[LORE, "mcp"], cwd=str(shared), env=dict(os.environ)
    )

    async def use() -> Any:
        async with official.Client(server, mode=mode) as client:
            names = [one.name for one in (await client.list_tools()).tools]
            found = await client.call_tool("lore_search", {"query": "tokens"})
            wrong = await client.call_tool("lore_show", {"ids": ["note-00000000"]})
            guide = await client.read_resource("lore:///guide")
            node = await client.read_resource("lore:///lesson-keys")
            prompt = await client.get_prompt("recall", {"task": "rotate keys"})
            return names, found, wrong, guide, node, prompt

    names, found, wrong, guide, node, prompt = asyncio.run(use())
    assert names == ["lore_search", "lore_related", "lore_show", "lore_context"]
    assert json.loads(found.content[0].text)[0]["id"] == "lesson-keys"
    assert wrong.is_error and wrong.content[0].text.startswith("lore: no node")
    assert "Ids are" in guide.contents[0].text
    assert "=== data " in node.contents[0].text and "lesson-keys" in node.contents[0].text
    assert prompt.messages[0].content.text.startswith("rotate keys\n")
