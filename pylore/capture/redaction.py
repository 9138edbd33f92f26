"""Secrets out of texts before anything is written: detectors, and what is taken out."""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_right

from ..core.errors import LoreError
from ..core.json import dumps, parse_object
from ..system.files import own_folder
from ..system.plugin_process import REDACTOR_SECONDS, PluginProcess
from ..system.programs import Refused, Tidying, environment
from . import secret_forms
from .secret_forms import joined, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from .secret_forms import View


if TYPE_CHECKING:
    Finder = Callable[[str], Iterable[tuple[int, int, str]]]
    """What finds secrets in a text: where each begins and ends, and its kind."""


_BETWEEN = "\n\0\n"
"""Texts are looked at as one; no secret goes over it."""


def without_secrets(
    texts: Sequence[str], finders: Sequence[Finder], of_joined: Finder, counts: dict[str, int]
) -> list[str]:
    """Return texts with ``[redacted:KIND]`` in the place of what finders find.

    Args:
        texts: without a NUL.
        finders: see all readings of all texts; the first to find a secret names it.
        of_joined: sees those alone in which lines are joined.
        counts: has how many of which kind were taken out; it is added to.
    """
    read = [(at, view) for at, text in enumerate(texts) for view in views(text)]
    broken = [(at, view) for at, first in read if (view := joined(first)) is not None]
    spans: dict[int, list[tuple[int, int, int, str]]] = {}
    rank = 0
    for some, finder in [*((read, finder) for finder in finders), (broken, of_joined)]:
        begins, whole = _laid_out(some)
        for start, stop, kind in finder(whole):
            number = bisect_right(begins, start) - 1
            at, view = some[number]
            start, stop = start - begins[number], stop - begins[number]
            if some is broken and not _goes_on(view, start, stop):
                continue
            rank += 1
            spans.setdefault(at, []).append((*view.original(start, stop), rank, kind))
    clean = [*texts]
    for at, found in spans.items():
        clean[at] = _replaced(texts[at], found, counts)
    return clean


def _laid_out(read: Sequence[tuple[int, View]]) -> tuple[list[int], str]:
    begins, size = [], 0
    for _, view in read:
        begins.append(size)
        size += len(view.text) + len(_BETWEEN)
    return begins, _BETWEEN.join(view.text for _, view in read)


def _goes_on(view: View, start: int, stop: int) -> bool:
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


_LEFT_OUT = ("IPPublicDetector", "HexHighEntropyString", "Base64HighEntropyString",
             "KeywordDetector")  # fmt: skip
"""Addresses are no secrets, letters by chance have a rule of ours, and the last one is asked line
by line."""

_GUESSED = ("IBM Cloud IAM Key", "IBM COS HMAC Credentials", "SoftLayer Credentials")
"""Kinds that are known by what stands before them: "PASS: TestOfSomethingLong" is none."""

_KEYWORD = re.compile(
    r"(?:api|auth|service|account|db|database|priv|private|client)_?key|(?:db|database|key)_?pass"
    r"|passw|pwd|secret",
    re.IGNORECASE,
)
_SHORTEST = 8
_SHORTEST_VALUE = 6
_LONGEST_LINE = 2_000
_HARMLESS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\A[0-9a-f]+\Z|\A[<$%{]", re.I
)


class Detectors:
    """The detectors, imported when the first is made."""

    def __init__(self) -> None:
        plugins = [kind() for kind in _kinds() if kind.__name__ not in _LEFT_OUT]
        self._expressions = [
            (plugin.secret_type, expression) for plugin in plugins for expression in plugin.denylist
        ]
        from detect_secrets.plugins.keyword import KeywordDetector

        self._keywords = KeywordDetector()

    def found(self, whole: str) -> Iterator[tuple[int, int, str]]:
        """Yield where they find a secret in a text, and what it is called."""
        for kind, expression in self._expressions:
            for match in expression.finditer(whole):
                start, stop = _span(match)
                secret = whole[start:stop]
                if not (_HARMLESS.search(secret) or (kind in _GUESSED and _is_name(secret))):
                    yield start, stop, "-".join(re.findall(r"[a-z0-9]+", kind.lower()))
        yield from self._by_keyword(whole)

    def _by_keyword(self, whole: str) -> Iterator[tuple[int, int, str]]:
        end = 0
        for match in _KEYWORD.finditer(whole):
            if match.start() < end:
                continue
            start = whole.rfind("\n", 0, match.start()) + 1
            end = whole.find("\n", match.end())
            line = whole[start : end if end >= 0 else len(whole)][:_LONGEST_LINE]
            end = start + len(line)
            for secret in {*self._keywords.analyze_string(line)}:
                secret = secret.strip()
                place = line.find(secret)
                if len(secret) >= _SHORTEST_VALUE and place >= 0 and not _is_prose(secret):
                    yield start + place, start + place + len(secret), "keyword"


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the secret of a match is: its longest group, if that can be one."""
    groups = [match.span(number) for number in range(1, match.re.groups + 1)]
    longest = max(groups, key=lambda span: span[1] - span[0], default=(0, 0))
    return longest if longest[1] - longest[0] >= _SHORTEST else match.span()


def _is_name(text: str) -> bool:
    """Return whether a text is a path or a name in words rather than letters by chance."""
    return not any(letter.isdigit() for letter in text) or text.count("/") > 2 or "--" in text


def _is_prose(text: str) -> bool:
    """Return whether a word like password is followed by words, a call or a placeholder."""
    return _HARMLESS.search(text) is not None or any(letter in text for letter in " ()")


def _kinds() -> list[Any]:
    """Return the classes of its detectors.

    It asks services about what it finds with a library of its own, ``requests``, which lore does
    not install: nothing is ever asked. What only needs its name gets an empty module.
    """
    import types

    stands_in = "requests" not in sys.modules
    if stands_in:
        sys.modules["requests"] = types.ModuleType("requests")
        sys.modules["requests"].Response = object  # type: ignore[attr-defined]
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

        return [*get_mapping_from_secret_type_to_class().values()]
    finally:
        if stands_in:
            del sys.modules["requests"]


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

    def __init__(
        self, plugins: Sequence[str] = (), seconds: float = 0, *, ours: bool = True,
        detectors: bool = True,
    ) -> None:  # fmt: skip
        self.counts: dict[str, int] = {}
        self._plugins = plugins
        self._seconds = seconds or REDACTOR_SECONDS
        self._finders = [secret_forms.found_by_form] if ours else []
        if detectors:
            self._finders.append(Detectors().found)
        if ours:
            self._finders.append(secret_forms.found_by_chance)

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
        suspect = [text for text in different if secret_forms.may_hold(text)]
        cleaned = without_secrets(suspect, self._finders, secret_forms.found_tokens, self.counts)
        found = dict(zip(suspect, cleaned, strict=True))
        clean = [found.get(text, text) for text in different]
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
