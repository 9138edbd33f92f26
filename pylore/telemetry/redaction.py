"""Secrets out of texts, before anything of them is written.

Three layers: forms of tokens of our own, the detectors of detect-secrets, and the user's own
``lore-redact-NAME``. Many texts are looked at as one, with a NUL between each two.
"""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING

from ..core.errors import LoreError
from ..system.json_encode import dumps
from ..system.json_lines import parse_object
from ..system.plugin_process import PluginProcess, Refused, environment, interruptible
from ..system.private_files import own_folder
from .tokens import replaced, span_of, without_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

BEGINNING = "lore-redact-"
_BETWEEN = "\n\0\n"
_MOST_OUTPUT = 1 << 28
_LONGEST = 1_000_000
_FIELDS = ("text", "err", "name", "session", "span", "parent", "ref", "src")

_MAY_HOLD = re.compile(
    r"(?i:pass|secret|token|key|cred|pwd|auth|bearer|curl|wget|mysql|mariadb|sig=|login|://|cookie|redis-cli|mongo|cqlsh|rabbitmq|sqlcmd|mosquitto|ldap|zip\s)"
    r"|(?=[A-Za-z/_+=.~-]{0,80}\d)(?<![\w/+=.~-])[\w/+=.~-]{16,}|\w{30,}|-----BEGIN"
)
"""What a text has that is looked at closely: a word that goes with secrets, or a run of letters
that could be one. A path without a digit is none. Four of five texts of sessions have nothing of
it."""

_LEFT_OUT = ("IPPublicDetector", "HexHighEntropyString", "Base64HighEntropyString",
             "KeywordDetector")  # fmt: skip
"""Of detect-secrets: addresses are no secrets; half of the quoted hex strings of a session are
commits and digests; the two others are asked line by line."""

_GUESSED = ("IBM Cloud IAM Key", "IBM COS HMAC Credentials", "SoftLayer Credentials")
"""Kinds that are known by what stands before them: "PASS: TestOfSomethingLong" is none."""

_KEYWORD = re.compile(
    r"(?:api|auth|service|account|db|database|priv|private|client)_?key|(?:db|database|key)_?pass"
    r"|passw|pwd|secret",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"([\"'`])([A-Za-z0-9+/=_-]{20,200})\1")
_SHORTEST_VALUE = 6
_ENTROPY = 4.5
_HARMLESS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\A[0-9a-f]+\Z|\A[<$%{]", re.I
)


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
        self._ours = ours
        self._detectors = _Detectors() if detectors else None

    def redact(self, events: Sequence[dict[str, Any]]) -> None:
        """Takes them out of the texts of events, in place.

        Raises:
            LoreError: a program of the user's own has failed.
        """
        places = [
            (event, field) for event in events for field in _FIELDS if event.get(field)
        ]  # fmt: skip
        texts = [event[field] for event, field in places]
        files = [(event, at) for event in events for at in range(len(event.get("files", ())))]
        texts += [event["files"][at] for event, at in files]
        clean = self.texts(texts)
        for (event, field), text in zip(places, clean, strict=False):
            event[field] = text
        for (event, at), text in zip(files, clean[len(places) :], strict=True):
            event["files"][at] = text

    def texts(self, texts: Sequence[str]) -> list[str]:
        """The texts without secrets, in their order; raises as ``redact``."""
        if not texts:
            return []
        plain = [text.replace("\0", " ") for text in texts]
        different = [*dict.fromkeys(plain)]
        suspect = [text for text in different if _MAY_HOLD.search(text)]
        found = dict(zip(suspect, self._cleaned(suspect), strict=True))
        clean = [found.get(text, text) for text in different]
        for plugin in self._plugins:
            clean = self._asked(plugin, clean)
        found = dict(zip(different, clean, strict=True))
        return [found[text] for text in plain]

    def _cleaned(self, texts: list[str]) -> list[str]:
        """Texts as the forms and the detectors leave them."""
        if not texts:
            return []
        whole = _BETWEEN.join(texts)
        if self._ours:
            whole = without_tokens(whole, self.counts)
        if self._detectors is not None:
            whole = self._detectors.without(whole, self.counts)
        return _apart(whole)

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


def _refused(name: str, why: str) -> LoreError:
    return LoreError(f"{name}: {why}: nothing was written; mend it, or take it out of your plugins")


class _Detectors:
    """The detectors of detect-secrets."""

    def __init__(self) -> None:
        plugins = [kind() for kind in _kinds() if kind.__name__ not in _LEFT_OUT]
        self._expressions = [
            (plugin.secret_type, expression) for plugin in plugins for expression in plugin.denylist
        ]
        from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString
        from detect_secrets.plugins.keyword import KeywordDetector

        self._keywords = KeywordDetector()
        self._entropy = Base64HighEntropyString()

    def without(self, whole: str, counts: dict[str, int]) -> str:
        """A text without what they find."""
        for kind, expression in self._expressions:
            spans = [span_of(match) for match in expression.finditer(whole)]
            spans = [
                span
                for span in spans
                if not _is_harmless(whole[span[0] : span[1]])
                and not (kind in _GUESSED and _is_name(whole[span[0] : span[1]]))
            ]
            if spans:
                whole = replaced(whole, _name(kind), spans, counts)
        whole = replaced(whole, "keyword", [*self._by_keyword(whole)], counts)
        return replaced(whole, "high-entropy", [*self._by_entropy(whole)], counts)

    def _by_keyword(self, whole: str) -> Iterator[tuple[int, int]]:
        end = 0
        for match in _KEYWORD.finditer(whole):
            if match.start() < end:
                continue
            start = whole.rfind("\n", 0, match.start()) + 1
            end = whole.find("\n", match.end())
            line = whole[start : end if end >= 0 else len(whole)]
            end = start + len(line)
            for secret in {*self._keywords.analyze_string(line)}:
                place = line.find(secret.strip())
                length = len(secret.strip())
                if length >= _SHORTEST_VALUE and place >= 0 and not _is_prose(secret.strip()):
                    yield start + place, start + place + length

    def _by_entropy(self, whole: str) -> Iterator[tuple[int, int]]:
        for match in _QUOTED.finditer(whole):
            text = match.group(2)
            if _is_harmless(text) or _is_name(text):
                continue
            if self._entropy.calculate_shannon_entropy(text) > _ENTROPY:
                yield match.span(2)


def _is_name(text: str) -> bool:
    """Whether a text is a path or a name in words rather than letters by chance."""
    return not any(letter.isdigit() for letter in text) or text.count("/") > 2 or "--" in text


def _is_prose(text: str) -> bool:
    """Whether what stands after a word like password is no value: words, a call, a placeholder."""
    return _is_harmless(text) or any(letter in text for letter in " ()")


def _is_harmless(text: str) -> bool:
    return _HARMLESS.search(text) is not None or "redacted:" in text


def _kinds() -> list[Any]:
    """The classes of its detectors.

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


def _name(kind: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", kind.lower()))


def _apart(whole: str) -> list[str]:
    """The texts that were joined; what stood at the end of one may be gone, the NUL is not."""
    return [
        text.removesuffix("\n") if number == 0 else text.removeprefix("\n").removesuffix("\n")
        for number, text in enumerate((whole + "\n").split("\0"))
    ]
