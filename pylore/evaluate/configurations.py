"""The ways of searching that are compared: settings, each set with a name."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from ..core.errors import UsageError
from ..core.settings import Settings

PLAIN = "graph_depth=0"


class Configuration(NamedTuple):
    """One way of searching. ``kind``: ``leg``, ``fusion``, ``configuration`` or ``control``."""

    id: str
    kind: str
    settings: Settings

    @property
    def plain(self) -> bool:
        """Whether it does without the graph."""
        return not self.settings.depth


def configured(base: Settings, text: str) -> Configuration:
    """The base with ``key=value …`` on top, in the spelling of the config files.

    ``EDGE_WEIGHTS[calls]=0.5`` sets one element; a value with spaces is quoted.

    Raises:
        UsageError: a setting is not known, or its value is not one of its values.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}': {error}: quote as a shell does") from None
    pairs = []
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"'{word}' sets nothing: give key=value, as graph_depth=1")
        pairs.append((key, value))
    settings = base.changed(pairs, f"compare:{text}")
    return Configuration(text or "as it stands", "configuration", settings)


def legs(base: Settings) -> list[Configuration]:
    """Each leg alone and, where there are several, each fusion of them, without the graph."""
    found = [
        Configuration(name, "leg", configured(base, f"{PLAIN} retrievers={name}").settings)
        for name in base.retrievers
    ]
    if len(found) > 1:
        found += [
            Configuration(name, "fusion", configured(base, f"{PLAIN} fusion={name}").settings)
            for name in ("convex", "rrf")
        ]
    return found
