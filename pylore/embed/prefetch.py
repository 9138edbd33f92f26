"""Vectors before the lock: no other writer waits for a model, a tokenizer or an endpoint.

What a write embeds is known for sure only while it runs. So whoever writes says what it
will probably embed (``prepare``), and runs with an embedder that gives what it has. Where
something is lacking the write is taken back, what was lacking is embedded without the
lock, and it runs again (``Ahead.settled``).
"""

from __future__ import annotations

from ..core.errors import EmbedderError
from ..core.ids import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from ..store import Store
    from . import Embedder

    Result = TypeVar("Result")


TRIES = 4
"""Tries for a write; the last one embeds what others have changed meanwhile."""

BATCH = 256
"""Texts that are embedded together."""

_IN_MEMORY = 32_000_000
"""Bytes of vectors; what comes after lies in a file without a name."""


LACKING = b""
"""In the place of a vector that is not there yet."""


class _Lacking(Exception):
    """A write needs vectors that are not there yet."""


class Ahead:
    """Vectors for writes of one store; ``given`` is the embedder that these are to use.

    ``opened`` gives the embedder behind it, and is called when it is first needed.
    """

    def __init__(self, store: Store, opened: Callable[[], Embedder | None]) -> None:
        self._store = store
        self._opened = opened
        self._given: list[Prepared | None] = []
        self._patient = True

    @property
    def given(self) -> Prepared | None:
        """Return the embedder within a write; None where nothing is embedded."""
        if not self._given:
            embedder = self._opened()
            self._given.append(None if embedder is None else Prepared(embedder, self._patient))
        return self._given[0]

    def prepare(self, texts: Iterable[str]) -> None:
        """Queue texts: some are embedded now, the rest when a write begins."""
        if self.given is not None:
            self.given.prepare(texts)

    def learn(self, texts: Sequence[str]) -> None:
        """Prepare an embedder that can for words of these texts, which will be embedded."""
        learn = None if self.given is None else self.given.learn
        if learn is not None and not self._store.in_transaction:
            with self._store.faults:
                learn(texts)

    def settled(self, write: Callable[[], Result], command: str = "") -> Result:
        """Return what ``write`` returns, run in a transaction; it may run several times.

        Within a transaction of the caller's it runs once, and embeds where it stands.
        ``command`` is what the history calls it.

        Raises:
            StoreError: as ``Store.transaction``, and SQLite's own in one line.
        """
        if self._store.in_transaction:
            return write()
        for left in reversed(range(TRIES)):
            self._be(patient=not left)
            for given in filter(None, self._given):
                given.fetch()
            try:
                with self._store.faults, self._store.transaction(command):
                    result = write()
                    if any(given.is_lacking for given in filter(None, self._given)):
                        raise _Lacking
                    return result
            except _Lacking:
                continue
            finally:
                self._be(patient=True)
        raise AssertionError("the last try lacks nothing")

    def _be(self, *, patient: bool) -> None:
        self._patient = patient
        for given in filter(None, self._given):
            given.patient = patient


class Prepared:
    """An embedder that gives None for what was not prepared, and notes it, unless ``patient``."""

    def __init__(self, embedder: Embedder, patient: bool) -> None:
        self.patient = patient
        self._embedder = embedder
        self._kept = _KeptVectors()
        self._waiting: dict[str, None] = {}
        self._failure: EmbedderError | None = None

    @property
    def name(self) -> str:
        """Return the embedder's."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Return the embedder's."""
        return self._embedder.dimension

    @property
    def is_lacking(self) -> bool:
        """Return whether something has been asked for that is not there."""
        return bool(self._waiting)

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed these, as soon as there are enough of them."""
        self._waiting.update((text, None) for text in texts if text not in self._kept)
        if len(self._waiting) >= BATCH:
            self.fetch()

    @property
    def learn(self) -> Callable[[Sequence[str]], None] | None:
        """Return the embedder's own, if it has one."""
        return getattr(self._embedder, "learn", None)

    def fetch(self) -> None:
        """Embed all that has been asked for and is not there."""
        waiting, self._waiting = [*self._waiting], {}
        for start in range(0, len(waiting), BATCH):
            if self._failure is None:
                try:
                    self._keep(waiting[start : start + BATCH])
                except EmbedderError as error:
                    self._failure = error  # said by the write, which may go on without

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return a unit vector for each text; None also for one that is lacking, unless
        ``patient``.

        Raises:
            EmbedderError: the embedder cannot, or could not before.
        """
        if self._failure is not None:
            raise self._failure
        found = [self._kept.get(text, LACKING) for text in texts]
        if LACKING not in found:
            return found
        lacking = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if self.patient or self._is_quick(lacking):
            self._keep(lacking)
        else:
            self._waiting.update(dict.fromkeys(lacking))
        return [self._kept.get(text) for text in texts]

    def _is_quick(self, texts: Sequence[str]) -> bool:
        knows = getattr(self._embedder, "knows", None)
        return knows is not None and knows(texts)

    def _keep(self, texts: Sequence[str]) -> None:
        for text, vector in zip(texts, self._embedder.embed(texts), strict=True):
            self._kept.put(text, vector)


class _KeptVectors:
    """Vectors by their texts: many do not need much memory."""

    def __init__(self) -> None:
        self._found: dict[bytes, bytes | int | None] = {}
        self._size = 0
        self._length = 0
        self._file: Any = None

    def __contains__(self, text: str) -> bool:
        return _key(text) in self._found

    def get(self, text: str, lacking: bytes | None = None) -> bytes | None:
        found = self._found.get(_key(text), lacking)
        if not isinstance(found, int):
            return found
        self._file.seek(found)
        vector: bytes = self._file.read(self._length)
        return vector

    def put(self, text: str, vector: bytes | None) -> None:
        kept: bytes | int | None = vector
        if vector is not None:
            self._size += len(vector)
            if self._size > _IN_MEMORY:
                kept = self._filed(vector)
        self._found[_key(text)] = kept

    def _filed(self, vector: bytes) -> int:
        if self._file is None:
            from tempfile import TemporaryFile

            self._file = TemporaryFile()  # noqa: SIM115
            self._length = len(vector)
        place: int = self._file.seek(0, 2)
        self._file.write(vector)
        return place


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
