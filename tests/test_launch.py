"""How a command's modules are found: the same ones as by the standard finder, and fresh."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pylore
from pylore.launch import Finder

PACKAGE = Path(pylore.__file__).parent
MODULES = sorted(
    ".".join(("pylore", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE
)  # fmt: skip


def test_a_module_is_found_where_the_standard_finder_finds_it() -> None:
    for name in MODULES:
        standard = importlib.util.find_spec(name)
        parent = name.rpartition(".")[0]
        found = Finder.find_spec(name, importlib.import_module(parent).__path__)
        assert standard is not None, name
        for field in ("name", "origin", "cached", "has_location", "submodule_search_locations"):
            assert getattr(found, field) == getattr(standard, field), name


def test_what_is_not_of_lore_is_left_alone() -> None:
    assert len(MODULES) > 150
    assert Finder.find_spec("json.decoder", ["/nowhere"]) is None
    assert Finder.find_spec("pylore", None) is None
    assert Finder.find_spec("pylore.nosuch", [str(PACKAGE)]) is None


ANSWER = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    "from pylore.launch import Finder; sys.meta_path.insert(0, Finder);"
    "from pylore.sub import module; print(module.ANSWER, type(module.__spec__.loader).__name__)"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A package of the same name with a subpackage of one module."""
    (tmp_path / "pylore/sub").mkdir(parents=True)
    (tmp_path / "pylore/__init__.py").touch()
    (tmp_path / "pylore/sub/__init__.py").touch()
    (tmp_path / "pylore/launch.py").write_text((PACKAGE / "launch.py").read_text())
    return tmp_path


def answer(copy: Path, *options: str) -> str:
    command = [sys.executable, "-I", *options, "-c", ANSWER, str(copy)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_source_that_has_changed_is_compiled_anew(copy: Path) -> None:
    module = copy / "pylore/sub/module.py"
    module.write_text("ANSWER = 1\n")
    assert answer(copy) == "1 Loader"
    (compiled,) = (module.parent / "__pycache__").glob("module.*")
    assert answer(copy) == "1 Loader"
    module.write_text("ANSWER = 22\n")  # another size, perhaps the same second
    assert answer(copy) == "22 Loader"
    compiled.write_bytes(b"broken")
    assert answer(copy) == "22 Loader"
    assert compiled.read_bytes() != b"broken"


def test_no_compiled_form_is_needed(copy: Path) -> None:
    module = copy / "pylore/sub/module.py"
    module.write_text("ANSWER = 1\n")
    assert answer(copy, "-B") == "1 Loader"
    assert not list(module.parent.glob("__pycache__"))
    os.utime(module, (0, 0))
    assert answer(copy) == "1 Loader"


BUNDLE = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    "from pylore.launch import Bundle, Finder; sys.meta_path.insert(0, Finder);"
    "bundle = Bundle('search'); ran = bundle.run(); plain = [*sys.modules];"
    "from pylore.sub import module; from pylore import sub; ran or bundle.write();"
    "print(ran, 'pylore.sub.module' in plain, sub.module is module, module.ANSWER, sub.__path__,"
    " module.__spec__.parent, module.__file__)"
)


def test_a_bundle_has_the_modules_that_a_run_has_loaded(copy: Path) -> None:
    def answer() -> str:
        command = [sys.executable, "-I", "-c", BUNDLE, str(copy)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    module = copy / "pylore/sub/module.py"
    module.write_text("from . import base\nANSWER = base.ANSWER\n")
    base = module.with_name("base.py")
    base.write_text("ANSWER = 1\n")
    same = f"['{module.parent}'] pylore.sub {module}"
    assert answer() == f"False False True 1 {same}"
    assert answer() == f"True True True 1 {same}"
    base.write_text("ANSWER = 22\n")
    assert answer() == f"False False True 22 {same}"
    assert answer() == f"True True True 22 {same}"
    (bundle,) = (copy / "pylore/__pycache__").glob("search*")
    bundle.write_bytes(bundle.read_bytes()[:-9])
    assert answer() == f"False False True 22 {same}"
    assert answer() == f"True True True 22 {same}"
