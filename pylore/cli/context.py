"""``lore context``: what the store has on a question, as something to read.

It is called in loops as a search is, so it imports no numpy or json.
"""

from __future__ import annotations

import sys

from ..app.engine import Engine
from ..core.errors import LoreError, UsageError
from ..system.json_encode import dumps
from ..terminal.forms import id_line, other_forms
from ..terminal.output import Output, note, write
from .reader import split_words
from .runtime import (
    asks_for,
    chosen_output,
    load_settings,
    open_for_reading,
    project_root,
    read_stdin,
    record_context,
    say,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context.build import Context
    from ..core.settings import Settings


def context(words: tuple[str, ...], **given: Any) -> None:
    """``lore context``."""
    settings = load_settings(given["settings"])
    form = _form(given, settings)
    if not words and not given["files"]:
        raise UsageError("context needs a question or the id of a task: lore context WORD…")
    text = " ".join([read_stdin() if word == "-" else word for word in words])
    with open_for_reading(settings) as store, store.faults:
        engine = Engine(store, settings, project_root())
        found = _found(engine, text, form, given)
        say(found.notes, settings)
        _print(found, form, given, settings)
        _hand_out_receipt(found, given, quiet=settings.quiet)
        record_context(engine, found)


def _found(engine: Engine, question: str, form: str, given: dict[str, Any]) -> Context:
    from ..app.context import ContextRequest
    from ..app.context import context as build

    request = ContextRequest(
        question, form=form, types=split_words(given["type"]), files=split_words(given["files"]),
        with_superseded=given["with_superseded"],
    )  # fmt: skip
    found = build(engine, request)
    if engine.settings.max_bytes:
        from ..app.bounds import context_within

        found = context_within(engine, request, found)
    return found


def _form(given: dict[str, Any], settings: Settings) -> str:
    from ..context.build import FORMS

    form = "mermaid" if given["mermaid"] else given["as"]
    for other in other_forms():
        if form not in (None, other) and asks_for(given, other):
            raise UsageError(f"--{other} and --as {form} exclude each other: give one")
    if form is None:
        chosen = chosen_output({**given}, settings).form
        form = "narrative" if chosen == "text" else "json"
    if form not in FORMS:
        raise UsageError(f"--as is '{form}': give one of {', '.join(FORMS)}")
    if given["jq"] is not None and form != "json":
        raise UsageError(f"--jq and --as {form} exclude each other: give one")
    return form


def _print(context: Context, form: str, given: dict[str, Any], settings: Settings) -> None:
    if given["as_ids"]:
        write("".join(map(id_line, context.included)))
    elif form == "json":
        Output("json", given["jq"]).one(context.to_row(), str)
    else:
        Output("text", paging=settings.paging).put(context.text)


def _hand_out_receipt(context: Context, given: dict[str, Any], *, quiet: bool) -> None:
    place = given["receipt"]
    if place is None:
        if not quiet and context.included:
            note(_summary(context))
    elif place == "-":
        sys.stderr.write(dumps(context.receipt()) + "\n")
    else:
        from ..system.atomic_write import write_whole

        try:
            write_whole(place, [dumps(context.receipt()), "\n"])
        except LoreError as error:
            raise LoreError(f"--receipt {error}") from None


def _summary(context: Context) -> str:
    shortened = sum(1 for entry in context.included if entry["how"] == "shortened")
    return (
        f"{context.tokens_used} of {context.budget} tokens: {len(context.included)} included "
        f"({shortened} shortened), {len(context.withheld)} withheld"
    )
