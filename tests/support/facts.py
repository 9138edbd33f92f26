"""Facts of code, written down in a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pylore.code.edges import Edges, Resolver
from pylore.code.facts import Call, FileFacts, Import, Symbol


class CodeEdge(NamedTuple):
    from_id: str
    to_id: str
    relation: str
    weight: float
    reason: str


def symbol(text: str) -> Symbol:
    """``function f(a, b)``, ``class A.B < C D`` → a symbol."""
    kind, _, rest = text.partition(" ")
    rest, _, bases = rest.partition(" < ")
    qualified, _, params = rest.rstrip(")").partition("(")
    names = tuple(params.replace(" ", "").split(",")) if params else ()
    return Symbol(
        qualified.rpartition(".")[2],
        qualified,
        kind,
        1,
        99,
        bases=tuple(bases.split()),
        params=names,
    )


def file(
    path: str,
    language: str,
    symbols: list[str] | None = None,
    imports: list[Import] | None = None,
    calls: Sequence[tuple[str, str]] | None = None,
    assigned: dict[str, str] | None = None,
) -> FileFacts:
    """A file's facts; a call is ``(caller, callee)``."""
    return FileFacts(
        path,
        language,
        [symbol(text) for text in symbols or []],
        imports or [],
        [Call(caller, callee, line + 1) for line, (caller, callee) in enumerate(calls or [])],
        assigned or {},
    )


def resolve(files: Mapping[str, FileFacts], root: str) -> Edges:
    """Return the edges of all files."""
    return Resolver(files, root).edges({path: one.calls for path, one in files.items()})


def edges(*files: FileFacts, root: str = "/nowhere") -> list[CodeEdge]:
    found = resolve({one.path: one for one in files}, root)
    return [CodeEdge(*ends, sure, reason) for ends, (sure, reason, _) in found.items()]


def pairs(relation: str, *files: FileFacts, root: str = "/nowhere") -> set[tuple[str, str]]:
    """Return ``(from, to)`` of a relation, without the types of the ids."""
    return {
        (edge.from_id.partition("-")[2], edge.to_id.partition("-")[2])
        for edge in edges(*files, root=root)
        if edge.relation == relation
    }
