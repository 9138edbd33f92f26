"""Test that commands show no record of a different scope."""

from __future__ import annotations

import json
import os
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Lore, every_command
from new_stores import store_folder
from planted_events import Log, prompt
from wire import tool

from pylore.capture.candidates import candidate_id
from pylore.capture.event_log import event_file
from pylore.core.ids import record_id
from pylore.mcp.tools import TOOLS

SECRET = "zyxwombat"
"""In every field that bob's knowledge has, and nowhere else."""

BODY = f"the harbour keeps a {SECRET} ledger for the tide"
HIDDEN = f"{record_id('decision', BODY)}@@bob"
EDITED = f"{record_id('lesson', f'{SECRET} harbour before')}@@bob"

RULE = f"Always moor at the {SECRET} pier before the harbour closes"
CANDIDATE = f"{candidate_id('pattern', RULE)}@@bob"
PLACES = {name: globals()[name] for name in "SECRET BODY HIDDEN EDITED CANDIDATE".split()}

HARMLESS = """\
init, merge-file, hub init, hub grant, hub revoke, hub audit, hub add, hub list,
hub status, config get, config set, config unset, store path, store list, store adopt, store remove,
capture run, capture event, capture events, capture gaps"""
"""Commands that are not tried: they read no record, or only the user's log of events."""

REFUSED = """
store backup | {folder}/copy.db
store restore | {folder}/copy.db
store embed | --all
store reindex |
doctor |
graph similar | --min 0.1
forget | --faded --dry-run
sync | {folder}/synced.jsonl
"""
"""Commands on all scopes, each with words: within a scope they are refused."""

SHOWING = """
search | harbour; ledger tide --type decision; {SECRET}; jacq; --files src/boat.py
search | harbour --status retracted; tide --tag {SECRET}-tag; --batch {folder}/queries.jsonl
search | harbour --fusion rrf; harbour --expansion best-path --explain
search | jacq --tree --files src/boat.py
related | entity-jacq --graph-depth 2; {HIDDEN}; --files src/boat.py; src/boat.py
related | entity-jacq --limit 1000; file-src/boat.py --limit 1000
context | harbour ledger jacq; harbour --as prompt; {HIDDEN}; entity-jacq
ask | harbour ledger jacq --llm-command cat
show | entity-jacq --history; {HIDDEN}; {EDITED} --history; decision-; symbol-src/boat.py::sail
list | ; --all; --forgotten; --tag {SECRET}-tag; --file '*'; --status staged; --type run; --orphans
anchor | {HIDDEN}; {HIDDEN} src/boat.py; --remove {HIDDEN} src/boat.py
export | ; --state; --type decision
graph export |
graph hubs |
graph relations |
graph stats |
graph view | -o -; harbour -o -; entity-jacq -o -
capture candidates | ; --all; --all --text
run show | {run}
run rate | --helpful {HIDDEN}; --helpful entity-jacq
verify | ; {HIDDEN}; --broken
hook run | prompt --client claude <{folder}/event.json; prompt --client codex <{folder}/event.json
hook run | file --client claude <{folder}/event.json; file --client codex <{folder}/event.json
hook run | tool --client claude <{folder}/event.json; tool --client codex <{folder}/event.json
hook run | session-start --client claude <{folder}/event.json
hook run | session-start --client codex <{folder}/event.json
hook run | pre-commit <{folder}/staged; post-commit
"""
"""Commands that show bob's records to bob, each with words; ``<`` precedes a file for stdin."""

SILENT = """
add | note 'the harbour keeps a ledger for the tide' --link {HIDDEN}:relates_to
add | note 'harbour ledger of the tide'; note jacq --tag zyx
fact | jacq likes tea; jacq lives_in oslo
link | entity-jacq relates_to {HIDDEN} --remove; entity-jacq uses entity-boat --remove
link | entity-jacq relates_to {HIDDEN}; entity-jacq {SECRET}_likez entity-tea
link | entity-jacq zyxwomba_like entity-tea
edit | {HIDDEN} mine; {HIDDEN} --title mine
forget | {HIDDEN}; {HIDDEN} --purge; decision-
confirm | {HIDDEN}; jacq lives_in nowhere; --retract {HIDDEN}; --retract jacq lives_in nowhere
undo | ; {HIDDEN}; {EDITED} --at 1; {HIDDEN} --restore
capture promote | {CANDIDATE}; --refuse {CANDIDATE}; {CANDIDATE} --into entity-jacq
index | ; --cochanges
graph path | entity-jacq entity-boat; entity-jacq {HIDDEN}; file-src/boat.py entity-jacq
import | {folder}/lines.jsonl; {folder}/page.md; {folder}/foreign.jsonl
run start |
run list |
run finish | --run {run}
eval | --queries {folder}/questions.jsonl
eval | --queries {folder}/questions.jsonl --tune --settings graph_depth
config list |
store trust |
hook install | claude
hook status |
mcp | --install claude --write
"""
"""Other commands; the results of mcp are tested below."""


def table(text: str) -> dict[str, list[list[str]]]:
    """Return words by command."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for line in text.strip().splitlines():
        name, _, lists = line.partition(" |")
        found[name] += [shlex.split(words) for words in lists.split(";")]
    for name in found.keys() & {"search", "context"}:
        depths = [["--graph-depth", depth] for depth in ("0", "2")]
        found[name] = [[*words, *depth] for words in found[name] for depth in depths]
    return found


TRIED = {**table(SHOWING), **table(SILENT)}

EVENT = {
    "prompt": "what does the harbour ledger say of the tide?",
    "tool_name": "Edit",
    "tool_input": {"file_path": "src/boat.py"},
}
CALLS = [
    tool(1, "lore_search", query="harbour ledger", depth=3),
    tool(2, "lore_search", query=SECRET, files=["src/boat.py"]),
    tool(3, "lore_related", id="entity-jacq", hops=3),
    tool(4, "lore_related", id="src/boat.py"),
    tool(5, "lore_related", id=HIDDEN),
    tool(6, "lore_show", ids=["entity-jacq"]),
    tool(7, "lore_show", ids=[HIDDEN]),
    tool(8, "lore_context", question="harbour ledger jacq"),
    tool(9, "lore_feedback", helpful=[HIDDEN], unhelpful=["entity-jacq"]),
    tool(10, "lore_remember", type="note", text="the tide", links=[f"{HIDDEN}:relates_to"]),
    tool(11, "lore_index", path="src"),
]
"""Calls of a client of the server."""

_commands: list[Lore] = []


def lore(scope: str, *words: str, stdin: str = "") -> tuple[int, str]:
    """Return the exit code and the output of a command under a scope.

    A last word ``<FILE`` names stdin.
    """
    if words[-1].startswith("<"):
        stdin, words = Path(words[-1][1:]).read_text(), words[:-1]
    os.environ["LORE_SCOPE"] = scope
    done = _commands[-1].run([*words], stdin)
    del os.environ["LORE_SCOPE"]
    return done.code, done.out + done.err


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with code and common facts, and bob's knowledge, every field a secret."""
    with pytest.MonkeyPatch.context() as patch:
        _commands.append(Lore(tmp_path_factory.mktemp("scopes"), patch))
        patch.delenv("LORE_EMBEDDER")
        folder = _commands[-1].project
        patch.setenv("LORE_STORE", str(store_folder(_commands[-1].home / "data", folder)))
        patch.setenv("LORE_PROJECT", str(folder))
        patch.setenv("LORE_STORE_SCOPE", "project")
        (folder / "src").mkdir()
        (folder / "src/boat.py").write_text("def sail():\n    return 'harbour'\n")
        for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "lesson: harbours silt")):
            _commands[-1].git(*words)
        common(folder)
        secrets()
        yield folder


def common(folder: Path) -> None:
    """Make the common records, and the files that commands read."""
    for words in (
        ["init"],
        ["index", "-q"],
        ["fact", "jacq", "uses", "boat"],
        ["fact", "jacq", "lives_in", "nowhere"],
        ["add", "decision", "Boats moor where the water is deep", "--file", "src/boat.py"],
        ["graph", "similar", "--min", "0.1"],
    ):
        assert lore("", *words)[0] == 0, lore("", *words)
    (folder / "queries.jsonl").write_text('{"id": "1", "query": "harbour ledger"}\n')
    (folder / "questions.jsonl").write_text(
        '{"id": "1", "query": "water is deep", "relevant": ["entity-boat"]}\n' * 10
    )
    (folder / "lines.jsonl").write_text('{"id": "note-mine", "body": "harbour of mine"}\n')
    (folder / "foreign.jsonl").write_text(f'{{"id": "{HIDDEN}", "body": "overwritten"}}\n')
    (folder / "page.md").write_text("# Harbour ledger\n\nThe tide of mine.\n")
    (folder / "staged").write_bytes(b"src/boat.py\0")
    (folder / "event.json").write_text(json.dumps(EVENT))


BOBS = """
add decision '{BODY}' --title 'harbour {SECRET}' --tag {SECRET}-tag --file src/boat.py:1-2
edit {HIDDEN} --why '{SECRET} why' --category {SECRET}
add lesson '{SECRET} harbour before'
edit {EDITED} --title 'another harbour {SECRET}'
add note 'gone harbour {SECRET}' --id note-{SECRET}
forget note-{SECRET}
add note 'taken back harbour {SECRET}' --status retracted
add note 'staged harbour {SECRET}' --status staged --file src/{SECRET}.py
fact jacq {SECRET}_likes boat
fact jacq fears '{SECRET} waves'
fact '{SECRET} pier' belongs_to jacq
fact jacq lives_in '{SECRET} town'
link entity-jacq depends_on entity-boat --meta why={SECRET}
link {HIDDEN} relates_to entity-jacq --meta why={SECRET}
link file-src/boat.py relates_to {HIDDEN}
anchor {HIDDEN} 'src/*.py' --glob
anchor {HIDDEN} src/boat.py --symbol sail
search harbour {SECRET} --run {run}
feedback --helpful entity-jacq --run {run}
feedback --unhelpful {HIDDEN}
"""


def secrets() -> None:
    """Make bob's records: each kind of thing, with secret words."""
    code, run = lore("bob", "run", "start", "--text")
    assert code == 0
    run = run.strip()
    for line in BOBS.strip().splitlines():
        words = [word.format(run=run, **PLACES) for word in shlex.split(line)]
        code, said = lore("bob", *words)
        assert code == 0, (words, said)
    os.environ["LORE_TEST_RUN"] = run
    Log(os.getcwd()).session("s1", "2026-11-20", prompt(RULE))
    assert CANDIDATE in lore("bob", "candidates", "--ids")[1]
    os.unlink(event_file())  # the log has no scopes


def filled(words: list[str], project: Path) -> list[str]:
    """Words with the ids and places of this test in them."""
    run = os.environ["LORE_TEST_RUN"]
    return [word.format(folder=project, run=run, **PLACES) for word in words]


def test_every_command_is_tried_or_harmless() -> None:
    harmless = HARMLESS.replace("\n", " ").split(", ")
    assert {*TRIED, *table(REFUSED), *harmless} == {one.name for one in every_command()}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", table(REFUSED))
def test_commands_on_all_scopes_are_refused(name: str, project: Path) -> None:
    words = filled(table(REFUSED)[name][0], project)
    code, said = lore("alice", *name.split(), *words)
    assert (code, said.count("\n")) == (2, 1) and "--all-scopes" in said


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", TRIED)
def test_other_scopes_are_hidden(name: str, project: Path) -> None:
    to_bob, shows = "", name in table(SHOWING)
    for words in TRIED[name]:
        given = filled(words, project)
        if shows and SECRET not in to_bob:
            to_bob += lore("bob", *name.split(), *given)[1]
        code, said = lore("alice", *name.split(), *given)
        assert code in (0, 1, 2), said
        for word in (HIDDEN, *given):  # messages may quote the words of the line
            said = said.replace(word, "")
        for part in (SECRET, "bob", "a bug"):
            assert part not in said.lower(), (words, said)
    assert not shows or SECRET in to_bob or "@@bob" in to_bob


def test_hidden_ids_are_refused_like_missing_ids(project: Path) -> None:
    unknown = "decision-00000000@@bob"
    for command in ("show", "edit", "forget", "verify", "related", "anchor", "undo", "graph path"):
        rest = {"edit": ["mine"], "graph path": ["entity-jacq"]}.get(command, [])
        one, other = (lore("alice", *command.split(), id, *rest) for id in (HIDDEN, unknown))
        assert one[0] == other[0] != 0, command
        assert one[1].replace(HIDDEN, unknown) == other[1]


def test_server_respects_the_scope(project: Path) -> None:
    assert {call["params"]["name"] for call in CALLS} == {*TOOLS}
    asked = "".join(f"{json.dumps(call)}\n" for call in CALLS)
    for response in lore("alice", "mcp", "--write", stdin=asked)[1].splitlines():
        said = response.replace(HIDDEN, "").replace(f"'{SECRET}'", "")
        assert SECRET not in said and "@@bob" not in said, response
    to_bob = lore("bob", "mcp", "--write", stdin=asked)[1].splitlines()
    assert all(SECRET in to_bob[at] for at in (0, 2, 3, 4, 5, 6, 7))


def test_bob_has_all_that_was_his(project: Path) -> None:
    code, said = lore("bob", "export")
    assert code == 0 and said.count("@@bob") > 20
    assert '"overwritten"' not in lore("*", "export")[1]
