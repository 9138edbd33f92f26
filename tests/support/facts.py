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
    name = qualified.rpartition(".")[2]
    return Symbol(name, qualified, kind, 1, 99, bases=tuple(bases.split()), params=names)


LANGUAGES = dict(
    pair.split("=")
    for pair in "py=python ts=typescript js=javascript go=go rs=rust java=java c=c cpp=cpp cc=cpp"
    " h=cpp rb=ruby sh=bash".split()
)
"""By the extension of a path."""


def parts(some: str | Sequence[str]) -> list[str]:
    return some.split("; ") if isinstance(some, str) and some else [*some]


def file(
    path: str,
    symbols: str | Sequence[str] = "",
    imports: Sequence[Import] = (),
    calls: str | Sequence[str] = "",
    assigned: str | Mapping[str, str] = "",
    language: str = "",
) -> FileFacts:
    """A file's facts; semicolons separate symbols, calls as ``caller: callee``, and values as
    ``variable = value``."""
    if isinstance(assigned, str):
        values = dict(one.split(" = ") for one in parts(assigned))
    else:
        values = dict(assigned)
    pairs = [call.partition(":") for call in parts(calls)]
    return FileFacts(
        path,
        language or LANGUAGES[path.rpartition(".")[2]],
        [symbol(text) for text in parts(symbols)],
        [*imports],
        [Call(caller, callee.strip(), n) for n, (caller, _, callee) in enumerate(pairs, start=1)],
        values,
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
