"""Write results to stdout, in a form.

Piped, a list is a JSON array with an element a line, one thing a JSON object.
On a terminal it is text. The options of ``forms`` choose, or else the setting ``output``;
``--jq`` filters.
"""

from __future__ import annotations

import sys

from ..core.errors import LoreError, UsageError
from ..core.text import one_line, printable
from ..system.json_encode import dumps
from .forms import FORMS, form_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from ..core.settings import Settings

_PORTION = 100
"""Items of a stream that are rendered and written at once."""

LONGEST_NOTE = 2000
"""Characters of one line on stderr: what it quotes may have any length."""


class Output:
    """The output of one command."""

    def __init__(self, form: str, jq: str | None = None, *, paging: bool = False) -> None:
        self.form = form
        self.jq = jq
        self._paging = paging
        """True if output longer than the terminal goes through a pager."""

    @classmethod
    def choose(
        cls, switches: Collection[str], jq: str | None = None, settings: Settings | None = None
    ) -> Output:
        """Return the form that was asked for, or that is set, or the one that suits where stdout
        leads."""
        paging = settings is not None and settings.paging
        chosen = [form.name for form in FORMS if form.name in switches]
        if len(chosen) > 1:
            raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other: give one")
        if jq is not None:
            if chosen and not form_named(chosen[0]).is_json:
                raise UsageError(f"--jq and --{chosen[0]} exclude each other: give one")
            return cls(chosen[0] if chosen else "json", jq, paging=paging)
        if not chosen and settings is not None and settings.output != "auto":
            chosen = _set_form(settings.output)
        form = chosen[0] if chosen else "text" if sys.stdout.isatty() else "json"
        return cls(form, paging=paging)

    def list(
        self, items: Iterable[dict[str, Any]], text: Callable[[Sequence[dict[str, Any]]], str]
    ) -> None:
        """Print a list; ``text`` renders it for a person."""
        rows = items if isinstance(items, list) else [*items]
        self._write(self._listed(rows, text))

    def _listed(
        self, rows: Sequence[dict[str, Any]], text: Callable[[Sequence[dict[str, Any]]], str]
    ) -> str:
        rendered = form_named(self.form).rows
        return text([_printable(row) for row in rows]) if rendered is None else rendered(rows)

    def stream(
        self, items: Iterable[dict[str, Any]], text: Callable[[Sequence[dict[str, Any]]], str]
    ) -> int:
        """Print a list as ``list`` does while it is being made; how many items there were.

        ``text`` renders some of them at a time. What goes through jq, or has no parts, is made
        whole before.
        """
        if self.jq is not None or not form_named(self.form).in_parts:
            rows = [*items]
            self.list(rows, text)
            return len(rows)
        if sys.stdout.isatty():
            from .screen import Screen

            with Screen(write, paging=self._paging) as screen:
                return self._stream(items, text, screen.put)
        return self._stream(items, text, write)

    def _stream(
        self,
        items: Iterable[dict[str, Any]],
        text: Callable[[Sequence[dict[str, Any]]], str],
        put: Callable[[str], None],
    ) -> int:
        count = 0
        for rows in _portions(items):
            if self.form == "json":
                put((",\n" if count else "[\n") + ",\n".join(map(dumps, rows)))
            else:
                put(self._listed(rows, text))
            count += len(rows)
        if self.form == "json" and count:
            put("\n]\n")
        elif not count:
            put(self._listed([], text))
        return count

    def one(self, item: dict[str, Any], text: Callable[[dict[str, Any]], str]) -> None:
        """Print one thing."""
        form = form_named(self.form)
        if form.one is not None:
            self._write(form.one(item))
        elif form.rows is not None:
            self._write(form.rows([item]))
        else:
            self._write(text(_printable(item)))

    def _write(self, text: str) -> None:
        if self.jq is not None:
            text = _through_jq(self.jq, text)
        self.put(text)

    def put(self, text: str) -> None:
        """Print text; on a terminal as wide as that is, and through a pager where it is long."""
        if not sys.stdout.isatty():
            write(text)
            return
        from .screen import Screen

        if self.jq is not None:
            text = printable(text)
        with Screen(write, paging=self._paging) as screen:
            screen.put(text)


def _set_form(form: str) -> list[str]:
    """Return the form of the setting; a program of the user's own that lore calls relies on
    JSON."""
    import os

    return [] if os.environ.get("LORE_API") else [form]


def _portions(items: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for item in items:
        rows.append(item)
        if len(rows) == _PORTION:
            yield rows
            rows = []
    if rows:
        yield rows


def _printable(value: Any) -> Any:
    """Return ``value`` with every text in it fit for a terminal, before styles are put around
    them."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(item) for item in value]
    return value


def write(text: str) -> None:
    """Write text to stdout.

    Raises:
        LoreError: stdout takes nothing more, as a file on a full disk.
        BrokenPipeError: its reader has gone.
    """
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise _unwritable(error) from None


def flush() -> None:
    """Hand over what ``write`` has kept back; raise as ``write`` does."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _unwritable(error) from None


def _unwritable(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error
    return LoreError(f"stdout cannot be written ({error.strerror}): check where it leads")


def _through_jq(expression: str, text: str) -> str:
    from subprocess import run

    from ..system.programs import find_program

    jq = find_program("jq")
    if jq is None:
        raise LoreError("--jq: jq is not installed: install it, or pipe the JSON yourself")
    done = run([jq, "-r", expression], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        raise (UsageError if done.returncode in (2, 3) else LoreError)(
            f"--jq: {one_line(said) or 'jq failed'}: mend the expression"
        )
    return done.stdout.decode(errors="replace")


def note(message: str) -> None:
    """Write a line for the person to stderr, without the middle of a very long one."""
    line = one_line(printable(message))
    if len(line) > LONGEST_NOTE:
        half = LONGEST_NOTE // 2
        line = f"{line[:half]} … {line[-half:]}"
    try:
        sys.stderr.write(f"lore: {line}\n")
        sys.stderr.flush()
    except OSError:
        return  # there is nobody to tell
