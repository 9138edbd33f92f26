"""ask: an answer from the user's own model, and what it rests on."""

from __future__ import annotations

from typing import Any

import click

from ...ask.citations import Citation, Sources
from ...ask.model_command import answer_of, parse_command, prompt_of
from ...context.build import Context
from ...context.prepare import context_on
from ...core.errors import DONE, FAILURE, LoreError, UsageError
from ...core.settings import SETTINGS
from ...core.text import printable
from ...store import Store
from ...terminal.output import flush, note, write
from ..args import split_words
from ..runtime import project_root, record_accesses, remember_words, say
from .shared import Session, output_options, read_stdin, setting_options


@click.command("ask", add_help_option=False)
@click.argument("words", nargs=-1)
@click.option("--type", "types", multiple=True)
@click.option("--files", "globs", multiple=True)
@click.option("--strict", is_flag=True)
@output_options
@setting_options(*(setting.name for setting in SETTINGS if setting.name != "quiet"))
def ask_command(
    words: tuple[str, ...], types: tuple[str, ...], globs: tuple[str, ...], strict: bool,
    **options: Any,
) -> int:  # fmt: skip
    session = Session(options)
    if not words:
        raise UsageError("ask needs a question: lore ask WORD…")
    command = parse_command(session.settings.llm_command)
    question = " ".join(read_stdin() if word == "-" else word for word in words)
    with session.open() as store, store.faults:
        context = _context(session, store, question, split_words(types), split_words(globs))
        prompt = prompt_of(context.question, context.text)
        known = [row["id"] for row in context.included]
        sources = Sources(context.text, known, store.types.all())
        answer = _answer(session, command, prompt)
        stored = store.nodes.get_many(sources.candidates(answer))
    citations = sources.check(answer, stored)
    _print(session, answer, citations, context)
    with session.open() as store:
        record_accesses(store, session.settings, known)
    missing = [citation.text for citation in citations if not citation.in_prompt]
    if missing:
        note(f"cited, but not in the prompt: {', '.join(missing)}: do not rely on it")
    elif not citations:
        session.say(["the answer cites nothing: what it rests on is not known"])
    return FAILURE if strict and missing else DONE


COMMANDS = (ask_command,)


def _context(
    session: Session, store: Store, question: str, types: tuple[str, ...], globs: tuple[str, ...]
) -> Context:
    """The prompt form of ``lore context`` for the question.

    Raises:
        LoreError: the store has nothing on it.
    """
    embedder = session.embedder(store)
    context = context_on(
        store,
        session.settings,
        embedder,
        question,
        root=project_root(),
        form="prompt",
        types=types,
        files=globs,
    )
    say(context.notes, session.settings)
    remember_words(store, embedder)
    if not context.included:
        raise LoreError("the store has nothing on this, so nobody was asked: try other words")
    return context


def _answer(session: Session, command: list[str], prompt: str) -> str:
    """The whole answer; where people read it, each piece goes out as it comes."""
    shown = session.output.form == "text"
    pieces = []
    try:
        for piece in answer_of(command, prompt):
            pieces.append(piece)
            if shown:
                write(printable(piece))
                flush()
    finally:
        if shown and pieces and not pieces[-1].endswith("\n"):
            write("\n")
    return "".join(pieces)


def _print(session: Session, answer: str, citations: list[Citation], context: Context) -> None:
    if session.output.form == "ids":
        session.output.list([{"id": citation.text} for citation in citations], str)
    elif session.output.form != "text":
        rows = [{"text": one.text, "in_prompt": one.in_prompt} for one in citations]
        session.output.one({"answer": answer.strip(), "citations": rows,
                            "receipt": context.receipt()}, str)  # fmt: skip
    else:
        flush()
