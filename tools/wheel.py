"""What hatchling calls for a wheel: puts the embedder's weights and its tokenizer into it.

They are two files of the package ``wordllama``, whose other files and dependencies lore does not
need; its licence goes with them.
"""

from __future__ import annotations

from importlib.metadata import distribution
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "pylore/embed/wordllama"
FILES = (
    "weights/l2_supercat_256.safetensors",
    "tokenizers/l2_supercat_tokenizer_config.json",
)


class Weights(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files that are not in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name each file of the package with its place in the wheel."""
        package = distribution("wordllama")
        found = {str(file): str(package.locate_file(file)) for file in package.files or ()}
        for name in FILES:
            build_data["force_include"][found[f"wordllama/{name}"]] = f"{PLACE}/{name}"
        licence = next(path for name, path in found.items() if name.endswith("/LICENSE"))
        build_data["force_include"][licence] = f"{PLACE}/LICENSE"
