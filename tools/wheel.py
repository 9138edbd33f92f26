"""What hatchling calls for a wheel: adds what is not in the checkout.

The embedder's weights and its tokenizer are two files of the package ``wordllama``, whose other
files and dependencies lore does not need; its licence goes with them, and the merges made of the
tokenizer. The manual is made from the declarations of commands.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "pylore/embed/wordllama"
FILES = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")


class Additions(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files that are not in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name each file of the package with its place in the wheel."""
        package = distribution("wordllama")
        found = {str(file): str(package.locate_file(file)) for file in package.files or ()}
        for name in FILES:
            build_data["force_include"][found[f"wordllama/{name}"]] = f"{PLACE}/{name}"
        licence = next(path for name, path in found.items() if name.endswith("/LICENSE"))
        build_data["force_include"][licence] = f"{PLACE}/LICENSE"
        sys.path.insert(0, self.root)
        self._folder, self._merges_folder = TemporaryDirectory(), TemporaryDirectory()
        build_data["shared_data"].update(self._manual())
        merges, place = self._merges(found[f"wordllama/{FILES[1]}"])
        build_data["force_include"][merges] = place

    def _merges(self, tokenizer: str) -> tuple[str, str]:
        """Write the merges of the tokenizer; return their path, and the place in the wheel."""
        from pylore.embed.merges import make_merges
        from pylore.embed.static import merges_of

        name = Path(merges_of(tokenizer)).name
        path = str(Path(self._merges_folder.name, name))
        make_merges(path, tokenizer)
        return path, f"pylore/embed/{name}"

    def _manual(self) -> dict[str, str]:
        """Write the page; path to place."""
        from tools.manual import page

        made = Path(self._folder.name, "lore.1")
        made.write_text(page(), encoding="ascii")
        return {str(made): "share/man/man1/lore.1"}
