"""The modules of a command that is called in loops lie in one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pylore

PACKAGE = Path(pylore.__file__).parent
BUNDLE = (
    "import sys; sys.path.insert(0, sys.argv[1]); from pylore import launch;"
    "file = sys.argv[1] + '/search.bundle'; ran = launch.run_bundle(file); plain = [*sys.modules];"
    "from pylore.sub import module; from pylore import sub; ran or launch.write_bundle(file);"
    "print(ran, 'pylore.sub.module' in plain, sub.module is module, module.ANSWER, sub.__path__,"
    " module.__spec__.parent, module.__file__)"
)


def test_bundle_has_the_modules_that_a_run_loaded(tmp_path: Path) -> None:
    def answer() -> str:
        command = [sys.executable, "-I", "-c", BUNDLE, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    package = tmp_path / "pylore"
    (package / "sub").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "sub/__init__.py").touch()
    (package / "launch.py").write_text((PACKAGE / "launch.py").read_text())
    module, base = package / "sub/module.py", package / "sub/base.py"
    module.write_text("from . import base\nANSWER = base.ANSWER\n")
    base.write_text("ANSWER = 1\n")
    same = f"['{module.parent}'] pylore.sub {module}"
    assert answer() == f"False False True 1 {same}"
    assert answer() == f"True True True 1 {same}"
    base.write_text("ANSWER = 22\n")
    assert answer() == f"False False True 22 {same}"
    assert answer() == f"True True True 22 {same}"
    bundle = tmp_path / "search.bundle"
    bundle.write_bytes(bundle.read_bytes()[:-9])
    assert answer() == f"False False True 22 {same}"
    assert answer() == f"True True True 22 {same}"
