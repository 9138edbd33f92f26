"""Ranking: the three lists, their evidence, their turns, and weak results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import searching
from code_project import Project
from new_stores import new_store
from pages import import_documents
from repositories import Repository
from searching import ids

from pylore.code.index import index
from pylore.core.model import Hit, Hits
from pylore.core.settings import Settings
from pylore.core.text import parse_query
from pylore.core.vocabulary import CODE_LIST as CODE
from pylore.core.vocabulary import PAGES_LIST as PAGES
from pylore.embed.static import StaticEmbedder
from pylore.records.records import Records
from pylore.search.legs import Matches
from pylore.search.rank import evidence, in_turn, weigh
from pylore.store import Store

CODE_OF_TOKENS = '''
class Signer:
    """Sign session tokens with a rotating key."""

    def register(self, key):
        """Register a key that signs session tokens."""
        return key


def register_signer(signer):
    """Register a signer of session tokens."""
    return signer.register(signer)


def upload_files(files):
    """Upload files to the server in chunks of a megabyte."""
    return files
'''
PAGE = """# Uploads

To upload files to the server, call the client with a list of files. The server stores the files in
chunks, and signs session tokens for them.
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Code, a page that is imported, and records."""
    root: Path = tmp_path_factory.mktemp("rank") / "project"
    embedder = StaticEmbedder()
    with new_store(str(root / ".lore")) as store:
        project = Project(Repository(root).root, store)
        project.write("src/tokens.py", CODE_OF_TOKENS)
        project.write("docs/uploads.md", PAGE)
        project.write("heat.yml", "thermostat: 21 degrees if lamps are lit\n")
        project.write("docs/list.md", "<!-- @generated -->\n# Tokens\n\nOf a session.\n")
        project.write("../vault.md", "# Tokens\n\nOf a nightly session.\n")
        for number in range(6):
            light = f"def light{number}(lamp):\n    '''Light the lamp of a room.'''\n"
            project.write(f"src/room{number}.py", f"{light}    return lamp\n")
            page = f"# Room {number}\n\nLamps of room {number} are lit.\n"
            project.write(f"docs/room{number}.md", page)
        index(store, Settings(), lambda: embedder, str(root))
        pages = [f"{root}/docs", f"{root}/../vault.md"]
        import_documents(store, Settings(), embedder, pages, str(root))
        records = Records(store, Settings(), embedder, str(root))
        why = "We rotate keys each night because a leaked key must end soon"
        records.add("decision", why, id="decision-rotate")
        for number in range(6):
            records.add("note", f"The office has a kitchen on floor {number}", id=f"note-{number}")
        records.link("file-docs/uploads.md", "part_of", "note-5")
        yield store


Look = Callable[..., Hits]


@pytest.fixture(scope="module")
def look(store: Store) -> Look:
    def look(query: str, *, vectors: bool = True, **given: object) -> Hits:
        embedder = StaticEmbedder() if vectors else None
        return searching.look(store, query, embedder=embedder, explain=True, **given)

    return look


def test_lists_keep_their_order_and_scores_fall() -> None:
    found = Matches()
    found.evidence = {CODE: 0.8, PAGES: 0.4}
    scores = {"file-a.py": 0.9, "file-b.py": 0.8, "doc-a": 1.0, "file-c.py": 0.7, "doc-b": 0.6}
    scores |= {"file-faint.py": 0.05, "note-a": 1.0}  # the note is of a list without evidence
    hits = in_turn([Hit(id, score) for id, score in scores.items()], parse_query("lamps"), found)
    weigh(hits, found.evidence)
    assert ids(hits) == "file-a.py file-b.py doc-a file-c.py doc-b note-a file-faint.py".split()
    assert [hit.score for hit in hits] == pytest.approx([0.9, 0.8, 0.5, 0.5, 0.3, 0.3, 0.05])


def test_rare_words_and_other_forms_in_evidence(tmp_path: Path) -> None:
    with new_store(str(tmp_path)) as store:
        records = Records(store, Settings(), None)
        for number, text in enumerate(("lamps", "lamps", "tokens", "a key", "keys")):
            records.add("note", text, id=f"note-{number}")

        def share(text: str, id: str) -> float:
            found = Matches()
            found.rows["texts"] = [(store.fulltext.first_passages([id])[id], id, 1.0)]
            return max(evidence(store, parse_query(text), found).values())

        assert share("lamps tokens", "note-0") < 0.5 < share("lamps tokens", "note-2")
        assert share("keys", "note-3") == 0.5
        assert share("keys xyzzy", "note-4") < share("keys tokens", "note-4"), "an unknown word"


def test_wording_prefers_pages_or_code(look: Look) -> None:
    assert ids(look("how do I upload files"))[0] == "doc-docs/uploads"
    assert ids(look("chunks of files"))[0] == "doc-docs/uploads"  # the code is slightly nearer
    assert ids(look("where are files uploaded"))[0] == "symbol-src/tokens.py::upload_files"
    assert ids(look("where is the nightly session"))[0] == "doc-../vault", "little evidence of code"
    assert ids(look("thermostat degrees, lit lamps"))[0] == "file-heat.yml", "although data"


@pytest.mark.parametrize("query", ["why do we rotate keys", "leaked key must end soon"])
def test_matching_record_is_in_the_first_two(look: Look, query: str) -> None:
    assert "decision-rotate" in ids(look(query))[:2]


def test_definition_of_a_name_is_first(look: Look) -> None:
    assert ids(look("Signer.register"))[0] == "symbol-src/tokens.py::Signer.register"
    assert ids(look("register_signer"))[0] == "symbol-src/tokens.py::register_signer"
    assert ids(look("where is the Signer class"))[0] == "symbol-src/tokens.py::Signer"


def test_page_and_file_are_a_single_result(look: Look) -> None:
    found = ids(look("upload files", limit=50))
    assert "doc-docs/uploads" in found and "file-docs/uploads.md" not in found
    paths = {hit.id: hit.path for hit in look("upload files", graph_depth=1)}
    assert paths["note-5"] == ["doc-docs/uploads", "note-5"]


def test_page_without_an_index_has_a_p(look: Look) -> None:
    found = ids(look("sign session tokens for the server"))
    assert found.index("doc-docs/uploads") < found.index("doc-docs/list"), "a generated page"
    found = ids(look("session tokens"))
    assert found.index("doc-../vault") < found.index("doc-docs/uploads"), "from elsewhere"


@pytest.mark.parametrize("vectors", [True, False])
def test_unknown_topics_are_weak(look: Look, vectors: bool) -> None:
    for known in ("how are session tokens signed", "kitchen of the office", "thermostat degrees"):
        assert not look(known, vectors=vectors)[0].weak, known
    unknown = look("pictures of penguins on holiday of the office", vectors=vectors)
    assert all(hit.weak for hit in unknown)
    assert "these results are weak: the store may have nothing on this" in unknown.notes
