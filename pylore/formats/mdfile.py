"""Documents as files: finding them, their front matter, and the pages in them."""

from __future__ import annotations

import json
import os
import stat
from bisect import bisect_right
from datetime import datetime, timezone
from itertools import accumulate

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
from ..records.fields import OWN_KEYS, PRUNED, STATED, STATED_FIELDS, is_markdown, is_page
from ..system.files import lstamp_of
from ..system.project_files import is_below, read_plain
from .page import form_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from .page import Link, Page


if TYPE_CHECKING:
    Value: TypeAlias = "str | list[Value] | dict[str, Value]"


FENCE = "---"
LONGEST = 64_000
LONGEST_KEY = 100
DEEPEST = 16
"""Maximum depth of lists and mappings."""

_NULLS = ("~", "null", "Null", "NULL")
_MEND = 'mend it, or put the text in "quotes"'
_MORE = f"means more than text in YAML: {_MEND}"


class LineError(LoreError):
    """An error in a text, with its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


class FrontMatter(Record):
    """``fields``: key to value; ``lines``: key to its line, from 1.

    ``length`` is how many lines of the file it takes, its fences included.
    """

    __slots__ = ("fields", "length", "lines")

    def __init__(self) -> None:
        self.fields: dict[str, Value] = {}
        self.lines: dict[str, int] = {}
        self.length = 0


def parse(lines: Sequence[str]) -> FrontMatter:
    """Return the front matter that these lines of a file begin with; an empty one if they do not.

    Raises:
        LineError: it is not closed, is not YAML, or is more than keys and their values.
    """
    found = FrontMatter()
    if not lines or lines[0].rstrip() != FENCE:
        return found
    rest = (number for number, line in enumerate(lines) if number and line.rstrip() == FENCE)
    end = next(rest, 0)
    if not end:
        raise LineError(1, f"the front matter is not closed: end it with a line {FENCE}")
    if sum(map(len, lines[:end])) > LONGEST:
        raise LineError(1, f"the front matter is longer than {LONGEST} characters: shorten it")
    found.length = end + 1
    _Reader(lines[1:end]).read(found)
    return found


class _Reader:
    """Take the events of YAML one by one; knows on which line of the file each begins."""

    def __init__(self, lines: Sequence[str]) -> None:
        # PyYAML takes a tab at the end of a line for the start of something.
        kept = [line.rstrip(" \t\r") + "\n" for line in lines]
        self._starts = [*accumulate(map(len, kept), initial=0)]
        self._text = "".join(kept)
        self._line = 2
        self._events = self._read()

    def read(self, found: FrontMatter) -> None:
        """Set the fields of ``found`` and their lines."""
        for event in self._events:
            if isinstance(event, yaml.MappingStartEvent):
                self._refuse_more_than_data(event)
                self._take(found.fields, found.lines, 1)
            elif isinstance(event, yaml.NodeEvent):
                raise LineError(self._line, "not a 'key: value': front matter is keys and values")
            elif isinstance(event, yaml.DocumentStartEvent) and event.explicit:
                raise LineError(self._line, "begins another document of YAML: leave one")

    def _take(self, fields: dict[str, Value], lines: dict[str, int], depth: int) -> None:
        """Read a mapping to its end; in the outermost, keys that differ in case are the same."""
        seen = set()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event)
            same = key.lower() if depth == 1 else key
            if same in seen:
                raise LineError(self._line, f"'{key}' is there twice: leave one")
            seen.add(same)
            lines[key] = self._line
            fields[key] = self._value(next(self._events), depth)

    def _key(self, event: yaml.Event) -> str:
        self._refuse_more_than_data(event)
        key = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else ""
        if not key.isprintable() or not 0 < len(key) <= LONGEST_KEY:
            why = f"a key is one line of text, {LONGEST_KEY} characters at most"
            raise LineError(self._line, why)
        return key

    def _value(self, event: yaml.Event, depth: int) -> Value:
        self._refuse_more_than_data(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if depth == DEEPEST:
            raise LineError(self._line, f"more than {DEEPEST} lists and keys in each other")
        if isinstance(event, yaml.MappingStartEvent):
            fields: dict[str, Value] = {}
            self._take(fields, {}, depth + 1)
            return fields
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _scalar(self, event: yaml.ScalarEvent) -> str:
        if event.style is None and event.value in _NULLS:
            return ""
        try:  # two escapes of a pair, as JSON has them, are one letter
            value = event.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            value = "\0"
        if "\0" in value:
            raise LineError(self._line, "an escape that does not stand for a character of a text")
        return value

    def _refuse_more_than_data(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise LineError(self._line, f"'&' or '*' {_MORE}")
        if getattr(event, "tag", None) is not None:
            raise LineError(self._line, f"'!' {_MORE}")

    def _read(self) -> Iterator[yaml.Event]:
        """Yield the events; ``_line`` is that of the last one."""
        try:
            for event in yaml.parse(self._text, Loader=yaml.BaseLoader):
                if event.start_mark:
                    self._line = self._line_at(event.start_mark.index)
                yield event
        except yaml.reader.ReaderError as error:
            line = self._line_at(error.position)
            raise LineError(line, "a control character, which YAML does not allow") from None
        except yaml.MarkedYAMLError as error:
            what = ", ".join(filter(None, (error.context, error.problem)))
            raise LineError(self._fault(error), f"not YAML ({one_line(what)}): {_MEND}") from None
        except (ValueError, OverflowError):  # of an escape, or of a version's digits
            raise LineError(self._line, f"a number that YAML does not allow: {_MEND}") from None

    def _fault(self, error: yaml.MarkedYAMLError) -> int:
        """Return the line of what is wrong: where it began, if the end of the text is what is."""
        at, since = error.problem_mark, error.context_mark
        if since and (not at or at.index >= len(self._text)):
            at = since
        return self._line_at(at.index) if at else self._line

    def _line_at(self, index: int) -> int:
        return bisect_right(self._starts, index) + 1


_LEFT_OUT = ("node_modules",)


def document_files(
    path: str,
    on_error: Callable[[OSError], None],
    on_link: Callable[[str, str], None],
    on_other: Callable[[str], None] = lambda name: None,
) -> Iterator[str]:
    """Yield the path itself, or the documents below a folder, in a fixed order.

    Hidden files and folders and ``node_modules`` are left out, and links are not
    followed: what they lead to in the folder is found without them. ``on_error`` hears of
    folders that cannot be read, ``on_link`` of links to anything else, with the reason,
    ``on_other`` of the names of files that are no documents.
    """
    if not os.path.isdir(path):
        yield path
        return
    top = os.path.realpath(path)
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            on_error(error)
            continue
        below = []
        for entry in found:
            name = entry.name
            if name.startswith("."):
                continue
            is_link, is_folder = entry.is_symlink(), _is_folder(entry)
            if (name in _LEFT_OUT) if is_folder else not is_page(name):
                if not is_folder:
                    on_other(name)
                continue
            if is_link and os.path.exists(entry.path):
                why = _why_lost(top, os.path.realpath(entry.path))
                if why:
                    on_link(entry.path, why)
            elif is_folder:
                below.append(entry.path)
            else:
                yield entry.path
        waiting += below[::-1]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _why_lost(top: str, real: str) -> str:
    """Return why what a link leads to is not part of an import of ``top``; nothing where it is."""
    if not is_below(top, real) and real != top:
        return f"is a link that leads out of {top}"
    within = os.path.relpath(real, top)
    found = os.path.isdir(real) or is_page(real)
    hidden = any(name.startswith(".") for name in within.split(os.sep) if name != os.curdir)
    return "" if found and not hidden else "is a link to what is left out"


class Places:
    """Names of a project's files in the store."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._folders: dict[str, str] = {}

    def of(self, file: str) -> tuple[str, str]:
        """Return ``(path in the store, stamp)`` of a file; without a stamp it has to be read.

        Raises:
            LoreError: its name cannot be kept.
        """
        stamp = lstamp_of(file)
        if "-" in stamp:
            folder, _, name = file.rpartition(os.sep)
            path = self._beginning(folder if folder or file[:1] != os.sep else os.sep) + name
        else:
            path, stamp = self.folder(file), ""
        if not path.isprintable():
            raise LoreError("the name has characters that cannot be printed: rename it")
        return path, stamp

    def folder(self, path: str) -> str:
        """Return what the store calls a folder, whatever links lead there; ``.`` is the root."""
        return os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")

    def _beginning(self, folder: str) -> str:
        """Return what the paths of the files in a folder begin with."""
        if folder not in self._folders:
            place = self.folder(folder or os.curdir)
            self._folders[folder] = "" if place == os.curdir else place + "/"
        return self._folders[folder]

    def has(self, path: str) -> bool:
        """Return whether anything is at a path of the store."""
        return os.path.lexists(os.path.join(self.root, path))


_ADR_STATUS = {"proposed": "staged", "accepted": "confirmed", "deprecated": "retracted",
               "rejected": "retracted"}  # fmt: skip


class Document(Record):
    """The content of a document's file. ``path`` starts from the project's root, with ``/``.

    ``stated`` has the node's fields that the front matter sets, ``data`` its unknown
    keys, ``keys`` all of its keys; ``relations`` are ``(relation, target, line)``, ``aliases``
    further names by which links may call it.
    ``placed`` says that its id is made from its path.
    """

    __slots__ = (
        "aliases", "body", "data", "id", "keys", "line_end", "line_start", "links", "path",
        "placed", "relations", "stated", "title", "type",
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
        self.relations: list[tuple[str, str, int]] = []
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
    """Return the text of a Markdown file, its lines ended by ``\\n``.

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
    types: dict[str, str],
    relations: Collection[str],
    ids: Sequence[str] = (),
    bad: list[str] | None = None,
    new_types: bool = False,
) -> Document:
    """Return what a text says, which the store knows as ``path``; ``type`` is what it is by
    default.

    A file that states no id has the first of ``ids`` that is of its type, else one made
    from its path. With ``new_types``, a type that it states comes to ``types``. With ``bad``,
    values of the front matter that are wrong are kept as data, and what is wrong goes there.

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
    rest = lines[front.length :]
    page = form_of(path).read(rest, front.length + 1)
    document.links = page.links
    if page.tags:
        document.stated["tags"] = clean_tags([*document.stated.get("tags", ()), *page.tags])
        document.keys = sorted({*document.keys, "tags"})
    if len(document.links) > LINKS:
        raise LoreError(f"has more than {LINKS} links: cut it into several files")
    _set_text(document, rest, page, front.length + 1)
    return document


def _line_at(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


def _set_text(document: Document, lines: list[str], page: Page, first: int) -> None:
    """Set title and body; the heading that is the title is not part of the body."""
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
    """Say of each link where it begins in the body, of which these are the lines."""
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    first = document.line_start or 1
    for link in document.links:
        link.at = [
            starts[line - first] + column
            for line, column in link.places
            if 0 <= line - first < len(lines) and column < len(lines[line - first])
        ]


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


_ALIASES = ("aliases", "alias", "permalink")
"""Keys of the front matter with names by which links may call a document."""

_KNOWN: dict[str, tuple[str, Callable[[Value], Any]]] = {
    "id": ("id", _one), "type": ("type", _one), "title": ("title", _one), "tags": ("tags", _tags),
    "status": ("status", _status), "date": ("created_at", _date), "created": ("created_at", _date),
    "source": ("source", _source), "confidence": ("confidence", _confidence),
    "category": ("category", _one),
}  # fmt: skip
