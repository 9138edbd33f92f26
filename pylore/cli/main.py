"""The entry point of all Python commands: parse the line, run the function, report failures.

Each failure becomes a line on stderr and an exit code.
"""

from __future__ import annotations

import os

from ..core.errors import BUG, DONE, INTERRUPTED, LoreError, StoreError
from ..system.config import load
from ..terminal import flush, note, write
from . import MODULES, command_for, unaliased
from .command import Group, read, require_utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def run(words: list[str]) -> int:
    """Run a command and report failures; return the exit code."""
    try:
        code = _run(words)
        flush()
        return code
    except BrokenPipeError:
        return DONE  # the reader, for example `head`, has closed the pipe
    except KeyboardInterrupt as error:
        from ..system.programs import end_by

        end_by(error)
        return INTERRUPTED
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            return _report_bug(error, words)
        if words[:2] == ["hook", "run"]:  # which never fails
            from .hooks import debug

            debug(failure)
            return DONE
        note(str(failure))
        return failure.exit_code


def failure_of(error: Exception) -> LoreError | None:
    """Return the failure that an exception means; None for a bug. Output is written after the store
    was closed, so it may raise for rows of a damaged store."""
    if isinstance(error, LoreError):
        return error
    if isinstance(error, BlockingIOError) or str(error) == "can't start new thread":
        return LoreError("no more processes or threads are allowed: raise the limit (ulimit -u)")
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        why = error.strerror or error
        return LoreError(f"{where}{why}: check the disk and the folder you are in")
    if isinstance(error, ModuleNotFoundError) and not (error.name or "pylore").startswith("pylore"):
        what = f"the Python package {error.name} is missing"
        return LoreError(f"{what}: run 'make setup', or install lore again")
    from ..store import open_store
    from .session import data_folder

    try:
        with open_store(data_folder()):
            raise error
    except StoreError as found:
        return found if found.__cause__ is error else None
    except Exception:
        return None


def _run(words: list[str]) -> int:
    for word in words:
        require_utf8(word, "the argument")
    words = unaliased(words)
    if not words or words[0] in ("-h", "--help", "help"):
        from .help import show_help

        show_help(words[1:])
    elif words[0] in ("-V", "--version", "version"):
        from .. import __version__

        write(f"lore {__version__}\n")
    elif words[0] == "complete":
        from .help import offered

        write("".join(f"{word}\n" for word in offered(words[1:] or [""])))
    elif words[0] in MODULES:
        return _run_command(words)
    else:
        _become(words)
    return DONE


def _become(words: list[str]) -> NoReturn:
    """Run a program in place of this process: a script of lore's or a command of the user's."""
    import signal

    from ..system.programs import environment
    from .help import file_of

    file = file_of(words[0])
    if not os.access(file, os.X_OK):
        raise LoreError(f"{file} is not executable: run 'chmod +x' on it")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the program
        signal.signal(number, signal.SIG_DFL)
    os.execve(file, [file, *words[1:]], environment())


def _run_command(words: list[str]) -> int:
    """Run a command of ``MODULES``; return the exit code."""
    command, rest = command_for(words)
    before = rest[: rest.index("--")] if "--" in rest else rest
    if isinstance(command, Group) or {"-h", "--help"} & {*before}:
        from .help import help_of

        write(help_of(command.name))
        return DONE
    values, settings = read(rest, command)
    if command.needs_config:
        load(os.environ)
    from .session import Session

    code = command.run(Session(settings), **values)
    return code if isinstance(code, int) else DONE


def _report_bug(error: Exception, words: list[str]) -> int:
    from ..system.programs import end_by, interrupts
    from .session import report_bug

    if interrupts:
        end_by(KeyboardInterrupt(interrupts[0]))
        return INTERRUPTED
    command = words[0] if words and words[0].replace("-", "").isalpha() else ""
    note(report_bug(error, command))
    return BUG
