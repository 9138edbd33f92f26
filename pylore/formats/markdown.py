"""Markdown files into the store: a file becomes a node, its links become edges.

Two passes over the list of files: the first learns every id and title, so that a
link may lead to a file that comes later; the second writes. Texts are held one
batch at a time.
"""

from __future__ import annotations

import json
import os

from ..core.errors import LoreError, StoreError, UsageError, nearest
from ..core.model import Edge, Node
from ..core.times import now
from ..embed.ahead import Ahead
from ..indexing.indexer import Index, Waiting, texts_of
from ..records.records import split_location
from ..system.project_files import leads_down
from .jsonl import Imported
from .mdfile import is_markdown, markdown_files, read_document
from .mdlinks import PATH, RELATIVE
from .mdtargets import Targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..core.settings import Settings
    from ..embed import Embedder
    from ..store import Store
    from .mdfile import Document
    from .mdtargets import Target

    Wanted = dict[tuple[str, str, str], list[str]]
    """edge to the line ranges that its document names"""

_NAMED = 3
"""How many links are named where a folder has nothing else."""
_MEND = "mend it, or leave such files out with --skip-bad"
_NOTES = 10  # of one kind; the rest is counted

TAKEN_BACK = "retracted"
"""The status of an edge that its document no longer states. One that a person took away has
another, and so does not come back with the next import."""


def import_markdown(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    paths: Iterable[str],
    root: str,
    *,
    type: str = "doc",
    skip_bad: bool = False,
    new_types: bool = False,
    progress: Callable[[int], None] = lambda files: None,
) -> Imported:
    """Imports Markdown files and folders, in one transaction; unchanged files change nothing.

    ``root`` is where the paths in the store start from, ``type`` what a file is that
    does not say so itself. ``progress`` hears of each file that is done.

    Raises:
        LoreError: a file is wrong (it and the line are named) and ``skip_bad`` is
            not set; nothing is imported then.
    """
    ahead = Ahead(store, lambda: embedder)
    part = MarkdownImport(
        store, settings, ahead, paths, root, type=type, skip_bad=skip_bad, new_types=new_types,
        progress=progress,
    )  # fmt: skip
    part.prepare()
    return ahead.settled(part.write, "import")


class MarkdownImport:
    """One import of Markdown, in two steps: the store is locked for the second one alone.

    The fields are those of ``import_markdown``.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        ahead: Ahead,
        paths: Iterable[str],
        root: str,
        *,
        type: str,
        skip_bad: bool,
        new_types: bool,
        progress: Callable[[int], None],
    ) -> None:
        self._importer = _PageImporter(store, settings, ahead, root, skip_bad)
        self._paths = paths
        self._type = type
        self._new_types = new_types
        self._progress = progress

    def prepare(self) -> None:
        """Finds all documents, and embeds what is new in them."""
        self._importer.set_type(self._type, declare=self._new_types)
        for path in self._paths:
            self._importer.find(path)

    def write(self) -> Imported:
        """Writes what was found; the caller holds a transaction."""
        return self._importer.write_all(self._progress)


class _PageImporter:
    def __init__(
        self, store: Store, settings: Settings, ahead: Ahead, root: str, skip_bad: bool
    ) -> None:
        self.result = Imported()
        self._store = store
        self._settings = settings
        self._ahead = ahead
        self._root = os.path.realpath(root)
        self._skip_bad = skip_bad
        self._type = ""
        self._types: dict[str, str] = {}
        self._declared: set[str] = set()  # relations of the store
        self._relations: set[str] = set()  # and those that the settings add
        self._targets = Targets(store, self._root)
        self._files: dict[str, tuple[str, str]] = {}  # path in the store: file, id
        self._paths: dict[str, str] = {}  # id: path in the store
        self._folders: list[str] = []
        self._now = now()

    def set_type(self, type: str, *, declare: bool) -> None:
        """What files are that do not say it themselves; reads the store's vocabulary too."""
        self._types = self._store.types.all()
        if type not in self._types:
            if not declare:
                raise UsageError(f"unknown type '{type}'{nearest(type, list(self._types))}: "
                                 "new_types declares it")  # fmt: skip
            if not (type.isascii() and type.isalpha() and type.islower()):
                raise LoreError(f"'{type}' is not a valid name for a type: use lower-case letters")
            self._types[type] = ""
        self._type = type
        self._declared = set(self._store.relations.all())
        self._relations = self._declared | self._settings.edge_weights.keys()

    # --- the first pass: which documents there are

    def find(self, path: str) -> None:
        """Reads every file of one path for its id, title and links."""
        found, before = False, len(self.result.skipped)
        for file in markdown_files(path, self._unreadable, self._link):
            found = True
            try:
                self._find_file(file)
            except LoreError as error:
                self._fault(file, error)
        if os.path.isdir(path):
            self._folders.append(self._path_in_store(path))
            if not found:
                links = [f"{file}, which {why}" for file, why in self.result.skipped[before:]]
                but = f" but {', '.join(links[:_NAMED])}" if links else ""
                self._fault(path, LoreError(f"there are no Markdown files in this folder{but}"),
                            "name one that has some, or files of JSON lines")  # fmt: skip

    def _unreadable(self, error: OSError) -> None:
        self._fault(error.filename, LoreError(f"cannot be read ({error.strerror})"))

    def _link(self, file: str, why: str) -> None:
        self.result.skipped.append((file, why))

    def _find_file(self, file: str) -> None:
        path = self._path_in_store(file)
        if path in self._files:
            return
        document = self._read(file, path)
        other = self._paths.get(document.id)
        if other == path:
            return
        if other:
            raise LoreError(f"its id {document.id} is that of {other}: give one of them another")
        self._paths[document.id] = path
        old = self._store.nodes.get(document.id)
        if old is not None and old.invalidated_at is not None:
            self._stays_forgotten(file, document.id)
            return
        self._files[path] = (file, document.id)
        self._targets.add(document)
        node = document.node(old)
        if not self._store.nodes.holds(node):
            self._ahead.prepare(texts_of(node))

    def _stays_forgotten(self, file: str, id: str) -> None:
        self.result.notes.append(f"{file}: {id} is forgotten and stays so: "
                                 f"'lore restore {id}' brings it back")  # fmt: skip

    def _read(self, file: str, path: str) -> Document:
        return read_document(
            file, path, type=self._type, types=self._types, relations=self._relations,
            max_text=self._settings.max_text,
        )  # fmt: skip

    def _path_in_store(self, file: str) -> str:
        path = os.path.relpath(os.path.realpath(file), self._root).replace(os.sep, "/")
        if not path.isprintable():
            raise LoreError("the name has characters that cannot be printed: rename it")
        return path

    def _fault(self, file: str, error: LoreError, mend: str = _MEND) -> None:
        if isinstance(error, StoreError):
            raise error
        if not self._skip_bad:
            raise LoreError(f"{file}: {error}: nothing was imported; {mend}") from None
        self.result.skipped.append((file, str(error)))

    # --- the second pass: nodes and edges

    def write_all(self, progress: Callable[[int], None]) -> Imported:
        """Writes every document that was found, then says what a person should know."""
        found = self.result
        self.result = Imported()  # it may have been written before, and taken back
        self.result.notes, self.result.skipped = [*found.notes], [*found.skipped]
        try:
            self._write_all(progress)
            return self.result
        finally:
            self.result = found

    def _write_all(self, progress: Callable[[int], None]) -> None:
        self._waiting = Waiting(Index(self._store, self._ahead.given, self.result.notes))
        if self._type not in self._store.types.all():
            self._store.types.declare(self._type, "")
        self._declared = set(self._store.relations.all())
        self._targets.read_store()
        for path, (file, id) in self._files.items():
            try:
                document = self._read(file, path)
                if document.id != id:
                    raise LoreError("was changed while it was imported: import it again")
            except LoreError as error:
                self._fault(file, error)
            else:
                self._write(document, file)
            progress(1)
        self._waiting.flush()
        self._say()

    def _write(self, document: Document, file: str) -> None:
        old = self._store.nodes.get(document.id)
        if old is not None and old.invalidated_at is not None:  # since it was found
            self._stays_forgotten(file, document.id)
            return
        # A file that has moved since the last import wrote its edges under its former path.
        paths = {document.path, old.file} if old and old.file else {document.path}
        self._put_node(document.node(old))
        self._write_edges(document.id, document.path, paths, self._wanted(document))

    def _put_node(self, node: Node) -> None:
        node.created_at = node.created_at or self._now
        node.updated_at = self._now
        state = self._store.nodes.put(node)
        self.result.nodes += 1
        self.result.count(state)
        if state != "unchanged":
            self._waiting.add(node)

    def _wanted(self, document: Document) -> Wanted:
        """The edges that a document states."""
        folder = os.path.dirname(document.path)
        wanted: Wanted = {}
        for relation, text, line in document.relations:
            path = split_location(text)[0]
            target = self._targets.of_text(text, folder) or self._targets.of_text(path, folder)
            lines = text[len(path) + 1 :]
            self._declare(relation)
            self._want(wanted, document, target, relation, lines, f"line {line}: '{text}'")
        for link in document.links:
            target = self._targets.of_link(link, folder)
            if target is None and (
                link.kind == PATH
                or (link.kind == RELATIVE and self._targets.is_folder(link, folder))
            ):
                continue
            relation = "anchored_to" if target and target.file else "links_to"
            where = f"line {link.line}: '{link.target}'"
            self._want(wanted, document, target, relation, link.lines, where)
        return wanted

    def _declare(self, relation: str) -> None:
        """Makes a relation known that has its weight from the settings alone."""
        if relation not in self._declared:
            weight = self._settings.edge_weights[relation]
            self._store.relations.declare(relation, weight, weight, "declared")
            self._declared.add(relation)

    def _want(
        self, wanted: Wanted, document: Document, target: Target | None, relation: str,
        lines: str, where: str,
    ) -> None:  # fmt: skip
        if target is None:
            self.result.unresolved += 1
            if self.result.unresolved <= _NOTES:
                self.result.notes.append(f"{document.path}: {where} leads to nothing that is known")
        elif target.id != document.id:
            if target.file and self._store.nodes.get(target.id) is None:
                file = Node(target.id, "file", title=target.file, file=target.file, source="file")
                self._put_node(file)
            ranges = wanted.setdefault((document.id, target.id, relation), [])
            if lines and target.file and lines not in ranges:
                ranges.append(lines)

    def _write_edges(self, id: str, path: str, paths: set[str], wanted: Wanted) -> None:
        """Brings the edges of one document in line with what it states."""
        old = {e.key: e for e in self._store.edges.of(id, forgotten=True) if e.from_id == id}
        for key, ranges in wanted.items():
            stated = {"document": path, **({"lines": ranges} if ranges else {})}
            metadata = json.dumps(stated, ensure_ascii=False)
            edge = old.get(key)
            if edge is None:
                edge = Edge(*key, source="file", metadata=metadata, created_at=self._now)
            elif _may_restate(edge, paths):
                edge.source, edge.metadata, edge.invalidated_at = "file", metadata, None
                edge.status = "confirmed" if edge.status == TAKEN_BACK else edge.status
            self.result.edges += 1
            self.result.count(self._store.edges.put(edge))
        for key, edge in old.items():
            if key not in wanted and edge.invalidated_at is None and _document_of(edge) in paths:
                self._store.edges.invalidate(key, self._now, TAKEN_BACK)
                self.result.invalidated += 1

    # --- what a person should know

    def _say(self) -> None:
        more = self.result.unresolved - _NOTES
        if more > 0:
            self.result.notes.append(f"{more} more links lead to nothing that is known")
        left = list(self._left_behind())
        self.result.notes += left[:_NOTES]
        if len(left) > _NOTES:
            self.result.notes.append(f"{len(left) - _NOTES} more documents have lost their file")
        if self.result.edges:
            self.result.dangling = len(self._store.edges.dangling())

    def _left_behind(self) -> Iterator[str]:
        """Documents whose file is gone, or has become another node."""
        for id, path in self._store.nodes.documents():
            if id in self._paths or not is_markdown(path):
                continue
            if path in self._files:
                yield f"{path} is {self._files[path][1]} now: 'lore forget {id}' takes {id} away"
            elif (
                leads_down(path)
                and any(_is_below(path, folder) for folder in self._folders)
                and not os.path.lexists(os.path.join(self._root, path))
            ):
                yield f"{path} is gone, {id} stays: 'lore forget {id}' takes it away"


def _may_restate(edge: Edge, paths: set[str]) -> bool:
    """Whether a document may write an edge that is there already.

    A live edge that someone made by hand stays as it is, and an edge of the document
    that someone took away stays away.
    """
    live = edge.invalidated_at is None
    mine = _document_of(edge) in paths
    return (live or edge.status == TAKEN_BACK) if mine else not live


def _document_of(edge: Edge) -> str | None:
    document = json.loads(edge.metadata).get("document")
    return document if isinstance(document, str) else None


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(folder + "/")
