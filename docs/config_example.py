"""Prints config.example: every setting with its help, its range, and its default."""

from __future__ import annotations

import os
import sys
from textwrap import fill

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from pylore.settings import SETTINGS, Setting, Settings
from pylore.vocabulary import RELATIONS

HEAD = """\
# Every setting of lore, at its default. Copy the lines to change into
#   ~/.config/lore/config   for yourself, or
#   .lore/.config           for a project (its programs excepted: those are yours alone).
#
# The syntax is bash's, and the file is never run: each line is one plain
# assignment, name=value, quoted where the value has spaces. A setting is also an
# option (--graph-depth 2) and an environment variable (LORE_GRAPH_DEPTH=2).
# Precedence: option, environment, project, user, default.
"""


def main() -> None:
    """Writes the file to stdout."""
    print(HEAD, end="")
    for setting in SETTINGS:
        print()
        print(fill(_help(setting), 88, initial_indent="# ", subsequent_indent="# "))
        print(_assignment(setting))


def _help(setting: Setting) -> str:
    text = setting.help[0].upper() + setting.help[1:]
    if setting.choices:
        return f"{text}: {', '.join(setting.choices)}."
    bounds = f"{setting.low:.15g} to {setting.high:.15g}"
    if setting.kind in ("int", "float", "weights") and bounds not in text:
        return f"{text} ({bounds})."
    if setting.kind == "bool":
        return f"{text} (1 or 0)."
    return f"{text}."


def _assignment(setting: Setting) -> str:
    if setting.kind == "weights":
        weights = getattr(Settings(), setting.name)
        if setting.name == "edge_weights":  # a new store's own, where no setting says otherwise
            weights = {name: row[0] for name, row in RELATIONS.items()}
        if not weights:
            return f"declare -A {setting.config_key}=()"
        items = "".join(f"  [{name}]={weight:g}\n" for name, weight in weights.items())
        return f"declare -A {setting.config_key}=(\n{items})"
    text = Settings().as_text(setting.name)
    quote = '"' if not text or " " in text else ""
    return f"{setting.config_key}={quote}{text}{quote}"


if __name__ == "__main__":
    main()
