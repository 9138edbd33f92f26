"""Packages that span files, by what the files declare: Go's folders, Java's packages."""

from __future__ import annotations

from collections.abc import Mapping

from ..parse.facts import FileFacts
from .tree import folder_of


class Packages:
    """Keys are a folder for Go and ``java:a.b`` for Java."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files: dict[str, list[str]] = {}
        self.of: dict[str, str] = {}
        self.names: dict[str, str] = {}
        """Go: folder → the name that its files declare."""
        self.classes: dict[str, list[str]] = {}
        """Java: ``a.b.C`` → the files that define it."""
        for path, facts in sorted(files.items()):
            if facts.language == "go":
                self._go(path, facts)
            elif facts.language == "java":
                self._java(path, facts)

    def _go(self, path: str, facts: FileFacts) -> None:
        folder = folder_of(path) or "."
        self.of[path] = folder
        name = _declared(facts)
        if path.endswith("_test.go"):
            return
        self.files.setdefault(folder, []).append(path)
        if name and name != "main":
            self.names.setdefault(folder, name)

    def _java(self, path: str, facts: FileFacts) -> None:
        package = _declared(facts)
        key = java_key(package)
        self.of[path] = key
        self.files.setdefault(key, []).append(path)
        for symbol in facts.symbols:
            if "." not in symbol.qualified:
                self.classes.setdefault(f"{package}.{symbol.name}", []).append(path)


def java_key(package: str) -> str:
    return f"java:{package}"


def _declared(facts: FileFacts) -> str:
    return next((item.module for item in facts.imports if item.kind == "package"), "")
