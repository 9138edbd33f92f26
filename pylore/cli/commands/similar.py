"""What is similar: the ``similar_to`` edges of a store, and its duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...indexing.similar import Plan, stale
from ...indexing.similar_all import build, duplicates, remove
from ...terminal.text import bold, dim
from .shared import Session

if TYPE_CHECKING:
    from ...store import Store


def similar_command(least: float | None, nearest: int | None, types: tuple[str, ...],
                    taken_away: bool, **options: Any) -> None:  # fmt: skip
    session = Session(options)
    with session.open_whole("graph similar") as store, store.faults:
        if taken_away:
            row = remove(store)
        else:
            plan = Plan.of(store)
            if plan is not None and (why := stale(store, plan)):
                session.say([f"similar_to edges were not up to date: {why}"])
            plan = plan or Plan()
            plan.least = plan.least if least is None else least
            plan.nearest = nearest or plan.nearest
            plan.types = _types(store, types) or plan.types
            row = {"min": plan.least, "nearest": plan.nearest, **build(store, plan)}
    session.output.one(row, _counts_text)


def duplicates_command(least: float, types: tuple[str, ...], **options: Any) -> None:
    session = Session(options)
    with session.open() as store, store.faults, store.snapshot():
        found = duplicates(store, Plan(least, types=_types(store, types)))
    if session.output.form == "ids":
        found = [record for group in found for record in group["records"]]
    session.output.list(found, _groups_text)


def _types(store: Store, values: Sequence[str]) -> tuple[str, ...]:
    names = [word for value in values for word in value.replace(",", " ").split()]
    return store.types.require(names)


# --- text for a terminal


def _counts_text(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in row.items()) + "\n"


def _groups_text(rows: Sequence[dict[str, Any]]) -> str:
    groups = [
        "".join(
            f"{record['cosine']:.2f}  {bold(record['id'])}  {record['title']}"
            + dim(f"  {record['created_at'][:10]}") + "\n"
            for record in group["records"]
        )
        for group in rows
    ]  # fmt: skip
    return "\n".join(groups) or "no duplicates\n"
