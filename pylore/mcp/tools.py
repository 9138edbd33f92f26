"""The tools of the server, and their arguments held against the schemas."""

from __future__ import annotations

from ..core.errors import UsageError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_KINDS = {"string": "a text", "integer": "a whole number", "array": "a list"}
_LONGEST_QUOTE = 60


def checked(arguments: object, schema: Schema) -> dict[str, Any]:
    """The arguments, with the defaults of those that are not given; null is not given.

    Raises:
        UsageError: they do not fit; in words that a model can mend its call by.
    """
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise UsageError(f"the arguments are {_quoted(arguments)}: give an object")
    known = schema["properties"]
    for name in arguments:
        if name not in known:
            raise UsageError(f"unknown argument '{name[:_LONGEST_QUOTE]}'"
                             f"{nearest(name, list(known))}: give {', '.join(known)}")  # fmt: skip
    found: dict[str, Any] = {}
    for name, rule in known.items():
        value = arguments.get(name)
        if value is not None:
            _require(name, value, rule)
            found[name] = value
        elif "default" in rule:
            found[name] = rule["default"]
        elif name in schema["required"]:
            raise UsageError(f"{name} is missing: give {_KINDS[rule['type']]}")
    return found


def _require(name: str, value: object, rule: Schema) -> None:
    kind = rule["type"]
    if not _is_kind(value, kind):
        raise UsageError(f"{name} is {_quoted(value)}: give {_KINDS[kind]}")
    if isinstance(value, str):
        if not value.strip() and rule.get("minLength"):
            raise UsageError(f"{name} is empty: give {_KINDS[kind]}")
        if "enum" in rule and value not in rule["enum"]:
            raise UsageError(f"{name} is {_quoted(value)}: give one of {', '.join(rule['enum'])}")
    elif isinstance(value, list):
        low, high = rule.get("minItems", 0), rule.get("maxItems", _MOST_ITEMS)
        if not low <= len(value) <= high:
            raise UsageError(f"{name} has {len(value)} items: give {low} to {high}")
        for item in value:
            _require(f"an item of {name}", item, rule["items"])
    elif not rule["minimum"] <= value <= rule["maximum"]:
        raise UsageError(f"{name} is {_quoted(value)}: give a whole number from "
                         f"{rule['minimum']} to {rule['maximum']}")  # fmt: skip


_MOST_ITEMS = 100
"""Of a list whose schema names no bound."""


def _is_kind(value: object, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "array": list}[kind])


def _quoted(value: object) -> str:
    from ..core.json_plain import dumps

    text = dumps(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


Schema = dict[str, "Any"]

LIMIT = 5
"""Results of a search unless asked otherwise."""

RELATED_LIMIT = 10
BUDGET = 2000
"""Tokens of a context unless asked otherwise."""


class Tool:
    """One tool. ``writes``: it is there only where the server may write."""

    __slots__ = ("description", "name", "properties", "required", "title", "writes")

    def __init__(
        self,
        name: str,
        title: str,
        description: str,
        properties: dict[str, Schema],
        required: tuple[str, ...],
        *,
        writes: bool = False,
    ) -> None:
        self.name = name
        self.title = title
        self.description = description
        self.properties = properties
        self.required = required
        self.writes = writes

    @property
    def schema(self) -> Schema:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }

    def listed(self, *, annotated: bool) -> dict[str, Any]:
        """How ``tools/list`` has it; the first revision of the protocol knows no annotations."""
        row: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
        }
        if annotated:
            row["annotations"] = {
                "title": self.title,
                "readOnlyHint": not self.writes,
                "openWorldHint": False,
            }
            if self.writes:
                row["annotations"]["destructiveHint"] = False
        return row


def _text(said: str = "", **more: Any) -> Schema:
    return {"type": "string", **({"description": said} if said else {}), **more}


def _texts(said: str = "", **more: Any) -> Schema:
    schema: Schema = {"type": "array", "items": {"type": "string"}}
    return {**schema, **({"description": said} if said else {}), **more}


def _whole(low: int, high: int, said: str = "", **more: Any) -> Schema:
    schema: Schema = {"type": "integer", "minimum": low, "maximum": high, **more}
    return {**schema, **({"description": said} if said else {})}


_TYPES = "Only these: decision, lesson, failure, pattern, doc, file, symbol, …; " \
    "'records' = what people wrote, 'learning' = lessons and their like"  # fmt: skip

TOOLS = (
    Tool(
        "lore_search",
        "Search project knowledge",
        "Search what this project knows (decisions, lessons, failures, patterns, docs, code). "
        "Call it before you design, debug or change something, and when you ask why something is "
        "as it is. Returns a JSON array, best first: id, type, title, snippet, file, lines, score "
        "0-1; with depth > 0 also what is connected (hops, path, edge). Scores below 0.3 are weak.",
        {
            "query": _text("Words or a question", minLength=1),
            "files": _texts("Files at hand (globs, or @git = changed ones): what is tied to them "
                            "counts more"),
            "types": _texts(_TYPES),
            "depth": _whole(0, 3, "Hops to walk from the matches"),
            "limit": _whole(1, 50, default=LIMIT),
        },
        ("query",),
    ),
    Tool(
        "lore_related",
        "What is connected",
        "What is connected to a node, or known about a file. Call it before you edit a file: it "
        "names the decisions and lessons tied to it, and files that depend on it or change with "
        "it. Returns a JSON array, nearest first.",
        {
            "id": _text("An id from another result, or a file's path", minLength=1),
            "hops": _whole(1, 3, default=1),
            "types": _texts(_TYPES),
            "limit": _whole(1, 50, default=RELATED_LIMIT),
        },
        ("id",),
    ),
    Tool(
        "lore_show",
        "Show nodes whole",
        "Nodes whole: body, why, status, anchors in code with verdicts, edges. Call it before you "
        "rely on a result. Returns one JSON object, or an array for several ids.",
        {"ids": _texts(minItems=1, maxItems=20)},
        ("ids",),
    ),
    Tool(
        "lore_context",
        "Context for a task",
        "One text on a question or task within a budget of tokens: records, code, facts and how "
        "they are linked. Call it once at the start of a task. Returns a JSON object: text, "
        "included, withheld, notes.",
        {
            "question": _text("A question, or the id of a task", minLength=1),
            "budget": _whole(200, 8000, "Tokens", default=BUDGET),
            "files": _texts("Only from these files (globs)"),
        },
        ("question",),
    ),
    Tool(
        "lore_remember",
        "Remember a record",
        "Keep what the next one working here should know: a decision with its reason, a lesson, a "
        "failure and its cause. One thing a call, in a sentence or two that stand alone. It is "
        "staged until a person confirms it. Returns id and state.",
        {
            "type": _text(enum=["decision", "lesson", "failure", "pattern", "observation", "note"]),
            "text": _text(minLength=1),
            "why": _text("The reason"),
            "file": _text("What it is about: PATH or PATH:10-20"),
            "links": _texts("ID:RELATION, as decision-1a2b3c4d:derived_from"),
            "tags": _texts(),
        },
        ("type", "text"),
        writes=True,
    ),
    Tool(
        "lore_feedback",
        "Rate results",
        "Say which results helped with the task and which misled: ranks later searches. Call it "
        "once at the end.",
        {"helpful": _texts("Ids", maxItems=50), "unhelpful": _texts("Ids", maxItems=50)},
        (),
        writes=True,
    ),
)  # fmt: skip

BY_NAME = {tool.name: tool for tool in TOOLS}


def tools(*, write: bool) -> list[Tool]:
    """Those that a server has."""
    return [tool for tool in TOOLS if write or not tool.writes]
