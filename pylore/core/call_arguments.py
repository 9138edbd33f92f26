"""Arguments of methods for other programs, held against annotations before anything is done."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from math import isfinite
from os import PathLike, fspath
from typing import Any, TypeVar

from .errors import UsageError, nearest
from .lines import LARGEST
from .model import Hits

Class = TypeVar("Class", bound=type)
Check = Callable[[str, Any], Any]
"""Takes an argument's name and value, and returns what the method gets for it."""

_LONGEST_QUOTE = 60
_OPTIONAL = " | None"


def checked(fields_of: Mapping[str, Callable[..., Any]]) -> Callable[[Class], Class]:
    """Return a decorator of a class whose public methods raise ``UsageError`` for odd arguments.

    Args:
        fields_of: method to the function whose keywords its ``**fields`` are.
    """

    def decorate(cls: Class) -> Class:
        for name, method in [*vars(cls).items()]:
            if inspect.isfunction(method) and (not name.startswith("_") or name == "__init__"):
                setattr(cls, name, _checking(method, fields_of.get(name)))
        return cls

    return decorate


def _checking(method: Callable[..., Any], fields_of: Callable[..., Any] | None) -> Any:
    signature = inspect.signature(method)
    known = {} if fields_of is None else dict(inspect.signature(fields_of).parameters)

    @wraps(method)
    def call(*given: Any, **named: Any) -> Any:
        bound = signature.bind(*given, **named)
        for name, parameter in [*signature.parameters.items()][1:]:
            if name not in bound.arguments:
                continue
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                value = tuple(_value(name, one, parameter.annotation) for one in value)
            elif parameter.kind is parameter.VAR_KEYWORD:
                value = {key: _field(key, one, known) for key, one in value.items()}
            else:
                value = _value(name, value, parameter.annotation)
                if isinstance(value, str) and parameter.annotation == "Iterable[str]":
                    value = (value,)  # one word may be given for a list of one
            bound.arguments[name] = value
        return method(*bound.args, **bound.kwargs)

    return call


def _field(name: str, value: Any, known: Mapping[str, inspect.Parameter]) -> Any:
    if not known:  # settings, which have a parser of their own
        return _setting(name, value)
    if name not in known:
        raise UsageError(f"unknown argument '{name[:_LONGEST_QUOTE]}'{nearest(name, list(known))}")
    return _value(name, value, known[name].annotation)


def _value(name: str, value: Any, annotation: str) -> Any:
    """Return what a method gets for an argument, by the text of its annotation."""
    if annotation.endswith(_OPTIONAL):
        if value is None:
            return None
        annotation = annotation.removesuffix(_OPTIONAL)
    return CHECKS[annotation](name, value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} is {_quoted(value)}: give a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{name} has half a character (U+{ord(value[error.start]):04X}): "
                         "give whole ones") from None  # fmt: skip
    if "\0" in value:
        raise UsageError(f"{name} has a NUL: leave it out")
    return value


def _words(name: str, value: Any) -> str | tuple[str, ...]:
    """Return a text as it is: ``Records`` splits tags, and a list of one is made of others."""
    if isinstance(value, str):
        return _text(name, value)
    return tuple(_text(f"an item of {name}", one) for one in _items(name, value, "texts"))


def _pairs(name: str, value: Any) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in _items(name, value, "pairs of texts"):
        if isinstance(pair, str) or len(words := _words(f"an item of {name}", pair)) != 2:
            raise UsageError(f"an item of {name} is {_quoted(pair)}: give two texts")
        found.append((words[0], words[1]))
    return tuple(found)


def _items(name: str, value: Any, what: str) -> Iterable[Any]:
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, Mapping)):
        raise UsageError(f"{name} is {_quoted(value)}: give {what}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name} is {_quoted(value)}: give True or False")
    return value


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > LARGEST:
        raise UsageError(f"{name} is {_quoted(value)}: give a whole number")
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, int):
        return _whole(name, value)
    if not isinstance(value, float) or not isfinite(value):
        raise UsageError(f"{name} is {_quoted(value)}: give a number")
    return value


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    """Return fields that JSON can hold."""
    from .json import dumps

    if not isinstance(value, Mapping):
        raise UsageError(f"{name} is {_quoted(value)}: give a dict")
    try:
        _text(name, dumps({_text(f"a key of {name}", key): one for key, one in value.items()}))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{name} is no JSON ({error}): give what JSON can hold") from None
    return value


def _function(name: str, value: Any) -> Callable[..., Any]:
    if not callable(value):
        raise UsageError(f"{name} is {_quoted(value)}: give a function")
    return value  # type: ignore[no-any-return]


def _hits(name: str, value: Any) -> Hits:
    if not isinstance(value, Hits):
        raise UsageError(f"{name} is {_quoted(value)}: give the results of a search")
    return value


def _place(name: str, value: Any) -> str:
    return _text(name, fspath(value) if isinstance(value, PathLike) else value)


def _setting(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_scalar(f"an item of {name}", one) for one in value]
    if isinstance(value, Mapping):
        return {_text(f"a key of {name}", key): _scalar(name, one) for key, one in value.items()}
    return _scalar(name, value)


def _scalar(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return _text(name, value)
    if not isinstance(value, (bool, int, float)):
        raise UsageError(f"{name} is {_quoted(value)}: give a text, a number, True or False")
    return value


def _quoted(value: Any) -> str:
    try:
        text = ascii(value)
    except Exception:  # a class of the caller's may do anything
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


CHECKS: dict[str, Check] = {
    "str": _text,
    "bool": _flag,
    "int": _whole,
    "float": _number,
    "Iterable[str]": _words,
    "Iterable[tuple[str, str]]": _pairs,
    "Callable[..., Any]": _function,
    "Hits": _hits,
    "Mapping[str, Any]": _mapping,
    "str | os.PathLike[str]": _place,
}
"""Annotation, without ``| None``, to what holds an argument against it."""
