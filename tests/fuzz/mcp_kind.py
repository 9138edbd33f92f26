"""Lines of the Model Context Protocol, and answers in their order whatever they are."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Sequence
from pathlib import Path

from kinds import Kind
from new_stores import new_store
from wire import META, request

from pylore.core.settings import Settings
from pylore.mcp.calls import TOOLS
from pylore.mcp.current_store import CurrentStore
from pylore.mcp.server import serve
from pylore.records.records import Records


class McpLines(Kind):
    """A line that is not a message gets an error or nothing; each request gets its answer."""

    name, share, batch = "mcp", 0.10, 50

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with new_store(str(folder / "data")) as store:
            Records(store, Settings(), None).add("note", "Sessions are signed tokens")
        data = str(folder / "data")
        self._environ = {"LORE_STORE": data, "LORE_DIR": data, "LORE_EMBEDDER": "none",
                         "HOME": str(folder)}  # fmt: skip

    def words(self) -> list[bytes]:
        fields = sorted({name for tool in TOOLS for name in tool.properties})
        return [*(json.dumps(name).encode() for name in fields),
                *(json.dumps(tool.name).encode() for tool in TOOLS),
                b'"jsonrpc":"2.0"', b'"id":', b'"method":', b'"params":', b'"_meta":',
                json.dumps(META).encode(), b'"requestId":1', b"1.5", b"null"]  # fmt: skip

    def check(self, inputs: Sequence[bytes]) -> None:
        lines, marks = b"", []
        for number, data in enumerate(inputs):
            mark = f"mark-{number}"
            marks.append(mark)
            lines += data.replace(b"\n", b" ") + b"\n"
            lines += json.dumps(request(mark, "server/discover")).encode() + b"\n"
        bugs: list[Exception] = []

        def report(error: Exception) -> str:
            bugs.append(error)
            return "a bug"

        current = CurrentStore(self._environ, str(self.folder))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            serve(current, write=True, report=report, lines=io.BytesIO(lines))
        current.close()
        if bugs:
            raise bugs[0]
        answers = [json.loads(line) for line in out.getvalue().splitlines()]
        got = [str(answer.get("id")) for answer in answers if isinstance(answer, dict)]
        assert [id for id in got if id.startswith("mark-")] == marks
