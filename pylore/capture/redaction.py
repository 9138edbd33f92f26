"""Remove secrets from texts before they are written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from ..system.files import own_folder
from ..system.plugins import REDACTOR_SECONDS, PluginProcess
from ..system.programs import Refused, Tidying, environment
from .readings import joined, readings
from .secrets import found_alone, found_beside, found_by_chance, found_by_form, found_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


_FINDERS = (found_by_form, found_beside, found_by_chance, found_alone)
"""The first match names a secret."""
BEGINNING = "lore-redact-"
_MOST_OUTPUT = 1 << 28
_LONGEST = 1_000_000
_FIELDS = ("text", "err", "name", "session", "span", "ref", "src")


def without_secrets(texts: Sequence[str], counts: dict[str, int]) -> list[str]:
    """Replace secrets in texts without NUL by ``[redacted:KIND]``; add to ``counts`` by kind."""
    return [_redacted(text, counts) for text in texts]


def _redacted(text: str, counts: dict[str, int]) -> str:
    found: list[tuple[int, int, int, str]] = []
    for reading in readings(text):
        for rank, finder in enumerate(_FINDERS):
            for start, stop, kind in finder(reading.text):
                found.append((*reading.original(start, stop), rank, kind))
        if one_line := joined(reading):
            for start, stop, kind in found_tokens(one_line.text):
                found.append((*one_line.original(start, stop), len(_FINDERS), kind))
    merged: list[tuple[int, int, int, str]] = []
    for start, stop, rank, kind in sorted(found):
        if merged and start < merged[-1][1]:  # join overlapping secrets
            first, last, best, name = merged[-1]
            merged[-1] = (first, max(last, stop), *min((best, name), (rank, kind)))
        else:
            merged.append((start, stop, rank, kind))
    for start, stop, _, kind in reversed(merged):
        counts[kind] = counts.get(kind, 0) + 1
        text = f"{text[:start]}[redacted:{kind}]{text[stop:]}"
    return text


class Redactor:
    """Removes secrets from texts; ``counts`` has the number of each kind.

    Args:
        plugins: programs of the user, in order.
        seconds: time limit of each; 0: ``REDACTOR_SECONDS``.
    """

    def __init__(self, plugins: Sequence[str] = (), seconds: float = 0) -> None:
        self.counts: dict[str, int] = {}
        self._plugins = plugins
        self._seconds = seconds or REDACTOR_SECONDS

    def redact(self, events: Sequence[dict[str, Any]]) -> None:
        """Remove secrets from the texts of events, in place; raise as ``texts``."""
        places: list[tuple[Any, Any]] = [
            (event, field) for event in events for field in _FIELDS if event.get(field)
        ]
        for event in events:
            files = event.get("files", ())
            places += [(files, at) for at in range(len(files))]
        clean = self.texts([whole[at] for whole, at in places])
        for (whole, at), text in zip(places, clean, strict=True):
            whole[at] = text

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Return the texts without secrets, in their order; raise LoreError if a plugin failed."""
        plain = [text.replace("\0", " ").encode("utf-8", "replace").decode() for text in texts]
        different = [*dict.fromkeys(plain)]
        clean = without_secrets(different, self.counts)
        for plugin in self._plugins if texts else ():
            clean = self._asked(plugin, clean)
        found = dict(zip(different, clean, strict=True))
        return [found[text] for text in plain]

    def _asked(self, plugin: str, texts: list[str]) -> list[str]:
        """Return the output of a plugin for all texts."""
        name = os.path.basename(plugin)
        lines = "".join(dumps({"text": text}) + "\n" for text in texts)
        try:
            given = [plugin], lines.encode(), environment(name), self._seconds
            with Tidying(), PluginProcess(*given) as process:
                out = process.read(_MOST_OUTPUT)
            rows = [parse_object(line, _LONGEST) for line in out.split(b"\n") if line]
        except (Refused, LoreError) as error:
            raise _refused(name, str(error)) from None
        clean = [text for row in rows if isinstance(text := row.get("text"), str)]
        if len(clean) != len(rows):
            raise _refused(name, "a line has no text")
        if len(clean) != len(texts):
            raise _refused(name, f"{len(texts)} texts went in, {len(clean)} came out")
        if changed := sum(one != other for one, other in zip(texts, clean, strict=True)):
            self.counts[name] = self.counts.get(name, 0) + changed
        return clean


def own_redactors(plugin_dir: str) -> list[str]:
    """Return the programs ``lore-redact-NAME`` of the user's plugin folder, by name.

    Raise LoreError if a program is not executable, or the folder is not readable.
    """
    folder = own_folder(plugin_dir)
    if not plugin_dir and not os.path.lexists(folder):
        return []
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(BEGINNING))
    except OSError as error:
        hint = "no event was written; check the setting plugin_dir"
        raise LoreError(f"{folder}: {error.strerror}: no redactor can run: {hint}") from None
    paths = [os.path.join(folder, name) for name in names]
    for name, path in zip(names, paths, strict=True):
        if not os.path.isfile(path) or not os.access(path, os.X_OK):
            raise _refused(name, "not executable" if os.path.isfile(path) else "not a file")
    return paths


def _refused(name: str, why: str) -> LoreError:
    return LoreError(f"{name}: {why}: no event was written; repair or remove the plugin")
