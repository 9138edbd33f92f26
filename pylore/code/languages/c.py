"""C and C++: an include is a file beside this one, or the only one that ends so."""

from __future__ import annotations

from collections.abc import Mapping

from ..facts import FileFacts, Import
from ..imports import (
    AMBIGUOUS,
    BY_CONVENTION,
    BY_NEARNESS,
    BY_SUFFIX,
    CERTAIN,
    DECLARED,
    RESOLVED,
    UNRESOLVED,
    Bound,
    Found,
    Packages,
    SourceTree,
    above,
    folder_of,
    join,
    nearest,
    outside,
    step,
)
from .spec import LanguageSpec

_LAYOUTS = ("", "include", "inc", "src")
_STANDARD = frozenset(
    "aio arpa/inet assert complex cpio ctype dirent dlfcn errno fcntl fenv float fmtmsg fnmatch"
    " ftw glob grp iconv inttypes iso646 langinfo libgen limits locale math monetary mqueue ndbm"
    " net/if netdb netinet/in netinet/tcp nl_types poll pthread pwd regex sched search semaphore"
    " setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn"
    " string strings sys/ipc sys/mman sys/msg sys/resource sys/select sys/sem sys/shm sys/socket"
    " sys/stat sys/statvfs sys/time sys/times sys/types sys/uio sys/un sys/utsname sys/wait syslog"
    " tar termios tgmath threads time uchar ulimit unistd utime utmpx wchar wctype wordexp"
    " windows winsock2".split()
)
"""Headers of C and POSIX, without ``.h``: outside the tree, whatever it has of that name."""


class CIncludes:
    def __init__(
        self, tree: SourceTree, files: Mapping[str, FileFacts], packages: Packages
    ) -> None:
        self._tree = tree
        self._known: dict[tuple[str, str], tuple[str, float] | str] = {}

    def find(self, facts: FileFacts, item: Import) -> Found:
        if item.kind != "include":
            return Found(DECLARED)
        key = (folder_of(facts.path), item.module.strip())
        place = self._known.get(key)
        if place is None:
            place = self._known[key] = self._place(facts.path, key[1])
        if place == "":
            return outside()
        if isinstance(place, str):
            return Found(place)
        return Found(RESOLVED, (place[0],), (Bound("*", place[0]),), place[1])

    def _place(self, path: str, written: str) -> tuple[str, float] | str:
        """Return the file and how sure that is; ambiguous, unresolved, or "": outside."""
        name = written.strip('"<>')
        system = written.startswith("<")
        beside = step(folder_of(path), name)
        if not system and beside in self._tree.paths and beside is not None:
            return beside, CERTAIN
        if system and (name.removesuffix(".h") in _STANDARD or "." not in name):
            return ""
        for folder in above(folder_of(path)):
            for layout in _LAYOUTS:
                place = step(join(folder, layout), name)
                if place is not None and place in self._tree.paths:
                    return place, BY_CONVENTION
        tail = name.lstrip("./")
        ending = [one for one in self._tree.ending(tail) if one != path] if tail else []
        if len(ending) == 1:
            return ending[0], BY_SUFFIX
        if ending:
            best = nearest(ending, path)
            return AMBIGUOUS if best is None else (best, BY_NEARNESS)
        if system or name.removesuffix(".h") in _STANDARD or not self._has_folder(tail):
            return ""
        return UNRESOLVED

    def _has_folder(self, tail: str) -> bool:
        """Return whether the tree has the folder that an include names, if it names one."""
        folder = folder_of(tail)
        inner = "/" + folder
        return not folder or any(one == folder or one.endswith(inner) for one in self._tree.folders)


SPEC = LanguageSpec(
    "c",
    "c",
    prefixes=tuple(
        "new delete void const struct class enum static volatile unsigned typename".split()
    ),
    no_class=frozenset("void int bool float char double long short auto const string this".split()),
    no_value=frozenset("true false this int bool float void string".split()),
    base_words=("public", "private", "protected", "virtual"),
    operator="operator",
    self_names=frozenset({"this"}),
    constructors=("",),
    common_names=frozenset(
        "emplace ends_with erase pop_back printf push_back recv starts_with str substr"
        " to_string".split()
    ),
    members_bare=True,
    class_scope=True,
    functions_global=True,
    namespaces=True,
    importer=CIncludes,
)
