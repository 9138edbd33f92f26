"""The one reader of config files, and the one place that finds the store and the project.

Every command begins with ``load``; a search without a config file pays a few looks at the disk.
A config file is bash, parsed line by line and never run: anything but a plain assignment is an
error with its file and line. This module is on the path of every search, and imports no ``re``.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, first_of
from .files import SHARED
from .projects import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from .projects import ProjectFolder

_CWD = "/proc/self/cwd"
_MOST_BYTES = 1_000_000
_LONGEST_LINE = 20_000
_MOST_SETTINGS = 100_000
"""Characters of all values: they are handed to plugins in one environment variable."""
_BLANKS = frozenset(" \t")
_QUOTES = frozenset("'\"")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME = _LETTERS | frozenset("0123456789")
_KEY = _NAME | {"-"}
_BARE = _KEY | frozenset("./:,@%+=")
_PLAIN = (
    "only plain assignments are read (name=value, quoted where it has spaces; "
    "[name]=value in an array)"
)


def load(environ: MutableMapping[str, str], here: str = "") -> None:
    """Set the variables that say where the store and the project are, and what the files set.

    ``LORE_STORE`` is the folder of search.db, or empty; ``LORE_PROJECT`` the project's folder,
    empty outside of one; ``LORE_STORE_SCOPE`` who chose the store, ``user`` or ``project``;
    ``LORE_FROM_CONFIG`` has a line for each setting: key, tab, ``scope:file:line``, tab, value.
    ``here`` is the working directory, unless that of this process. Raise LoreError as
    ``find_store``, UsageError for lines that are not plain assignments; the others are handed over.
    """
    find_store(environ, here)
    _forget_exports(environ)
    _read_files(environ)


def find_store(environ: MutableMapping[str, str], here: str = "") -> None:
    """Set the variables that say where the store and the project are; read no config. Raise
    LoreError if the project's ``.lore`` is a link that leads out of it.
    """
    chosen, project, scope = environ.get("LORE_DIR", ""), "", "user"
    if chosen:
        whole = chosen.startswith("/")  # then the working directory may be gone
        store = chosen if whole else os.path.join(_logical(environ, here), chosen)
    else:
        store = home_folder(environ, "XDG_DATA_HOME", ".local/share")
        found = find_project(_physical(environ, here), store)
        if found:
            project, scope = found.folder, "project"
            store = store and _store_of(found)
            _require_own(os.path.join(project, SHARED), project)
    environ["LORE_STORE"], environ["LORE_PROJECT"] = store, project
    environ["LORE_STORE_SCOPE"] = scope


def _store_of(project: ProjectFolder) -> str:
    found = project.bound()
    if not found:  # moved, copied, changed, or without a store
        from .stores import renewed

        found = renewed(project) or project.path_of("new")
    return found


def locate(folder: str) -> tuple[str, str]:
    """Return the project that a folder lies in, empty outside of one, and the folder of its store.

    ``LORE_DIR`` does not count. Raise LoreError for a missing folder, or as ``find_store``.
    """
    if not os.path.isdir(folder):
        raise LoreError(f"{folder}: there is no such folder: name a project")
    environ = {key: value for key, value in os.environ.items() if key != "LORE_DIR"}
    find_store(environ, os.path.realpath(folder))
    return environ["LORE_PROJECT"], environ["LORE_STORE"]


def home_folder(environ: Mapping[str, str], variable: str, default: str) -> str:
    """Return lore's folder below that of an XDG variable (a relative path does not count), or below
    HOME; empty without either.
    """
    base = environ.get(variable, "")
    if not base.startswith("/"):
        home = environ.get("HOME", "")
        base = f"{home}/{default}" if home else ""
    return base and f"{base}/lore"


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


def _require_own(path: str, project: str) -> None:
    """Refuse a link that leaves the project."""
    target = os.path.realpath(path) if os.path.islink(path) else ""
    if target and not f"{target}/".startswith(os.path.realpath(project).rstrip("/") + "/"):
        raise LoreError(f"{path}: is a link that leads out of the project, to {target}: remove it")


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
    problems: list[str] = []
    for folder, name, scope in ((users, "config", "user"),
                                (shared, ".config", environ["LORE_STORE_SCOPE"])):  # fmt: skip
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            problems += read_file(path, scope, environ.get("HOME", ""), found)
    environ["LORE_FROM_CONFIG"] = "".join(found)
    if problems:
        raise UsageError(first_of(problems))


def read_file(path: str, scope: str, home: str, found: list[str]) -> list[str]:
    """Add a line for each setting of a config file to ``found``; return what is wrong in it."""
    from ..core.text import printable

    name = printable(path).replace("\n", "?").replace("\t", "?")
    # A message quotes the file, and a link in a clone may point to any file.
    if scope == "project" and os.path.islink(path):
        return [f"{name}:1: is a link: put a file in its place"]
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return [f"{name}:1: cannot be read: make it a file that you may read"]
    with open(path, "rb") as file:
        data = file.read(_MOST_BYTES + 1).removeprefix(b"\xef\xbb\xbf")
    if len(data) > _MOST_BYTES:
        return [f"{name}:1: the file has more than a megabyte: keep settings alone in it"]
    size = sum(map(len, found))
    problems = []
    array = opened = ""
    for number, raw in enumerate(data.split(b"\n"), 1):
        place, line = f"{name}:{number}", os.fsdecode(raw).removesuffix("\r")
        if len(raw) > _LONGEST_LINE:
            problems.append(f"{place}: a line has more than {_LONGEST_LINE} bytes")
            continue
        before, parsed = array, parse_line(line, array)
        values, array = parsed or ([], array)
        entries = [(key, unquoted(line[start:end], home)) for key, start, end, _ in values]
        if parsed is None or None in dict(entries).values():
            quoted = line[:80].encode(errors="replace").decode()  # it may not be UTF-8
            problems.append(f"{place}: {_PLAIN}, not: {quoted}")
            continue
        opened = opened if before else place
        found += [f"{key}\t{scope}:{place}\t{value}\n" for key, value in entries]
        size += sum(map(len, found[len(found) - len(entries) :]))
        if size > _MOST_SETTINGS:
            return [*problems, f"{place}: too many settings: keep each of them once"]
    if array:
        problems.append(f"{opened}: the array {array} is not closed: add a )")
    return problems


# --- the grammar, which ``config_edit`` shares


def parse_line(line: str, array: str = "") -> tuple[list[tuple[str, int, int, int]], str] | None:
    """Parse a line of a config file; ``array`` is the one whose items are being read, if any.

    Return each assignment as its key, the start and end of its value, and the start of its item of
    an array or -1; then the array that is still open. Return None for any other line.

    >>> parse_line("limit=5 # few"), parse_line('W["calls"]=1')
    (([('limit', 6, 7, -1)], ''), ([('W[calls]', 11, 12, -1)], ''))
    >>> parse_line("declare -A W=([a]=1"), parse_line("[b]='x' )", "W")
    (([('W[a]', 18, 19, 14)], 'W'), ([('W[b]', 4, 7, 0)], ''))
    >>> parse_line("x += 1"), parse_line("x=$(id)")
    (None, None)
    """
    at = 0
    if not array:
        if _is_end(line, 0):
            return [], ""
        at = _after(line, 0, _BLANKS)
        declared = line.startswith(("declare ", "declare\t"), at)
        if declared:
            at = _after(line, at + len("declare"), _BLANKS)
            if not line.startswith(("-A ", "-A\t"), at):
                return None
            at = _after(line, at + len("-A"), _BLANKS)
        end = _after(line, at, _NAME)
        array = line[at:end]
        if array[:1] not in _LETTERS:
            return None
        if not line.startswith("=(", end):
            if declared:
                return ([], "") if _is_end(line, end) else None
            key, at = _element(line, end)
            name, start = f"{array}[{key}]" if key else array, at + 1
            end = value_end(line, start)
            plain = line[at:start] == "=" and end >= 0 and _is_end(line, end)
            return ([(name, start, end, -1)], "") if plain else None
        at = end + len("=(")
    found = []
    while True:
        item = _after(line, at, _BLANKS)
        key, equals = _element(line, item)
        if not key:
            break
        at = value_end(line, equals + 1)
        if line[equals : equals + 1] != "=" or line[equals + 1 : equals + 2] == "~":
            return None  # in an array the versions of bash differ about ~
        if at < 0 or line[at : at + 1] not in ("", " ", "\t", ")"):
            return None
        found.append((f"{array}[{key}]", equals + 1, at, item))
    if line.startswith(")", item):
        array, at = "", item + 1
    return (found, array) if _is_end(line, at) else None


def unquoted(written: str, home: str) -> str | None:
    """Return the value that a config file spells so; None if it cannot be handed over.

    >>> unquoted("'a b'", ""), unquoted("~/x", "/home/me"), unquoted("~", "")
    ('a b', '/home/me/x', None)
    """
    value = written[1:-1] if written[:1] in _QUOTES else written
    if written[:1] == "~":
        value = home + written[1:]
        if not home:
            return None
    return None if any(letter < " " or letter == "\x7f" for letter in value) else value


def value_end(line: str, at: int) -> int:
    """Return the end of the value that begins at ``at``; -1 if it is not a plain one."""
    quote = line[at : at + 1]
    if quote in _QUOTES:
        end = line.find(quote, at + 1) + 1
        special = quote == '"' and any(letter in "$`\\" for letter in line[at:end])
        return end if end and not special else -1
    if quote == "~" and line[at + 1 : at + 2] != "/":
        return at + 1
    return _after(line, at + (quote == "~"), _BARE)


def _element(line: str, at: int) -> tuple[str, int]:
    """Return the key of ``[key]`` or ``["key"]`` at ``at``, and its end; no key and ``at`` else."""
    quote = line[at + 1 : at + 2] if line[at + 1 : at + 2] in _QUOTES else ""
    start = at + 1 + len(quote)
    end = _after(line, start, _KEY)
    if line[at : at + 1] != "[" or line[start : start + 1] not in _LETTERS:
        return "", at
    closed = line.startswith(f"{quote}]", end)
    return (line[start:end], end + len(quote) + 1) if closed else ("", at)


def _after(line: str, at: int, letters: frozenset[str]) -> int:
    """Return the first place from ``at`` on that has none of these letters."""
    while line[at : at + 1] in letters:
        at += 1
    return at


def _is_end(line: str, at: int) -> bool:
    """Return True if nothing follows but blanks, and a comment with a blank before it."""
    end = _after(line, at, _BLANKS)
    return end == len(line) or (line[end] == "#" and (end == 0 or line[end - 1] in _BLANKS))
