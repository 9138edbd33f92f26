"""confirm, retract, sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ...core.errors import UsageError
from ...records.fact_review import Facts, ReviewOutcome
from ...terminal.text import bold, changes_text, dim
from ..runtime import ids_from
from .shared import Session, output_options, setting_options


@click.command("confirm", add_help_option=False)
@click.argument("words", nargs=-1)
@output_options
@setting_options("single_valued", "busy_timeout")
def confirm(words: tuple[str, ...], **options: Any) -> None:
    _change(Facts.confirm, words, "confirm", options)


@click.command("retract", add_help_option=False)
@click.argument("words", nargs=-1)
@output_options
@setting_options("busy_timeout")
def retract(words: tuple[str, ...], **options: Any) -> None:
    _change(Facts.retract, words, "retract", options)


@click.command("sweep", add_help_option=False)
@click.argument("words", nargs=-1)
@click.option("--dry-run", is_flag=True)
@output_options
@setting_options(
    "recency_grace", "recency_half_life", "sweep_below", "sweep_accesses", "busy_timeout"
)
def sweep(words: tuple[str, ...], dry_run: bool, **options: Any) -> None:
    session = Session(options)
    if words:
        raise UsageError(f"sweep takes no '{words[0]}': see 'lore sweep --help'")
    with session.open() as store:
        faded = Facts(store, session.settings).sweep(dry_run=dry_run)
    session.output.list(
        [{"id": one.id, "state": one.state, "confidence": one.confidence,
          "recency": one.recency, "accesses": one.accesses} for one in faded],
        _faded_text,
    )  # fmt: skip


COMMANDS = (confirm, retract, sweep)


def _change(
    change: Callable[[Facts, list[str]], list[ReviewOutcome]], words: tuple[str, ...], command: str,
    options: dict[str, Any],
) -> None:  # fmt: skip
    """Makes the change to what the words name, and prints what became of each."""
    session = Session(options)
    wanted = ids_from(words, command)
    with session.open() as store:
        outcomes = change(Facts(store, session.settings), wanted)
        session.output.list([outcome.to_dict() for outcome in outcomes], changes_text)


def _faded_text(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(
        f"{row['state']}  {bold(row['id'])}"
        + dim(f"  confidence {row['confidence']:.2g}, recency {row['recency']:.2g},"
              f" accesses {row['accesses']}\n")
        for row in rows
    ) or "nothing to sweep\n"  # fmt: skip
