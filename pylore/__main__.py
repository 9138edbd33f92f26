"""Where a shell command enters Python."""

from __future__ import annotations

import gc
import os
import sys

from .cli.main import run


def main() -> None:
    """Run the command in ``sys.argv`` and end the process."""
    gc.set_threshold(200_000)  # most commands live for milliseconds, and leave no cycles
    for stream in range(3):  # a parent, such as Node.js, may have made it non-blocking
        try:
            os.set_blocking(stream, True)
        except OSError:  # it is closed
            continue
    # Nothing is left to tidy up, and the interpreter's own tidying takes milliseconds.
    os._exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
