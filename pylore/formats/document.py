"""Read the text of a file as a document: front matter, title, body and links.

Front matter is YAML between two lines ``---``, or TOML between ``+++``, at the start of Markdown.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import yaml

from ..core.errors import LoreError
from ..core.ids import check_id
from ..core.json import decoded, require_storable, with_fields
from ..core.model import Node
from ..core.query import version_of
from ..core.text import clean_tags, one_line, split_location
from ..core.times import parse_since
from ..core.vocabulary import is_changelog
from ..graph.relations import fold
from ..indexing.passages import prose_passages
from ..records.fields import PRUNED, STATED, Naming, require_known, stated
from ..system.project_files import read_plain
from . import MARKDOWN, STATED_FIELDS
from .pages import FIELD, WORDS, Link, read_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from ..core.settings import Settings
    from ..store import Store
    from .pages import Page

    Value: TypeAlias = "str | list[Value] | dict[str, Value]"

LONGEST = 64_000  # maximum characters of the front matter
LONGEST_KEY = 100


class Document:
    """A parsed file.

    ``stated`` are the fields of ``node`` that the front matter sets, ``data`` the unknown keys;
    ``aliases`` are further names for links.
    """

    def __init__(self, path: str) -> None:
        self.node = Node("", "", source="file", file=path)
        self.stated: set[str] = set()
        self.data: dict[str, Value] = {}
        self.aliases: list[str] = []
        self.links: list[Link] = []

    def onto(self, old: Node | None) -> Node:
        """Return ``old``, or a new node, with all that the file states, or no longer does."""
        node = old or Node(self.node.id, self.node.type, source="file")
        before = stated(node)
        some = {*STATED_FIELDS} & {*before, *self.stated} | {"created_at"} & self.stated
        for name in ("title", "body", "file", "line_start", "line_end", *some):
            setattr(node, name, getattr(self.node, name))
        gone = dict.fromkeys((*before, PRUNED))
        names = sorted({*self.data, *self.stated}) or None
        node.data = with_fields(node.data, {**gone, **self.data, STATED: names})
        return node


def read_text(file: str, max_text: int) -> str:
    """Return the text of a document's file, with ``\n`` as ends of lines; raise LoreError if the
    file is unreadable, longer than ``max_text`` bytes, or not text."""
    try:
        if os.path.getsize(file) > max_text:
            raise LoreError(f"longer than max_text ({max_text} bytes)")
        content = read_plain(os.path.realpath(file), max_text)
    except OSError as error:
        raise LoreError(f"cannot be read ({error.strerror})") from None
    return decoded(content, max_text).replace("\r\n", "\n").replace("\r", "\n")


class DocumentReader:
    """Read texts as documents of a store.

    ``type`` is the default type. With ``new_types`` a stated type may be new.
    """

    def __init__(self, store: Store, settings: Settings, type: str, new_types: bool) -> None:
        self.faults: list[str] = []
        self.relations = {*store.relations.all()}
        self._store = store
        self._naming = Naming(store, settings)
        self._new_types = new_types
        self._type = self._naming.require_type(type, new_types)

    def read(
        self, text: str, path: str, ids: Sequence[str] = (), *, skip_bad: bool = False
    ) -> Document:
        """Return the document of a text; the store calls its file ``path``.

        A file that states no id has the first of ``ids`` with the right type, or an id from
        the path. With ``skip_bad`` wrong values of the front matter are stored as data, and named
        in ``faults``.

        Raises:
            LoreError: wrong front matter.
        """
        lines = text.split("\n")
        document = Document(path)
        front, length = front_matter(lines) if path.lower().endswith(MARKDOWN) else ({}, 0)
        for key, (line, value) in front.items():
            try:
                self._set_field(document, key, value, line)
            except LoreError as error:
                wrong = _fault(line, f"{key}: {error}")
                if not skip_bad:
                    raise wrong from None
                self.faults.append(f"{path}: {wrong}: kept as data")
                document.data[key] = value
        self._set_identity(document, ids)
        rest = "\n".join(lines[length:])
        page = read_page(rest, path)
        document.aliases += page.labels
        if page.tags:
            document.node.tags = clean_tags([*document.node.tags, *page.tags])
            document.stated.add("tags")
        _set_text(document, rest, page, length + 1)
        return document

    def _set_field(self, document: Document, key: str, value: Value, line: int) -> None:
        name, relation = key.lower(), fold(key)
        if name in ("aliases", "alias", "permalink", "id"):
            document.aliases += filter(None, _targets(value, plain=True))
        if field := _FIELDS.get(name):
            if value not in ("", []):
                one, node = _read(field, value), document.node.copy()
                if field == "type":
                    one = self._naming.require_type(one, self._new_types)
                setattr(node, field, one)
                require_known(node.status, node.source, node.confidence)
                document.node = node
                document.stated.add(field)
            return
        is_relation = relation in self.relations
        for target in filter(None, map(str.strip, _targets(value, plain=is_relation))):
            lines = target[len(split_location(target)[0]) + 1 :]
            document.links.append(Link(FIELD, target, line, lines, says=relation))
        if not is_relation and key not in (STATED, PRUNED):
            document.data[key] = value

    def _set_identity(self, document: Document, ids: Sequence[str]) -> None:
        """Set type and id from the front matter, ``ids`` or the path."""
        node, key = document.node, document.node.id
        prefix, dash, _ = key.partition("-")
        if dash and prefix in self._store.types.all() and node.type in ("", prefix):
            node.type, node.id = prefix, check_id(key)
            return
        node.type = node.type or self._type
        known = [] if key else [id for id in ids if id.startswith(node.type + "-")]
        placed = f"{node.type}-{key or os.path.splitext(node.file or '')[0]}"
        node.id = known[0] if known else check_id(placed)


def _set_text(document: Document, text: str, page: Page, first: int) -> None:
    """Set title and body, and where in them the links are; the title is not part of the body."""
    node, path = document.node, document.node.file or ""
    whole, begin, start, end, cut = text, 0, 0, 0, 0
    is_log = is_changelog(path) and ".".join(map(str, version_of(page.title))) not in path
    found = prose_passages(text, path) if is_log else ()
    versions = {heading for heading, _ in found if version_of(heading)}
    if page.title and node.title in ("", page.title) and len(versions) < 2:  # else a version's
        node.title = page.title
        start, end = page.title_span
        breaks = "\n" * text.count("\n", start, end)
        text, cut = text[:start] + breaks + text[end:], end - start - len(breaks)
    node.title = node.title or os.path.splitext(os.path.basename(path))[0]
    if stripped := text.rstrip():
        begin = text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1
        node.body = text[begin : len(stripped)] + text[len(stripped) :].partition("\n")[0]
        node.line_start = first + text.count("\n", 0, begin)
        node.line_end = node.line_start + node.body.count("\n")
    line, counted, links = first, 0, dict[object, Link]()
    for offset, link in page.links:
        line, counted = line + whole.count("\n", counted, offset), offset
        outside = [at for at in link.at if not start <= at < end]
        places = [at - begin - (0 if at < start else cut) for at in outside]
        key = link.kind, link.target, link.lines, 0 if link.kind in WORDS else len(links)
        links.setdefault(key, link._replace(line=line, at=places))  # of equal words, the first
    document.links += links.values()


# --- values of the front matter


def _one(value: Value) -> str:
    if not isinstance(value, str):
        raise LoreError(f"a {'list' if isinstance(value, list) else 'mapping'}: give a text")
    return one_line(value)


def _targets(value: Value, *, plain: bool) -> list[str]:
    """Return the targets of wiki links, and with ``plain`` all other texts."""
    if isinstance(value, list):
        return [target for one in value for target in _targets(one, plain=plain)]
    if isinstance(value, str) and "[[" in value:
        return [part.partition("]]")[0].partition("|")[0] for part in value.split("[[")[1:]]
    return [_one(value)] if plain else []


def _read(field: str, value: Value) -> Any:
    """Return the value of a field of a node."""
    if field == "tags":
        return clean_tags(value if isinstance(value, str) else _targets(value, plain=True))
    text = _one(value)
    if field == "status":
        word = "superseded" if text.lower().startswith("superseded by ") else text.lower()
        return _ADR_STATUS.get(word, word)
    if field == "confidence":
        try:
            return float(text)
        except ValueError:
            raise LoreError(f"'{text}' is not a number") from None
    return _date(text) if field == "created_at" else text


def _date(text: str) -> str:
    """Return a date or a time of ISO 8601 or YAML as the store writes it."""
    zoned = re.sub(" *(UTC|GMT)$", "Z", text.upper())  # in capitals nothing is an age
    try:
        if yaml.SafeLoader.timestamp_regexp.match(zoned):
            moment = yaml.SafeLoader("").construct_yaml_timestamp(yaml.ScalarNode("", zoned))
            zoned = moment.isoformat()
        return parse_since(zoned)
    except (ValueError, OverflowError, LoreError):
        why = f"'{text}' is not a valid date: give 2026-01-31 or 2026-01-31T12:00:00Z"
        raise LoreError(why) from None


_ADR_STATUS = {
    "accepted": "confirmed",
    "proposed": "staged",
    **dict.fromkeys(("deprecated", "rejected"), "retracted"),
}
_FIELDS = {name: name for name in ("id", "type", "title", *STATED_FIELDS)}
_FIELDS |= dict.fromkeys(("date", "created"), "created_at")
"""Keys of the front matter to fields of a node."""


# --- YAML

_LIST = re.compile(r"""(?m)^(?:[^:\n"'#[]+: +|[ -]*)\[[^"\n]*$""")
_WIKI = re.compile(r'((?:^|[:\[,-]) *)((?:(?:, *)?\[\[[^][{}\n"\\]+\]\])+)(?= *(?:[],#]|$))')
"""Lines with a list as value, and unquoted wiki links, which are lists in YAML."""
_TAGS = (None, "tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp")
_NULLS = ("~", "null", "Null", "NULL")
_MEND = 'mend it, or put the text in "quotes"'


def front_matter(lines: Sequence[str]) -> tuple[dict[str, tuple[int, Value]], int]:
    """Return key to (line, value) of the front matter at the start of a file, and the number of
    lines with the fences; ``({}, 0)`` where ``---`` is a rule.

    It is a rule without a second ``---``, and where neither a key nor YAML with keys follows.

    Raises:
        LoreError: invalid YAML, or YAML with more than keys and values.
    """
    fences = [at for at, line in enumerate(lines) if line.rstrip() in ("---", "...", "+++")][:2]
    if len(fences) < 2 or fences[0] or lines[0].startswith("."):
        return {}, 0
    # PyYAML takes a tab behind a colon or a line for the start of a token
    text = "".join(line.rstrip(" \t\r") + "\n" for line in lines[1 : fences[1]])
    if lines[0].startswith("+"):  # TOML writes lists, quoted texts and times as YAML does
        text = text.replace("[taxonomies]\n", "").partition("\n[")[0]
        text = re.sub(r"(?m)^([\w-]+) *=", r"\1: ", text)
    try:
        text = _LIST.sub(lambda line: _WIKI.sub(r'\1"\2"', line[0]), text.replace(":\t", ": "))
        return _parsed(text), fences[1] + 1
    except LoreError:
        if lines[1].partition(": ")[0].strip("\"':").replace("-", "_").isidentifier():
            raise
        return {}, 0


def _parsed(text: str) -> dict[str, tuple[int, Value]]:
    if len(text) > LONGEST:
        raise _fault(1, f"the front matter is longer than {LONGEST} characters: shorten it")
    try:
        return _Loader(text).mapping() if text.strip() else {}
    except yaml.MarkedYAMLError as error:
        what = ", ".join(filter(None, (error.context, error.problem)))
        marks = [mark for mark in (error.problem_mark, error.context_mark) if mark]
        mark = next((mark for mark in marks if mark.index < len(text)), marks[0])
        raise _fault(mark.line + 2, f"not YAML ({one_line(what)}): {_MEND}") from None
    except yaml.reader.ReaderError as error:
        raise _fault(text.count("\n", 0, error.position) + 2, "a control character") from None
    except RecursionError:
        raise _fault(2, "too many lists and keys in each other") from None
    except (ValueError, OverflowError):  # of an escape, or of a version's digits
        raise _fault(2, f"a number that YAML does not allow: {_MEND}") from None


class _Loader(yaml.BaseLoader):
    """Reads texts, lists and mappings: no aliases, anchors or tags."""

    def mapping(self) -> dict[str, tuple[int, Value]]:
        found: dict[str, tuple[int, Value]] = {}
        root = self.get_single_node()
        if not isinstance(root, yaml.MappingNode):  # None where all lines are comments
            raise _fault(2, "not a 'key: value': front matter is keys and values")
        for written, node in root.value:
            line = _line(written)
            pair = [self.construct_object(one, deep=True) for one in (written, node)]
            # JSON writes a letter outside the BMP as a pair of escapes
            key, value = json.loads(json.dumps(pair))
            if not isinstance(key, str) or not key.isprintable() or not 0 < len(key) <= LONGEST_KEY:
                raise _fault(line, f"a key is a line of text, {LONGEST_KEY} characters at most")
            if key in found:
                raise _fault(line, f"'{key}' is a duplicate key: remove a line")
            is_plain = isinstance(node, yaml.ScalarNode) and node.style is None
            require_storable(value)
            found[key] = line, "" if is_plain and value in _NULLS else value
        return found

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if event.anchor or getattr(event, "tag", None) not in _TAGS:
            raise _fault(_line(event), f"'&', '*' or '!' means more than text in YAML: {_MEND}")
        return super().compose_node(parent, index)


def _fault(line: int, message: str) -> LoreError:
    return LoreError(f"line {line}: {message}")


def _line(part: yaml.Node | yaml.Event) -> int:
    return int(part.start_mark.line) + 2  # type: ignore[union-attr]
