"""Print the packages of lore as a CycloneDX document in JSON.

    .venv/bin/python tools/sbom.py > dist/lore.cdx.json

It lists requirements*.lock and the libraries in pylore/view/assets. Equal files give equal output.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCOPES = {"requirements": "required", "requirements-hub": "optional",
          "requirements-dev": "excluded"}  # fmt: skip
PIN = re.compile(r"^([\w.-]+)==([\w.+!-]+)((?:.*\\\n)*.*)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
VERSION = re.compile(r'^__version__ = "(.+)"', re.MULTILINE)
LIBRARY = re.compile(r"^(d3-[a-z]+) ([\d.]+) ", re.MULTILINE)


def part(url: str, name: str, version: str, scope: str, hashes: list[str]) -> dict[str, object]:
    """Return one component."""
    found = [{"alg": "SHA-256", "content": content} for content in hashes]
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url,
            "scope": scope, "hashes": found}  # fmt: skip


version = VERSION.findall((ROOT / "pylore/__init__.py").read_text())[0]
parts = [
    part(f"pkg:pypi/{name.lower().replace('_', '-')}@{pinned}", name, pinned, scope,
         HASH.findall(rest))
    for lock, scope in SCOPES.items()
    for name, pinned, rest in PIN.findall((ROOT / f"{lock}.lock").read_text())
] + [
    part(f"pkg:npm/{name}@{pinned}", name, pinned, "required", [])
    for name, pinned in LIBRARY.findall((ROOT / "tools/bundle-view.sh").read_text())
]  # fmt: skip
lore = {"type": "application", "bom-ref": "lore", "name": "lore", "version": version}
document = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "metadata": {"component": lore}, "components": parts}  # fmt: skip
sys.stdout.write(json.dumps(document, indent=2) + "\n")
