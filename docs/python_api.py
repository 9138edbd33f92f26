"""Prints what pylore offers to programs, from its docstrings: a page of 'make site'."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import pylore

HEAD = """\
# Python reference

Look up a function or class of `pylore`, by its docstring. To begin with an example:
[Python](python.md).
"""

SECTION = re.compile(r"^(Args|Raises|Returns|Yields):$")
ITEM = re.compile(r"^    (\w+): (.*)$")


def main() -> None:
    """Writes the page to stdout: functions first, then classes, each by name."""
    names = sorted(pylore.__all__, key=lambda name: (name[0].isupper(), name))
    print("\n".join([HEAD, *(line for name in names for line in _entry(name))]).rstrip())


def _entry(name: str) -> Iterator[str]:
    thing = getattr(pylore, name)
    if not inspect.isclass(thing):
        yield from _callable(f"pylore.{name}", thing, "## ")
        return
    yield from (f"## pylore.{name}", "")
    bases = [base.__name__ for base in thing.__bases__ if base.__name__ in pylore.__all__]
    if bases:
        yield from (f"A `{bases[0]}`.", "")
    yield from _text(thing)
    names = getattr(thing, "FIELDS", getattr(thing, "__slots__", ()))
    fields = [field for field in names if not field.startswith("_")]
    if fields:
        yield from ("Fields: " + ", ".join(f"`{field}`" for field in fields) + ".", "")
    for method, value in sorted(vars(thing).items()):
        if method.startswith("_"):
            continue
        if isinstance(value, property):
            yield from (f"### {name}.{method}", "", *_text(value))
        elif inspect.isfunction(value):
            yield from _callable(f"{name}.{method}", value, "### ")


def _callable(name: str, function: Callable[..., object], level: str) -> Iterator[str]:
    signature = inspect.signature(function)
    parameters = [one for key, one in signature.parameters.items() if key != "self"]
    shown = signature.replace(parameters=parameters)
    yield from (f"{level}{name}", "", "```python", *_folded(name, shown), "```", "")
    yield from _text(function)


def _folded(name: str, signature: inspect.Signature) -> list[str]:
    line = re.sub("(: |-> )'([^']*)'", r"\1\2", f"{name}{signature}")
    if len(line) <= 88:
        return [line]
    inside, _, returned = line.partition("(")[2].rpartition(") -> ")
    parts = re.split(r", (?![^\[]*\])", inside)
    return [f"{name}(", *(f"    {part}," for part in parts), f") -> {returned}"]


def _text(thing: object) -> Iterator[str]:
    """The docstring as Markdown: examples fenced, Args and Raises as lists."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    example = False
    for line in lines:
        if line.startswith(">>>") and not example:
            example = True
            yield "```python"
        if example and not line:
            example = False
            yield "```"
        section, item = SECTION.match(line), ITEM.match(line)
        if section:
            yield from (f"**{section[1]}**", "")
        elif item and not example:
            yield f"- `{item[1]}`: {item[2]}"
        else:
            yield re.sub("^ +", "  ", line)
    if example:
        yield "```"
    yield ""


if __name__ == "__main__":
    main()
