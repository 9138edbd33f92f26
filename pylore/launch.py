"""Where a shell command enters Python: lore's own modules are found without a search, then main.

A search loads some sixty small modules, and for each the standard finder goes through
``sys.path`` and the standard loader asks the disk four times. Here a module is looked for in its
package's folder alone, and its compiled form read in one go, if it is that of the
source as it is now. The modules of a command that is called in loops lie in one file (``Bundle``).
Whatever is not as expected is left to the standard loader.
"""

from __future__ import annotations

import _frozen_importlib as _bootstrap  # "importlib" itself takes a while to load
import _frozen_importlib_external as _bootstrap_external
import gc
import marshal
import os
import sys
from _io import FileIO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
    from typing import Any

_COMPILED = f".{sys.implementation.cache_tag}.pyc"
_HEADER = 16
"""Bytes before the code: magic number, flags, the source's time and size (PEP 552)."""

BUNDLED = ("search", "related", "show", "list", "context", "add", "edit", "link", "fact")
"""Commands that have a bundle."""

_HEAVY = ("re", "functools", "typing", "subprocess", "pylore.cli.help")
"""Modules that only an unusual line of these commands loads."""


class Loader(_bootstrap_external.SourceFileLoader):
    """Loads one module from its compiled form, if that has the header that it should have."""

    header = b""
    stamp = (0, 0)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module's code; as the standard loader does where the form is another."""
        code = self.compiled(module.__spec__)
        if code is None:
            super().exec_module(module)
        else:
            exec(code, module.__dict__)

    def compiled(self, spec: Any) -> CodeType | None:
        """Return the code of the compiled form; None if it is missing, or of another source."""
        try:
            with FileIO(spec.cached) as file:
                data = file.readall()
        except OSError:
            return None
        if data[:_HEADER] != self.header:
            return None
        code: CodeType = marshal.loads(memoryview(data)[_HEADER:])
        return code


class Finder:
    """Finds modules below the package that this one lies in; leaves all others alone."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _: object = None) -> Any:
        """Return the spec of a module of lore's own; None for any other."""
        if path is None or not name.startswith("pylore."):
            return None
        leaf = name.rpartition(".")[2]
        return _spec(name, path[0], leaf) or _spec(name, f"{path[0]}/{leaf}", "__init__")


def _stamp(found: os.stat_result) -> tuple[int, int]:
    return found.st_mtime_ns, found.st_size


def _spec(name: str, folder: str, stem: str) -> Any:
    """Return the spec of a module whose source is there; None for any other."""
    file = f"{folder}/{stem}.py"
    try:
        found = os.stat(file)
    except OSError:
        return None
    loader = Loader(name, file)
    loader.stamp = _stamp(found)
    numbers = (int(found.st_mtime), found.st_size)
    loader.header = b"".join((
        _bootstrap_external.MAGIC_NUMBER, bytes(4),
        *((number & 0xFFFFFFFF).to_bytes(4, "little") for number in numbers),
    ))  # fmt: skip
    spec = _bootstrap.ModuleSpec(name, loader, origin=file)
    spec.has_location = True
    spec.cached = f"{folder}/__pycache__/{stem}{_COMPILED}"
    if stem == "__init__":
        spec.submodule_search_locations = [folder]
    return spec


class Bundle:
    """The modules that a command has loaded, in one file, in the order in which they were ready.

    To run them takes no importlib. A bundle holds as long as none of their sources has changed.
    """

    def __init__(self, command: str) -> None:
        self._folder = f"{os.path.dirname(__file__)}/__pycache__"
        self._file = f"{self._folder}/{command}.bundle{_COMPILED}"

    def run(self) -> bool:
        """Run the modules; return False if that cannot be, and none of them is loaded."""
        modules = sys.modules
        members: list[tuple[str, str, tuple[int, int], bool, CodeType]] = []
        try:
            with FileIO(self._file) as file:
                made_for, members = marshal.loads(file.readall())
            if made_for != (_bootstrap_external.MAGIC_NUMBER, self._folder):
                return False
            for _, path, stamp, _, _ in members:
                if _stamp(os.stat(path)) != stamp:
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

    def write(self) -> None:
        """Write what this process has loaded, where that can be, unless some of it is heavy.

        It is compiled without docstrings, which nobody reads there.
        """
        if not sys.modules.keys().isdisjoint(_HEAVY):
            return
        if sys.dont_write_bytecode or not os.access(self._folder, os.W_OK):
            return
        members = []
        for name, module in sys.modules.items():
            spec = getattr(module, "__spec__", None)
            loader = getattr(spec, "loader", None)
            if isinstance(loader, Loader):
                if loader.compiled(spec) is None:
                    return
                source = loader.get_data(loader.path)
                members.append((
                    name, loader.path, loader.stamp, hasattr(module, "__path__"),
                    compile(source, loader.path, "exec", dont_inherit=True, optimize=2),
                ))  # fmt: skip
        made_for = (_bootstrap_external.MAGIC_NUMBER, self._folder)
        try:
            write_atomic = _bootstrap_external._write_atomic  # type: ignore[attr-defined]
            write_atomic(self._file, marshal.dumps((made_for, members)))
        except OSError:
            return  # the disk is full


def main() -> None:
    """Runs the command in ``sys.argv`` and ends the process."""
    gc.disable()  # a command lives for milliseconds: collecting cycles only costs it time
    sys.meta_path.insert(0, Finder)
    words = sys.argv[1:]
    plain = words and words[0] in BUNDLED and not {"-h", "--help"} & {*words}
    bundle = Bundle(words[0]) if plain else None  # without the docstrings, which help needs
    ready = bundle is None or bundle.run()
    from .cli.main import run

    code = run(words)
    if bundle is not None and not ready and not code:
        bundle.write()
    # Nothing is left to tidy up, and the interpreter's own tidying takes milliseconds.
    os._exit(code)
