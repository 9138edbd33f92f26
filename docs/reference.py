"""Writes what comes from the declarations of commands: help, completion's data, the manual.

docs/reference.py ROOT     below this folder: lib/lore-*, graph/graph.sh, lib/declared.sh,
                           docs/man
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from pylore.cli.reference import every_command
from pylore.cli.reference.completion import data
from pylore.cli.reference.help import script_with_help
from pylore.cli.reference.manual import pages


def main(root: Path) -> None:
    """Writes all files; a page of a command that is gone is deleted."""
    for name, command in every_command().items():
        if " " not in name:
            script = root / ("graph/graph.sh" if name == "graph" else f"lib/lore-{name}")
            text = script_with_help(script.read_text(encoding="utf-8"), command)
            script.write_text(text, encoding="utf-8")
    (root / "lib/declared.sh").write_text(data(), encoding="utf-8")
    folder = root / "docs/man"
    folder.mkdir(exist_ok=True)
    written = pages()
    for page in folder.iterdir():
        if page.name not in written:
            page.unlink()
    for file, text in written.items():
        (folder / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
