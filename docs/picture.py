"""Prints docs/terminal.svg: a terminal in which lore is used, drawn from a run in a new project."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SCRIPT = """\
lore init
lore add decision "Sessions are signed tokens: the server keeps no state" --file src/auth.py
lore add failure "Logged-out users kept access for an hour" --link decision-91c2f89d:relates_to
lore search "signed session tokens" -n 1 --expand
lore search "signed session tokens" -n 1 --expand | jq -r '.[] | select(.hops > 0).title'
"""

COLUMNS, WIDTH, HEIGHT, MARGIN = 98, 8.4, 20, 16
"""Characters of a line; pixels of a character, of a line, around all."""

HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}"
  viewBox="0 0 {width:g} {height:g}" xml:space="preserve">
<style>
svg {{ --back: #fbfbfa; --text: #1f2328; --dim: #59636e; --prompt: #0a5c8a }}
@media (prefers-color-scheme: dark) {{
  svg {{ --back: #161b22; --text: #e6edf3; --dim: #9da7b3; --prompt: #79c0ff }}
}}
rect {{ fill: var(--back); stroke: var(--dim); stroke-opacity: .4 }}
text {{ fill: var(--text); font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre }}
.dim {{ fill: var(--dim) }} .bold {{ font-weight: 700 }} .prompt {{ fill: var(--prompt) }}
</style>
<rect x=".5" y=".5" width="{inner_width:g}" height="{inner_height:g}" rx="8"/>
"""
LABEL = "A terminal: two records are kept, a search finds one, and the graph leads to the other"
STYLES = {"1": "bold", "2": "dim"}
STYLED = re.compile(r"\x1b\[([12])m(.*?)\x1b\[0m")


def main() -> None:
    """Writes the picture to stdout."""
    with tempfile.TemporaryDirectory() as folder:
        print(drawn(_run(Path(folder).resolve())), end="")


def drawn(lines: list[str]) -> str:
    """Lines with a terminal's bold and faint text, as an SVG.

    >>> drawn(["$ lore init", "\\x1b[1mnote-a\\x1b[0m  A < B"]).splitlines()[-2]
    '<text x="16" y="51"><tspan class="bold">note-a</tspan>  A &lt; B</text>'
    """
    width = COLUMNS * WIDTH + 2 * MARGIN
    height = len(lines) * HEIGHT + 2 * MARGIN - 4
    parts = [
        HEAD.format(
            width=width, height=height, inner_width=width - 1, inner_height=height - 1, label=LABEL
        )
    ]
    for number, line in enumerate(lines):
        y = MARGIN + HEIGHT * number + 15
        parts.append(f'<text x="{MARGIN}" y="{y}">{_spans(line)}</text>\n')
    return "".join([*parts, "</svg>\n"])


def _spans(line: str) -> str:
    if line.startswith("$ "):
        return f'<tspan class="prompt">$</tspan> {escape(line[2:])}'
    text = escape(line)
    return STYLED.sub(lambda found: f'<tspan class="{STYLES[found[1]]}">{found[2]}</tspan>', text)


def _run(home: Path) -> list[str]:
    """The commands and what they print, as on a terminal."""
    project = home / "shop"
    (project / "src").mkdir(parents=True)
    (project / "src/auth.py").write_text("def check(token):\n    return bool(token)\n")
    (home / "bin").mkdir()
    (home / "bin/lore").symlink_to(ROOT / "lore.sh")
    environ = {
        "HOME": f"{home}",
        "PATH": f"{home}/bin:{os.environ.get('PATH', os.defpath)}",
        "LC_ALL": "C.UTF-8",
        "CLICOLOR_FORCE": "1",
    }
    lines = []
    for command in SCRIPT.splitlines():
        shown = command if "|" in command else f"{command} --text"
        done = subprocess.run(
            ["bash", "-c", shown],
            cwd=project,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        lines += [f"$ {command}", *done.stdout.replace(f"{home}", "~").splitlines()]
    assert all(len(STYLED.sub(r"\2", line)) <= COLUMNS for line in lines), lines
    return lines


if __name__ == "__main__":
    main()
