"""C and C++: an include is a file in the same folder, or the only path with this end."""

from __future__ import annotations

from ..facts import BY_CONVENTION, BY_NEARNESS, BY_SUFFIX, NOWHERE, FileFacts, Found, Import, whole
from ..tree import Importer, above, folder_of, join, nearest, step
from . import LanguageSpec

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
)  # headers of C and POSIX, without ``.h``: outside the tree, whatever it has of that name


class CIncludes(Importer):
    def find(self, facts: FileFacts, item: Import) -> Found:
        if item.kind != "include":
            return NOWHERE
        path, written = facts.path, item.module.strip()
        folder, name = folder_of(path), written.strip('"<>')
        system = written.startswith("<")
        beside = step(folder, name)
        if not system and beside is not None and beside in self.tree.paths:
            return whole(beside)
        if system and (name.removesuffix(".h") in _STANDARD or "." not in name):
            return NOWHERE
        for outer in above(folder):
            for layout in _LAYOUTS:
                place = step(join(outer, layout), name)
                if place is not None and place in self.tree.paths:
                    return whole(place, BY_CONVENTION)
        tail = name.lstrip("./")
        ending = [one for one in self.tree.ending(tail) if one != path] if tail else []
        best, sure = nearest(ending, path), BY_SUFFIX if len(ending) == 1 else BY_NEARNESS
        return NOWHERE if best is None else whole(best, sure)


SPEC = LanguageSpec(
    "c",
    "c",
    prefixes=tuple(
        "new delete void const struct class enum static volatile unsigned typename".split()
    ),
    wrappers=("unique_ptr<", "shared_ptr<", "weak_ptr<", "optional<"),
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
