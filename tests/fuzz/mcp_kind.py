"""Lines of the Model Context Protocol, with responses in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kinds import Kind
from new_stores import new_store
from wire import META, answers, request

from pylore.core.settings import Settings
from pylore.mcp.tools import TOOLS
from pylore.records.records import Records


class McpLines(Kind):
    """An invalid message gets an error or no response; each request gets a response."""

    name, share, batch = "mcp", 0.10, 50

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with new_store(str(folder / "data")) as store:
            Records(store, Settings(), None).add("note", "Sessions are signed tokens")

    def words(self) -> list[bytes]:
        fields = sorted({one.name for tool in TOOLS.values() for one in tool.parameters})
        words = [json.dumps(name).encode() for name in (*fields, *TOOLS)]
        return [*words, json.dumps(META).encode()]

    def check(self, inputs: Sequence[bytes]) -> None:
        lines, marks = b"", []
        for number, data in enumerate(inputs):
            mark = f"mark-{number}"
            marks.append(mark)
            lines += data.replace(b"\n", b" ") + b"\n"
            lines += json.dumps(request(mark, "server/discover")).encode() + b"\n"
        found = answers(self.folder / "data", lines, write=True)
        got = [str(answer.get("id")) for answer in found if isinstance(answer, dict)]
        assert [id for id in got if id.startswith("mark-")] == marks
