"""What stands beside a node in the picture: short, and no two alike where that can be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.model import Node

LONGEST = 32
"""Characters of a label; two lines of the picture."""


def labels(nodes: Sequence[Node]) -> list[str]:
    """A label for each node: a file's name, a symbol's name, a title cut at a word.

    Files of one name have their folder too.
    """
    short = [_label(node) for node in nodes]
    files = Counter(label for node, label in zip(nodes, short, strict=True) if node.type == "file")
    return [
        cut(_last(node.title or node.id, 2)) if node.type == "file" and files[label] > 1 else label
        for node, label in zip(nodes, short, strict=True)
    ]


def _label(node: Node) -> str:
    title = node.title or node.id
    if node.type == "file":
        return cut(_last(title, 1))
    if node.type == "symbol":
        return cut(title.partition("(")[0])
    return cut(title)


def _last(path: str, parts: int) -> str:
    return "/".join(path.rstrip("/").split("/")[-parts:])


def cut(text: str) -> str:
    """``text`` on one line, cut at a word if there is one to cut at.

    >>> cut("Sessions are kept in signed tokens, not in a table")
    'Sessions are kept in signed…'
    >>> cut("a_name_without_any_space_that_is_too_long")
    'a_name_without_any_space_that_i…'
    """
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        return text
    words = text[:LONGEST].rpartition(" ")[0]
    short = words if len(words) > LONGEST // 2 else text[: LONGEST - 1]
    return short.rstrip(" ,.;:-–—([") + "…"
