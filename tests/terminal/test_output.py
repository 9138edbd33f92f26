"""Test output: JSON that json reads back, without control characters."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pylore.core.errors import UsageError
from pylore.core.json import dumps
from pylore.terminal import FORMS, Output, note
from pylore.terminal import text as render

ODD = st.text('\0\x07\x1b\x7f\x85\x9b\u061c\u200e\u202e\u2066\u2028"\\/aé\n\t😀', max_size=12)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | ODD
NAMES = [form.name for form in FORMS]
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
OBEYED = {chr(code) for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F))}
OBEYED |= {*"\u061c\u200e\u200f\u2066\u2067\u2068\u2069"}


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("count", [0, 1, 250])
def test_stream_prints_rows_while_they_are_computed(
    form: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = {"title": "A title", "status": "staged", "file": "", "updated_at": "2026-01-01"}
    rows = [{"id": f"note-{number}", **fields} for number in range(count)]
    Output(form).list(rows, render.list_text)
    whole = capsys.readouterr().out
    seen = []

    def made() -> Iterator[dict[str, str]]:
        for row in rows:
            yield row
            seen.append(capsys.readouterr().out)

    Output(form).stream(made(), render.list_text)
    assert "".join([*seen, capsys.readouterr().out]) == whole
    assert count < 250 or any(seen[:210])


class Terminal(io.StringIO):
    """A stdout that is a terminal."""

    def isatty(self) -> bool:
        return True


# --- JSON


@given(JSON)
@example({"": [{"a": "\x1b[31m\x9b\u202e"}, 1e300, -0.0, 5e-324]})
def test_json_is_read_back_and_safe_for_terminals(value: Any) -> None:
    text = dumps(value)
    assert json.loads(text) == value
    assert not OBEYED & set(text)


# --- the forms

ROWS = [{"id": "note-a", "title": "one"}, {"id": "note-b", "title": "two\x1b[31m"}]


def texts(rows: Any) -> str:
    return "".join(f"{row['id']}: {row['title']}\n" for row in rows)


def listed(form: str, rows: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> str:
    Output(form).list(rows, texts)
    return capsys.readouterr().out


def test_a_list_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(listed("json", ROWS, capsys)) == ROWS
    lines = listed("jsonl", ROWS, capsys).splitlines()
    assert [json.loads(line) for line in lines] == ROWS
    assert listed("ids", ROWS, capsys) == "note-a\nnote-b\n"
    assert listed("text", ROWS, capsys) == "note-a: one\nnote-b: two?[31m\n"


def test_single_thing_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    for form in NAMES:
        Output(form).one(ROWS[1], lambda row: texts([row]))
    row = dumps(ROWS[1])
    assert capsys.readouterr().out == f"{row}\n{row}\nnote-b: two?[31m\nnote-b\n"
    Output("ids").one({"nodes": 3}, lambda row: "")
    assert capsys.readouterr().out == ""


def test_form_follows_options_or_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    for form in NAMES:
        assert Output.choose({form: form, "explain": "explain"}).form == form
    assert Output.choose({}).form == "json"
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert Output.choose({}).form == "text"
    assert Output.choose({}, ".").form == "json"
    assert Output.choose({"jsonl": "jsonl"}, ".").form == "jsonl"
    for wrong in ("text", "ids"):
        with pytest.raises(UsageError, match=f"--jq and --{wrong} exclude each other"):
            Output.choose({wrong: wrong}, ".")
    with pytest.raises(UsageError, match="--json and --tree exclude each other"):
        Output.choose({"json": "json", "text": "tree"})


HOSTILE = "\x1b]0;title\x07\x9b31m\u202e\x7f"


@pytest.mark.parametrize("colour", [True, False])
def test_styles_on_a_terminal_are_escaped(monkeypatch: pytest.MonkeyPatch, colour: bool) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("NO_COLOR", "" if colour else "1")
    hit = {
        **dict.fromkeys(("title", "file", "edge_type"), HOSTILE),
        "snippet": f"{HOSTILE}s",
        "id": f"note-{HOSTILE}",
        "line_start": 1,
        "line_end": 2,
        "score": 0.5,
        "hops": 1,
        "path": [HOSTILE, "b"],
        "explain": {HOSTILE: [HOSTILE, {"a": HOSTILE}]},
    }
    Output("text").list([hit], render.hits_text)
    Output("ids").list([hit], render.hits_text)
    shown = terminal.getvalue()
    assert ("\x1b[1mnote-" in shown) == colour
    for style in ("\x1b[1m", "\x1b[2m", "\x1b[0m"):
        shown = shown.replace(style, "")
    assert not (OBEYED - {"\n"}) & set(shown)
    assert "?]0;title??31m??s" in shown


def test_note_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    note(f"a\nb\t {HOSTILE}c\r\nd")
    assert capsys.readouterr().err == "lore: a b ?]0;title??31m??c? d\n"
