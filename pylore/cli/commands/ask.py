"""ask: an answer from the user's own model, and what it rests on."""

from __future__ import annotations

from typing import Any

from ...app.ask import AskRequest, AskResult, ask
from ...core.errors import DONE, FAILURE, UsageError
from ...core.text import printable
from ...terminal.output import flush, note, write
from ..reader import split_words
from ..runtime import record_context
from ..session import Session, read_stdin


def ask_command(
    words: tuple[str, ...], types: tuple[str, ...], globs: tuple[str, ...], strict: bool,
    rounds: int, with_superseded: bool, **options: Any,
) -> int:  # fmt: skip
    session = Session(options)
    if not words:
        raise UsageError("ask needs a question: lore ask WORD…")
    question = " ".join(read_stdin() if word == "-" else word for word in words)
    request = AskRequest(
        question, types=split_words(types), files=split_words(globs), rounds=rounds,
        with_superseded=with_superseded,
    )  # fmt: skip

    def needs(number: int, things: list[str]) -> None:
        session.say([f"round {number} of {rounds}: looking up {'; '.join(things)}"])

    with session.open() as store, store.faults:
        engine = session.engine(store)
        with _Pieces(session) as pieces:
            result = ask(
                engine, request, started=lambda found: session.say(found.notes),
                piece=pieces.show, needs=needs,
            )  # fmt: skip
        _print(session, result)
        record_context(engine, result.context)
    if result.unfounded:
        note(f"cited, but not in the prompt: {', '.join(result.unfounded)}: do not rely on it")
    elif not result.citations:
        session.say(["the answer cites nothing: what it rests on is not known"])
    return FAILURE if strict and result.unfounded else DONE


class _Pieces:
    """Where people read the answer, each piece goes out as it comes."""

    def __init__(self, session: Session) -> None:
        self._shown = session.output.form == "text"
        self._last = ""

    def show(self, piece: str) -> None:
        """Writes a piece of the answer."""
        if self._shown:
            self._last = piece
            write(printable(piece))
            flush()

    def __enter__(self) -> _Pieces:
        return self

    def __exit__(self, *_: object) -> None:
        if self._last and not self._last.endswith("\n"):
            write("\n")


def _print(session: Session, result: AskResult) -> None:
    if session.output.form == "ids":
        session.output.list([{"id": citation.text} for citation in result.citations], str)
    elif session.output.form != "text":
        rows = [{"text": one.text, "in_prompt": one.in_prompt} for one in result.citations]
        session.output.one({"answer": result.answer.strip(), "citations": rows,
                            "needed": result.needed,
                            "receipt": result.context.receipt()}, str)  # fmt: skip
    else:
        flush()
