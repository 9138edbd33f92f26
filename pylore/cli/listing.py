"""``lore list``: the records there are.

It is called in loops as a search is, so it imports no click, numpy or json.
"""

from __future__ import annotations

from ..core.errors import UsageError
from ..core.text import counted
from ..core.times import parse_since
from ..core.vocabulary import RECORDS
from ..store.filter import Scope, require_statuses
from .session import Session, one_line_each, split_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..core.model import Node
    from ..store import Store


def list_records(types: tuple[str, ...], all_types: bool, tags: tuple[str, ...],
                 statuses: tuple[str, ...], files: tuple[str, ...], since: str, until: str,
                 limit: int | None, forgotten: bool, oldest: bool,
                 oneline: bool, **options: Any) -> None:  # fmt: skip
    """``lore list``."""
    if oneline:
        options = one_line_each(options)
    session = Session(options)
    if all_types and types:
        raise UsageError("--all and --type exclude each other: give one")
    named = split_list(types) or (() if all_types else (RECORDS,))
    with session.open() as store, store.faults:
        scope = Scope(
            types=store.types.require(named), tags=split_list(tags),
            files=split_list(files),
            since=parse_since(since) if since else "", until=parse_since(until) if until else "",
            statuses=require_statuses(split_list(statuses)),
        )  # fmt: skip
        found = store.nodes.select(scope, limit or -1, forgotten=forgotten, oldest_first=oldest)
        first = next(found, None)
        if first is None and not forgotten:
            session.say(_why_none(store, scope, records_only=named == (RECORDS,)))
        rows = () if first is None else _listed(first, found)
        session.output.stream(rows, _oneline_text if oneline else _text)


def _why_none(store: Store, scope: Scope, *, records_only: bool) -> list[str]:
    """Return what is to be said where a list is empty."""
    if scope.tags:
        return store.nodes.unknown_tags(scope.tags)
    if not records_only or scope != Scope(types=scope.types):
        return []
    others = ", ".join(counted(n, type) for type, n in store.nodes.count_by_type().items())
    return [f"no records, only {others}: 'lore list --all' has them"] if others else []


def _listed(node: Node | None, others: Iterator[Node]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a node and of those after it."""
    while node is not None:
        row = node.to_dict()
        del row["body"], row["data"], row["changed_at"], row["stamps"]
        yield row
        node = next(others, None)


def _text(rows: Sequence[dict[str, Any]]) -> str:
    from ..terminal.text import list_text

    return list_text(rows)


def _oneline_text(rows: Sequence[dict[str, Any]]) -> str:
    from ..terminal.text import oneline_text

    return oneline_text(rows)
