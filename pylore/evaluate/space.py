"""What ``lore tune`` may change: each setting, or element of one, with values to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..core.errors import UsageError, nearest
from ..core.settings import BY_NAME

_WEIGHTS = ("0", "0.15", "0.3", "0.5", "0.7", "1")
_OF_THE_GRAPH = (
    "edge_weights", "edge_backward_weights", "expansion", "graph_limit", "graph_seeds",
    "graph_weight", "hop_decay",
)  # fmt: skip

VALUES: dict[str, tuple[str, ...]] = {
    "graph_depth": ("0", "1", "2"),
    "expansion": BY_NAME["expansion"].choices,
    "graph_weight": ("0.35", "0.7", "1", "1.4", "2", "3"),
    "edge_weights": _WEIGHTS,
    "edge_backward_weights": _WEIGHTS,
    "hop_decay": ("0.3", "0.5", "0.7", "0.85", "1"),
    "graph_seeds": ("3", "5", "10", "20"),
    "graph_limit": ("5", "10", "20"),
    "fusion": BY_NAME["fusion"].choices,
    "fulltext_share": ("0.3", "0.5", "0.6", "0.7", "0.8", "0.9"),
    "vector_min": ("0", "0.15", "0.25", "0.35"),
    "field_weights": (),
}
"""Setting to the values that are tried; a coordinate each, in this order."""

FIELDS: dict[str, tuple[str, ...]] = {
    "title": ("1", "2", "4", "8"),
    "tags": ("0", "1", "2", "4"),
    "file": ("0", "1", "2", "4"),
    "parts": ("0", "0.5", "1"),
}
"""Full-text column to the weights that are tried; that of the body is the measure."""


class Coordinate(NamedTuple):
    """One thing to change: its key as config files have it, and the values to try."""

    key: str
    values: tuple[str, ...]

    @property
    def of_the_graph(self) -> bool:
        """Whether it changes nothing at depth 0."""
        return self.key.partition("[")[0].lower() in _OF_THE_GRAPH


def coordinates(names: Sequence[str], relations: Sequence[str]) -> list[Coordinate]:
    """The coordinates of these settings, of all that can be tuned unless some are named.

    Raises:
        UsageError: a setting is not among them.
    """
    known = [name for name in VALUES if name in BY_NAME]
    for name in names:
        if name.lower() not in known:
            raise UsageError(f"'{name}' is not tuned{nearest(name, known)}: "
                             f"some of {', '.join(known)}")  # fmt: skip
    wanted = {name.lower() for name in names} or set(known)
    elements: Mapping[str, Mapping[str, tuple[str, ...]]] = {
        "edge_weights": dict.fromkeys(relations, _WEIGHTS),
        "edge_backward_weights": dict.fromkeys(relations, _WEIGHTS),
        "field_weights": FIELDS,
    }
    found = []
    for name in known:
        if name in wanted and name in elements:
            key = BY_NAME[name].config_key
            found += [Coordinate(f"{key}[{one}]", values) for one, values in elements[name].items()]
        elif name in wanted:
            found.append(Coordinate(name, VALUES[name]))
    return found
