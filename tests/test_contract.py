"""docs/contract.tsv says what lore has, and nothing that was released goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import is_chosen

import pylore
from docs import contract

OF_A_PROJECT = ("columns", "fields")


def test_the_page_has_what_is_declared() -> None:
    page = {one for one in contract.committed() if one[0] not in OF_A_PROJECT}
    assert page == {*contract.declared()}, "make docs"


@pytest.mark.skipif(not is_chosen("contract", 4), reason="TEST_SAMPLE leaves it out")
def test_the_page_has_the_columns_and_fields_of_a_project(tmp_path: Path) -> None:
    page = {one for one in contract.committed() if one[0] in OF_A_PROJECT}
    assert page == {*contract.printed(tmp_path)}, "make docs"


def test_what_was_released_is_missed_and_what_was_not_may_go() -> None:
    released, new = ("tool", "lore_search", "query"), ("tool", "lore_search", "later")
    before = {released: "0.9.0", new: pylore.__version__}
    assert contract.lost(before, set()) == [released]
    assert contract.lost(before, {released}) == []
    assert contract.page(before).splitlines() == [
        "0.9.0\ttool\tlore_search\tquery", f"{pylore.__version__}\ttool\tlore_search\tlater",
    ]  # fmt: skip
