"""List the folders of a project, each once, and detect changes."""

from __future__ import annotations

import os
from hashlib import sha256

from .files import settled, stamp_of
from .project_files import is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Seen = dict[str, tuple[str, str]]
    """Folder to its stamp (empty where it may change and keep it) and a hash of its names."""

_MOST_LINKS = 40


class FolderNames:
    """Answers from lists of names: many questions about one folder cost one look at it."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._listed: dict[str, dict[str, str]] = {}
        self._stamps: dict[str, str] = {}
        self._kinds: dict[str, str] = {}

    def kind(self, path: str) -> str:
        """Return ``file``, ``folder``, or nothing where neither is at this path within the root.

        ``path`` is a normal one from the root. Links are followed where they stay within it.
        """
        found = self._kinds.get(path)
        if found is None:
            found = self._kinds[path] = self._kind(path, _MOST_LINKS)
        return found

    def _kind(self, path: str, links: int) -> str:
        if path in ("", "."):
            return "folder"
        folder, kind, parts = "", "folder", path.split("/")
        for number, name in enumerate(parts):
            if kind != "folder" or name == "..":
                return ""
            kind = self._names(folder).get(name, "")
            folder = f"{folder}/{name}" if folder else name
            if kind.startswith("link"):
                real = os.path.realpath(os.path.join(self.root, folder))
                if not links or not (real == self.root or is_below(self.root, real)):
                    return ""
                there = os.path.relpath(real, self.root).replace(os.sep, "/")
                rest = parts[number + 1 :]
                return self._kind(os.path.normpath("/".join([there, *rest])), links - 1)
        return kind

    def _names(self, folder: str) -> dict[str, str]:
        names = self._listed.get(folder)
        if names is None:
            self._stamps[folder] = self._stamp(folder)
            names = self._listed[folder] = self._list(os.path.join(self.root, folder))
        return names

    def _list(self, folder: str) -> dict[str, str]:
        found = {}
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        found[entry.name] = "link " + os.readlink(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        found[entry.name] = "folder"
                    else:
                        found[entry.name] = "file" if entry.is_file() else "special"
        except OSError:
            pass  # gone, or not ours to read: nothing is known to be in it
        return found

    def _stamp(self, folder: str) -> str:
        try:
            stamp = stamp_of(os.path.join(self.root, folder))
        except OSError:
            return ""
        return settled(stamp) if "-" in stamp else ""

    def seen(self, before: Mapping[str, tuple[str, str]]) -> Seen:
        """Return how the folders of ``before`` and those asked about are now."""
        found: Seen = {}
        for folder in sorted({*before, *self._listed}):
            was = before.get(folder, ("", ""))
            if folder not in self._listed and was[0] and was[0] == self._stamp(folder):
                found[folder] = was
                continue
            names = self._names(folder)
            text = "\0".join(f"{name}\0{kind}" for name, kind in sorted(names.items()))
            hash = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            found[folder] = (self._stamps[folder], hash)
        return found
