"""Test the table of settings: valid values, precedence, settings of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.errors import UsageError
from pylore.core.settings import ARRAYS, BY_NAME, SETTINGS, Setting, Settings, parsed

if TYPE_CHECKING:
    from pylore.core.settings import Value

EMBEDDERS = (
    "static",
    "none",
    "sentence-transformers:all-MiniLM-L6-v2",
    "sentence-transformers:/a/model",
    "endpoint:http://localhost:11434/v1",
    "endpoint:https://a.example",
)
NAME = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=10)


def short(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers of a range with as many digits as a person types."""
    rounded = st.floats(low, high).map(lambda number: float(f"{number:.4g}"))
    return rounded.filter(lambda number: low <= number <= high)


def values(setting: Setting) -> st.SearchStrategy[Any]:
    """All values of a setting."""
    low, high = setting.low, setting.high
    line = st.text(st.characters(exclude_characters="\n"), max_size=20)
    return {
        "int": st.integers(int(low), int(high)),
        "float": short(low, high),
        "choice": st.sampled_from(setting.choices or ("",)),
        "words": st.lists(NAME, max_size=4).map(tuple),
        "names": st.lists(st.from_regex("[a-z0-9][a-z0-9-]{0,9}", fullmatch=True)).map(tuple),
        "text": st.text(max_size=20),
        "scope": st.from_regex("([a-z0-9][a-z0-9_-]{0,9})?", fullmatch=True),
        "embedder": st.sampled_from(EMBEDDERS),
        "weights": st.dictionaries(NAME, st.tuples(short(0, 1), st.none() | short(0, 1))),
        "texts": st.dictionaries(st.from_regex("[a-z][a-z0-9_-]{0,9}", fullmatch=True), line),
    }[setting.kind]


SETTING_AND_VALUE = st.sampled_from(SETTINGS).flatmap(
    lambda setting: st.tuples(st.just(setting), values(setting))
)
NUMBERS = st.sampled_from([setting for setting in SETTINGS if setting.kind in ("int", "float")])


@given(SETTING_AND_VALUE)
def test_values_survive_text(chosen: tuple[Setting, Value]) -> None:
    setting, value = chosen
    settings = Settings()
    setattr(settings, setting.name, value)
    assert parsed(setting, settings.as_text(setting.name)) == value


def test_defaults_are_valid_and_names_unique() -> None:
    for setting in SETTINGS:
        assert parsed(setting, Settings().as_text(setting.name)) == setting.default, setting.name
        assert setting.help, setting.name
    for names in ([s.name for s in SETTINGS], [s.option for s in SETTINGS]):
        assert len(set(names)) == len(names)
    option_of_another = {s.option.replace("-", "_"): s.name for s in SETTINGS}
    assert all(option_of_another.get(s.name, s.name) == s.name for s in SETTINGS)


@given(NUMBERS, st.integers() | st.floats())
def test_numbers_count_within_their_range(setting: Setting, number: float) -> None:
    is_valid = setting.low <= number <= setting.high
    if is_valid and (setting.kind == "float" or isinstance(number, int)):
        assert parsed(setting, repr(number)) == number
    else:
        with pytest.raises(ValueError, match=f"number from .* to {setting.high:.15g}"):
            parsed(setting, repr(number))


WRONG = {
    "limit": ("a whole number from 1", ",1.5,1e1, 1,1_0,١,²,--1,0x1"),
    "hop_decay": ("a number from 0 to 1", ",nan,inf,-inf,1e999,1/2,0_1,٠"),
    "fusion": ("one of convex, rrf", ",x,RRF,rrf "),
    "edge_weights": (
        "NAME=WEIGHT pairs|a number from 0 to 1",
        "a,a=,=1,a=x,a=1.1,a=-0.1,a=nan,a==1,a=1 b,a=1/,a=/1,a=1/2,a=1/nan",
    ),
    "retrievers": ("names", "../evil,a/b,Mine,-x,a.b,é,x;y"),
    "embedder": (
        "static, none, sentence-transformers:NAME or endpoint",
        ",static:,Static,endpoint,endpoint:,sentence-transformers:,sentence-transformers:a b,"
        "endpoint:ftp://a,endpoint:unix:/a,endpoint:http://a b/v1,endpoint:http://a/\r\nX: y,"
        "endpoint:http://exämple/v1",
    ),
    "remotes": ("NAME=TEXT", "x,=x,1=x,é=x"),
}
"""Setting to its error, and values that are wrong, by commas."""


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_refused_with_their_place(name: str) -> None:
    wanted, texts = WRONG[name][0], WRONG[name][1].split(",")
    setting, variable = BY_NAME[name], f"LORE_{name.upper()}"
    for text in texts:
        with pytest.raises(ValueError, match=wanted):
            parsed(setting, text)
    key = setting.config_key + ("[a]" if setting.kind == "weights" else "")
    scope = "user" if setting.users or name == "retrievers" else "project"
    config = {"LORE_FROM_CONFIG": f"{key}\t{scope}:/a/.config:12\t{texts[-1]}\n"}
    for place, environ, flags in (
        (f"--{setting.option}", {}, {name: texts[-1]}),
        (variable, {variable: texts[-1]}, {}),
        ("/a/.config:12", config if setting.kind not in ("texts", "embedder") else None, {}),
    ):
        if environ is not None:
            with pytest.raises(UsageError, match=f"^{place}: {setting.config_key} is .*: give"):
                Settings.load(environ=environ, flags=flags)


ORIGINS = ("user:/user/.config:7", "project:/project/.config:7", "env:LORE_LIMIT", "flag:--limit")


@given(st.sets(st.sampled_from(range(4))))
def test_flag_environment_project_user_default_is_the_precedence(given_by: set[int]) -> None:
    config = "".join(f"limit\t{ORIGINS[one]}\t{one + 1}\n" for one in (0, 1) if one in given_by)
    environ = {"LORE_FROM_CONFIG": config, "LORE_LIMIT": "3" if 2 in given_by else ""}
    settings = Settings.load(environ=environ, flags={"limit": "4"} if 3 in given_by else {})
    strongest = max(given_by, default=None)
    assert settings.limit == (10 if strongest is None else strongest + 1)
    assert settings.origins == ({} if strongest is None else {"limit": ORIGINS[strongest]})
    assert settings.warnings == []


def test_weights_are_merged_by_relation() -> None:
    config = "EDGE_WEIGHTS[calls]\tuser:/u:1\t0.1\nEDGE_WEIGHTS[imports]\tuser:/u:2\t0.2\n"
    config += "EDGE_WEIGHTS[calls]\tproject:/p:1\t0.3\n"
    settings = Settings.load(
        environ={"LORE_FROM_CONFIG": config, "LORE_EDGE_WEIGHTS": "mentions=0.4"},
        flags={"edge_weights": "imports=0.5"},
    )
    assert settings.edge_weights == {
        "calls": (0.3, None),
        "imports": (0.5, None),
        "mentions": (0.4, None),
    }
    assert Settings().edge_weights == {}


def test_all_wrong_values_of_configs_are_named() -> None:
    wrong = "".join(f"limit\tuser:/a/config:{number}\tx\n" for number in range(1, 6))
    environ = {"LORE_FROM_CONFIG": f"{wrong}rrf_k\tuser:/a/config:6\t5\n"}
    with pytest.raises(UsageError, match=r"/a/config:1: .*/a/config:3: .*; and 2 more"):
        Settings.load(environ=environ, flags={})
    settings = Settings.load(environ=environ, flags={}, lenient=True)
    assert (settings.limit, settings.rrf_k, len(settings.problems)) == (10, 5, 5)


def test_unknown_settings_are_ignored_with_a_warning() -> None:
    config = "grph_depth\tproject:/a/.config:3\t2\nGRAPH_DEPTH\tuser:/a/c:1\t1\n"
    settings = Settings.load(environ={"LORE_FROM_CONFIG": config}, flags={})
    (warning,) = settings.warnings
    assert warning.startswith("/a/.config:3: ") and warning.count("left out") == 2
    assert "did you mean 'graph_depth'" in warning
    assert (settings.graph_depth, settings.origins) == (0, {})


OF_USERS = [(one.name, "postgresql://h/x") for one in SETTINGS if one.users]
OF_USERS += [("retrievers", "fulltext mine"), ("retrievers", "vector,../evil")]
OF_USERS += [("embedder", text) for text in EMBEDDERS[2:]]


@pytest.mark.parametrize(("name", "text"), OF_USERS)
def test_users_settings_are_not_taken_from_a_project(name: str, text: str) -> None:
    setting = BY_NAME[name]
    element = "[team]" if setting.kind in ARRAYS else ""
    line = f"{setting.config_key}{element}\tproject:/c/.config:1\t{text}\n"
    project = Settings.load(environ={"LORE_FROM_CONFIG": line}, flags={})
    assert getattr(project, name) == setting.default
    (warning,) = project.warnings
    assert warning.startswith("/c/.config:1: ") and "user's own config" in warning


def test_passwords_of_endpoints_are_refused_and_not_repeated() -> None:
    for text in ("endpoint:http://me:hunter2@a.example/v1", "endpoint:me:hunter2@a.example"):
        with pytest.raises(UsageError, match=r"a\.example") as error:
            Settings.load(environ={"LORE_EMBEDDER": text}, flags={})
        assert "hunter2" not in str(error.value)
