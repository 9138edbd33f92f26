"""Take secrets out of texts before anything is written."""

from __future__ import annotations

import os

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from ..system.files import own_folder
from ..system.plugin_process import REDACTOR_SECONDS, PluginProcess
from ..system.programs import Refused, Tidying, environment
from .readings import joined, readings
from .secrets import (
    found_alone,
    found_beside,
    found_by_chance,
    found_by_form,
    found_tokens,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .readings import Reading


_FINDERS = (found_by_form, found_beside, found_by_chance, found_alone)
"""The first to find a secret names it."""


def without_secrets(texts: Sequence[str], counts: dict[str, int]) -> list[str]:
    """Return texts with ``[redacted:KIND]`` in the place of secrets.

    Args:
        texts: without a NUL.
        counts: secrets by kind; it is added to.
    """
    return [_redacted(text, counts) for text in texts]


def _redacted(text: str, counts: dict[str, int]) -> str:
    found: list[tuple[int, int, int, str]] = []
    for reading in readings(text):
        for rank, finder in enumerate(_FINDERS):
            for start, stop, kind in finder(reading.text):
                found.append((*reading.original(start, stop), rank, kind))
        one_line = joined(reading)
        for start, stop, kind in found_tokens(one_line.text) if one_line else ():
            if one_line and _goes_on(one_line, start, stop):
                found.append((*one_line.original(start, stop), len(_FINDERS), kind))
    return _replaced(text, found, counts) if found else text


def _goes_on(view: Reading, start: int, stop: int) -> bool:
    """Return whether a secret goes over the end of a line, with more than a word behind it."""
    ends = [place for place in view.joins if start < place < stop]
    rest = view.text[ends[0] : stop] if ends else ""
    return any(letter.isdigit() for letter in rest) or not (rest.islower() or rest.istitle())


def _replaced(
    text: str, found: list[tuple[int, int, int, str]], counts: dict[str, int]
) -> str:  # fmt: skip
    """Return a text without these stretches; those that overlap are one, of the first kind."""
    merged: list[tuple[int, int, int, str]] = []
    for start, stop, rank, kind in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, best, name = merged[-1]
            merged[-1] = (first, max(last, stop), *min((best, name), (rank, kind)))
        else:
            merged.append((start, stop, rank, kind))
    parts: list[str] = []
    end = 0
    for start, stop, _, kind in merged:
        parts += text[end:start], f"[redacted:{kind}]"
        counts[kind] = counts.get(kind, 0) + 1
        end = stop
    return "".join(parts) + text[end:]


BEGINNING = "lore-redact-"
_MOST_OUTPUT = 1 << 28
_LONGEST = 1_000_000
_REDACTION_LONGEST_LINE = 8
_FIELDS = ("text", "err", "name", "session", "span", "parent", "ref", "src")


class Redactor:
    """Takes secrets out of texts; ``counts`` says how many of which kind it has found.

    Args:
        plugins: programs of the user's own, in the order they are asked.
        seconds: time limit of each; 0: ``REDACTOR_SECONDS``.
    """

    def __init__(self, plugins: Sequence[str] = (), seconds: float = 0) -> None:
        self.counts: dict[str, int] = {}
        self._plugins = plugins
        self._seconds = seconds or REDACTOR_SECONDS

    def redact(self, events: Sequence[dict[str, Any]]) -> None:
        """Takes them out of the texts of events, in place.

        Raises:
            LoreError: a program of the user's own has failed.
        """
        places: list[tuple[Any, Any]] = [
            (event, field) for event in events for field in _FIELDS if event.get(field)
        ]
        for event in events:
            files = event.get("files", ())
            places += [(files, at) for at in range(len(files))]
        parted = [_without_line(whole[at]) for whole, at in places]
        clean = self.texts([text for text, _ in parted])
        for (whole, at), text, (_, line) in zip(places, clean, parted, strict=True):
            whole[at] = text + line

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Return the texts without secrets, in their order; raises as ``redact``."""
        if not texts:
            return []
        plain = [text.replace("\0", " ") for text in texts]
        different = [*dict.fromkeys(plain)]
        clean = without_secrets(different, self.counts)
        for plugin in self._plugins:
            clean = self._asked(plugin, clean)
        found = dict(zip(different, clean, strict=True))
        return [found[text] for text in plain]

    def _asked(self, plugin: str, texts: list[str]) -> list[str]:
        """Return what a program of the user's own makes of the texts: one process for all of
        them."""
        name = os.path.basename(plugin)
        lines = "".join(dumps({"text": text}) + "\n" for text in texts)
        try:
            environ = environment(name)
            with (
                Tidying(),
                PluginProcess([plugin], lines.encode(), environ, self._seconds) as process,
            ):
                out = process.read(_MOST_OUTPUT)
            rows = [parse_object(line, _LONGEST) for line in out.split(b"\n") if line]
            found = [row.get("text") for row in rows]
        except (Refused, LoreError) as error:
            raise _refused(name, str(error)) from None
        clean = [text for text in found if isinstance(text, str)]
        if not len(clean) == len(found) == len(texts):
            why = "a line without a text came out"
            if len(clean) == len(found):
                why = f"{len(texts)} texts went in, {len(found)} came out"
            raise _refused(name, why)
        changed = sum(one != other for one, other in zip(texts, clean, strict=True))
        if changed:
            self.counts[name] = self.counts.get(name, 0) + changed
        return clean


def own_redactors(plugin_dir: str) -> list[str]:
    """Return the programs ``lore-redact-NAME`` of the user's own folder, by name.

    Raises:
        LoreError: one of them cannot be run, or nobody can tell which there are: what they
            would take out must not be written.
    """
    folder = own_folder(plugin_dir)
    if not plugin_dir and not os.path.lexists(folder):
        return []
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise LoreError(f"{folder}: {error.strerror}, so no redactor of yours can run: nothing was "
                        "written; mend it, or the setting plugin_dir") from None  # fmt: skip
    paths = [os.path.join(folder, name) for name in names if name.startswith(BEGINNING)]
    for path in paths:
        if not os.path.isfile(path):
            raise _refused(os.path.basename(path), "not a file")
        if not os.access(path, os.X_OK):
            raise _refused(os.path.basename(path), "not executable")
    return paths


def _without_line(text: str) -> tuple[str, str]:
    """Return a text and the number of a line behind it: a file is looked at once.

    >>> _without_line("a.jsonl#12")
    ('a.jsonl', '#12')
    """
    head, sign, line = text.rpartition("#")
    return (
        (head, sign + line)
        if line.isdecimal() and len(line) < _REDACTION_LONGEST_LINE
        else (text, "")
    )


def _refused(name: str, why: str) -> LoreError:
    return LoreError(f"{name}: {why}: nothing was written; mend it, or take it out of your plugins")
