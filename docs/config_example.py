"""Print every setting with its help, range and default: config.example."""

from __future__ import annotations

import os
import sys
from textwrap import fill

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from pylore.core.settings import SETTINGS, Setting, Settings
from pylore.core.vocabulary import RELATIONS

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
    """Write the file to stdout."""
    print(HEAD, end="")
    section = ""
    for setting in SETTINGS:
        if setting.section != section:
            section = setting.section
            print(f"\n# --- {section}")
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
    return f"{text}."


def _assignment(setting: Setting) -> str:
    if setting.kind == "texts":
        return f"declare -A {setting.config_key}=()"
    if setting.kind == "weights":
        # a new store's own, where no setting says otherwise
        items = "".join(f"  [{name}]={row[0]:g}/{row[1]:g}\n" for name, row in RELATIONS.items())
        return f"declare -A {setting.config_key}=(\n{items})"
    text = Settings().as_text(setting.name)
    quote = '"' if not text or " " in text else ""
    return f"{setting.config_key}={quote}{text}{quote}"


if __name__ == "__main__":
    main()
