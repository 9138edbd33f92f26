"""The table of settings, and how one set of values is put together.

Every setting is an option (``--graph-depth``), an environment variable
(``LORE_GRAPH_DEPTH``) and a key of the config files (``graph_depth``).
Precedence: flag > environment > project config > user config > default.

The config files are read by ``system/config.py`` alone. It hands over what it
found in ``LORE_FROM_CONFIG``, a line a value: ``key TAB origin TAB value``,
where the origin is ``project:FILE:LINE`` or ``user:FILE:LINE``. It also exports
them as variables, for plugins, and names those variables in ``LORE_EXPORTED``.

This module is on the path of every search: it imports nothing heavy.
"""

from __future__ import annotations

import os

from .errors import UsageError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeVar

    from .setting_values import Value

    T = TypeVar("T")


class Setting:
    """One row of the table: its name, kind, default, range, and a line of help."""

    __slots__ = ("_choices", "default", "help", "high", "kind", "low", "name", "option")

    def __init__(
        self,
        kind: str,
        default: Value,
        help: str,
        low: float,
        high: float,
        choices: Iterable[str],
        option: str,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.default = default
        self.help = help
        self.low = low
        self.high = high
        self._choices = choices
        self.option = option

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the words that it may be, of a choice; those that its list may have, of words."""
        return tuple(self._choices)

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the attribute; the option is that too, unless it has one of its own."""
        self.name = name
        self.option = self.option or name.replace("_", "-")

    @property
    def config_key(self) -> str:
        """Return how the config files spell it: arrays are upper-case, as in EDGE_WEIGHTS."""
        return self.name.upper() if self.kind in ARRAYS else self.name

    def parse(self, text: str) -> Value:
        """Return the value of ``text``; ValueError says what would have been right."""
        from .setting_values import parse_value

        return parse_value(self.kind, text, self.low, self.high, self.choices)


SWITCHES = ("quiet", "paging")
"""Options of a command line alone, 1 or 0, that come with its settings."""

ARRAYS = ("weights", "texts")
"""Kinds of settings that have elements: ``KEY[element]=…``."""


BUILT_IN_RETRIEVERS = ("fulltext", "vector")

EXPANSION_RULES = ("accumulate", "best-path", "activation")
"""The values of ``expansion``: see ``search.expand``."""

USER_ONLY = {
    "plugin_dir": "runs a program",
    "plugin_timeout": "ends programs of your own",
    "llm_command": "runs a program",
    "endpoint_model": "says what texts are sent to",
    "events_days": "says how long your own sessions are kept",
    "scope": "says whose facts are seen",
    "promote_auto": "lets what was said in a session become knowledge",
    "promote_after": "lets what is staged become confirmed",
    "candidates_days": "says how long what was said in your own sessions is kept",
    "output": "says what programs get that read lore's output",
    "on": "says where queries are sent to",
    "remotes": "says where knowledge is sent to",
}
"""Settings that name programs or places, and why they are honoured from the user's own
files alone, never from a folder that may have come with a clone."""


def _row(
    kind: str,
    default: T,
    help: str,
    low: float = 0,
    high: float = 0,
    choices: Iterable[str] = (),
    option: str = "",
) -> T:
    """Return a row of the table, typed as what an instance has in its place."""
    return Setting(kind, default, help, low, high, choices, option)  # type: ignore[arg-type, return-value]


def whole(default: int, help: str, *, low: int, high: int, option: str = "") -> int:
    """Declare a whole number."""
    return _row("int", default, help, low, high, option=option)


def number(default: float, help: str, *, low: float, high: float, option: str = "") -> float:
    """Declare a number."""
    return _row("float", default, help, low, high, option=option)


def switch(default: bool, help: str) -> bool:
    """Declare a switch."""
    return _row("bool", default, help)


def choice(default: str, help: str, *, choices: Iterable[str], option: str = "") -> str:
    """Declare one of a few words."""
    return _row("choice", default, help, choices=choices, option=option)


def words(default: tuple[str, ...], help: str, *, option: str = "") -> tuple[str, ...]:
    """Declare any words, as names of relations."""
    return _row("words", default, help, option=option)


def names(default: tuple[str, ...], help: str) -> tuple[str, ...]:
    """Declare names of programs, as far as a file may be called so."""
    return _row("names", default, help)


def text(default: str, help: str, *, option: str = "") -> str:
    """Declare any text."""
    return _row("text", default, help, option=option)


def embedder_name(default: str, help: str) -> str:
    """Declare an embedder: ``static``, ``none``, or one with a name or a URL."""
    return _row("embedder", default, help)


def scope_name(default: str, help: str) -> str:
    """Declare a scope."""
    return _row("scope", default, help)


def weights(help: str) -> dict[str, tuple[float, float | None]]:
    """Declare weights by name, 0 to 1: forwards, and backwards where it is given."""
    return _row("weights", {}, help, 0, 1)


def texts(help: str) -> dict[str, str]:
    """Declare texts by name; those given are added to the default."""
    return _row("texts", {}, help)


class Settings:
    """The table of settings; an instance has a value for each, and where it came from.

    A row is an attribute: its name, kind and default, a line of help, its range.

    >>> Settings.load(environ={}, flags={"graph_depth": "2"}).graph_depth
    2
    """

    graph_depth = whole(
        0, "hops to walk from the direct matches; 0 is a plain search", low=0, high=3
    )
    graph_max_depth = whole(
        3,
        "the most that graph_depth may ask for; 0 switches the graph off, whatever that says",
        low=0,
        high=3,
    )
    graph_edges = words((), "walk these relations only; empty means all", option="edges")
    graph_exclude_edges = words((), "never walk these relations", option="exclude-edges")
    edge_weights = weights(
        "weight of a relation's edges, 0 to 1; 0.7/0.15: another one backwards; "
        "an unknown relation is ignored, with a note",
    )
    hop_decay = number(0.7, "score factor per hop", low=0, high=1, option="decay")
    graph_max_nodes = whole(
        50,
        "the most nodes that one search may reach by edges",
        low=1,
        high=100_000,
        option="max-nodes",
    )
    graph_seeds = whole(10, "how many of the best matches the walk starts from", low=1, high=1000)
    graph_fanout = whole(25, "the most edges that are followed from one node", low=1, high=10_000)
    min_confidence = number(
        0.5,
        "edges made from code (imports, calls, …) that are less sure than this are not walked",
        low=0,
        high=1,
    )
    expansion = choice(
        "accumulate",
        "how the graph scores: accumulate adds up what matches point to, best-path multiplies, "
        "activation does so from the few nearest matches alone",
        choices=EXPANSION_RULES,
    )
    limit = whole(10, "how many direct matches to return", low=1, high=1000)
    graph_limit = whole(10, "how many reached nodes to return beside them", low=0, high=1000)
    retrievers = names(
        BUILT_IN_RETRIEVERS,
        "the legs whose lists are fused: fulltext, vector, hub (or hub-NAME of several remotes), "
        "and retrievers of your own, which count in the user's config only, as hubs do",
    )
    fusion = choice("convex", "how the legs are fused", choices=("convex", "rrf"))
    rrf_k = whole(60, "the constant of reciprocal rank fusion", low=1, high=1000)
    fulltext_share = number(
        0.75, "full text's share of a convex fusion; the vectors have the rest", low=0, high=1
    )
    vector_min = number(0.25, "the least cosine that counts as a match", low=-1, high=0.99)
    recency_half_life = whole(
        95,
        "days after those until recency_score is 0.5; 95 takes off 5 % a week",
        low=1,
        high=36_500,
    )
    mmr_lambda = number(
        0.7,
        "share of the score in maximal marginal relevance, which spreads similar results; 1: off",
        low=0,
        high=1,
    )
    category_tags = words((), "tags that stand for the category of what has none")
    feedback_weight = number(
        0.3, "the most that ratings can add to a score or take off it", low=0, high=1
    )
    budget = whole(
        4000, "the most tokens of a context, all of its text counted", low=50, high=1_000_000
    )
    max_bytes = whole(
        0,
        "the most bytes of an answer as JSON: results go from the end; 0: as long as it is",
        low=0,
        high=1_000_000_000,
    )
    user_entity = text(
        "", "id of your own entity: its facts come first in a context that names nobody else"
    )
    single_valued = words(
        ("lives_in", "works_at"),
        "predicates with one value at a time: a new one supersedes the old one",
    )
    promote_after = whole(
        3, "accesses after which something staged is confirmed; 0: never", low=0, high=1_000_000
    )
    history_days = whole(
        0, "'sweep' forgets states that were left longer ago; 0: all are kept", low=0, high=36_500
    )
    candidates_days = whole(
        90, "'sweep --telemetry' drops what was found longer ago and nobody has decided",
        low=0, high=36_500,
    )  # fmt: skip
    promote_auto = whole(
        0, "candidates a day that are staged by themselves; user config only", low=0, high=5
    )
    events_days = whole(
        14, "days to keep events and unanswered questions of sessions; 0: none are noted",
        low=0, high=36_500,
    )  # fmt: skip
    llm_command = text(
        "", "what 'lore ask' gives its prompt to: a program and its arguments; user config only"
    )
    scope = scope_name(
        "",
        "whose facts are seen beside the common ones, and whose is what is added; empty, or "
        "--all-scopes: everybody's are seen; user config only",
    )
    run = text("", "the run that searches belong to: what they show is recorded in it")
    embedder = embedder_name(
        "static",
        "what turns text into vectors: static, none, sentence-transformers:NAME or "
        "endpoint:URL; the last two in the user's config only",
    )
    endpoint_model = text(
        "", "the model to ask an endpoint for; empty leaves it to the endpoint; user config only"
    )
    duplicate_similarity = number(
        0.9,
        "cosine from which two texts repeat each other: 'add' warns",
        low=0,
        high=1,
    )
    max_text = whole(
        10_000_000, "the longest text of one record, in bytes", low=1000, high=1_000_000_000
    )
    index_max_file = whole(
        1_000_000,
        "the largest file that 'lore index' reads, in bytes",
        low=1000,
        high=1_000_000_000,
    )
    busy_timeout = number(30.0, "seconds to wait for another writer", low=0, high=3600)
    plugin_dir = text("", "a folder of lore-<command> executables; user config only")
    plugin_timeout = number(
        0.0,
        "seconds that a plugin may take; 0: 2 for a retriever, 10 for the hooks of an event, "
        "60 for an importer, an exporter or redactors",
        low=0,
        high=3600,
    )
    output = choice(
        "auto",
        "the form of what is printed where no option names one: auto is text on a terminal and "
        "JSON elsewhere; user config only",
        choices=("auto", "text", "json"),
        option="output-form",
    )
    remotes = texts(
        "hubs that 'lore sync NAME' knows, by name: postgresql://…, without a password; behind it "
        "what the hub takes: types=TYPE,… tags=TAG,… scopes=NAME,… staged; user config only",
    )
    on = text(
        "",
        "the hub, by the name of a remote, that 'lore search' asks in place of your own store; "
        "user config only",
    )

    def __init__(self) -> None:
        self.origins: dict[str, str] = {}
        self.warnings: list[str] = []
        self.counts_usage = True
        self.quiet, self.paging = False, True
        vars(self).update(_DEFAULTS)

    @classmethod
    def load(cls, *, environ: Mapping[str, str], flags: Mapping[str, str]) -> Settings:
        """Return values from the config hand-over, then the environment, then the flags."""
        settings = cls()
        for line in filter(None, environ.get("LORE_FROM_CONFIG", "").split("\n")):
            settings._set_from_config(*line.split("\t", 2))
        # What an outer lore exported for its plugin is not the user's environment.
        exported = environ.get("LORE_EXPORTED", "").split()
        for name in BY_NAME:
            variable = "LORE_" + name.upper()
            given = environ.get(variable)
            if given is not None and variable not in exported:
                settings._set(name, f"env:{variable}", given)
        for name, text in flags.items():
            if name in SWITCHES:
                setattr(settings, name, text == "1")
            else:
                settings._set(name, f"flag:--{BY_NAME[name].option}", text)
        return settings

    def changed(self, pairs: Iterable[tuple[str, str]], origin: str) -> Settings:
        """Return a copy with these ``(config key, text)`` set, ``KEY[element]`` too.

        Raises:
            UsageError: a key is not known, or a value is not one of its values.
        """
        copy = Settings()
        vars(copy).update(vars(self))
        copy.origins = dict(self.origins)
        for key, text in pairs:
            name, bracket, element = key.partition("[")
            setting = BY_NAME.get(name.lower())
            if setting is None or (bracket and setting.kind not in ARRAYS):
                hint = nearest(name, [s.config_key for s in SETTINGS])
                raise UsageError(f"unknown setting '{key}'{hint}: see 'lore config list'")
            copy._set(setting.name, origin, f"{element.rstrip(']')}={text}" if bracket else text)
        return copy

    def without_usage(self) -> Settings:
        """Return a copy by which it does not count how often a record was read."""
        copy = self.changed((), "")
        copy.counts_usage = False
        return copy

    @property
    def depth(self) -> int:
        """Return the depth to walk: what was asked for, within what is allowed."""
        return min(self.graph_depth, self.graph_max_depth)

    def _set_from_config(self, key: str, origin: str, text: str) -> None:
        name, bracket, element = key.partition("[")
        setting = BY_NAME.get(name.lower())
        if setting is None or setting.config_key != name:
            hint = nearest(name, [s.config_key for s in SETTINGS])
            self.warnings.append(f"{_place(origin)}: unknown setting '{name}'{hint}: left out")
        elif origin.startswith("project:") and users_alone(setting.name, text):
            self.warnings.append(
                f"{_place(origin)}: {name} {users_alone(setting.name, text)}, so it counts only "
                "in the user's own config: left out"
            )
        else:
            self._set(setting.name, origin, f"{element[:-1]}={text}" if bracket else text)

    def _set(self, name: str, origin: str, text: str) -> None:
        setting = BY_NAME[name]
        try:
            value = setting.parse(text)
        except ValueError as wanted:
            raise UsageError(
                f"{_place(origin)}: {setting.config_key} is '{_unsecret(text)}': give {wanted}"
            ) from None
        if isinstance(value, dict):
            value = {**getattr(self, name), **value}
        setattr(self, name, value)
        self.origins[name] = origin

    def as_text(self, name: str) -> str:
        """Return the value of one setting, spelled as an option or a config file takes it."""
        value = getattr(self, name)
        if isinstance(value, bool):
            return str(int(value))
        if isinstance(value, tuple):
            return " ".join(value)
        if isinstance(value, dict):
            if BY_NAME[name].kind == "texts":
                return "\n".join(f"{key}={text}" for key, text in sorted(value.items()))
            return " ".join(f"{key}={_weight_text(*pair)}" for key, pair in sorted(value.items()))
        return f"{value:.15g}" if isinstance(value, float) else str(value)


def _rows_of(table: type) -> tuple[Setting, ...]:
    """Take the rows out of the class: what an instance has is found sooner without them."""
    rows = tuple(row for row in vars(table).values() if isinstance(row, Setting))
    for row in rows:
        delattr(table, row.name)
    return rows


SETTINGS = _rows_of(Settings)
BY_NAME = {setting.name: setting for setting in SETTINGS}
_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}


def users_alone(name: str, text: str) -> str:
    """Return why a project may not set this; nothing where it may."""
    if name == "embedder" and ":" in text:
        return "loads a model or sends texts away"
    if name == "retrievers" and not {*text.replace(",", " ").split()} <= {*BUILT_IN_RETRIEVERS}:
        return "runs a program"
    return USER_ONLY.get(name, "")


def _unsecret(text: str) -> str:
    """Return the text without what is before an @: in a URL that may be a password."""
    before, at, after = text.rpartition("@")
    return f"…{at}{after}" if before else text


def _weight_text(forward: float, backward: float | None) -> str:
    return f"{forward:.15g}" if backward is None else f"{forward:.15g}/{backward:.15g}"


def _place(origin: str) -> str:
    """Turn ``project:/a/.config:3`` into ``/a/.config:3``, ``flag:--decay`` into ``--decay``."""
    return origin.partition(":")[2]


def setting_of_option(option: str) -> str | None:
    """Return the setting that ``--decay`` or ``--hop-decay`` sets; None if there is none."""
    if option == "-n":
        return "limit"
    for setting in SETTINGS:
        if option in ("--" + setting.option, "--" + setting.name.replace("_", "-")):
            return setting.name
    return None


def from_environment(flags: Mapping[str, str]) -> Settings:
    """Return the settings of this process: its environment under these flags."""
    return Settings.load(environ=os.environ, flags=flags)
