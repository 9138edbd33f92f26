"""The table of settings: what each kind takes, which of two values counts, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pylore.core.errors import UsageError
from pylore.core.settings import ARRAYS, BY_NAME, SETTINGS, Setting, Settings

if TYPE_CHECKING:
    from pylore.core.setting_values import Value

OF_KIND: dict[str, list[Setting]] = {}
for _setting in SETTINGS:
    OF_KIND.setdefault(_setting.kind, []).append(_setting)


def of_kind(*kinds: str) -> st.SearchStrategy[Setting]:
    return st.sampled_from([setting for kind in kinds for setting in OF_KIND[kind]])


def short(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers in this range with as many digits as a person types."""
    return (
        st.floats(low, high)
        .map(lambda number: float(f"{number:.4g}"))
        .filter(lambda number: low <= number <= high)
    )


EMBEDDERS = (
    "static", "none", "sentence-transformers:all-MiniLM-L6-v2", "sentence-transformers:/a/model",
    "endpoint:http://localhost:11434/v1", "endpoint:https://a.example", "endpoint:unix:/a/b.sock",
)  # fmt: skip
NAME = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=10)


def values(setting: Setting) -> st.SearchStrategy[Value]:
    """Every value that a setting may have."""
    low, high = setting.low, setting.high
    kinds: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "int": lambda: st.integers(int(low), int(high)),
        "float": lambda: short(low, high),
        "choice": lambda: st.sampled_from(setting.choices),
        "words": lambda: st.lists(
            st.sampled_from(setting.choices) if setting.choices else NAME, max_size=4
        ).map(tuple),
        "names": lambda: st.lists(st.from_regex("[a-z0-9][a-z0-9-]{0,9}", fullmatch=True)).map(
            tuple
        ),
        "text": lambda: st.text(max_size=20),
        "scope": lambda: st.from_regex("([a-z0-9][a-z0-9_-]{0,9})?", fullmatch=True),
        "embedder": lambda: st.sampled_from(EMBEDDERS),
        "weights": lambda: st.dictionaries(
            NAME, st.tuples(short(0, 1), st.none() | short(0, 1)), max_size=4
        ),
        "texts": lambda: st.dictionaries(
            st.from_regex("[a-z][a-z0-9_-]{0,9}", fullmatch=True),
            st.text(st.characters(exclude_characters="\n"), max_size=20),
            max_size=4,
        ),
    }
    return kinds[setting.kind]()


SETTING_AND_VALUE = st.sampled_from(SETTINGS).flatmap(
    lambda setting: st.tuples(st.just(setting), values(setting))
)


@given(SETTING_AND_VALUE)
def test_a_value_written_out_reads_back_the_same(chosen: tuple[Setting, Value]) -> None:
    setting, value = chosen
    settings = Settings()
    setattr(settings, setting.name, value)
    assert setting.parse(settings.as_text(setting.name)) == value


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_default_is_a_value_that_the_setting_takes(setting: Setting) -> None:
    assert setting.parse(Settings().as_text(setting.name)) == setting.default
    assert setting.help


@given(of_kind("int"), st.integers())
def test_a_whole_number_counts_within_its_range(setting: Setting, number: int) -> None:
    if setting.low <= number <= setting.high:
        assert setting.parse(str(number)) == number
        assert setting.parse(f"{number:+d}") == number
    else:
        with pytest.raises(ValueError, match=f"from {setting.low} to {setting.high}"):
            setting.parse(str(number))


@given(of_kind("int"), st.text())
def test_nothing_else_is_a_whole_number(setting: Setting, text: str) -> None:
    try:
        value = setting.parse(text)
    except ValueError:
        return
    assert text.lstrip("+-").isdecimal() and value == int(text)


@pytest.mark.parametrize("text", ["", "x", "1.5", "1e1", " 1", "1_0", "١", "²", "--1", "0x1"])
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(ValueError, match="a whole number from 1 to 1000"):
        BY_NAME["limit"].parse(text)


@given(of_kind("float"), st.floats())
def test_a_number_counts_within_its_range(setting: Setting, number: float) -> None:
    if setting.low <= number <= setting.high:
        assert setting.parse(repr(number)) == number
    else:
        with pytest.raises(ValueError, match="a number from"):
            setting.parse(repr(number))


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "-inf", "1e999", "0,5", "1/2"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        BY_NAME["hop_decay"].parse(text)


@pytest.mark.parametrize("setting", OF_KIND["choice"], ids=lambda setting: setting.name)
def test_a_choice_is_one_of_its_words(setting: Setting) -> None:
    for choice in setting.choices:
        assert setting.parse(choice) == choice
    for wrong in ("", "x", setting.choices[0].upper(), setting.choices[0] + " "):
        with pytest.raises(ValueError, match="one of " + ", ".join(setting.choices)):
            setting.parse(wrong)


def test_words_have_commas_or_spaces_between_them() -> None:
    assert BY_NAME["graph_edges"].parse(" calls,imports  defines ,") == (
        "calls", "imports", "defines",
    )  # fmt: skip
    assert BY_NAME["graph_edges"].parse("") == ()


def test_weights_are_pairs() -> None:
    parse = BY_NAME["edge_weights"].parse
    assert parse("calls=0.4, IMPORTS=1/0") == {"calls": (0.4, None), "imports": (1.0, 0.0)}
    assert parse("") == {}
    for wrong in ("calls", "calls=", "=1", "calls=x", "calls=1.1", "calls=-0.1", "calls=nan",
                  "calls==1", "a=1 b", "a=1/", "a=/1", "a=1/2", "a=1/nan"):  # fmt: skip
        with pytest.raises(ValueError, match="NAME=WEIGHT pairs, or NAME=FORWARD/BACKWARD"):
            parse(wrong)


def test_no_two_settings_share_a_name_an_option_or_a_key() -> None:
    for names in ([s.name for s in SETTINGS], [s.option for s in SETTINGS],
                  [s.config_key for s in SETTINGS]):  # fmt: skip
        assert len(set(names)) == len(names)
    option_of_another = {s.option.replace("-", "_"): s.name for s in SETTINGS}
    for setting in SETTINGS:
        assert option_of_another.get(setting.name, setting.name) == setting.name


def test_a_row_is_written_once_and_every_instance_has_a_value_for_it() -> None:
    assert [name for name in vars(Settings) if name in BY_NAME] == []
    assert {name: vars(Settings())[name] for name in BY_NAME} == {
        setting.name: setting.default for setting in SETTINGS
    }
    assert BY_NAME["hop_decay"].option == "decay"
    assert BY_NAME["graph_limit"].option == "graph-limit"


# --- which value counts

SOURCES = ("user", "project", "environment", "flag")
VALUES = {"user": "1", "project": "2", "environment": "3", "flag": "4"}


def loaded(given_by: set[str]) -> Settings:
    """``limit`` as each of these gives it."""
    config = [
        f"limit\t{scope}:/{scope}/.config:7\t{VALUES[scope]}\n"
        for scope in ("user", "project")
        if scope in given_by
    ]
    environ = {"LORE_FROM_CONFIG": "".join(config)}
    if "environment" in given_by:
        environ["LORE_LIMIT"] = VALUES["environment"]
    return Settings.load(
        environ=environ, flags={"limit": VALUES["flag"]} if "flag" in given_by else {}
    )


@given(st.sets(st.sampled_from(SOURCES)))
def test_flag_over_environment_over_project_over_user_over_default(given_by: set[str]) -> None:
    settings = loaded(given_by)
    strongest = next((source for source in reversed(SOURCES) if source in given_by), None)
    assert settings.limit == (int(VALUES[strongest]) if strongest else BY_NAME["limit"].default)
    assert (
        settings.origins.get("limit")
        == {
            "user": "user:/user/.config:7",
            "project": "project:/project/.config:7",
            "environment": "env:LORE_LIMIT",
            "flag": "flag:--limit",
            None: None,
        }[strongest]
    )
    assert settings.warnings == []


def test_weights_are_joined_one_by_one() -> None:
    config = "EDGE_WEIGHTS[calls]\tuser:/u:1\t0.1\nEDGE_WEIGHTS[imports]\tuser:/u:2\t0.2\n"
    config += "EDGE_WEIGHTS[calls]\tproject:/p:1\t0.3\n"
    settings = Settings.load(
        environ={"LORE_FROM_CONFIG": config, "LORE_EDGE_WEIGHTS": "mentions=0.4"},
        flags={"edge_weights": "imports=0.5"},
    )
    assert settings.edge_weights == {
        "calls": (0.3, None), "imports": (0.5, None), "mentions": (0.4, None),
    }  # fmt: skip
    assert Settings().edge_weights == {}


@given(st.integers(0, 3), st.integers(0, 3))
def test_the_depth_is_what_is_asked_for_within_what_is_allowed(asked: int, allowed: int) -> None:
    flags = {"graph_depth": str(asked), "graph_max_depth": str(allowed)}
    assert Settings.load(environ={}, flags=flags).depth == min(asked, allowed)


# --- what is refused

WRONG = {"int": "x", "float": "x", "choice": "x", "weights": "x", "texts": "x",
         "embedder": "x"}  # fmt: skip
REFUSABLE = [setting for setting in SETTINGS if setting.kind in WRONG]


@pytest.mark.parametrize("setting", REFUSABLE, ids=lambda setting: setting.name)
def test_a_wrong_value_is_refused_with_its_place_and_what_would_be_right(setting: Setting) -> None:
    text = WRONG[setting.kind]
    variable = "LORE_" + setting.name.upper()
    whose = "user" if setting.users else "project"
    config = f"{setting.config_key}\t{whose}:/a/.config:12\t{text}\n"
    if setting.kind == "weights":
        config = f"{setting.config_key}[calls]\tproject:/a/.config:12\tx\n"
    for place, environ, flags in (
        (f"--{setting.option}", {}, {setting.name: text}),
        (variable, {variable: text}, {}),
        ("/a/.config:12", {"LORE_FROM_CONFIG": config}, {}),
    ):
        with pytest.raises(UsageError) as error:
            Settings.load(environ=environ, flags=flags)
        message = str(error.value)
        assert message.startswith(f"{place}: {setting.config_key} is '")
        assert "give " in message
        if setting.kind == "int":
            assert message.endswith(f"from {setting.low} to {setting.high}")
        if setting.kind in ("float", "weights"):
            assert message.endswith(f"from {setting.low:.15g} to {setting.high:.15g}")
        assert "\n" not in message


def test_all_wrong_values_of_configs_are_named() -> None:
    wrong = "".join(f"limit\tuser:/a/config:{number}\tx\n" for number in range(1, 6))
    environ = {"LORE_FROM_CONFIG": f"{wrong}rrf_k\tuser:/a/config:6\t5\n"}
    with pytest.raises(UsageError, match=r"/a/config:1: .*/a/config:3: .*; and 2 more"):
        Settings.load(environ=environ, flags={})
    settings = Settings.load(environ=environ, flags={}, lenient=True)
    assert (settings.limit, settings.rrf_k, len(settings.problems)) == (10, 5, 5)


def test_unknown_settings_are_left_out_in_one_line() -> None:
    config = "grph_depth\tproject:/a/.config:3\t2\nquestions\tuser:/a/c:1\t1\n"
    settings = Settings.load(environ={"LORE_FROM_CONFIG": config}, flags={})
    (warning,) = settings.warnings
    assert warning.startswith("/a/.config:3: ") and warning.count("left out") == 2


def test_an_unknown_setting_of_a_config_is_left_out_with_the_nearest_name() -> None:
    config = "grph_depth\tproject:/a/.config:3\t2\n"
    settings = Settings.load(environ={"LORE_FROM_CONFIG": config}, flags={})
    assert settings.graph_depth == 0
    assert settings.warnings == [
        "/a/.config:3: unknown setting 'grph_depth' (did you mean 'graph_depth'?): left out"
    ]


@pytest.mark.parametrize("key", ["GRAPH_DEPTH", "edge_weights", "Limit"])
def test_a_config_spells_a_setting_as_the_table_does(key: str) -> None:
    settings = Settings.load(environ={"LORE_FROM_CONFIG": f"{key}\tuser:/c:1\t1\n"}, flags={})
    assert len(settings.warnings) == 1
    assert settings.origins == {}


def test_what_names_a_program_counts_only_in_the_users_own_config() -> None:
    def load(scope: str) -> Settings:
        line = f"plugin_dir\t{scope}:/c/.config:1\t/tools\n"
        return Settings.load(environ={"LORE_FROM_CONFIG": line}, flags={})

    project, user = load("project"), load("user")
    assert (project.plugin_dir, user.plugin_dir) == ("", "/tools")
    assert len(project.warnings) == 1
    assert project.warnings[0].startswith("/c/.config:1: plugin_dir counts only in the user's")
    assert user.warnings == []


@pytest.mark.parametrize(
    "setting", [one for one in SETTINGS if one.users], ids=lambda setting: setting.name
)
def test_nothing_that_is_the_users_alone_is_taken_from_a_project(setting: Setting) -> None:
    element = "[team]" if setting.kind in ARRAYS else ""
    line = f"{setting.config_key}{element}\tproject:/c/.config:1\tpostgresql://h/x\n"
    project = Settings.load(environ={"LORE_FROM_CONFIG": line}, flags={})
    assert getattr(project, setting.name) == setting.default
    assert len(project.warnings) == 1 and "user's own config" in project.warnings[0]


@pytest.mark.parametrize("text", ["fulltext mine", "mine", "vector,../evil"])
def test_retrievers_of_ones_own_count_only_in_the_users_own_config(text: str) -> None:
    def load(scope: str) -> Settings:
        lines = f"retrievers\tuser:/u/config:1\tvector\nretrievers\t{scope}:/c/.config:1\t{text}\n"
        return Settings.load(environ={"LORE_FROM_CONFIG": lines}, flags={})

    project = load("project")
    assert project.retrievers == ("vector",)
    assert project.warnings[0].startswith("/c/.config:1: retrievers counts only in the user's")
    if "/" not in text:
        assert load("user").retrievers == tuple(text.split())


def test_a_project_may_choose_among_the_built_in_retrievers() -> None:
    line = "retrievers\tproject:/c/.config:1\tfulltext\n"
    settings = Settings.load(environ={"LORE_FROM_CONFIG": line}, flags={})
    assert (settings.retrievers, settings.warnings) == (("fulltext",), [])


@pytest.mark.parametrize("name", ["../evil", "a/b", "Mine", "-x", "a.b", "é", "x;y"])
def test_a_retriever_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValueError, match="names"):
        BY_NAME["retrievers"].parse(f"fulltext {name}")


@pytest.mark.parametrize(
    "text",
    [
        "", "static:", "Static", "static:x", "endpoint", "endpoint:", "sentence-transformers",
        "sentence-transformers:", "sentence-transformers:a b", "endpoint:ftp://a", "endpoint:a:80",
        "endpoint:unix:relative.sock", "endpoint:http://a b/v1", "endpoint:http://a/\r\nX: y",
        "endpoint:http://exämple/v1",
    ],
)  # fmt: skip
def test_no_other_text_names_an_embedder(text: str) -> None:
    with pytest.raises(ValueError, match="static, none, sentence-transformers:NAME or endpoint"):
        BY_NAME["embedder"].parse(text)


def test_a_password_in_the_url_of_an_endpoint_is_refused_and_not_repeated() -> None:
    for text in ("endpoint:http://me:hunter2@a.example/v1", "endpoint:me:hunter2@a.example"):
        with pytest.raises(UsageError) as error:
            Settings.load(environ={"LORE_EMBEDDER": text}, flags={})
        assert "hunter2" not in str(error.value)
        assert "a.example" in str(error.value)


@pytest.mark.parametrize("text", EMBEDDERS)
def test_a_project_may_name_lores_own_embedders_alone(text: str) -> None:
    def load(scope: str) -> Settings:
        line = f"embedder\t{scope}:/c/.config:1\t{text}\n"
        return Settings.load(environ={"LORE_FROM_CONFIG": line}, flags={})

    project, user = load("project"), load("user")
    assert (user.embedder, user.warnings) == (text, [])
    assert project.embedder == (text if text in ("static", "none") else "static")
    assert len(project.warnings) == (text not in ("static", "none"))
