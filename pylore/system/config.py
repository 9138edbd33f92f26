"""The one reader of config files, and the one place that finds the store and the project.

Every command begins with ``load``; a search without a config file pays a few looks at the disk.
A config file is bash, parsed line by line and never run: anything but a plain assignment is an
error with its file and line. This module is on the path of every search, and imports no ``re``.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

SHARED = ".lore"
"""The folder of a project that holds what its collaborators share."""

MARK = "/+"
"""Stands for / in the name of a store's folder; no file of a store begins with its plus."""

_CWD = "/proc/self/cwd"
_MOST_BYTES = 1_000_000
_LONGEST_LINE = 20_000
_MOST_SETTINGS = 100_000
"""Characters of all values: they are handed to plugins in one environment variable."""

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME = _LETTERS | frozenset("0123456789")
_ELEMENT = _NAME | {"-"}
_ITEM = _ELEMENT | frozenset("./")
_BARE = _ITEM | frozenset(":,@%+=")
_QUOTES = frozenset("'\"")
_PLAIN = "only plain assignments are read (name=value, quoted where it has spaces)"


def load(environ: MutableMapping[str, str], here: str = "") -> None:
    """Set the variables that say where the store and the project are, and what the files set.

    ``LORE_STORE`` is the folder of search.db, or empty; ``LORE_PROJECT`` the project's folder,
    empty outside of one; ``LORE_STORE_SCOPE`` who chose the store, ``user`` or ``project``;
    ``LORE_FROM_CONFIG`` has a line for each setting: key, tab, ``scope:file:line``, tab, value.

    Args:
        environ: is changed in place.
        here: the working directory; that of this process unless given.

    Raises:
        LoreError: the project's ``.lore`` is a link that leads out of it.
        UsageError: a config file is wrong.
    """
    find_store(environ, here)
    _forget_exports(environ)
    _read_files(environ)


def find_store(environ: MutableMapping[str, str], here: str = "") -> None:
    """Set the variables that say where the store and the project are; read no config.

    Raises:
        LoreError: the project's ``.lore`` is a link that leads out of it.
    """
    chosen, project, scope = environ.get("LORE_DIR", ""), "", "user"
    if chosen:
        whole = chosen.startswith("/")  # then the working directory may be gone
        store = chosen if whole else os.path.join(_logical(environ, here), chosen)
    else:
        store = home_folder(environ, "XDG_DATA_HOME", ".local/share")
        project, place = _find_project(_physical(environ, here), store)
        if project:
            scope = "project"
            store = store_of(place, store) if store else ""
            _require_own(os.path.join(project, SHARED), project)
    environ["LORE_STORE"], environ["LORE_PROJECT"] = store, project
    environ["LORE_STORE_SCOPE"] = scope


def locate(folder: str) -> tuple[str, str]:
    """Return the project that a folder lies in, empty outside of one, and the folder of its store.

    ``LORE_DIR`` does not count.

    Raises:
        LoreError: there is no such folder, or its ``.lore`` is a link that leads out of it.
    """
    if not os.path.isdir(folder):
        raise LoreError(f"{folder}: there is no such folder: name a project")
    environ = {key: value for key, value in os.environ.items() if key != "LORE_DIR"}
    find_store(environ, os.path.realpath(folder))
    return environ["LORE_PROJECT"], environ["LORE_STORE"]


def home_folder(environ: Mapping[str, str], variable: str, default: str) -> str:
    """Return lore's folder below that of an XDG variable, or below HOME; empty without either.

    As the specification has it, a relative path does not count.
    """
    base = environ.get(variable, "")
    if not base.startswith("/"):
        home = environ.get("HOME", "")
        base = f"{home}/{default}" if home else ""
    return base and f"{base}/lore"


def store_of(place: str, data: str) -> str:
    """Return the folder of the store of the project at ``place``, in the user's data folder."""
    return f"{data}/projects" + place.replace("/", MARK)


# --- the project


def _logical(environ: Mapping[str, str], here: str) -> str:
    """Return the working directory as the shell calls it, with links in it."""
    logical = environ.get("PWD", "")
    if here or not logical.startswith("/"):
        return here or os.getcwd()
    try:
        return logical if os.path.samefile(logical, ".") else os.getcwd()
    except OSError:
        return logical


def _physical(environ: Mapping[str, str], here: str) -> str:
    try:
        return os.path.realpath(here) if here else os.getcwd()
    except FileNotFoundError:  # the folder is gone
        if environ.get("PWD"):
            return environ["PWD"]
        if not os.path.islink(_CWD):  # dash has emptied PWD, and there is no /proc
            raise
        return os.readlink(_CWD).removesuffix(" (deleted)")


def _find_project(here: str, data: str) -> tuple[str, str]:
    """Return the folder of the project and its place; both empty if there is none.

    Its place is its folder, and in a worktree that of the main checkout.
    """
    above, project = here.rstrip("/"), ""
    while True:
        if not project and os.path.isdir(f"{above}/{SHARED}"):
            project = above or "/"
        if os.path.exists(f"{above}/.git"):
            place = _checkout(above)
            if project:  # worktrees of a repository have one place
                return project, place + project.removeprefix(above)
            if data and os.path.isfile(os.path.join(store_of(place, data), "search.db")):
                return above, place
        if not above:
            return project, project
        above = above.rpartition("/")[0]


def _checkout(folder: str) -> str:
    """Return the main checkout, if this folder with a ``.git`` is a worktree; else the folder."""
    file = f"{folder}/.git"
    if not os.path.isfile(file) or os.path.islink(file):
        return folder
    entry = os.path.realpath(os.path.join(folder, _first_line(file).removeprefix("gitdir: ")))
    if not os.path.isdir(entry) or os.path.basename(os.path.dirname(entry)) != "worktrees":
        return folder
    # The repository must know the worktree: a .git file from an archive may name any folder.
    try:
        known = os.path.samefile(os.path.join(entry, _first_line(f"{entry}/gitdir")), file)
    except OSError:
        return folder
    return os.path.dirname(os.path.dirname(entry)).removesuffix("/.git") if known else folder


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(_LONGEST_LINE).removesuffix("\n")
    except OSError:
        return ""


def _require_own(path: str, project: str) -> None:
    """Refuse a link that leaves the project."""
    if not os.path.islink(path):
        return
    target = os.path.realpath(path)
    if not f"{target}/".startswith(os.path.realpath(project).rstrip("/") + "/"):
        raise LoreError(f"{path}: is a link that leads out of the project, to {target}: remove it")


# --- the files


def _forget_exports(environ: MutableMapping[str, str]) -> None:
    """Drop what an outer lore exported to a plugin, so that the files of this one count."""
    exported = environ.get("LORE_EXPORTED", "").split()
    for line in environ.get("LORE_FROM_CONFIG", "").split("\n") if exported else ():
        key, _, rest = line.partition("\t")
        name = f"LORE_{key.upper()}"
        # another value is a person's
        if name in exported and environ.get(name) == rest.partition("\t")[2]:
            del environ[name]
    environ["LORE_EXPORTED"] = ""


def _read_files(environ: MutableMapping[str, str]) -> None:
    users = home_folder(environ, "XDG_CONFIG_HOME", ".config")
    project, store = environ["LORE_PROJECT"], environ["LORE_STORE"]
    shared = os.path.join(project, SHARED) if project else store
    found: list[str] = []
    for folder, name, scope in ((users, "config", "user"),
                                (shared, ".config", environ["LORE_STORE_SCOPE"])):  # fmt: skip
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            ConfigFile(path, scope, environ.get("HOME", ""), found).read()
    environ["LORE_FROM_CONFIG"] = "".join(found)


class ConfigFile:
    """One config file while it is read; ``found`` gets a line for each setting."""

    def __init__(self, path: str, scope: str, home: str, found: list[str]) -> None:
        from ..core.text import printable

        self._path, self._scope, self._home, self._found = path, scope, home, found
        self._name = printable(path).replace("\n", "?").replace("\t", "?")
        self._number = 1
        self._size = sum(map(len, found))
        self._array = self._opened = ""
        """The array whose items are being read, and the place where it begins."""

    def read(self) -> None:
        """Read the file.

        Raises:
            UsageError: it cannot be read, or holds more than plain assignments.
        """
        for number, raw in enumerate(self._bytes().split(b"\n"), 1):
            self._number = number
            line = os.fsdecode(raw)
            if len(raw) > _LONGEST_LINE:
                raise self._wrong(f"a line has more than {_LONGEST_LINE} bytes", line)
            line = line.removesuffix("\r")
            if not _is_end(f" {line}"):
                self._read_line(line)
        if self._array:
            raise UsageError(f"{self._opened}: the array {self._array} is not closed: add a )")

    def _bytes(self) -> bytes:
        # What is wrong in a file is quoted, and a clone's link may lead to any.
        if self._scope == "project" and os.path.islink(self._path):
            raise self._wrong("is a link: put a file in its place")
        if not os.path.isfile(self._path) or not os.access(self._path, os.R_OK):
            raise self._wrong("cannot be read: make it a file that you may read")
        with open(self._path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        before, nul, _ = data.partition(b"\0")
        if len(before) > _MOST_BYTES:
            raise self._wrong("the file has more than a megabyte: keep settings alone in it")
        self._number += before.count(b"\n")
        if nul:
            raise self._wrong("a NUL byte: take it out")
        return data

    def _read_line(self, line: str) -> None:
        if self._array:
            self._read_items(line, line)
            return
        name, sign, rest = assigned(line)
        if sign == "=(":
            self._array, self._opened = name, self._place()
            self._read_items(rest, line)
            return
        value = plain_value(rest, self._home) if sign else None
        if value is not None:
            self._add(name, value)
        elif sign or not name:
            raise self._wrong(_PLAIN, line)

    def _read_items(self, text: str, line: str) -> None:
        """Read the ``[key]=value`` items of an array, and its end if that is here."""
        at = 0
        while (item := item_at(text, at)) is not None:
            key, start, at = item
            self._add(f"{self._array}[{key}]", text[start:at].strip("\"'"))
        rest = text[at:].lstrip(" \t")
        if rest.startswith(")") and _is_end(rest[1:]):
            self._array = ""
        elif not _is_end(f" {rest}"):
            raise self._wrong("an array holds [name]=value items", line)

    def _add(self, key: str, value: str) -> None:
        if self._size + len(value) >= _MOST_SETTINGS:
            raise self._wrong("too many settings: keep each of them once")
        entry = f"{key}\t{self._scope}:{self._place()}\t{value}\n"
        self._size += len(entry)
        self._found.append(entry)

    def _place(self) -> str:
        return f"{self._name}:{self._number}"

    def _wrong(self, what: str, line: str = "") -> UsageError:
        quoted = line[:80].encode(errors="replace").decode()  # it may not be UTF-8
        return UsageError(f"{self._place()}: {what}" + (f", not: {quoted}" if line else ""))


# --- the grammar, which ``config_edit`` shares


def assigned(line: str) -> tuple[str, str, str]:
    """Return what a line assigns to, the sign (``=``, or ``=(`` for an array), and what follows.

    A declaration alone has a name and no sign; a line that is neither has no name.

    >>> assigned("limit=5 # few"), assigned('W["calls"]=1')
    (('limit', '=', '5 # few'), ('W[calls]', '=', '1'))
    >>> assigned("declare -A W=([a]=1)"), assigned("declare -A W"), assigned("x += 1")
    (('W', '=(', '[a]=1)'), ('W', '', ''), ('', '', ''))
    """
    declared = _declared(line)
    text = declared or line.lstrip(" \t")
    name = _leading(text, _NAME)
    rest = text[len(name) :]
    if name[:1] not in _LETTERS:
        return "", "", ""
    if rest.startswith("=("):
        return name, "=(", rest[2:]
    if declared:
        return (name, "", "") if _is_end(rest) else ("", "", "")
    if rest.startswith("["):
        key, length = _bracketed(rest)
        name, rest = f"{name}[{key}]", rest[length:] if key else ""
    return (name, "=", rest[1:]) if rest.startswith("=") else ("", "", "")


def _declared(line: str) -> str:
    """Return what a line declares as an array, with what follows; empty if it declares none."""
    text = line.lstrip(" \t")
    for word in ("declare", "-A"):
        if not text.startswith((f"{word} ", f"{word}\t")):
            return ""
        text = text[len(word) :].lstrip(" \t")
    return text


def item_at(text: str, at: int) -> tuple[str, int, int] | None:
    """Return the key of the item of an array at ``at``, and where its value begins and ends.

    >>> item_at('["a"]=0.5 [b]=1)', 0), item_at('["a"]=0.5 [b]=1)', 9), item_at(" )", 0)
    (('a', 6, 9), ('b', 14, 15), None)
    """
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    key, length = _bracketed(text[at:])
    start = at + length + 1
    if not key or text[start - 1 : start] != "=":
        return None
    quote = text[start : start + 1]
    if quote in _QUOTES:
        inside = _leading(text[start + 1 :], _ITEM)
        end = start + len(inside) + 2
        if text[end - 1 : end] != quote:
            return None
    else:
        end = start + len(_leading(text[start:], _ITEM))
    return (key, start, end) if text[end : end + 1] in ("", " ", "\t", ")") else None


def plain_value(text: str, home: str) -> str | None:
    """Return the value that is written behind an equals sign; None if it is no plain one.

    >>> plain_value("'a b' # c", ""), plain_value("~/x", "/home/me"), plain_value("$(id)", "")
    ('a b', '/home/me/x', None)
    """
    end = value_end(text)
    written = text[:end]
    if end < 0 or not _is_end(text[end:]):
        return None
    if written[:1] == "~":
        value = home + written[1:] if home else None
    else:
        value = written[1:-1] if written[:1] in _QUOTES else written
    is_plain = value is not None and not any(letter < " " or letter == "\x7f" for letter in value)
    return value if is_plain else None


def value_end(text: str) -> int:
    """Return where the value that a text begins with ends; -1 if it is no plain one."""
    if text[:1] in _QUOTES:
        end = text.find(text[0], 1) + 1
        special = text[0] == '"' and any(letter in "$`\\" for letter in text[:end])
        return end if end and not special else -1
    if text[:1] == "~":
        return 1 + (len(_leading(text[1:], _BARE)) if text[1:2] == "/" else 0)
    return len(_leading(text, _BARE))


def _bracketed(text: str) -> tuple[str, int]:
    """Return the key in brackets that a text begins with, and its length; quotes may be around it.

    The key is empty if there is none.
    """
    quote = text[1:2] if text[1:2] in _QUOTES else ""
    start = 1 + len(quote)
    key = _leading(text[start:], _ELEMENT)
    end = f"{quote}]"
    if text[:1] != "[" or key[:1] not in _LETTERS or not text.startswith(end, start + len(key)):
        return "", 0
    return key, start + len(key) + len(end)


def _leading(text: str, letters: frozenset[str]) -> str:
    """Return the longest beginning of a text that these letters make."""
    for at, letter in enumerate(text):
        if letter not in letters:
            return text[:at]
    return text


def _is_end(text: str) -> bool:
    """Return True if nothing follows but blanks, and a comment with a blank before it."""
    rest = text.lstrip(" \t")
    return not rest or (rest[0] == "#" and len(rest) < len(text))
