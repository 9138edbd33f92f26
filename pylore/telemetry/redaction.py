"""Secrets out of texts, before anything of them is written.

Three layers: forms of tokens of our own, the detectors of detect-secrets, and the user's own
``lore-redact-NAME``. Many texts are looked at as one, with a NUL between each two.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..system.json_encode import dumps
from ..system.json_lines import parse_object
from ..system.plugin_process import PluginProcess, Refused, environment, interruptible
from ..system.private_files import own_folder
from . import entropy, forms
from .detectors import Detectors
from .spans import without_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

BEGINNING = "lore-redact-"
_MOST_OUTPUT = 1 << 28
_LONGEST = 1_000_000
_LONGEST_LINE = 8
_FIELDS = ("text", "err", "name", "session", "span", "parent", "ref", "src")


class Redactor:
    """Takes secrets out of texts; ``counts`` says how many of which kind it has found.

    Args:
        plugins: programs of the user's own, in the order they are asked.
        seconds: how long each of them may take.
    """

    def __init__(
        self, plugins: Sequence[str] = (), seconds: float = 60.0, *, ours: bool = True,
        detectors: bool = True,
    ) -> None:  # fmt: skip
        self.counts: dict[str, int] = {}
        self._plugins = plugins
        self._seconds = seconds
        self._finders = [forms.found] if ours else []
        if detectors:
            self._finders.append(Detectors().found)
        if ours:
            self._finders.append(entropy.found)

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
        """The texts without secrets, in their order; raises as ``redact``."""
        if not texts:
            return []
        plain = [text.replace("\0", " ") for text in texts]
        different = [*dict.fromkeys(plain)]
        suspect = [text for text in different if forms.may_hold(text)]
        cleaned = without_secrets(suspect, self._finders, forms.found_tokens, self.counts)
        found = dict(zip(suspect, cleaned, strict=True))
        clean = [found.get(text, text) for text in different]
        for plugin in self._plugins:
            clean = self._asked(plugin, clean)
        found = dict(zip(different, clean, strict=True))
        return [found[text] for text in plain]

    def _asked(self, plugin: str, texts: list[str]) -> list[str]:
        """What a program of the user's own makes of the texts: one process for all of them."""
        name = os.path.basename(plugin)
        lines = "".join(dumps({"text": text}) + "\n" for text in texts)
        try:
            with interruptible():
                process = PluginProcess([plugin], lines.encode(), environment(name))
                try:
                    out = process.read(time.monotonic() + self._seconds, _MOST_OUTPUT)
                finally:
                    process.end()
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
    """The programs ``lore-redact-NAME`` of the user's own folder, by name.

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
    return (head, sign + line) if line.isdecimal() and len(line) < _LONGEST_LINE else (text, "")


def _refused(name: str, why: str) -> LoreError:
    return LoreError(f"{name}: {why}: nothing was written; mend it, or take it out of your plugins")
