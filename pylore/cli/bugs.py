"""What becomes of a bug in lore: a report in the user's state folder, and a line that names it."""

from __future__ import annotations

import os
import sys


def report_bug(error: BaseException, command: str) -> str:
    """Keeps a report; the line that says where it is. Where it cannot be kept, stderr has it."""
    from platform import python_version

    from .. import __version__
    from ..core.times import now
    from ..system.files import open_private_log, user_folder
    from ..system.user_files import report_of

    head = f"{now()} lore {__version__}, Python {python_version()}, {sys.platform}: {command}"
    report = f"{head}\n{report_of(error)}\n"
    path = os.path.join(user_folder("XDG_STATE_HOME", ".local/state"), "error.log")
    try:
        with open(open_private_log(path), "a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{report}\n")
    except OSError:
        sys.stderr.write(report)
        return f"a bug in lore, and {path} cannot be written: please report the lines above"
    return f"a bug in lore: what happened is in {path}: please report it"
