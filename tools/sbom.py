"""Prints what lore is made of as a CycloneDX document in JSON.

    .venv/bin/python tools/sbom.py > dist/lore.cdx.json

The packages of requirements.lock, those for tests alone of requirements-dev.lock, and
the libraries that are kept in pylore/view/assets. The same files give the same document.
"""

import json
import re
import sys
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).resolve().parent.parent

FORMAT = "1.6"
"""The version of CycloneDX."""

LOCKS = {
    "requirements.lock": "required", "requirements-hub.lock": "optional",
    "requirements-dev.lock": "excluded",
}  # fmt: skip
"""Locked requirements to the scope of what they name."""

PINNED = re.compile(r"^([\w.-]+)==([\w.+!-]+)(?: ; ([^\\\n]+?))?(?= \\$)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def main() -> None:
    """Writes the document to stdout."""
    json.dump(document(ROOT), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def document(root: Path) -> dict[str, object]:
    """The document for the checkout in ``root``."""
    version = _matched(r'__version__ = "(.+)"', root / "pylore/__init__.py")
    lore = {
        "type": "application", "bom-ref": "lore", "name": "lore", "version": version,
        "licenses": [{"license": {"id": "MIT"}}],
    }  # fmt: skip
    packages = [
        component for name, scope in LOCKS.items() for component in _locked(root / name, scope)
    ]
    packages += _view_libraries(root)
    needed = [one["bom-ref"] for one in packages if one["scope"] == "required"]
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{FORMAT}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": FORMAT,
        "serialNumber": uuid5(NAMESPACE_URL, json.dumps([lore, packages])).urn,
        "version": 1,
        "metadata": {"component": lore},
        "components": packages,
        "dependencies": [
            {"ref": "lore", "dependsOn": needed},
            *({"ref": one["bom-ref"]} for one in packages),
        ],
    }


def _locked(path: Path, scope: str) -> list[dict[str, object]]:
    """A component for each pinned package, with the hashes of all its files."""
    text = path.read_text(encoding="utf-8")
    pins = list(PINNED.finditer(text))
    ends = [*(pin.start() for pin in pins[1:]), len(text)]
    found = []
    for pin, end in zip(pins, ends, strict=True):
        name, version, marker = pin.groups()
        url = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
        hashes = HASH.findall(text, pin.end(), end)
        component = {
            "type": "library", "bom-ref": url, "name": name, "version": version, "purl": url,
            "scope": scope, "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
        }  # fmt: skip
        if marker:
            component["properties"] = [{"name": "lore:marker", "value": marker}]
        found.append(component)
    return found


def _matched(pattern: str, file: Path) -> str:
    """The group of the first match in a file that has one."""
    found = re.search(pattern, file.read_text(), re.MULTILINE)
    assert found, f"{file}: {pattern}"
    return found[1]


def _view_libraries(root: Path) -> list[dict[str, object]]:
    """The libraries of ``lore graph view``, as tools/bundle-view.sh pins them."""
    pinned = _matched(r"^packages='\n([^']+)'", root / "tools/bundle-view.sh")
    found: list[dict[str, object]] = []
    for name, version, _ in map(str.split, pinned.splitlines()):
        url = f"pkg:npm/{name}@{version}"
        found.append({
            "type": "library", "bom-ref": url, "name": name, "version": version, "purl": url,
            "scope": "required",
            "licenses": [{"license": {"id": "ISC"}}],
        })  # fmt: skip
    return found


if __name__ == "__main__":
    main()
