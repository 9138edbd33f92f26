"""Limits of how sizes grow; a table of them by month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_FLAT = {
    "state": "events_days, two weeks of sessions, logs of two files each",
    "cache": "256 answers, a table and a list of pieces an installation",
    "waiting": "reads and writes that wait for the next writer",
}
"""Bytes that do not grow once the first months are over, and what bounds them."""
_LEAST = 1 << 20
"""Bytes of which nothing is said: a month is not as the other."""

_BY_RECORD = {
    "stores": "the records, their links and the code as it is",
    "history": "edits; history_days and sweep",
    "undo": "what each command added; history_days and sweep",
    "runs": "what hooks and searches showed",
}
"""Sizes that grow, and no faster than the number of records."""

_BY_MOVE = {"moves": "renamed and deleted files, times the records that are tied to one"}
"""Sizes that grow with the records and with what happens to a file; that is as much each month."""

_HISTORY = ("node_history", "ancestors")
_MOVES = ("edge_history", "anchor_history")
_UNDO = ("commands", "additions", "anchors_left")
_RUNS = ("edges used_in_run", "nodes run", "nodes session", "shown")
MOST = 0.3
"""Share of its mean that a size may seem to grow over the months that count, by a line fitted."""


def sizes(month: Mapping[str, Any]) -> dict[str, float]:
    """The sizes of one month that are judged: bytes, or rows of the store."""
    rows, stores = month["rows"], month["stores"]
    main = stores["search.db"]
    return {
        "state": sum(month["state"].values()),
        "cache": sum(month["cache"].values()),
        "waiting": sum(stores.values()) - main,
        "stores": main,
        "history": sum(rows[name] for name in _HISTORY),
        "moves": sum(rows[name] for name in _MOVES),
        "undo": sum(rows[name] for name in _UNDO),
        "runs": sum(rows.get(name, 0) for name in _RUNS),
    }


def growth(values: Sequence[float]) -> float:
    """The growth along a fitted line, as a share of the mean; of the first third nothing counts.

    >>> growth([1, 9, 5, 5, 5, 5]), round(growth([1, 1, 2, 3, 4, 5]), 2)
    (0.0, 0.86)
    """
    values = values[len(values) // 3 :]
    mean = sum(values) / len(values)
    middle = (len(values) - 1) / 2
    spread = sum((at - middle) ** 2 for at in range(len(values)))
    if not spread or not mean:
        return 0.0
    slope = sum((at - middle) * value for at, value in enumerate(values)) / spread
    return slope * (len(values) - 1) / mean


def faults(months: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names what grows that should not; of fewer than six months nothing is said."""
    if len(months) < 6:
        return []
    found = []
    for name, why in {**_FLAT, **_BY_RECORD, **_BY_MOVE}.items():
        values = [sizes(month)[name] / _divisor(name, month) for month in months]
        if growth(values) > MOST and (name not in _FLAT or max(values) > _LEAST):
            told = [round(value, 1) for value in values]
            found.append(f"{name} grows beyond its bound ({why}): {told}")
    return found


def _divisor(name: str, month: Mapping[str, Any]) -> int:
    records: int = month["records"]
    return 1 if name in _FLAT else records * month["month"] if name in _BY_MOVE else records


_TIMED = ("search", "context", "related", "add", "index", "hook prompt", "verify", "sync",
          "capture", "doctor")  # fmt: skip


def table(months: Sequence[Mapping[str, Any]]) -> str:
    """Two tables in Markdown: sizes, and the processor's milliseconds of commands, by month."""
    heads = ("month", "records", "links", "stores, MB", "history rows", "rows of moves",
             "undo rows", "run rows", "state, kB", "cache, kB")  # fmt: skip
    lines = [_row(heads), _row(["---:"] * len(heads))]
    for month in months:
        of = sizes(month)
        lines.append(_row((
            month["month"], month["records"], month["rows"]["links"],
            f"{of['stores'] / 1e6:.1f}", round(of["history"]), round(of["moves"]),
            round(of["undo"]), round(of["runs"]),
            round(of["state"] / 1000), round(of["cache"] / 1000),
        )))  # fmt: skip
    lines += ["", _row(("month", *_TIMED)), _row(["---:"] * (1 + len(_TIMED)))]
    lines += [_row((month["month"], *(month["milliseconds"].get(name, "") for name in _TIMED)))
              for month in months]  # fmt: skip
    return "\n".join(lines)


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
