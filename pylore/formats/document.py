"""A document: what the text of a file says, as fields of a node."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime, timezone

import yaml

from ..core.errors import LoreError, nearest
from ..core.ids import check_id, check_type
from ..core.lines import LINKS, MARKDOWN_LINE
from ..core.model import Node, Record
from ..core.paths import is_changelog
from ..core.query import version_of
from ..core.text import clean_tags, one_line
from ..core.vocabulary import SOURCES, STATUSES
from ..graph.relations import fold
from ..records.fields import OWN_KEYS, PRUNED, STATED, STATED_FIELDS, is_markdown, split_location
from ..system.project_files import read_plain
from .front_matter import FrontMatter, LineError, parse
from .page import FIELD, Link, form_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from .front_matter import Value
    from .page import Page

_ADR_STATUS = {"proposed": "staged", "accepted": "confirmed", "deprecated": "retracted",
               "rejected": "retracted"}  # fmt: skip


class Document(Record):
    """The content of a document's file. ``path`` starts from the project's root, with ``/``.

    ``stated`` has the node's fields that the front matter sets, ``data`` its unknown
    keys, ``keys`` all of its keys; ``aliases`` are further names by which links may call it.
    ``placed``: its id is made from its path.
    """

    __slots__ = (
        "aliases", "body", "data", "id", "keys", "line_end", "line_start", "links", "path",
        "placed", "stated", "title", "type",
    )  # fmt: skip

    def __init__(self, path: str) -> None:
        self.path = path
        self.id = ""
        self.placed = False
        self.type = ""
        self.title = ""
        self.body = ""
        self.line_start: int | None = None
        self.line_end: int | None = None
        self.stated: dict[str, Any] = {}
        self.data: dict[str, Value] = {}
        self.keys: list[str] = []
        self.aliases: list[str] = []
        self.links: list[Link] = []

    def node(self, old: Node | None) -> Node:
        """Return the node of this document: ``old`` as far as the document says nothing else."""
        node = old or Node(self.id, self.type, source="file")
        data = json.loads(node.data)
        before = data.get(STATED, [])
        default = Node(self.id, self.type, source="file")
        for name in STATED_FIELDS:
            if name in self.stated or name in before:
                setattr(node, name, self.stated.get(name, getattr(default, name)))
        node.created_at = self.stated.get("created_at", node.created_at)
        for name in ("title", "body", "line_start", "line_end"):
            setattr(node, name, getattr(self, name))
        node.file = self.path
        left = {*before, STATED, PRUNED}
        new = {key: value for key, value in data.items() if key not in left}
        new.update(self.data)
        if self.keys:
            new[STATED] = self.keys
        if new != data:
            node.data = json.dumps(new, ensure_ascii=False)
        return node


def read_text(file: str, max_text: int) -> str:
    """Return the text of a document's file, its lines ended by ``\\n``.

    Raises:
        LoreError: it cannot be read, is not text, or is too long.
    """
    try:
        status = os.stat(file)
        if not stat.S_ISREG(status.st_mode):
            raise LoreError("is not a regular file")
        if status.st_size > max_text:
            raise LoreError(f"has {status.st_size} bytes, max_text is {max_text}")
        content = read_plain(os.path.realpath(file), max_text)
    except OSError as error:
        raise LoreError(f"cannot be read ({error.strerror})") from None
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise LineError(line, "has a NUL byte")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LineError(line, "not UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_document(
    text: str,
    path: str,
    *,
    type: str,
    types: dict[str, str],
    relations: Collection[str],
    ids: Sequence[str] = (),
    bad: list[str] | None = None,
    new_types: bool = False,
) -> Document:
    """Return the document of a text; the store calls its file ``path``.

    ``type`` is the type of a file that states none. A file that states no id has the first of
    ``ids`` that is of its type, else one made from its path. With ``new_types`` a stated type is
    added to ``types``. With ``bad`` wrong values of the front matter are kept as data, and the
    faults are added to it.

    Raises:
        LoreError: its front matter is wrong, or a part of it too long.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if len(line) > MARKDOWN_LINE:
            raise LineError(number, f"longer than {MARKDOWN_LINE} characters: break it")
    document = Document(path)
    front = parse(lines) if is_markdown(path) else FrontMatter()
    _apply_front_matter(document, front, relations, bad)
    stated = document.stated.get("type", "")
    if new_types and stated and stated not in types:
        types[check_type(stated)] = ""
    _set_identity(document, front, type, types, ids, bad)
    rest = "\n".join(lines[front.length :])
    page = form_of(path).read(rest)
    document.links += [link for _, link in page.links]
    if len(document.links) > LINKS:
        raise LoreError(f"has more than {LINKS} links: cut it into several files")
    if page.tags:
        document.stated["tags"] = clean_tags([*document.stated.get("tags", ()), *page.tags])
        document.keys = sorted({*document.keys, "tags"})
    _set_text(document, rest, page, front.length + 1)
    return document


def _set_text(document: Document, text: str, page: Page, first: int) -> None:
    """Set title and body, and where in them the links are; the title is not part of the body."""
    line, counted = first, 0
    for at, link in page.links:
        line, counted = line + text.count("\n", counted, at), at
        link.line = line
    start = end = cut = 0
    is_entry = is_changelog(document.path) and version_of(page.title)  # not of the whole log
    if page.title and document.title in ("", page.title) and not is_entry:
        document.title = page.title
        start, end = page.title_span
        breaks = "\n" * text.count("\n", start, end)
        text, cut = text[:start] + breaks + text[end:], end - start - len(breaks)
    if not document.title:
        document.title = os.path.splitext(os.path.basename(document.path))[0]
    stripped = text.rstrip()
    if stripped:
        begin = text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1
        document.body = text[begin : len(stripped)] + text[len(stripped) :].partition("\n")[0]
        document.line_start = first + text.count("\n", 0, begin)
        document.line_end = document.line_start + document.body.count("\n")
        for link in document.links:
            placed = [at if at < start else at - cut for at in link.at if not start <= at < end]
            link.at = [at - begin for at in placed]


def _set_identity(
    document: Document, front: FrontMatter, type: str, types: Mapping[str, str],
    ids: Sequence[str], bad: list[str] | None,
) -> None:  # fmt: skip
    """Set type and id: from the front matter, else the known ones, else from the path."""
    stated, key = document.stated.pop("type", ""), document.stated.pop("id", "")
    if stated and stated not in types:
        written, line = next(one for one in front.lines.items() if one[0].lower() == "type")
        wrong = LineError(line, f"unknown type '{stated}'{nearest(stated, list(types))}")
        if bad is None:
            raise wrong
        bad.append(f"{wrong}: kept as data")
        document.data[written], stated = stated, ""
        document.keys = sorted({*document.keys, written})
    prefix, dash, _ = key.partition("-")
    if dash and prefix in types and stated in ("", prefix):
        document.type, document.id = prefix, check_id(key)
        return
    document.type = type = stated or type
    known = next((id for id in ids if id.startswith(type + "-")), "")
    if key or not known:
        document.placed = not key
        known = check_id(f"{type}-{key or os.path.splitext(document.path)[0]}")
    document.id = known


# --- front matter: one function a known key


def _apply_front_matter(
    document: Document, front: FrontMatter, relations: Collection[str], bad: list[str] | None
) -> None:
    """Set fields, data and relations; with ``bad`` a value that is wrong becomes data."""
    for key, value in front.fields.items():
        name = key.lower()
        try:
            if name in _KNOWN:
                field, read = _KNOWN[name]
                if value not in ("", []):
                    document.stated[field] = read(value)
            elif fold(key) in relations:
                targets = [target.strip() for target in _several(value) if target.strip()]
                document.links += [
                    Link(FIELD, target, front.lines[key], _lines_in(target), says=fold(key))
                    for target in targets
                ]
            elif key in OWN_KEYS:
                raise LoreError("is a key of lore's own: name it otherwise")
            else:
                document.data[key] = value
        except LineError:
            raise
        except LoreError as error:
            wrong = LineError(front.lines[key], f"{key} {error}")
            if bad is None or key in OWN_KEYS:
                raise wrong from None
            bad.append(f"{wrong}: kept as data")
            document.data[key] = value
    for key, value in document.data.items():
        texts = value if isinstance(value, list) else [value]
        texts = texts if key.lower() in _ALIASES else []
        document.aliases += [one_line(text) for text in texts if isinstance(text, str) and text]
    document.keys = sorted({*document.data, *document.stated})
    document.title = document.stated.pop("title", "")


def _lines_in(target: str) -> str:
    return target[len(split_location(target)[0]) + 1 :]


def _one(value: Value) -> str:
    if not isinstance(value, str):
        raise LoreError(f"is a {'list' if isinstance(value, list) else 'mapping'}: give one text")
    return one_line(value)


def _several(value: Value) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    found = [text for text in texts if isinstance(text, str)]
    if len(found) < len(texts):
        raise LoreError("is more than a list of texts: give a text or a list of texts")
    return found


def _tags(value: Value) -> tuple[str, ...]:
    tags = clean_tags(value if isinstance(value, str) else _several(value))
    return clean_tags(tag.lstrip("#") for tag in tags)


def _status(value: Value) -> str:
    words = _one(value).lower().split()
    if words[:2] == ["superseded", "by"]:
        words = words[:1]
    status = _ADR_STATUS.get(" ".join(words), " ".join(words))
    if status not in STATUSES:
        raise LoreError(f"'{_one(value)}' is not one of {', '.join((*STATUSES, *_ADR_STATUS))}")
    return status


def _source(value: Value) -> str:
    source = _one(value)
    if source not in SOURCES:
        raise LoreError(f"'{source}' is not one of {', '.join(SOURCES)}")
    return source


def _confidence(value: Value) -> float:
    try:
        number = float(_one(value))
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise LoreError(f"'{_one(value)}' is not a number from 0 to 1")
    return number


def _date(value: Value) -> str:
    """Return a date or a time of ISO 8601 or YAML as the store writes it."""
    text = _one(value)
    zoned = text.removesuffix("UTC").rstrip() + "Z" if text.endswith("UTC") else text
    try:
        if yaml.SafeLoader.timestamp_regexp.match(zoned):
            scalar = yaml.ScalarNode("", zoned)
            moment = yaml.SafeLoader("").construct_yaml_timestamp(scalar)
        else:
            moment = datetime.fromisoformat(text)
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            moment = moment.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise LoreError(
            f"'{text}' is not a valid date: give 2026-01-31 or 2026-01-31T12:00:00Z"
        ) from None
    return f"{moment.isoformat()[:10]}T{moment.isoformat()[11:19] or '00:00:00'}Z"


_ALIASES = ("aliases", "alias", "permalink")
"""Keys of the front matter with names by which links may call a document."""

_KNOWN: dict[str, tuple[str, Callable[[Value], Any]]] = {
    "id": ("id", _one), "type": ("type", _one), "title": ("title", _one), "tags": ("tags", _tags),
    "status": ("status", _status), "date": ("created_at", _date), "created": ("created_at", _date),
    "source": ("source", _source), "confidence": ("confidence", _confidence),
    "category": ("category", _one),
}  # fmt: skip
