"""Reports of bugs: types and places of exceptions, without their messages."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


_MOST_PLACES = 40
"""Places of one exception; of more the outermost and the innermost half are kept."""

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
        lines.append(("" if following is error else "behind it: ") + _type_of(following))
        lines += _places(following.__traceback__)
        if isinstance(following, BugElsewhere):
            lines.append(str(following))
        hidden = following.__suppress_context__
        following = following.__cause__ or (None if hidden else following.__context__)
    return "\n".join(lines)


def _type_of(error: BaseException) -> str:
    kind = type(error)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _places(traceback: TracebackType | None) -> list[str]:
    places = list(_each_place(traceback))
    half = _MOST_PLACES // 2
    left_out = len(places) - 2 * half
    if left_out > 0:
        places[half:-half] = [f"  … {left_out} more"]
    return places


def _each_place(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        yield f"  {_file(code.co_filename)}:{traceback.tb_lineno} in {code.co_name}"
        traceback = traceback.tb_next


def _file(path: str) -> str:
    """Return ``pylore/search/pipeline.py``; of others the last two parts: a path may tell of a
    person."""
    if path.startswith(_PACKAGE + os.sep):
        return os.path.relpath(path, os.path.dirname(_PACKAGE))
    return os.sep.join(path.split(os.sep)[-2:])
