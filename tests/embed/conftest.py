"""What the tests of word pieces share."""

from __future__ import annotations

from pathlib import Path

import pytest

from pylore.embed.bpe_table import write_table
from pylore.embed.static import tokenizer_file


@pytest.fixture(scope="session")
def made_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of the package's tokenizer: to make one takes a third of a second."""
    path = tmp_path_factory.mktemp("pieces") / "table"
    write_table(str(path), tokenizer_file())
    return path
