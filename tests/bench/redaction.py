"""What of a planted set of secrets gets through: ours alone, detect-secrets alone, both.

    .venv/bin/python tests/bench/redaction.py [SEEDS]

Prints a table of kinds, and how many ordinary texts each has changed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]

from planted_secrets import PLANTED, ordinary, planted  # noqa: E402

from pylore.telemetry.redaction import Redactor  # noqa: E402

LAYERS = {
    "ours": {"ours": True, "detectors": False},
    "detect-secrets": {"ours": False, "detectors": True},
    "both": {"ours": True, "detectors": True},
}


def main() -> None:
    """Prints it."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    missed = {layer: Counter[str]() for layer in LAYERS}
    changed = {layer: Counter[str]() for layer in LAYERS}
    for layer, how in LAYERS.items():
        for seed in range(seeds):
            rows = [*planted(seed)]
            clean = Redactor(**how).texts([text for _, text, _ in rows])
            missed[layer].update(name for (name, _, secret), text in zip(rows, clean, strict=True)
                                 if secret in text)  # fmt: skip
            plain = [*ordinary(seed)]
            after = Redactor(**how).texts([text for _, text in plain])
            changed[layer].update(kind for (kind, text), one in zip(plain, after, strict=True)
                                  if text != one)  # fmt: skip
    print(f"{'gets through, of ' + str(seeds):<28}" + "".join(f"{layer:>16}" for layer in LAYERS))
    for name in PLANTED:
        if any(missed[layer][name] for layer in LAYERS):
            print(f"{name:<28}" + "".join(f"{missed[layer][name]:>16}" for layer in LAYERS))
    total = [sum(missed[layer][name] == 0 for name in PLANTED) for layer in LAYERS]
    print(f"{'kinds of ' + str(len(PLANTED)) + ' that never do':<28}"
          + "".join(f"{count:>16}" for count in total))  # fmt: skip
    print("\nordinary texts that were changed")
    for kind in dict.fromkeys(kind for kind, _ in ordinary()):
        print(f"{kind:<28}" + "".join(f"{changed[layer][kind]:>16}" for layer in LAYERS))


if __name__ == "__main__":
    main()
