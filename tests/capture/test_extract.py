"""Test the rules that find candidates in events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.capture.candidates import LONGEST_QUOTE, Alike, Candidate
from pylore.capture.extract import find_candidates

Event = dict[str, Any]


WORDS = st.frozensets(st.sampled_from("abcdefgh"))


@given(st.lists(WORDS, max_size=9), WORDS, st.sampled_from([0.5, 0.55, 0.6]))
def test_nearest_is_found(sets: list[frozenset[str]], words: frozenset[str], low: float) -> None:
    found: Alike[int] = Alike(low)
    for number, one in enumerate(sets):
        found.add(one, number)
    shares = [len(words & one) / (len(words | one) or 1) for one in sets]
    best = max(shares, default=0.0)
    assert found.nearest(words) == (shares.index(best) if best >= low else None)


def session(*rows: Event, name: str = "s1") -> list[Event]:
    """Return events of a session, a minute apart."""
    times = (f"2026-01-31T12:{at:02}:00Z" for at in range(len(rows)))
    places = ({"session": name, "ref": f"{name}.jsonl#{at}"} for at in range(len(rows)))
    return [{**place, "t": t, **row} for place, t, row in zip(places, times, rows, strict=True)]


def prompt(text: str) -> Event:
    return {"kind": "prompt", "text": text}


def say(text: str) -> Event:
    return {"kind": "say", "text": text}


def edit(*files: str) -> Event:
    return {"kind": "edit", "name": "Edit", "ok": True, "files": [*files]}


def run(command: str, error: str = "") -> Event:
    return {"kind": "tool", "name": "Bash", "text": command, "ok": not error, "err": error}


def commit(text: str, *files: str) -> Event:
    return {"kind": "commit", "name": "abc1234", "text": text, "ok": True, "files": [*files]}


def only(events: list[Event]) -> Candidate:
    found = find_candidates(events)
    assert len(found) == 1, [one.body for one in found]
    return found[0]


def names(candidate: Candidate) -> list[str]:
    return [signal.name for signal in candidate.signals]


WHY = "`save` must hold the lock, because `load` reads the file in two steps."
CAUSE = f"Root cause: {WHY}"


@pytest.mark.parametrize(
    ("event", "name", "type"),
    [
        (say("**Root cause:** `parse` keeps its offset when a file is cut"), "cause", "failure"),
        (say("- Lesson: tables with a trigger take twice as long to load"), "lesson", "lesson"),
        (say("Root cause: a stale clock. Lesson: compare expiry in UTC only."), "lesson", "lesson"),
        (say("Lesson: Never mock the clock"), "lesson", "lesson"),
        (prompt("Lesson: mock no clock at all"), "lesson", "lesson"),
        (say("Decision: sessions are signed tokens of the client"), "decision", "decision"),
        (say("TIL SQLite keeps a page cache for each connection it has"), "lesson", "lesson"),
        (say("⚠️ Gotcha: the watcher sees a rename as a file that is gone"), "gotcha", "lesson"),
        (prompt("Never embed a key, we release from it every night"), "rule", "pattern"),
        (prompt("No, use `uv` instead of pip everywhere"), "preference", "decision"),
        (prompt("whenever you change a schema, build the client"), "preference", "decision"),
        (prompt("We want errors as values because callers retry"), "preference", "decision"),
        (commit("Keep\n\nEverybody can read a file, so they stay."), "committed", "decision"),
        (commit("S\n\n- Sorts first to avoid a table for a group\n- T"), "committed", "decision"),
    ],
)
def test_signal_and_type_of_a_candidate(event: Event, name: str, type: str) -> None:
    found = only(session(event))
    assert name in names(found) and found.type == type
    assert found.id.startswith("candidate-")


@pytest.mark.parametrize(
    "event",
    [
        prompt("always"),
        prompt("No, use `uv` instead, pip is not locked here in CI"),
        prompt("Should we always sign the tokens before they are stored?"),
        prompt("never mind, ERROR: never reached the state within 30 s"),
        prompt("diff --git a/x b/x\n@@ -1 +1 @@\nwe never use `tabs` here\n+ always"),
        prompt("Traceback (most recent call last):\nwe must never see `this`, always retry"),
        prompt("High Severity\n\nWe must always check `token` because it may be None"),
        prompt("# Review\n## One\nWe must always check `token` because it may be None"),
        prompt("> a\n> b\n> c\nwe must always check `token` because it may be None"),
        prompt("we must always check `token` because it may be None. " + "x " * 400),
        prompt("<system-reminder>we must always check `token`, never skip it</system-reminder>"),
        say(WHY),
        say("Root cause: it must hold the lock, because `load` reads the file in two steps."),
        say("Root cause: would `save` need to hold the lock, because `load` reads in two steps?"),
        say(f"```\n{CAUSE}\n```"),
        prompt("Never push to main, as lesson-1a2b3c4d says"),
        prompt("Rename `save` and make sure that `load` is called the same"),
        prompt("I'd like to rename `save` in src/save.py, it should be `keep`"),
        commit("Add tokens\n\nThey are in memory, because users log in at once, in `a.py`."),
        commit("Keep tokens in memory\n\nThey fall back to `a.py` rather than to a file."),
        commit("Merge branch 'main' because we must"),
        commit("Fix typo\n\nThe word must be right, because people read it in `README.md`."),
        run("make", "refused"),
    ],
)
def test_other_sentences_are_no_candidates(event: Event) -> None:
    assert find_candidates(session(event)) == []


def test_signal_quotes_its_event() -> None:
    found = only(session(say(CAUSE)))
    (quote,) = found.signals
    assert (quote.quote, quote.session, quote.ref) == (WHY, "s1", "s1.jsonl#0")
    assert (quote.t, found.score) == ("2026-01-31T12:00:00Z", pytest.approx(quote.weight))


def test_statement_is_tied_to_edits_of_its_turn() -> None:
    steps = [prompt("go"), edit("src/save.py"), say(CAUSE), commit("Lock")]
    found = only(session(*steps, prompt("go on"), edit("src/other.py")))
    assert (found.files, found.commits) == (["src/save.py"], ["abc1234"])
    named = only(
        session(edit("src/save.py"), edit("src/load.py"), say(f"{CAUSE[:-1]} of load.py."))
    )
    assert named.files == ["src/load.py"]


class Counted(dict[str, Any]):
    """An event that counts how often events are read."""

    reads = 0

    def __getitem__(self, name: str) -> Any:
        Counted.reads += 1
        return super().__getitem__(name)


def test_each_event_of_a_turn_is_read_a_few_times() -> None:
    events = session(*(say(f"Lesson: a{n} b{n} c{n} d{n} e{n} f{n}") for n in range(60)))
    assert len(find_candidates(map(Counted, events))) == 60
    assert Counted.reads < 60 * 20


def test_concession_followed_by_an_edit() -> None:
    begun = [prompt("Detect the agent"), say("I detect the agent by its folder.")]
    objected = prompt("But the hook is called by an agent, why do we not take that one?")
    agreed = say(
        "You're right - the hook is called by one agent, so its name should come from it "
        "rather than from a folder. Let me fix that."
    )
    one = only(session(*begun, objected, agreed, edit("src/hook.py"), edit("src/agent.py")))
    assert one.title.startswith("The hook is called by one agent, so its name should")
    assert [*names(one), *one.files] == ["conceded", "src/hook.py", "src/agent.py"]
    assert not find_candidates(session(*begun, objected, agreed))
    assert not find_candidates(session(objected, agreed, edit("src/hook.py")))


def test_error_of_three_sessions_is_a_candidate() -> None:
    error = "/tmp/x{0}/a.c:{0}: error: stale archive index, run ranlib"
    sessions = [session(run("make", error.format(n)), name=f"s{n}") for n in range(3)]
    found = only([event for events in sessions for event in events])
    assert (found.type, set(names(found))) == ("failure", {"repeated-error"})
    assert found.sessions == ["s0", "s1", "s2"]
    assert find_candidates([*sessions[0], *sessions[1]]) == []
    refused = [session(run("make", "refused"), name=f"s{n}")[0] for n in range(5)]
    assert find_candidates(refused) == []


def test_repetition_raises_the_score_a_copy_does_not() -> None:
    once = session(say(CAUSE))
    alone = only(once)
    assert only([*once, {**once[0], "session": "s2"}]).score == alone.score
    both = only([*once, *session(prompt("go on"), say(CAUSE.replace("two", "several")), name="s2")])
    assert both.score > alone.score
    assert (both.sessions, both.id) == (["s1", "s2"], alone.id)


PIECES = [WHY, "Never push to main, we release from it.", "**Root cause:** `x` is", "```", "\n"]
PIECES += ["No, use `a` instead of b everywhere", "Lesson: one two three four five six seven"]
PIECES += ["- ", "# ", "> ", "x" * 500, "`", "…", "\u2028", "\x00", "don't use tabs, users see it"]
TEXTS = st.text(max_size=600) | st.lists(st.sampled_from(PIECES), max_size=8).map("\n".join)
EVENTS = st.lists(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["prompt", "say", "tool", "edit", "commit", "search", "session"])},
        optional={
            "session": st.sampled_from(["a", "b", "c", "d"]),
            "t": st.just("2026-01-31T12:00:00Z"),
            "text": TEXTS,
            "err": TEXTS | st.just("refused"),
            "ok": st.booleans(),
            "files": st.lists(st.sampled_from(["a.py", "b/c.py"])),
            "name": TEXTS,
            "ref": TEXTS,
        },
    ),
    max_size=8,
)


def _bare(text: str) -> str:
    return " ".join(text.translate(str.maketrans(dict.fromkeys("*_`#>•-", " "))).split())


@given(EVENTS)
def test_candidates_of_any_events(events: list[Event]) -> None:
    found = find_candidates(events)
    rows = [one.to_row().to_dict() for one in found]
    assert [one.to_row().to_dict() for one in find_candidates(events)] == rows
    said = _bare("\n".join(event.get(key, "") for event in events for key in ("text", "err")))
    assert len({one.id for one in found}) == len(found)
    for one, row in zip(found, rows, strict=True):
        assert one.title and one.body and 0 < one.score < 1
        assert Candidate.from_row(one.to_row()).to_row().to_dict() == row
        for signal in one.signals:
            assert 0 < len(signal.quote) <= LONGEST_QUOTE
            assert _bare(signal.quote) in said
