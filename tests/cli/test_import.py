"""Test ``lore import`` and ``lore export``."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor

from commands import Done, Lore

LINES = """\
{"id":"note-a","title":"A","body":"first words"}
{"id":"note-b","title":"B","data":{"é":[1,null]},"tags":["x"]}
{"from_id":"note-a","to_id":"note-b","relation":"relates_to","weight":0.5}
"""
RFC = """\
{"id":"rfc-a"}
{"id":"rfc-b"}
{"from_id":"rfc-a","to_id":"rfc-b","relation":"obsoletes"}
"""


def write_documents(lore: Lore) -> None:
    """Write two decisions that link to each other and to a file."""
    lore.write("src/auth.py", "x\n")
    links = "See `src/auth.py:1-3` and [[Rotate keys]].\n"
    lore.write("docs/jwt.md", f"---\nstatus: accepted\ntags: [auth]\n---\n# Use JWT\n\n{links}")
    head = "---\ntype: decision\nid: rotate\nsupersedes: jwt.md\n---\n"
    lore.write("docs/keys.md", f"{head}# Rotate keys\n\nEvery week.\n")


def counts(done: Done) -> dict[str, int]:
    """Return the counts of an import that are not 0."""
    return {key: value for key, value in done.json.items() if isinstance(value, int) and value}


# --- JSON lines


def test_import_reads_lines_from_a_file_and_stdin(lore: Lore) -> None:
    assert counts(lore("import", "-")) == {}
    lore.write("in.jsonl", LINES)
    done = lore("import", "in.jsonl")
    assert counts(done) == {"nodes": 2, "edges": 1, "added": 3} and not done.err
    before = lore("export").out
    assert counts(lore("import", "-", stdin=LINES))["unchanged"] == 3
    assert lore("export").out == before
    assert lore.id("search", "first", "--retrievers", "fulltext") == "note-a"


def test_import_refuses_in_a_line_without_writing(lore: Lore) -> None:
    write_documents(lore)
    lore.write("good.jsonl", LINES)
    lore.write("broken.jsonl", LINES + '{"id":"note-c"\n')
    lore.write("open.md", "---\nopen\n---\n")
    lore.write("odd.md", "---\nstatus: maybe\n---\n")
    lore.write("merge.jsonl", f"<<<<<<< HEAD\n{LINES}=======\n>>>>>>> main\n")
    lore.write("long.jsonl", f'{{"id":"note-a","body":"{"0" * 2000}"}}\n')
    lore.write("long.md", "0" * 2000 + "\n")
    lore.write("rfc.jsonl", RFC)
    lore.refuse_each("""
        import broken.jsonl | 1 | broken.jsonl: line 4: not JSON
        import good.jsonl docs open.md | 1 | open.md: line 2: not a 'key: value'
        import merge.jsonl | 1 | merge.jsonl: line 1: a merge conflict: run 'lore sync'
        import good.jsonl --prune | 2 | --type and --prune need documents
        import long.jsonl --max-text 1000 | 1 | a field of 'note-a' is longer than max_text
        import long.md --max-text 1000 | 1 | long.md: longer than max_text (1000 bytes)
        import nowhere.jsonl | 1 | nowhere.jsonl: no such file
        import rfc.jsonl | 1 | line 1: unknown type 'rfc'
        import rfc.jsonl --new-types | 1 | line 3: unknown relation 'obsoletes'
        import docs odd.md --type decision | 1 | line 2: status: unknown status 'maybe': one of
        import good.jsonl --ours --theirs | 2 | --ours and --theirs exclude each other
    """)
    assert lore("export").out == ""


def test_skip_bad_leaves_broken_lines_out(lore: Lore) -> None:
    lore.write("in.jsonl", LINES + 'x\n{"id":"note-c"}\n{"id":"nope-d"}\n')
    done = lore("import", "in.jsonl", "--skip-bad")
    assert counts(done) == {"nodes": 3, "edges": 1, "added": 4, "skipped": 2}
    assert "in.jsonl: line 4 was left out: not JSON" in done.err
    assert "in.jsonl: line 6 was left out: unknown type 'nope'" in done.err
    done = lore("import", "in.jsonl", "--skip-bad", "--quiet")
    assert counts(done)["unchanged"] == 4 and not done.err


def test_import_declares_new_words_and_counts_dangling_edges(lore: Lore) -> None:
    done = lore("import", "-", "--new-types", "--new-relations", stdin=RFC)
    assert counts(done)["added"] == 3
    done = lore("import", "-", stdin=LINES.splitlines()[-1])
    assert counts(done)["dangling"] == 1 and "1 edge leads to what is not in the store" in done.err


# --- Markdown


def test_import_reads_documents_and_their_links(lore: Lore) -> None:
    write_documents(lore)
    done = lore("import", "docs")
    assert counts(done) == {"nodes": 3, "edges": 3, "added": 6} and not done.err
    assert counts(lore("import", "docs"))["unchanged"] == 5
    assert lore("related", "docs/keys.md", "--ids").lines == ["decision-rotate", "doc-docs/jwt"]
    assert "file-src/auth.py" in lore("search", "rotate keys", "--graph-depth", "2", "--ids").lines


def test_unresolved_links_are_named_without_control_characters(lore: Lore) -> None:
    lore.write("a.md", "# A \033[31mred\n\n[[\033]0;x\007]] [x](none.md)\n")
    done = lore("import", "a.md", "--text")
    assert done.out == "added 1, unresolved 1\n" and "a.md: line 3:" in done.err
    assert "\033" not in done.out + done.err + lore("list", "--text").out


def test_prune_forgets_lost_documents_and_follows_renames(lore: Lore) -> None:
    write_documents(lore)
    lore("import", "docs")
    (lore.project / "docs/jwt.md").rename(lore.project / "docs/tokens.md")
    (lore.project / "docs/keys.md").unlink()
    done = lore("import", "--prune", "docs")
    assert counts(done)["pruned"] == 1 and "added" not in counts(done)
    assert "docs/jwt.md is docs/tokens.md now: doc-docs/jwt keeps its id" in done.err
    assert "docs/keys.md is gone" in done.err and "'lore undo decision-rotate'" in done.err
    assert lore.id("list", "--type", "decision,doc") == "doc-docs/jwt"


# --- editing documents


def test_edit_names_the_file_of_a_document(lore: Lore) -> None:
    write_documents(lore)
    lore("import", "docs")
    for words in (["mine"], []):
        refused = lore("edit", "decision-rotate", *words, code=1, terminal=True).err
        assert "decision-rotate is a page of docs/keys.md" in refused and "--force" in refused
    lore("edit", "decision-rotate", "--confidence", "0.5")
    assert lore("show", "decision-rotate").json["confidence"] == 0.5
    for editor, why in (("false", "Editing failed"), ("vi '", "No closing quotation; the text is")):
        lore.patch.setenv("EDITOR", editor)
        assert why in lore("edit", "decision-rotate", "--force", code=1, terminal=True).err


# --- links and devices


def test_export_preserves_links_modes_pipes_and_devices(lore: Lore) -> None:
    lore("add", "note", "kept", "--id", "note-kept")
    target = lore.write("target", "old\n")
    target.chmod(0o600)
    (lore.project / "link").symlink_to("target")
    lore("export", "link")
    assert (lore.project / "link").is_symlink() and '"note-kept"' in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    os.mkfifo(lore.project / "pipe")
    with ThreadPoolExecutor() as pool:
        read = pool.submit((lore.project / "pipe").read_text)
        lore("export", "pipe")
        assert read.result() == target.read_text()
    assert "/dev/full: No space left" in lore.refuse("export", "/dev/full", code=1)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert sorted(os.listdir(lore.project)) == [".lore", "link", "pipe", "target"]
