"""The table of settings, and how the values of one command are put together.

Every setting is an option (``--graph-depth``), an environment variable (``LORE_GRAPH_DEPTH``) and a
key of the config files (``graph_depth``). Precedence: option, environment, project config, user
config, default. ``system/config.py`` passes the values of the config files in ``LORE_FROM_CONFIG``:
lines of ``key TAB origin TAB value``, the origin being ``project:FILE:LINE`` or ``user:FILE:LINE``.
"""

from __future__ import annotations

import os

from .errors import UsageError, first_of, nearest
from .ids import ALL, LONGEST, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")
    Texts = Mapping[str, str]
    Weights = dict[str, tuple[float, float | None]]
    """Relation to weight forwards, and backwards if given."""
    Value = int | float | str | tuple[str, ...] | Weights | dict[str, str]

BUILT_IN_RETRIEVERS = ("fulltext", "vector")
GIVEN = "given"
"""The retriever that is a function of this process."""
OWN_EMBEDDERS = ("static", "none")
"""Embedders that load no model and send no text: a project may choose only these."""
ARRAYS = ("weights", "texts")
"""Kinds of settings that have elements: ``KEY[element]=…``."""
_KINDS = {int: "int", float: "float", str: "text", tuple: "words", dict: "texts"}
_MOST = 1_000_000_000
_OF_USERS = frozenset(
    "promote_after events_days candidates_days endpoint_model llm_command plugin_dir plugin_timeout"
    " scope remotes on output".split()
)
"""Settings that count only in the user's config: they run a program, or send texts away, or are
a person's choice."""


class Setting:
    """A row of the table. ``section`` is given with the first row of a section, ``users``: valid
    only in the user's config, ``config_key`` is upper-case for arrays, as EDGE_WEIGHTS."""

    section = ""
    choices: tuple[str, ...] = ()

    def __init__(self, default: Any, help: str, low: float, high: float, **more: Any) -> None:
        self.default, self.help, self.low, self.high = default, help, low, high
        self.kind = "choice" if "choices" in more else _KINDS[type(default)]
        self.option = ""
        vars(self).update(more)

    def __set_name__(self, table: type, name: str) -> None:
        self.name, self.users = name, name in _OF_USERS
        self.config_key = name.upper() if self.kind in ARRAYS else name
        self.option = self.option or name.replace("_", "-")
        self.help += "; user config only" if self.users else ""
        self.section = self.section or next(reversed(BY_NAME.values())).section
        BY_NAME[name] = self


BY_NAME: dict[str, Setting] = {}


def row(default: T, help: str, low: float = 0, high: float = 0, **more: object) -> T:
    """Return a row of the table, typed as the value that an instance has. The default determines
    the kind, and the name of the setting that of the option, unless given."""
    return Setting(default, help, low, high, **more)  # type: ignore[return-value]


class Settings:
    """The table of settings; an instance has values and origins."""

    graph_depth = row(0, "hops to walk from direct matches; 0: plain search", 0, 3, section="graph")
    graph_max_depth = row(3, "maximum of graph_depth; 0: no graph at all", 0, 3)
    graph_edges: tuple[str, ...] = row((), "walk only these relations; empty: all", option="edges")
    graph_exclude_edges: tuple[str, ...] = row(
        (), "never walk these relations", option="exclude-edges"
    )
    edge_weights: Weights = row(
        {}, "weight of a relation, 0 to 1; 0.7/0.15: another weight backwards", 0, 1, kind="weights"
    )
    hop_decay = row(0.7, "score factor per hop", 0, 1, option="decay")
    graph_max_nodes = row(50, "maximum number of reached nodes", 1, 100_000, option="max-nodes")
    graph_seeds = row(10, "number of direct matches that the walk starts from", 1, 1000)
    graph_fanout = row(25, "maximum number of edges followed from one node", 1, 10_000)
    graph_limit = row(10, "number of reached nodes to return beside direct matches", 0, 1000)
    expansion = row(
        "accumulate",
        "score of reached nodes: accumulate (sum over all matches that lead there) "
        "or best-path (the product along one path)",
        choices=("accumulate", "best-path"),
    )
    min_confidence = row(0.5, "do not walk edges made from code that are less certain", 0, 1)

    limit = row(10, "number of direct matches to return", 1, 1000, section="search")
    retrievers: tuple[str, ...] = row(
        BUILT_IN_RETRIEVERS,
        "retrievers whose results are fused: fulltext, vector; in the user's "
        "own config also hub, hub-NAME and lore-retriever-NAME plugins by NAME",
        kind="names",
    )
    fusion = row("convex", "how results of retrievers are fused", choices=("convex", "rrf"))
    rrf_k = row(60, "constant of reciprocal rank fusion", 1, 1000)
    fulltext_share = row(0.75, "share of full text in convex fusion; the rest: vectors", 0, 1)
    vector_min = row(0.25, "minimum cosine of a match", -1, 0.99)
    mmr_lambda = row(0.7, "share of the score in ranking; the rest is diversity (MMR)", 0, 1)
    category_tags: tuple[str, ...] = row((), "tags that give a record without category one")
    feedback_weight = row(0.3, "maximum change of a score by ratings", 0, 1)
    recency_half_life = row(
        95, "days after the first week until recency_score is 0.5; 95: 5 % less per week", 1, 36_500
    )

    budget = row(4000, "maximum number of tokens of a context", 50, 1_000_000, section="records")
    max_bytes = row(
        0, "maximum bytes of an answer as JSON, without its last results; 0: any", 0, _MOST
    )
    user_entity = row("", "id of your own entity; its facts come first if a question names nobody")
    single_valued: tuple[str, ...] = row(
        ("lives_in", "works_at"), "predicates with one value at a time; a new one supersedes"
    )
    promote_after = row(
        3, "accesses after which a staged record is confirmed; 0: never", 0, 1_000_000
    )
    duplicate_similarity = row(0.9, "cosine from which 'add' warns of a duplicate", 0, 1)
    max_text = row(10_000_000, "maximum bytes of the text of a record", 1000, _MOST)
    index_max_file = row(1_000_000, "maximum bytes of a file that is indexed", 1000, _MOST)

    history_days = row(
        0,
        "days after which 'lore forget --faded' deletes former states; 0: never",
        0,
        36_500,
        section="retention",
    )
    events_days = row(
        14, "days to keep events and open questions of sessions; 0: record none", 0, 36_500
    )
    candidates_days = row(90, "days to keep undecided candidates; 0: forever", 0, 36_500)

    embedder = row(
        "static",
        "model of the vectors: static, none; in the user's own config also "
        "sentence-transformers:NAME and endpoint:URL",
        kind="embedder",
        section="programs and places",
    )
    endpoint_model = row("", "model to request from an endpoint; empty: its default")
    llm_command = row("", "program, with arguments, that answers 'lore ask'")
    plugin_dir = row("", "folder of lore-<command> executables")
    plugin_timeout = row(
        0.0,
        "maximum seconds of a plugin; 0: 2 for a retriever, 10 for hooks of an event, 60 for "
        "redactors",
        0,
        3600,
    )
    scope = row(
        "",
        "scope of new facts, and of the facts seen beside common ones; empty, or --all-scopes: "
        "all are seen",
        kind="scope",
    )
    run = row("", "run in which searches are recorded, with their results")
    busy_timeout = row(30.0, "seconds to wait for another writer", 0, 3600)

    remotes: dict[str, str] = row(
        {},
        "hubs by name: postgresql://… without a password, then the records to send: "
        "types=TYPE,… scopes=NAME,… staged",
        section="hub",
    )
    on = row("", "remote that 'lore search' searches in place of your own store")

    output = row(
        "auto",
        "form of output; auto: text on a terminal, JSON elsewhere",
        choices=("auto", "text", "json"),
        option="output-form",
        section="output",
    )

    def __init__(self) -> None:
        self.origins: dict[str, str] = {}
        self.warnings: list[str] = []
        self.problems: list[str] = []  # invalid values in config files
        self.counts_usage = True
        self.given: Callable[..., Any] | None = None  # the retriever GIVEN
        vars(self).update(_DEFAULTS)

    @classmethod
    def load(cls, flags: Texts, environ: Texts = os.environ, *, lenient: bool = False) -> Settings:
        """Return values from the config hand-over, the environment and the options. Raise
        UsageError for an invalid value; ``lenient`` leaves out such lines of config files."""
        settings = cls()
        settings._take_config(environ.get("LORE_FROM_CONFIG", ""))
        if settings.problems and not lenient:
            raise UsageError(first_of(settings.problems))
        for variable in filter(_VARIABLES.__contains__, environ):
            name, text = _VARIABLES[variable], environ[variable]
            if text or BY_NAME[name].kind not in ("int", "float", "choice", "embedder"):
                settings._set(name, f"env:{variable}", text)
        for name, text in flags.items():
            settings._set(name, f"flag:--{BY_NAME[name].option}", text)
        return settings

    def changed(self, pairs: Iterable[tuple[str, str]], origin: str) -> Settings:
        """Return a copy with these ``(config key, text)`` set, or ``KEY[element]``; raise
        UsageError for an unknown key or an invalid value."""
        copy = Settings()
        vars(copy).update(vars(self), origins=dict(self.origins))
        for key, text in pairs:
            copy._set(key, origin, text)
        return copy

    @property
    def depth(self) -> int:
        """Return the number of hops to walk."""
        return min(self.graph_depth, self.graph_max_depth)

    def _take_config(self, lines: str) -> None:
        left: list[str] = []
        for line in filter(None, lines.split("\n")):
            key, origin, text = line.split("\t", 2)
            name, place = key.partition("[")[0], origin.partition(":")[2]
            setting = BY_NAME.get(name.lower())
            if setting is None or setting.config_key != name:
                left.append(f"{place}: {_unknown(name)}: left out")
            elif origin.startswith("project:") and users_alone(setting.name, text):
                left.append(f"{place}: {name} counts only in the user's own config: left out")
            else:
                try:
                    self._set(key, origin, text)
                except UsageError as error:
                    self.problems.append(str(error))
        if left:
            self.warnings.append(first_of(left))

    def _set(self, key: str, origin: str, text: str) -> None:
        setting, element = named(key)
        try:
            value = parsed(setting, f"{element}={text}" if element else text)
        except ValueError as wanted:
            before, at, after = text.rpartition("@")  # in a URL it may be a password
            where = f"{origin.partition(':')[2]}: {setting.config_key}"
            shown = f"…{at}{after}" if before else text
            raise UsageError(f"{where} is '{shown}': give {wanted}") from None
        if isinstance(value, dict):
            value = {**getattr(self, setting.name), **value}
        setattr(self, setting.name, value)
        self.origins[setting.name] = origin

    def as_text(self, name: str) -> str:
        """Return the value of a setting, spelled as in an option or a config file."""
        value, kind = getattr(self, name), BY_NAME[name].kind
        if kind == "texts":
            return "\n".join(f"{key}={text}" for key, text in sorted(value.items()))
        if kind == "weights":
            value = (
                f"{key}={one:.15g}" + ("" if back is None else f"/{back:.15g}")
                for key, (one, back) in sorted(value.items())
            )
        if kind in ("weights", "words", "names"):
            return " ".join(value)
        return f"{value:.15g}" if isinstance(value, float) else str(value)


SETTINGS = (*BY_NAME.values(),)
_VARIABLES = {f"LORE_{name.upper()}": name for name in BY_NAME}
_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}


def parsed(setting: Setting, text: str) -> Value:
    """Return the value of ``text``; ValueError names the valid values."""
    kind, words = setting.kind, tuple(text.replace(",", " ").split())
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("a text in UTF-8")
    if kind in ("int", "float"):
        return number(text, setting.low, setting.high, whole=kind == "int")
    if kind == "choice":
        return chosen(text, setting.choices)
    words = () if kind == "scope" and text == ALL else words
    if kind in ("names", "scope") and not all(map(is_name, words)):
        raise ValueError(f"names of lower-case letters, digits, - and _, {LONGEST} at most")
    if kind in ("words", "names"):
        return words
    if kind == "weights":
        return dict(map(_weight, words))
    if kind == "texts":
        return dict(map(_text_of, filter(None, text.split("\n"))))
    if kind == "embedder":
        _require_embedder(text)
    return " ".join(words) if kind == "scope" else text


def chosen(text: str, choices: Sequence[str]) -> str:
    """Return a text that is one of the choices; ValueError names these."""
    if text not in choices:
        raise ValueError("one of " + ", ".join(choices))
    return text


def number(text: str, low: float, high: float, *, whole: bool) -> float:
    """Return the number of a text; ValueError names the bounds."""
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = float("nan")
    plain = text.isascii() and "_" not in text and (not whole or text.lstrip("+-").isdigit())
    if not (plain and low <= value <= high):
        raise ValueError(f"a {'whole ' * whole}number from {low:.15g} to {high:.15g}")
    return value


def _require_embedder(text: str) -> None:
    kind, _, what = text.partition(":")
    if "@" in what.partition("://")[2].partition("/")[0]:
        raise ValueError("a URL without name and password; a key goes into LORE_ENDPOINT_KEY")
    plain = what.isprintable() and " " not in what
    is_model = kind == "sentence-transformers" and what
    is_url = kind == "endpoint" and what.isascii() and what.startswith(("http://", "https://"))
    if not (text in OWN_EMBEDDERS or (plain and (is_model or is_url))):
        raise ValueError("static, none, sentence-transformers:NAME or endpoint:http(s)://…")


def _weight(item: str) -> tuple[str, tuple[float, float | None]]:
    name, equals, given = item.partition("=")
    if not (name and name.isascii() and equals):
        raise ValueError("NAME=WEIGHT pairs, or NAME=FORWARD/BACKWARD, each from 0 to 1")
    forward, slash, backward = given.partition("/")
    weight = number(forward, 0, 1, whole=False)
    return name.lower(), (weight, number(backward, 0, 1, whole=False) if slash else None)


def _text_of(line: str) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    plain = name.replace("-", "").replace("_", "")
    if not equals or not name[:1].isalpha() or not plain.isalnum() or not name.isascii():
        raise ValueError("NAME=TEXT, the name in letters, digits, - and _")
    return name, value


def named(key: str) -> tuple[Setting, str]:
    """Return the setting of a config key, and of ``EDGE_WEIGHTS[calls]`` the element; raise
    UsageError if the key is unknown."""
    name, bracket, element = key.partition("[")
    setting = BY_NAME.get(name.lower())
    if setting is None or (bracket and setting.kind not in ARRAYS):
        raise UsageError(f"{_unknown(key)}: see 'lore config list'")
    return setting, element.rstrip("]")


def _unknown(name: str) -> str:
    return f"unknown setting '{name}'{nearest(name, [one.config_key for one in SETTINGS])}"


def users_alone(name: str, text: str) -> bool:
    """Return True if a project may not set this: it runs a program, or sends texts away."""
    if name == "retrievers":
        return not {*text.replace(",", " ").split()} <= {*BUILT_IN_RETRIEVERS}
    return BY_NAME[name].users or (name == "embedder" and ":" in text)


OPTIONS = {f"--{name.replace('_', '-')}": name for name in BY_NAME}
OPTIONS |= {f"--{one.option}": one.name for one in SETTINGS}
OPTIONS |= {"-n": "limit", "--depth": "graph_depth", "--edge-types": "graph_edges"}
