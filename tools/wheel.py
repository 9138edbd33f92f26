"""What hatchling calls for a wheel: adds what is not in the checkout.

The embedder's weights and its tokenizer are two files of the package ``wordllama``, whose other
files and dependencies lore does not need; its licence goes with them. The pages of the manual are
made from the declarations of commands.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "pylore/embed/wordllama"
FILES = (
    "weights/l2_supercat_256.safetensors",
    "tokenizers/l2_supercat_tokenizer_config.json",
)


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
        build_data["shared_data"].update(self._manual())

    def _manual(self) -> dict[str, str]:
        """Write the pages into a folder that lasts as long as this process; path to place."""
        sys.path.insert(0, self.root)
        from pylore.cli.manual import write_pages

        self._folder = TemporaryDirectory()
        write_pages(self._folder.name)
        return {
            str(page): f"share/man/man1/{page.name}" for page in Path(self._folder.name).iterdir()
        }
