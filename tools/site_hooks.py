"""Pages that MkDocs does not find by itself: those of the root, the decisions, the SDK's."""

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
OTHERS = ("LICENSE", "config.example", "tools/site.css")
DECISIONS = [f"decisions/{path.name}" for path in sorted((ROOT / "docs/decisions").glob("*.md"))]

LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?\)")
TITLE = re.compile(r"^# .*$", re.MULTILINE)
FENCE = re.compile(r"^```(\w+) .*$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the decisions to the navigation."""
    assert config.nav is not None
    config.nav.append({"Decisions": [*DECISIONS]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside of docs/."""
    for name in (*PAGES, *OTHERS):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, "python-api.md", content=_python_reference()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page with its date, links between pages, and fences without what only tests read."""
    source = page.file.src_uri
    place = source if source in PAGES else f"docs/{source}"

    def link(found: re.Match[str]) -> str:
        target = normpath(f"{dirname(place)}/{found[2]}").removeprefix("/")
        inside = DECISIONS[0] if target == "docs/decisions" else target.removeprefix("docs/")
        if target == inside and target not in (*PAGES, *OTHERS):
            return found[0]
        return f"{found[1]}{relpath(inside, dirname(source) or '.')}{found[3] or ''})"

    if "status" in page.meta:
        state = f"{str(page.meta['status']).capitalize()}, {page.meta['date']}."
        markdown = TITLE.sub(rf"\g<0>\n\n{state}", markdown, count=1)
    page.meta.clear()  # the theme would put the status beside each link, and rank tags above titles
    return FENCE.sub(r"```\1", LINK.sub(link, markdown))


def _python_reference() -> str:
    """The page of the SDK's docstrings, by the environment that has what lore needs."""
    command = [ROOT / ".venv/bin/python", "-I", ROOT / "docs/python_api.py"]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
