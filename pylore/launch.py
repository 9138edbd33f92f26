"""Where a shell command enters Python.

The modules of a command that is called in loops lie in one file, the bundle: to run them takes no
search of ``sys.path`` and three of four looks at the disk less. All others are imported as usual.
"""

from __future__ import annotations

import _frozen_importlib as _bootstrap  # "importlib" itself takes a while to load
import gc
import marshal
import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER
from _io import FileIO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

BUNDLED = ("search", "related", "show", "list", "context", "add", "edit", "link", "fact")
"""Commands that have a bundle."""

_HEAVY = ("re", "functools", "typing", "subprocess", "pylore.cli.help")
"""Modules that only an unusual line of these commands loads."""


def _stamp(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


_FOLDER = f"{os.path.dirname(__file__)}/__pycache__"
_MADE_FOR = MAGIC_NUMBER, _FOLDER


def run_bundle(file: str) -> bool:
    """Run the modules of a bundle, in the order in which they were ready; return False if that
    cannot be, or one of their sources has changed, and none of them is loaded.
    """
    modules = sys.modules
    members: list[tuple[str, str, tuple[int, int], bool, CodeType]] = []
    try:
        with FileIO(file) as opened:
            made_for, members = marshal.loads(opened.readall())
        if made_for != _MADE_FOR:
            return False
        for _, path, stamp, _, _ in members:
            if _stamp(path) != stamp:
                return False
        for name, path, _, is_package, _ in members:
            module = modules[name] = type(sys)(name)
            spec = _bootstrap.ModuleSpec(name, None, origin=path, is_package=is_package)
            module.__dict__.update(__file__=path, __package__=name, __spec__=spec)
            if is_package:
                module.__path__ = spec.submodule_search_locations = [os.path.dirname(path)]
            else:
                module.__package__ = name.rpartition(".")[0]
        for name, _, _, _, code in members:
            parent, _, leaf = name.rpartition(".")
            setattr(modules[parent], leaf, modules[name])
            exec(code, modules[name].__dict__)
    except Exception:  # if a package is missing, main says so
        for name, *_ in members:
            modules.pop(name, None)
        return False
    return True


def write_bundle(file: str) -> None:
    """Write the modules that this process has loaded, where that can be, unless some are heavy.

    They are compiled without docstrings, which nobody reads there.
    """
    if not sys.modules.keys().isdisjoint(_HEAVY):
        return
    if sys.dont_write_bytecode or not os.access(_FOLDER, os.W_OK):
        return
    members, beside = [], f"{file}.{os.getpid()}"
    try:
        for name, module in sys.modules.items():
            if name.startswith("pylore.") and name != __name__:
                path = str(module.__file__)
                stamp = _stamp(path)
                with FileIO(path) as opened:
                    source = opened.readall()
                code = compile(source, path, "exec", dont_inherit=True, optimize=2)
                members.append((name, path, stamp, hasattr(module, "__path__"), code))
        with FileIO(beside, "x") as opened:
            opened.write(marshal.dumps((_MADE_FOR, members)))
        os.replace(beside, file)
    except (OSError, SyntaxError):
        return  # the disk is full, or a source is being edited


def main() -> None:
    """Runs the command in ``sys.argv`` and ends the process."""
    gc.set_threshold(200_000)  # most commands live for milliseconds, and leave no cycles
    words = sys.argv[1:]
    # Help needs the docstrings, which a bundle has not.
    plain = words and words[0] in BUNDLED and not {"-h", "--help"} & {*words}
    file = f"{_FOLDER}/{words[0]}.bundle.{sys.implementation.cache_tag}.pyc" if plain else ""
    ready = not file or run_bundle(file)
    from .cli.main import run

    code = run(words)
    if not ready and not code:
        write_bundle(file)
    # Nothing is left to tidy up, and the interpreter's own tidying takes milliseconds.
    os._exit(code)
