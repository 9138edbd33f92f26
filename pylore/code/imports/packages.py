"""Packages that span files, and whose names these see without an import."""

from __future__ import annotations


class Packages:
    """What the importers of all languages have found; keys are unlike any file's path."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}
        self.of: dict[str, str] = {}
        """File → the key of its package."""

    def put(self, key: str, path: str, *, is_seen: bool = True) -> None:
        """Puts a file into a package; others see its names there if ``is_seen``."""
        self.of[path] = key
        if is_seen:
            self.files.setdefault(key, []).append(path)
