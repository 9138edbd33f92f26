"""Links of the docs lead to files and headings; generated pages are up to date."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Lore

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """Return a page without code."""
    text = FENCED.sub("", page.read_text())
    return re.sub(r"`[^`\n]+`", lambda code: code[0].translate({91: 32, 93: 32}), text)


def headings(page: Path) -> set[str]:
    """The anchors of its headings, as GitHub and MkDocs make them.

    >>> headings(ROOT / "SECURITY.md") >= {"reporting", "what-is-not-promised"}
    True
    """
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.lower())) for title in titles}


def astray(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (heading and heading not in headings(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert astray(page) == []


def test_a_link_astray_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "# A b\n[x](#a-b) [x](b.md) [x](#c) [x](a.md#d) `[x](e.md)`\n```\n[x](f)\n```\n"
    )
    assert astray(page) == ["b.md", "#c", "a.md#d"]
    assert len(PAGES) > 30


def test_the_site_has_every_page_but_the_decisions() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = {path.relative_to(ROOT).as_posix().removeprefix("docs/") for path in PAGES}
    assert {page for page in pages if not page.startswith("decisions/")} == {
        page for page in listed if page != "python-api.md"
    }
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("generator", "page"),
    [
        ("reference.py", "docs/commands.md"),
        ("config_example.py", "config.example"),
        ("picture.py", "docs/terminal.svg"),
    ],
)
def test_generated_page_is_up_to_date(
    generator: str, page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if generator == "picture.py" and not shutil.which("jq"):
        pytest.skip("jq is not installed")
    program, *words = generator.split()
    monkeypatch.setattr(sys, "argv", [program, *words])
    monkeypatch.setenv("COLUMNS", "40")
    runpy.run_path(str(ROOT / "docs" / program), run_name="__main__")
    assert capsys.readouterr().out == (ROOT / page).read_text()


def test_pages_of_lore_import_with_all_links(lore: Lore) -> None:
    pages = [str(ROOT / page) for page in ("docs/decisions", "README.md", "docs/architecture.md")]
    lore.patch.setenv("LORE_DIR", str(lore.store))
    lore.patch.chdir(ROOT)
    done = lore("import", *pages)
    assert not done.err and done.json["unresolved"] == done.json["dangling"] == 0
    assert lore("list", "--orphans").json == []


def test_generate_prints_a_document_or_refuses() -> None:
    script = str(ROOT / "docs/generate.sh")
    done = subprocess.run([script, "api"], capture_output=True, text=True)
    assert done.returncode == 0 and "### Lore.search" in done.stdout.splitlines()
    done = subprocess.run([script, "comands"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "") and "'comands'" in done.stderr
