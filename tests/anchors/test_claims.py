"""Test accepted violations of claims, and invalid rules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import Repository

from pylore.anchors.claims import Claim, ClaimPlace, fresh, packed, unpacked
from pylore.anchors.project import Project, Unreadable
from pylore.code.claims import ClaimCounter, count
from pylore.core.model import Anchor

PLACES = st.lists(
    st.builds(
        ClaimPlace, st.sampled_from(["a.py", "b c.py"]), st.integers(1, 9), st.sampled_from("xyz")
    ),
    max_size=6,
)


@given(PLACES, PLACES)
def test_accepted_places_may_move_across_files(
    places: list[ClaimPlace], known: list[ClaimPlace]
) -> None:
    new = fresh(places, known)
    more = Counter(one.mark for one in places) - Counter(one.mark for one in known)
    assert Counter(one.mark for one in new) == more
    assert not Counter(new) - Counter(places)
    assert fresh(places, unpacked(packed([*reversed(places)]))) == []


@pytest.mark.parametrize(
    "detail",
    [
        "",
        "{}",
        '{"rule": 1, "expect": "none"}',
        '{"rule": "f()", "expect": "none", "except": [1]}',
        '{"rule": "' + "f" * 30_000 + '", "expect": "none"}',
        '{"rule": ["f()"], "expect": "1"}',
        '{"rule": "f()", "expect": "none", "of": 1}',
        '{"rule": "f()", "expect": "none", "x": 1}',
    ],
)
def test_bad_rules_are_unreadable(detail: str) -> None:
    with pytest.raises(Unreadable, match="the rule"):
        Claim.of_anchor(Anchor("note-a", "rule", "**", detail))


@pytest.mark.parametrize("hides", [{".gitignore": "in/"}, {".gitattributes": "*.go -diff"}])
def test_bad_rules_do_not_affect_good_rules(tmp_path: Path, hides: dict[str, str]) -> None:
    texts = {"a.py": "# 1\rf(1)\rf(2)", "b.ts": "f(1);\n", "c.tsx": "const a = <b>{f(1)}</b>;\n"}
    texts |= {"d.go": "package d\n\nfunc e() { os.F(1) }\n", "e.c": "int e() { return f(1); }\n"}
    texts["Rakefile"] = "f(1)\n"
    repository = Repository(tmp_path)
    repository.commit()
    for name, text in {**hides, **{f"in/{name}": text for name, text in texts.items()}}.items():
        repository.write(name, text)
    rules: list[tuple[Any, str]] = [
        ("f($X)", "python"),
        ("f($X f(", "python"),
        ({"rule": {"no": 1}}, "python"),
        ("f($X)", "klingon"),
        ("f($X)", "typescript"),
        ("os.F($X)", "go"),
        ("f(1) - os.F($X)", "go"),
        ("f($X)", "c"),
        ("f($X)", "ruby"),
    ]
    claims = [Claim("**", rule, "none", lang) for rule, lang in rules]
    every = count(Project(str(tmp_path / "in")), claims)
    found = [one if isinstance(one, Unreadable) else (one.files, len(one.matched)) for one in every]
    assert found[0] == (1, 2) and found[4:] == [(2, 2), (1, 1), (1, 0), (1, 1), (1, 1)]
    assert "unknown field `no`" in str(found[2]) and "'klingon' is not known" in str(found[3])


CODE = b'import os.path\nos.path.join("a b", x)\nself.save(x, key=1)\n@wrap\ndef save(a): pass\n'


@pytest.mark.parametrize(
    "rule",
    [
        "os.path.join($$$)",
        '$F("a b", $X)',
        "$S.save($$$, key=$V)",
        "@wrap\ndef $F($A): $$$",
        "import os.path",
        "def $F($A): $$$",
        "x",
        {"rule": {"all": [{"pattern": "$F($$$)"}, {"regex": "join"}]}},
        {"rule": {"any": [{"pattern": "nothing"}, {"pattern": "save"}]}},
    ],
)
def test_words_of_a_rule_are_in_all_matches(rule: object) -> None:
    claim = Claim("**", rule, "none", "python")  # type: ignore[arg-type]
    counter = ClaimCounter([claim], ["a.py"])
    with_words = counter.count([(("a.py", ""), CODE)])
    counter._words = [[]]
    assert with_words == counter.count([(("a.py", ""), CODE)]) != [{}]
