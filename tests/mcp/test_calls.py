"""Test calls of the tools of ``lore mcp``."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from commands import Lore
from wire import RECORDS, text_of, tool


@pytest.fixture
def project(lore: Lore) -> Lore:
    """A project with three records and an untrusted store."""
    lore.fill(*RECORDS)
    lore("trust", "--revoke")
    return lore


def answer(project: Lore, name: str, /, *words: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of a call of a server that is started with these words."""
    asked = json.dumps(tool(1, name, **arguments))
    result: dict[str, Any] = project("mcp", *words, stdin=f"{asked}\n").json["result"]
    return result


def call(project: Lore, name: str, /, *words: str, **arguments: Any) -> str:
    """Return the text of the result of a successful call."""
    result = answer(project, name, *words, **arguments)
    assert not result["isError"], result
    return text_of({"result": result})


def keep(project: Lore, **arguments: Any) -> dict[str, Any]:
    """Return the result of a successful ``lore_remember``."""
    row: dict[str, Any] = json.loads(call(project, "lore_remember", "--write", **arguments))
    return row


def refusal(project: Lore, **arguments: Any) -> str:
    """Return why ``lore_remember`` fails."""
    result = answer(project, "lore_remember", "--write", **arguments)
    assert result["isError"]
    return text_of({"result": result})


def test_agent_cannot_add_beyond_the_staged_limit(
    project: Lore, monkeypatch: pytest.MonkeyPatch
) -> None:
    project("trust")
    first = keep(project, type="note", text="one thing to know")
    monkeypatch.setattr("pylore.mcp.tools.MOST_STAGED", 10)
    assert "too many staged records" in refusal(project, type="note", text="another thing")
    assert keep(project, type="note", text="one thing to know")["state"] == "unchanged"
    project("confirm", first["id"])
    assert keep(project, type="note", text="another thing")["state"] == "added"


def test_folder_that_is_gone_is_named(project: Lore) -> None:
    project.patch.setenv("LORE_DIR", str(project.store))
    shutil.rmtree(project.project)
    result = answer(project, "lore_related", id="src/auth.py")
    assert result["isError"] and "check the disk and the folder" in text_of({"result": result})


def test_results_agree_with_the_commands(project: Lore) -> None:
    related = "related decision-cookie --hops 2 -n 1"
    for name, arguments, words in (
        ("search", {"query": "tokens"}, "search tokens -n 5"),
        ("search", {"query": "tokens", "depth": 2, "limit": 1}, "search tokens --depth 2 -n 1"),
        ("search", {"query": "keys", "types": ["decision"]}, "search keys --type decision"),
        ("related", {"id": "decision-cookie", "hops": 2, "limit": 1}, related),
    ):
        rows = json.loads(call(project, f"lore_{name}", **arguments))
        printed = project(*words.split()).json
        assert [row["id"] for row in rows] == [row["id"] for row in printed]
        for row, whole in zip(rows, printed, strict=True):
            assert row["score"] == round(whole["score"], 2)
            assert row.get("hops", 0) == whole["hops"] and None not in row.values()
            assert {*row} <= {*"id title at snippet score hops path verdict weak".split()}
    explained = call(project, "lore_search", query="tokens", explain=True)
    assert explained == project("search", "tokens", "-n", "5", "--explain").out
    # a text in place of a list is accepted
    (node,) = json.loads(call(project, "lore_show", ids=["lesson-keys"] * 2))[:1]
    assert node == json.loads(call(project, "lore_show", ids="lesson-keys"))
    assert node["title"] == "Rotate the keys that sign tokens" and "status" not in node
    context = call(project, "lore_context", question="tokens")
    included = project("context", "tokens", "--budget", "2000", "--json").json["included"]
    assert all(entry["id"] in context for entry in included)
    assert context.startswith("=== data ") and "```mermaid" not in context


def test_ten_edges_of_a_relation_are_named(project: Lore) -> None:
    for number in range(14):
        project.write(f"src/part{number}.py", "from hub import meet\n")
    project.write("src/hub.py", "def meet():\n    return 1\n")
    project("index")
    node = json.loads(call(project, "lore_show", ids="hub.py"))
    imports = [edge for edge in node["edges"] if edge["relation"] == "imports"]
    assert [(edge["direction"], edge["count"], len(edge["ids"])) for edge in imports] == [
        ("in", 14, 10)
    ]
    assert len(json.loads(call(project, "lore_related", id="hub.py", limit=3))) == 3
    for budget in (200, 1000):
        text = call(project, "lore_context", question="who meets in the hub", budget=budget)
        assert len(text.encode()) <= 4 * budget
    assert "```python\ndef meet():\n" in text


def test_reading_does_not_count_as_use(project: Lore) -> None:
    project("add", "note", "a write, which counts reads in")
    before = project("show", "lesson-keys").json["access_count"]
    for _ in range(3):
        call(project, "lore_show", ids=["lesson-keys"])
        call(project, "lore_context", question="tokens")
    project("add", "note", "another one")
    assert project("show", "lesson-keys").json["access_count"] == before + 1  # the first show


def test_long_responses_lose_complete_results(project: Lore) -> None:
    words = ("search", "tokens keys clocks", "--explain")
    every = project(*words)
    most = str(len(every.out.encode()) - 1)
    asked = {"query": "tokens keys clocks", "explain": True}
    blocks = answer(project, "lore_search", "--max-bytes", most, **asked)["content"]
    rows = json.loads(blocks[0]["text"])
    assert len(every.json) == 3 and [r["id"] for r in rows] == [r["id"] for r in every.json[:-1]]
    assert blocks[1]["text"] == f"lore: 1 result left out: max_bytes is {most}\n"
    assert blocks[0]["text"] == project(*words, "--max-bytes", most).out
    for name, arguments in (
        ("lore_show", {"ids": ["decision-cookie", "note-clock"]}),
        ("lore_context", {"question": "tokens"}),
    ):
        assert len(call(project, name, "--max-bytes", "1000", **arguments).encode()) <= 1000


def test_untrusted_store_is_only_read(project: Lore) -> None:
    lesson = {"type": "lesson", "text": "Check the clock first", "why": "skew", "tags": ["time"]}
    lesson["links"] = ["note-clock:derived_from"]
    assert "lore store trust" in refusal(project, **lesson)
    assert project("list", "--type", "lesson", "--ids").lines == ["lesson-keys"]
    project("trust")
    id = keep(project, **lesson)["id"]
    node = project("show", id).json
    assert (node["status"], node["source"], node["tags"]) == ("staged", "conversation", ["time"])
    assert node["edges"][0]["id"] == "note-clock" and "skew" in str(node)
    wrong = answer(project, "lore_feedback", "--write", helpful=[id], unhelpful=["note-none"])
    assert wrong["isError"] and project("run", "list").json == []
    assert '"rating":"helpful"' in call(project, "lore_feedback", "--write", helpful=[id])
    project("trust", "--revoke")
    refusal(project, **lesson)


def test_links_and_anchors_are_staged_once(project: Lore) -> None:
    project("trust")
    tied = {"id": "note-clock", "links": ["lesson-keys:relates_to"], "file": "clock.py::now"}
    for state in ("updated", "unchanged"):
        project.write("clock.py", f"def now():\n    return '{state}'\n")
        assert keep(project, **tied)["state"] == state
    (verdict,) = project("verify").json
    project("index")
    node = project("show", "note-clock").json
    assert (node["anchors"][0]["kind"], verdict["verdict"]) == ("symbol", "drifted")
    assert ([one["status"] for one in node["edges"]], node["file"]) == (["staged"] * 3, None)
    refusal(project, type="learning", text="Lost", file="clock.py::never")
    kept = keep(project, type="learning", text="Kept", file="*.py", kind="glob")["id"]
    assert {*project("list", "--type", "lesson", "--ids").lines} == {"lesson-keys", kept}


def test_agent_does_not_undo_changes_of_people(project: Lore) -> None:
    project("trust")
    id = project.id("add", "lesson", "Measure first")
    assert keep(project, type="lesson", text="Measure first") == {"id": id, "state": "unchanged"}
    assert project("show", id).json["status"] == "confirmed"
    for words in ("link", "link --remove"):
        project(*words.split(), id, "relates_to", "note-clock")
    assert keep(project, id=id, links=["note-clock:relates_to"])["state"] == "unchanged"
    project("forget", id)
    assert "forgotten" in refusal(project, type="lesson", text=" Measure first")


def test_event_plugins_hear_of_agents(project: Lore) -> None:
    heard = project.root / "heard"
    project.program(
        "own/lore-hook-pre-add", "grep -q secret && echo 'no secrets' >&2 && exit 1; exit 0"
    )
    project.program(
        "own/lore-hook-post-add", f'echo "$LORE_STORE $PWD" >>"{heard}"; cat >>"{heard}"'
    )
    project.patch.setenv("LORE_PLUGIN_DIR", str(project.root / "own"))
    project("trust")
    refused = refusal(project, type="note", text="a secret")
    assert "lore-hook-pre-add: no secrets: not written" in refused
    id = keep(project, type="note", text="plain")["id"]
    assert heard.read_text().splitlines() == [
        f"{project.store} {project.project}",
        f'{{"event":"post-add","id":"{id}","state":"added"}}',
    ]
