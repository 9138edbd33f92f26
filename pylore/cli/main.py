"""Where every command that runs in Python begins and ends.

A command is found by its declaration, and its words become the parameters of its function. Every
way of failing becomes one line and an exit code.
"""

from __future__ import annotations

import gc
import os
import sys

from ..core.errors import (
    BUG,
    DONE,
    FAILURE,
    INTERRUPTED,
    LoreError,
    StoreError,
    UsageError,
    nearest,
)
from ..terminal.output import flush, note
from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .declaration import OldCommand

OTHER = "-"
"""The first word where lore has no command of this name: it is the user's own, or none."""

_CONFIG_LATER = ("help", "commands", "completion", "version")
"""Commands that answer whatever the config holds, and read it themselves where they need it."""


def run(words: list[str]) -> int:
    """Run a command, and print what went wrong; return the exit code.

    That of ``hook run`` is always 0: an agent would refuse what a person asked for.
    """
    code = _exit_code(words)
    return DONE if words[:2] == ["hook", "run"] else code


def _exit_code(words: list[str]) -> int:
    try:
        _open_closed_streams()
        code = _run(words)
        flush()
        return code
    except BrokenPipeError:
        return DONE  # the reader, `head` for one, has what it wanted
    except LoreError as error:
        note(str(error))
        return error.exit_code
    except KeyboardInterrupt as error:
        from ..system.programs import end_by

        end_by(error)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("pylore"):
            return _report_bug(error, words)
        note(f"the Python package {error.name} is missing: run 'make setup', or install lore again")
        return FAILURE
    except OSError as error:
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        note(f"{where}{error.strerror or error}: check the disk and the folder you are in")
        return FAILURE
    except Exception as error:
        failure = _fault_of_the_store(error)
        if failure is None:
            return _report_bug(error, words)
        note(str(failure))
        return failure.exit_code


def _fault_of_the_store(error: Exception) -> LoreError | None:
    """Return what is wrong with the store that this may come from; None if it is a bug of ours.

    Output is written after the store was closed, and rows may have reached it unseen.
    """
    from ..store import open_store
    from .runtime import data_folder

    try:
        with open_store(data_folder()):
            raise error
    except StoreError as found:
        return found if found.__cause__ is error else None
    except Exception:
        return None


def _run(words: list[str]) -> int:
    if words[:1] == [OTHER]:
        from .own_commands import run_own

        run_own(words[1:])
    from .declaration import find, function
    from .runtime import require_utf8

    for word in words:
        require_utf8(word, "the argument")
    if _names_command_of_help(words):
        words = [*words[1:], "--help"]
    words = registry.unaliased(words)
    if words and registry.module_of(words[0]):
        return _run_declared(words)
    command, rest = (find(words[0]) if words else None), words[1:]
    if command is None:
        from .click_reader import refuse

        raise refuse(words[0] if words else "")
    if _asks_for_help(words):
        from .help import show_help

        show_help(command, rest)
        return DONE
    if command.verbs and not (command.run and (rest or ["-"])[0][:1] == "-"):
        command, rest = _verb(command, rest), rest[1:]
    if command.name not in _CONFIG_LATER:
        from ..system.config import load

        load(os.environ)
    if command.raw:
        function(command.raw)(rest, command)
        return DONE
    from .reader import read

    options = read(rest, command)
    if not isinstance(command.run, str) or command.run.startswith("commands."):
        gc.enable()
    code = function(command.run)(**options)
    return code if isinstance(code, int) else DONE


def _names_command_of_help(words: list[str]) -> bool:
    named = registry.unaliased(words[1:])
    return words[:1] == ["help"] and bool(named) and bool(registry.module_of(named[0]))


def _run_declared(words: list[str]) -> int:
    """Run a command of ``registry``; return its exit code."""
    from .command import Command, read
    from .session import Session

    command, rest = registry.find(words)
    asks = _asks_for_help(words)
    asks |= not isinstance(command, Command) and rest in ([], ["help"])
    line = read(rest, command) if isinstance(command, Command) and not asks else None
    if line is None:
        from .click_app import read as read_by_click

        name = command.name.split() if command else []
        words = [*name, "--help"] if asks else [*name, *rest]
        line = read_by_click(words)
        if line is None:
            return DONE
    assert isinstance(command, Command)
    if command.needs_config:
        from ..system.config import load

        load(os.environ)
    if registry.module_of(words[0]) not in registry.HOT:
        gc.enable()
    code = command.run(Session.of(line), **line.values(command))
    return code if isinstance(code, int) else DONE


def _asks_for_help(words: list[str]) -> bool:
    """Return True if -h or --help comes before any --, unless that is a word to complete."""
    before = words[: words.index("--")] if "--" in words else words
    asks = "--help" in before or "-h" in before or words in (["graph"], ["graph", "help"])
    return asks and words[:2] != ["completion", "words"]


def _verb(group: OldCommand, words: list[str]) -> OldCommand:
    """Return the verb that the words begin with; raise UsageError if there is none such."""
    from .declaration import find, verbs_of

    found = find(f"{group.name}-{words[0]}") if words else None
    if found is not None:
        return found
    names = [verb.name.partition(" ")[2] for verb in verbs_of(group)]
    see = f"see 'lore {group.name} --help'"
    if not words or not words[0]:
        raise UsageError(f"{group.name} needs one of {', '.join(names)}: {see}")
    word = words[0][:60]
    raise UsageError(f"unknown verb '{word}'{nearest(word, names)}: {see}")


def _open_closed_streams() -> None:
    """Lets a closed stream lead nowhere, or else a file of the store would get its number.

    Raises:
        LoreError: it is stdout, so that nobody would see what the command did.
    """
    closed = sys.stdout is None
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None and os.open(os.devnull, os.O_RDWR) != number:
            raise LoreError("stdin, stdout or stderr cannot be opened: run lore in a shell")
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    if closed:
        raise LoreError("stdout is closed: let it lead somewhere, to /dev/null if need be")


def _report_bug(error: Exception, words: list[str]) -> int:
    from ..system.programs import end_by, interrupts
    from .runtime import report_bug

    if interrupts:
        end_by(KeyboardInterrupt(interrupts[0]))
        return INTERRUPTED
    command = words[0] if words and words[0].replace("-", "").isalpha() else ""
    note(report_bug(error, command))
    return BUG
