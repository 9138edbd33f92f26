"""Prints what lore makes of the config files, a line a setting: key, tab, place, tab, value.

parsed.py [FOLDER]: of the files that count here, or where LORE_DIR names this folder.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from pylore.core.errors import LoreError
from pylore.system import config
from pylore.terminal.output import note


def main() -> int:
    """Exit code 0, or that of what is wrong, which is said as lore says it."""
    environ = {**os.environ, **({"LORE_DIR": sys.argv[1]} if sys.argv[1:] else {})}
    try:
        config.load(environ)
    except LoreError as error:
        note(str(error))
        return error.exit_code
    sys.stdout.write(environ["LORE_FROM_CONFIG"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
