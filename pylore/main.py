"""Where every command that runs in Python begins and ends.

The commands that agents call hundreds of times (``hot.py``) are found first, so
that they never import click. Every way of failing becomes one line and an exit code.
"""

from __future__ import annotations

import gc
import os
import sys

from .errors import BUG, DONE, FAILURE, INTERRUPTED, LoreError
from .output import note


def main(argv: list[str] | None = None) -> None:
    """Runs the command in ``argv`` (default: ``sys.argv[1:]``) and exits."""
    words = sys.argv[1:] if argv is None else argv
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        code = DONE  # the reader, `head` for one, has what it wanted
    sys.stderr.flush()
    # Nothing is left to tidy up, and the interpreter's own tidying takes milliseconds.
    os._exit(code)


def _run(words: list[str]) -> int:
    # A command lives for milliseconds: collecting cycles only costs it time.
    gc.disable()
    try:
        from . import hot

        if words and words[0] in hot.COMMANDS:
            hot.COMMANDS[words[0]](words[1:])
            return DONE
        from .cli import run

        gc.enable()
        return run(words)
    except BrokenPipeError:
        raise
    except LoreError as error:
        note(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("pylore"):
            return _report_bug()
        note(f"the Python package {error.name} is missing: run 'make setup', or install lore again")
        return FAILURE
    except Exception:
        return _report_bug()


def _report_bug() -> int:
    from traceback import format_exc

    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = os.path.join(state, "lore", "error.log")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"{sys.argv[-20:]}\n{format_exc()}\n")
        note(f"a bug in lore: what happened is in {path}: please report it")
    except OSError:
        sys.stderr.write(format_exc())
        note(f"a bug in lore, and {path} cannot be written: please report the lines above")
    return BUG
