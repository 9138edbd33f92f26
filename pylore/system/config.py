"""Read config files; find the store and the project.

A config file is bash, parsed line by line and never run: anything but a plain assignment is an
error with file and line.
"""

from __future__ import annotations

import os

from ..core.errors import LoreError, UsageError, first_of
from .files import SHARED, find_project, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping

_MOST_BYTES = 1_000_000
_LONGEST_LINE = 20_000
_MOST_SETTINGS = 100_000
"""Characters of all settings: programs inherit them in one environment variable."""
_BLANKS = frozenset(" \t")
_ENDS = frozenset(" \t()")
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
    """Set the variables for the places of the store and the project, and for the settings of the
    files. ``LORE_STORE`` is the folder of search.db, or empty; ``LORE_PROJECT`` the project's
    folder, empty outside of one; ``LORE_STORE_SCOPE`` who chose the store, ``user`` or ``project``;
    ``LORE_FROM_CONFIG`` has a line for each setting: key, tab, ``scope:file:line``, tab, value.
    ``here`` is the working directory, unless that of this process. Raise LoreError as
    ``find_store``, UsageError for lines that are not plain assignments; the others are handed
    over."""
    find_store(environ, here)
    _read_files(environ)


def find_store(environ: MutableMapping[str, str], here: str = "") -> None:
    """Set the variables for the places of the store and the project; read no config. Raise
    LoreError if the project's ``.lore`` is a link out of it."""
    chosen, project, scope = environ.get("LORE_DIR", ""), "", "user"
    if chosen:  # a whole path does not need the working directory, which may be missing
        store = chosen if chosen.startswith("/") else os.path.join(here or os.getcwd(), chosen)
    else:
        store = user_folder("XDG_DATA_HOME", ".local/share", environ)
        try:
            folder = os.path.realpath(here) if here else os.getcwd()
        except FileNotFoundError:  # the folder was deleted
            folder = environ.get("PWD", "/")
        if found := find_project(folder, store):
            project, scope, store = found.folder, "project", found.bound()
            if not store:  # moved, copied, changed, or without a store
                from .stores import renewed

                store = renewed(found) or found.path_of("new")
            _require_own(os.path.join(project, SHARED), project)
    environ["LORE_STORE"], environ["LORE_PROJECT"] = store, project
    environ["LORE_STORE_SCOPE"] = scope


def locate(folder: str) -> tuple[str, str]:
    """Return the project of a folder, empty outside of projects, and the folder of the store.
    ``LORE_DIR`` is ignored. Raise LoreError for a missing folder, or as ``find_store``."""
    if not os.path.isdir(folder):
        raise LoreError(f"{folder}: no such folder: name a project")
    environ = {key: value for key, value in os.environ.items() if key != "LORE_DIR"}
    find_store(environ, os.path.realpath(folder))
    return environ["LORE_PROJECT"], environ["LORE_STORE"]


def _require_own(path: str, project: str) -> None:
    target = os.path.realpath(path) if os.path.islink(path) else ""
    if target and not f"{target}/".startswith(os.path.realpath(project).rstrip("/") + "/"):
        raise LoreError(f"{path}: is a link out of the project, to {target}: remove it")


def _read_files(environ: MutableMapping[str, str]) -> None:
    users = user_folder("XDG_CONFIG_HOME", ".config", environ)
    project, store = environ["LORE_PROJECT"], environ["LORE_STORE"]
    shared = os.path.join(project, SHARED) if project else store
    found: list[str] = []
    problems: list[str] = []
    for folder, name, scope in (
        (users, "config", "user"),
        (shared, ".config", environ["LORE_STORE_SCOPE"]),
    ):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            problems += read_file(path, scope, environ.get("HOME", ""), found)
    environ["LORE_FROM_CONFIG"] = "".join(found)
    if problems:
        raise UsageError(first_of(problems))


def read_file(path: str, scope: str, home: str, found: list[str]) -> list[str]:
    """Append a line for each setting of a config file to ``found``; return the problems."""
    from ..core.text import printable

    name = printable(path).replace("\n", "?").replace("\t", "?")
    # A message quotes the file, and a link in a clone may point to any file.
    if scope == "project" and os.path.islink(path):
        return [f"{name}:1: is a link: replace it by a file"]
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return [f"{name}:1: cannot be read: make it a file that you may read"]
    with open(path, "rb") as file:
        data = file.read(_MOST_BYTES + 1).removeprefix(b"\xef\xbb\xbf")
    if len(data) > _MOST_BYTES:
        return [f"{name}:1: the file has more than a megabyte: keep settings alone in it"]
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
    if array:
        problems.append(f"{opened}: the array {array} is not closed: add a )")
    if sum(map(len, found)) > _MOST_SETTINGS:
        problems.append(f"{name}:1: too many settings: keep each of them once")
        found.clear()
    return problems


# --- the grammar, which ``edits`` shares


def parse_line(line: str, array: str = "") -> tuple[list[tuple[str, int, int, int]], str] | None:
    """Parse a line of a config file; ``array`` is the array that is still open, if any.

    Return each assignment as its key, the start and end of its value, and the start of its item of
    an array or -1; then the array that is still open. Return None for any other line.

    >>> parse_line("limit=5 # few"), parse_line('W["calls"]=1')
    (([('limit', 6, 7, -1)], ''), ([('W[calls]', 11, 12, -1)], ''))
    >>> parse_line("declare -A W=([a]=1"), parse_line("[b]='x' )", "W")
    (([('W[a]', 18, 19, 14)], 'W'), ([('W[b]', 4, 7, 0)], ''))
    >>> parse_line("x += 1"), parse_line("x=$(id)")
    (None, None)
    """
    words = _words(line)
    if words is None:
        return None
    texts = [line[start:end] for start, end in words]
    if not array:
        declared = texts[:2] == ["declare", "-A"]
        del words[: 2 * declared], texts[: 2 * declared]
        if not texts:
            return None if declared else ([], "")
        name, equals, value = texts[0].partition("=")
        array, bracket, _ = name.partition("[")
        if array[:1] not in _LETTERS or not _NAME.issuperset(array):
            return None
        if texts[:2] != [f"{array}=", "("] or words[0][1] != words[1][0]:
            if declared:
                return ([], "") if texts == [array] else None
            key = _key(name[len(array) :])
            if len(texts) > 1 or not equals or bracket != key[:1] or not is_plain(value):
                return None
            return [(array + key, words[0][1] - len(value), words[0][1], -1)], ""
        del words[:2], texts[:2]
    found: list[tuple[str, int, int, int]] = []
    for (start, end), text in zip(words, texts, strict=True):
        name, _, value = text.partition("=")
        if text == ")" and end == words[-1][1]:
            return found, ""
        # In an array the versions of bash differ about ~.
        if "=" not in text or not _key(name) or not is_plain(value) or value[:1] == "~":
            return None
        found.append((array + _key(name), end - len(value), end, start))
    return found, array


def _words(line: str) -> list[tuple[int, int]] | None:
    """Return start and end of each word and parenthesis; None if a quote is not closed."""
    found, at = [], 0
    while at < len(line):
        start = at
        if line[at] in _BLANKS:
            at += 1
            continue
        if line[at] == "#" and (at == 0 or line[at - 1] in _BLANKS):
            break
        while at < len(line) and line[at] not in _ENDS:
            if line[at] in _QUOTES:
                at = line.find(line[at], at + 1)
                if at < 0:
                    return None
            at += 1
        at += at == start
        found.append((start, at))
    return found


def unquoted(written: str, home: str) -> str | None:
    """Return the value of a word; None with a control character, or a ~ without a home."""
    value = written[1:-1] if written[:1] in _QUOTES else written
    if written[:1] == "~":
        value = home + written[1:]
        if not home:
            return None
    return None if any(letter < " " or letter == "\x7f" for letter in value) else value


def is_plain(value: str) -> bool:
    """Return True if bash takes a value literally."""
    if value[:1] in _QUOTES:
        special = "$`\\" if value[0] == '"' else ""
        inside = value[1:-1]
        is_closed = len(value) > 1 and value[-1] == value[0] and value[0] not in inside
        return is_closed and not any(letter in inside for letter in special)
    return _BARE.issuperset(value[1:] if value == "~" or value[:2] == "~/" else value)


def _key(text: str) -> str:
    """Return ``[key]`` without quotes; empty for any other text."""
    key = text[1:-1]
    if key[:1] in _QUOTES and key[0] == key[-1]:
        key = key[1:-1]
    is_key = text[:1] == "[" and text[-1:] == "]" and key[:1] in _LETTERS and _KEY.issuperset(key)
    return f"[{key}]" if is_key else ""
