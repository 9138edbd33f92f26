"""Rows of a benchmark, and the two forms they are printed in."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass

_HEADINGS = ("", "measured", "target", "ratio", "ok")


@dataclass
class Row:
    """A measurement.

    ``ratio`` is to the target; ``ok`` is None without a target.
    """

    name: str
    measured: float
    unit: str
    target: str = ""
    ratio: float | None = None
    ok: bool | None = None


def at_most(name: str, value: float, unit: str, limit: float) -> Row:
    """A measurement that is better when it is smaller."""
    return _against(name, value, unit, limit, "<=", value <= limit)


def at_least(name: str, value: float, unit: str, limit: float) -> Row:
    """A measurement that is better when it is larger."""
    return _against(name, value, unit, limit, ">=", value >= limit)


def _against(name: str, value: float, unit: str, limit: float, sign: str, ok: bool) -> Row:
    target = f"{sign} {limit:g} {unit}"
    return Row(name, round(value, 3), unit, target, round(value / limit, 3), ok)


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Add ``--json`` and ``--text``."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--text", action="store_true")


def wants_text(options: argparse.Namespace) -> bool:
    """Return True if ``--text`` was given, or stdout is a terminal without ``--json``."""
    return bool(options.text or (sys.stdout.isatty() and not options.json))


def as_json(rows: Iterable[Row]) -> str:
    """A JSON array with a row a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(row)) for row in rows) + "\n]\n"


def as_table(rows: Iterable[Row]) -> str:
    """Return a table for people, with missed targets marked."""
    cells = [_HEADINGS, *map(_cells, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(_HEADINGS))]
    return "".join(_line(row, widths) for row in cells)


def _cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    verdict = {True: "yes", False: "MISSED", None: ""}[row.ok]
    return (row.name, f"{row.measured:,.2f} {row.unit}", row.target, ratio, verdict)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    name, measured, target, ratio, verdict = (
        text.ljust(width) if i in (0, 2) else text.rjust(width)
        for i, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return f"{name}  {measured}  {target}  {ratio}  {verdict}".rstrip() + "\n"
