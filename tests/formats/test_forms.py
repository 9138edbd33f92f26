"""Documents in reStructuredText and AsciiDoc."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import Project
from samples import examples

from pylore.formats import pages
from pylore.formats.pages import Page, read_page

ASCIIDOC = """\
= The Intro

See link:other.adoc[the other], xref:guide/more.adoc#part[more
of it], <<a.part>>, \\<<none.adoc#>>
and <<guide/news-1.2#part>>, `src/a.py`; https://example.org[a site], link:{base}/x[none].

-----
link:block.adoc[in a block]
-----
// link:comment.adoc[in a comment]
"""

RST = """\
.. _intro:
============
*The* `Intro <https://a.b>`_
============

See `other <other.rst>`_, :doc:`guide/more` and :ref:`a label <far away>`, ``src/a.py``
and `named`_ or `so <named_>`_; :pep:`8` and `the site <https://example.org>`_.

.. _named: other.rst
.. _a second name: `named`_
.. toctree::
   :maxdepth: 2

   guide/more
   The other <other>

.. autofunction:: f

   .. versionadded:: 2.0
      As in :doc:`/guide/more`.

::

   a block with `x <other.rst>`_

.. include:: /etc/passwd
"""


def test_titles_and_positions_of_links(project: Project) -> None:
    project.write("src/a.py", "")
    project.write("other.rst", "*  .. _Far away:\n\n   words")
    project.write("guide/more.rst", "words")
    project.write("intro.rst", RST)
    project.run(".")
    node = project.node("doc-intro")
    assert node.title == "The Intro"
    assert "Intro" not in node.body.partition("\n")[0]
    links = {
        "doc-other": ["`other <", ":ref:`a ", "`named`_", "`so <nam", "`named`_", "other>\n\n"],
        "doc-guide/more": [":doc:`gu", ":doc:`/g"],
        "file-src/a.py": ["``src/a."],
    }
    assert {to for _, to in project.edges("doc-intro")} == links.keys()
    for to, written in links.items():
        relation = "links_to" if to.startswith("doc-") else "anchored_to"
        places = project.metadata("doc-intro", to, relation)["at"]
        assert [node.body[at : at + 8] for at in sorted(places)] == written


def test_links_of_asciidoc(project: Project) -> None:
    for path in ("other.adoc", "guide/more.adoc", "src/a.py", "modules/m/pages/p/q.adoc"):
        project.write(path, "Lines\n=====\n")
    project.write("modules/m/pages/p/r.adoc", "xref:p/q.adoc[from the pages of Antora's module]")
    project.write("guide/news-1.2.adoc", ":toc:\n\n== New in 1.2\n\n= no title\n")
    project.write("intro.adoc", ASCIIDOC)
    project.run(".")
    titles = {"doc-intro": "The Intro", "doc-other": "Lines", "doc-guide/news-1.2": "New in 1.2"}
    assert {id: project.node(id).title for id in titles} == titles
    assert project.edges("doc-modules/m/pages/p/r") == {("links_to", "doc-modules/m/pages/p/q")}
    links = {("links_to", id) for id in ("doc-other", "doc-guide/more", "doc-guide/news-1.2")}
    assert project.edges("doc-intro") == links | {("anchored_to", "file-src/a.py")}


def test_page_that_breaks_the_reader_is_skipped(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = pages._read_rst

    def read_some(text: str) -> Page:
        if "bad" in text:
            raise RecursionError("too deep")
        return read(text)

    monkeypatch.setattr(pages, "_read_rst", read_some)
    bad = project.write("bad.rst", "bad")
    project.write("good.rst", "good")
    result = project.run(".")
    assert result.skipped == [(str(bad), "cannot be read (RecursionError: too deep)")]
    assert project.node("doc-good").body == "good"


_MARKS = st.text("`<>_:|*=-.[]()#/\\ \n\tadoc{}\"'0", max_size=80)


@pytest.mark.parametrize("ending", ["rst", "md", "adoc"])
@settings(max_examples=examples(40), deadline=None)
@given(text=_MARKS | st.text(max_size=80))
def test_links_and_title_are_within_any_text(ending: str, text: str) -> None:
    page = read_page(text, f"a.{ending}")
    for at, link in page.links:
        assert link.target
        assert all(0 <= place < len(text) for place in (at, *link.at))
    start, end = page.title_span
    assert 0 <= start <= end <= len(text)
