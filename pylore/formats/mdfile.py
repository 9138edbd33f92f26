"""One Markdown file: reading it, and what it says as fields of a node."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime, timezone
from itertools import accumulate

from ..core.changelogs import version_of
from ..core.errors import LoreError, nearest
from ..core.ids import check_id
from ..core.limits import LINKS, MARKDOWN_LINE
from ..core.model import Node, Record
from ..core.text import clean_tags, is_changelog, one_line
from ..core.vocabulary import SOURCES, STATUSES
from ..graph.relations import fold
from ..records.sources import OWN_KEYS, PRUNED, STATED, STATED_FIELDS, is_markdown
from ..system.project_files import read_plain
from .frontmatter import FrontMatter, LineError, parse
from .page import form_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from .frontmatter import Value
    from .links import Link
    from .page import Page

_ADR_STATUS = {"proposed": "staged", "accepted": "confirmed", "deprecated": "retracted",
               "rejected": "retracted"}  # fmt: skip


class Document(Record):
    """What a Markdown file says. ``path`` starts from the project's root, with ``/``.

    ``stated`` has the node's fields that the front matter sets, ``data`` its unknown
    keys, ``keys`` all of its keys; ``relations`` are ``(relation, target, line)``.
    ``placed`` says that its id is made from its path.
    """

    __slots__ = (
        "body", "data", "id", "keys", "line_end", "line_start", "links", "path", "placed",
        "relations", "stated", "title", "type",
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
        self.relations: list[tuple[str, str, int]] = []
        self.links: list[Link] = []

    def node(self, old: Node | None) -> Node:
        """The node of this document: ``old`` as far as the document says nothing else."""
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
    """The text of a Markdown file, its lines ended by ``\\n``.

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
        raise LineError(_line_at(content, content.index(b"\0")), "has a NUL byte")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LineError(_line_at(content, error.start), "not UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_document(
    text: str,
    path: str,
    *,
    type: str,
    types: Mapping[str, str],
    relations: Collection[str],
    ids: Sequence[str] = (),
) -> Document:
    """What a text says, which the store knows as ``path``; ``type`` is what it is by default.

    A file that states no id has the first of ``ids`` that is of its type, else one made
    from its path.

    Raises:
        LoreError: its front matter is wrong, or a part of it too long.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if len(line) > MARKDOWN_LINE:
            raise LineError(number, f"longer than {MARKDOWN_LINE} characters: break it")
    document = Document(path)
    front = parse(lines) if is_markdown(path) else FrontMatter()
    _apply_front_matter(document, front, relations)
    _set_identity(document, front, type, types, ids)
    rest = lines[front.length :]
    page = form_of(path).read(rest, front.length + 1)
    document.links = page.links
    if len(document.links) > LINKS:
        raise LoreError(f"has more than {LINKS} links: cut it into several files")
    _set_text(document, rest, page, front.length + 1)
    return document


def _line_at(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


def _set_text(document: Document, lines: list[str], page: Page, first: int) -> None:
    """Title and body; the heading that is the title is not part of the body."""
    if is_changelog(document.path) and version_of(page.title):
        page.title = ""  # it stands over the first entry
    if page.title and document.title in ("", page.title):
        document.title = page.title
        for index in page.title_lines:
            lines[index] = ""
    if not document.title:
        document.title = os.path.splitext(os.path.basename(document.path))[0]
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if filled:
        document.body = "\n".join(lines[filled[0] : filled[-1] + 1])
        document.line_start, document.line_end = first + filled[0], first + filled[-1]
        _place_links(document, lines[filled[0] : filled[-1] + 1])


def _place_links(document: Document, lines: Sequence[str]) -> None:
    """Says of each link where it begins in the body, of which these are the lines."""
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    first = document.line_start or 1
    for link in document.links:
        link.at = [
            starts[line - first] + column
            for line, column in link.places
            if 0 <= line - first < len(lines) and column < len(lines[line - first])
        ]


def _set_identity(
    document: Document, front: FrontMatter, type: str, types: Mapping[str, str], ids: Sequence[str]
) -> None:
    """Type and id: as the front matter says, else as they are known, else by the file's place."""
    stated, key = document.stated.pop("type", ""), document.stated.pop("id", "")
    if stated and stated not in types:
        line = next(line for key, line in front.lines.items() if key.lower() == "type")
        raise LineError(line, f"unknown type '{stated}'{nearest(stated, list(types))}")
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


def _apply_front_matter(document: Document, front: FrontMatter, relations: Collection[str]) -> None:
    for key, value in front.fields.items():
        name = key.lower()
        try:
            if name in _KNOWN:
                field, read = _KNOWN[name]
                if value not in ("", []):
                    document.stated[field] = read(value)
            elif fold(key) in relations:
                document.relations += [
                    (fold(key), target.strip(), front.lines[key])
                    for target in _several(value) if target.strip()
                ]  # fmt: skip
            elif key in OWN_KEYS:
                raise LoreError("is a key of lore's own: name it otherwise")
            else:
                document.data[key] = value
        except LineError:
            raise
        except LoreError as error:
            raise LineError(front.lines[key], f"{key} {error}") from None
    document.keys = sorted({*document.data, *document.stated})
    document.title = document.stated.pop("title", "")


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
    return clean_tags(value if isinstance(value, str) else _several(value))


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
    text = _one(value)
    try:
        moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise LoreError(
            f"'{text}' is not a valid date: give 2026-01-31 or 2026-01-31T12:00:00Z"
        ) from None
    return moment.isoformat()[:19] + "Z"


_KNOWN: dict[str, tuple[str, Callable[[Value], Any]]] = {
    "id": ("id", _one), "type": ("type", _one), "title": ("title", _one), "tags": ("tags", _tags),
    "status": ("status", _status), "date": ("created_at", _date), "created": ("created_at", _date),
    "source": ("source", _source), "confidence": ("confidence", _confidence),
    "category": ("category", _one),
}  # fmt: skip
