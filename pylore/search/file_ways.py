"""How a result has come from the files at hand: over an import or a co-change."""

from __future__ import annotations

from ..core.vocabulary import ANCHORED_TO
from ..graph.best_path import Step
from . import tuning
from .expansion import explain_walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..core.model import Hit

    Ways = dict[str, Step]
    """Id of what is tied to a file next to one at hand, to the way from that one."""


def tied(id: str, score: float, beside: Step, tie: float) -> Step:
    """The way to what is tied to the file that ``beside`` leads to.

    A tie is no hop: what is tied to a file at hand stands at hop 0 too.
    """
    step = Step(id, score, beside, ANCHORED_TO, tie, 1.0, False)
    step.hop = beside.hop
    return step


def show_way(hit: Hit, way: Step, *, explain: bool) -> None:
    """Says of a result that files bring over which edge from file to file it has come."""
    chain = way.steps()
    hit.hops = way.hop
    hit.path = [step.id for step in chain]
    hit.edge = chain[way.hop].relation
    if explain:
        hit.explain = {**(hit.explain or {}), "walk": explain_walk(chain, tuning.NEXT)}


def show_ways(
    hits: Iterable[Hit],
    ways: Mapping[str, Step],
    by_files: Callable[[str], bool],
    *,
    explain: bool,
) -> None:
    """The same of all of them, and of what a walk has reached from one.

    What matches the words, which is what ``by_files`` denies, needs no file to stand here.
    """
    for hit in hits:
        way = ways.get(hit.path[0])
        if way is None or not by_files(hit.path[0]):
            continue
        if not hit.hops:
            show_way(hit, way, explain=explain)
            continue
        chain = way.steps()
        hit.hops += way.hop
        hit.path = [step.id for step in chain[:-1]] + hit.path
        walk = (hit.explain or {}).get("walk")
        if walk:
            before = explain_walk(chain, tuning.NEXT)["hops"]
            walk["seed"], walk["hops"] = chain[0].id, before + walk["hops"]
            walk["seed_score"] = round(walk["seed_score"] / way.score, 6)
