"""Import modules from their compiled form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pylore

LAUNCH = Path(pylore.__file__).parent / "launch.py"
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from pylore import launch
sys.meta_path.insert(0, launch.Importer)
from pylore import sub
from pylore.sub import module
by_us = module.__spec__.loader is launch.Importer
print(by_us, module.ANSWER, sub.__path__, sub.module is module, module.__package__, module.__file__)
"""


def test_importer_loads_current_compiled_modules(tmp_path: Path) -> None:
    def answer() -> str:
        command = [sys.executable, "-I", "-c", PROGRAM, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    sub = tmp_path / "pylore/sub"
    sub.mkdir(parents=True)
    (sub.parent / "__init__.py").touch()
    (sub / "__init__.py").touch()
    (sub.parent / "launch.py").write_text(LAUNCH.read_text())
    module = sub / "module.py"
    module.write_text("ANSWER = 1\n")
    same = f"['{sub}'] True pylore.sub {module}"
    assert answer() == f"False 1 {same}", "Python compiles the module"
    assert answer() == f"True 1 {same}"
    module.write_text("ANSWER = 22\n")
    assert answer() == f"False 22 {same}"
    assert answer() == f"True 22 {same}"
    (compiled,) = (sub / "__pycache__").glob("module.*")
    os.truncate(compiled, 8)
    assert answer() == f"False 22 {same}"
