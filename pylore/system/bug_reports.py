"""Reports of bugs: types and places of exceptions, without their messages."""

from __future__ import annotations

import os
from traceback import extract_tb

_MOST_PLACES = 40
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class BugElsewhere(Exception):
    """A bug in a process that worked for this one; its text is that process's report."""


def report_of(error: BaseException) -> str:
    """Return type and places of an exception and of those behind it, a line each, no message."""
    lines: list[str] = []
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        kind = type(following)
        name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        lines.append(("" if following is error else "behind it: ") + name)
        lines += [
            f"  {_file(place.filename)}:{place.lineno} in {place.name}"
            for place in extract_tb(following.__traceback__, -_MOST_PLACES)
        ]
        if isinstance(following, BugElsewhere):
            lines.append(str(following))
        hidden = following.__suppress_context__
        following = following.__cause__ or (None if hidden else following.__context__)
    return "\n".join(lines)


def _file(path: str) -> str:
    """Return ``pylore/search/pipeline.py``; the last two parts of other paths, which may have a
    person's name."""
    if path.startswith(_PACKAGE + os.sep):
        return os.path.relpath(path, os.path.dirname(_PACKAGE))
    return os.sep.join(path.split(os.sep)[-2:])
