"""An endpoint that speaks the OpenAI form: Ollama, TEI, llama.cpp, vLLM, OpenAI itself.

The URL may end at the host, at ``/v1``, or at ``/embeddings``. A key is taken from the
environment alone, and nothing keeps or prints it.
"""

from __future__ import annotations

import os
from time import sleep

from ..core.errors import EmbedderError
from ..core.text import one_line, words
from .http import EndpointClient, parse_place
from .openai_api import MAX_TEXT, question, vectors_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.settings import Settings
    from .http import Place, Response

TRIES = 3
"""Tries for a batch, where a retry may help. A query has one."""

AGAIN = (408, 429, 500, 502, 503, 504)
"""Status codes after which a retry may help."""

LONGEST_WAIT = 30.0
"""Seconds before the next try, whatever the endpoint asks for."""


class EndpointEmbedder:
    """Ask an endpoint for vectors."""

    def __init__(
        self, url: str, settings: Settings, environ: Mapping[str, str] = os.environ
    ) -> None:
        place = parse_place(url)
        self._client = EndpointClient(place, _key_header(place, environ))
        self._model = settings.endpoint_model
        self._timeout = settings.endpoint_timeout
        self._batch = settings.endpoint_batch
        # A model has the same vectors wherever it runs; without a name, the place stands for it.
        self.name = f"endpoint:{self._model or url.partition('?')[0]}"
        self.dimension = 0
        """Of the store's vectors, if they are this embedder's; else 0 until the first answer."""

    def ask_ahead(self, text: str) -> None:
        """Send a near endpoint a text that ``embed`` will want: it works meanwhile."""
        text = text[:MAX_TEXT]
        try:
            if words(text):
                self._client.post_ahead(question([text], self._model), self._timeout)
        except OSError:
            return  # embed finds out again, and says so

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a unit vector for each text; None for a text without words.

        Raises:
            EmbedderError: nobody answers, or not with what was asked for.
        """
        found: list[bytes | None] = [None] * len(texts)
        asked = [number for number, text in enumerate(texts) if words(text[:MAX_TEXT])]
        for start in range(0, len(asked), self._batch):
            batch = asked[start : start + self._batch]
            vectors = self._ask([texts[number][:MAX_TEXT] for number in batch], len(texts) > 1)
            for number, vector in zip(batch, vectors, strict=True):
                found[number] = vector
        return found

    def _ask(self, texts: list[str], bulk: bool) -> list[bytes]:
        answer = self._send(question(texts, self._model), TRIES if bulk else 1)
        if answer.status != 200:
            raise EmbedderError(f"{self.name} {self._refusal(answer)}")
        try:
            vectors = vectors_in(answer.body, len(texts))
        except EmbedderError as error:
            raise EmbedderError(f"{self.name} {error}: check the URL and endpoint_model") from None
        self.dimension = checked_dimension(self.name, vectors, self.dimension)
        return vectors

    def _refusal(self, answer: Response) -> str:
        """Return what the endpoint refused with, and what to do."""
        if answer.status in (401, 403):
            return f"refused the key (HTTP {answer.status}): set LORE_ENDPOINT_KEY"
        said = one_line(answer.body[:2000].decode(errors="replace"))
        for header in self._client.headers.values():  # some endpoints say what they were sent
            said = said.replace(header.removeprefix("Bearer "), "…")
        return f"answered HTTP {answer.status} ({said[:200]}): check the URL and endpoint_model"

    def _send(self, body: bytes, tries: int) -> Response:
        for attempt in range(1, tries + 1):
            wait = 0.5 * 2**attempt
            try:
                answer = self._client.post(body, self._timeout)
            except (OSError, EmbedderError) as error:
                if attempt == tries or isinstance(error, ConnectionRefusedError):
                    raise EmbedderError(f"{self.name} cannot be asked ({_reason(error)}): start "
                                        "it, or choose another embedder") from None  # fmt: skip
            else:
                if attempt == tries or answer.status not in AGAIN:
                    break
                if answer.retry_after.isdigit():
                    wait = float(answer.retry_after)
            sleep(min(wait, LONGEST_WAIT))
        return answer


def checked_dimension(name: str, vectors: Sequence[bytes], expected: int) -> int:
    """Return the vectors' dimension.

    Raises:
        EmbedderError: the store's vectors of this embedder have another one.
    """
    dimension = len(vectors[0]) // 4  # float32
    if expected and dimension != expected:
        raise EmbedderError(f"{name} gave {dimension} dimensions, the store's vectors have "
                            f"{expected}: run 'lore embed --all'")  # fmt: skip
    return dimension


def _key_header(place: Place, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the header with the user's key, if there is one.

    OPENAI_API_KEY is set for many programs: it goes over TLS alone.
    """
    key = environ.get("LORE_ENDPOINT_KEY", "")
    name = "LORE_ENDPOINT_KEY"
    if not key and place.scheme == "https":
        key, name = environ.get("OPENAI_API_KEY", ""), "OPENAI_API_KEY"
    if not (key.isascii() and key.isprintable()):
        raise EmbedderError(f"{name} has letters that no key has: set it again")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time, see endpoint_timeout"
    return str(getattr(error, "strerror", None) or error)
