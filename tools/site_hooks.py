"""What MkDocs does not do by itself: pages from the root, an index of the decisions, the SDK's."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from posixpath import dirname, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
OTHERS = ("LICENSE", "config.example")
INDEX = "decisions/index.md"

LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^```(\w+) .*$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what lies outside of docs/."""
    for name in (*PAGES, *OTHERS):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, INDEX, content=_decisions()))
    files.append(File.generated(config, "python-api.md", content=_python_reference()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links as they are between pages, and fences without what only our tests read."""
    source = page.file.src_uri
    place = source if source in PAGES else f"docs/{source}"

    def link(found: re.Match[str]) -> str:
        target = normpath(f"{dirname(place)}/{found[2]}").removeprefix("/")
        inside = INDEX if target == "docs/decisions" else target.removeprefix("docs/")
        if target == inside and target not in (*PAGES, *OTHERS):
            return found[0]
        return f"{found[1]}{relpath(inside, dirname(source) or '.')}{found[3] or ''})"

    return FENCE.sub(r"```\1", LINK.sub(link, markdown))


def _python_reference() -> str:
    """What the SDK's docstrings say, by the environment that has what lore needs."""
    command = [ROOT / ".venv/bin/python", "-I", ROOT / "docs/python_api.py"]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def _decisions() -> str:
    """A list of the decisions by their titles."""
    rows = []
    for path in sorted((ROOT / "docs/decisions").glob("*.md")):
        title = re.search(r"^# (.*)$", path.read_text(), re.MULTILINE)
        rows.append(f"- [{title[1] if title else path.stem}]({path.name})")
    return "# Decisions\n\n" + "\n".join(rows) + "\n"
