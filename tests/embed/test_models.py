"""Find a sentence-transformers model. test_sentence_transformers uses a real model."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pylore.core.errors import EmbedderError
from pylore.embed.sentence_transformers import SentenceTransformersEmbedder, model_folder


def test_missing_model_is_named() -> None:
    with pytest.raises(EmbedderError, match="the model other is not on this machine"):
        SentenceTransformersEmbedder("sentence-transformers/other").embed(["a word"])


def a_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "modules.json").write_text("[]")
    return folder


def test_model_is_found_by_path_package_or_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, hub = tmp_path / "packages", tmp_path / "hub"
    monkeypatch.setattr("sys.path", [str(packages), "", str(tmp_path / "nothing")])
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    carried = a_model(packages / "some_tiny_model_v2" / "model")
    cached = hub / "models--org--tiny"
    a_model(cached / "snapshots" / "abc")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("abc")
    assert model_folder("Tiny-Model-v2") == str(carried)
    assert model_folder("some-tiny-model-v2") == str(carried)
    assert model_folder("org/tiny") == str(cached / "snapshots" / "abc")
    assert model_folder(str(carried)) == str(carried)
    assert model_folder(str(tmp_path)) is None
    assert model_folder("model-v3") is None


def test_model_is_not_searched_in_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_model(tmp_path / "tiny")
    a_model(tmp_path / "org" / "tiny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [""])
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert [model_folder(name) for name in ("tiny", "org/tiny", "./tiny")] == [None] * 3


@pytest.mark.parametrize("text", ["", "..", "a/b", "../../x"])
def test_revision_of_the_cache_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    refs = tmp_path / "models--org--tiny" / "refs"
    refs.mkdir(parents=True)
    (refs / "main").write_text(text)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert model_folder("org/tiny") is None


def test_missing_packages_are_named(tmp_path: Path) -> None:
    if find_spec("sentence_transformers"):
        pytest.skip("they are installed here")
    folder = a_model(tmp_path / "tiny")
    with pytest.raises(EmbedderError, match=r"pip install lore-shell\[transformers\]"):
        SentenceTransformersEmbedder(str(folder)).embed(["a word"])
