"""Similarity of names: n-grams against a plain computation, encoders against transformers itself, on tiny models made here."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.similarity.encoders import encode, weights_digest
from seqsearch.similarity.names import from_names
from tests.text_models import text_models

NAMES = ["maple_tree", "oak_tree", "sunflower", "a very long name of a flower that no model reads to its end at all"]
WORDS = ["maple", "oak", "tree", "sun", "##flower", "flower", "a", "photo", "of"]


def ngrams(name: str) -> Counter[str]:
    """Character n-grams of 2 to 4 letters of words with a blank on either side, as scikit-learn's ``char_wb`` counts them."""
    padded = [f" {word} " for word in name.lower().replace("_", " ").replace("-", " ").replace("/", " ").split()]
    return Counter(w[i : i + n] for w in padded for n in (2, 3, 4) for i in range(len(w) - n + 1))


def test_ngrams_against_a_plain_computation() -> None:
    names = ["Maple_Tree", "oak-tree", "sunflower", "trees/oaks", "whale"]
    counts = [ngrams(n) for n in names]
    seen = Counter(g for c in counts for g in c)
    weight = {g: np.log((1 + len(names)) / (1 + k)) + 1 for g, k in seen.items()}
    vectors = np.array([[c[g] * weight[g] for g in weight] for c in counts])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    want = vectors @ vectors.T
    np.fill_diagonal(want, 0)
    found = from_names(names)
    np.testing.assert_allclose(found.values, want, atol=1e-12)
    assert found.names == tuple(names)
    assert found.digest == from_names(names).digest
    assert found.source == "class names, TF-IDF of character 2- to 4-grams"


def test_names_that_say_nothing() -> None:
    assert from_names(["_", "a b"]).values[0, 1] == 0
    with pytest.raises(UserError, match="separators only"):
        from_names(["_", "-"])
    with pytest.raises(UserError, match="'a' comes 2 times"):
        from_names(["a", "b", "a"])
    with pytest.raises(UserError, match="template 'a' must have"):
        from_names(["a", "b"], template="a", encoder="x")
    with pytest.raises(UserError, match="is for an encoder"):
        from_names(["a", "b"], template="a {}")


# ------------------------------------------------------------------------------------------------ encoders


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return text_models(tmp_path_factory.mktemp("models"), WORDS)


def cosines(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64) / np.linalg.norm(x, axis=1, keepdims=True)
    found = x @ x.T
    np.fill_diagonal(found, 0)
    return found


@pytest.mark.parametrize("name", ["sentences", "bert"])
def test_sentences_against_transformers(models: Path, name: str) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(models / name), AutoTokenizer.from_pretrained(models / name)
    rows = []
    for text in (n.replace("_", " ") for n in NAMES):
        with torch.inference_mode():
            rows.append(
                model(**tokenizer(text, truncation=True, return_tensors="pt")).last_hidden_state[0].mean(0).numpy()
            )
    found = from_names(NAMES, str(models / name))
    np.testing.assert_allclose(found.values, cosines(np.stack(rows)), atol=1e-5)
    assert found.source == f"class names, text encoder {name} ({weights_digest(models / name)[:12]})"
    assert found.digest == from_names(NAMES, str(models / name)).digest


@pytest.mark.parametrize("name", ["clip", "clip_text"])
def test_clip_against_transformers(models: Path, name: str) -> None:
    import torch
    from transformers import AutoTokenizer, CLIPModel, CLIPTextModelWithProjection

    tokenizer = AutoTokenizer.from_pretrained(models / name)
    rows = []
    for text in (f"a photo of a {n.replace('_', ' ')}" for n in NAMES):
        tokens = tokenizer(text, truncation=True, max_length=10, return_tensors="pt")
        with torch.inference_mode():
            if name == "clip":
                features = CLIPModel.from_pretrained(models / name).get_text_features(**tokens)
                features = getattr(features, "pooler_output", features)  # transformers 4 gives a tensor
            else:
                features = CLIPTextModelWithProjection.from_pretrained(models / name)(**tokens).text_embeds
        rows.append(features[0].numpy())
    found = from_names(NAMES, str(models / name), template="a photo of a {}")
    np.testing.assert_allclose(found.values, cosines(np.stack(rows)), atol=1e-5)
    assert found.source.endswith("as 'a photo of a {}'")
    assert found.digest != from_names(NAMES, str(models / name)).digest


def test_many_names_are_like_few(models: Path) -> None:
    names = [f"{a} {b} {i}" for i, (a, b) in enumerate(pairwise(WORDS * 20))]
    for name in ("clip", "sentences"):
        together, _ = encode(names, str(models / name))
        alone, _ = encode(names[-1:], str(models / name))
        np.testing.assert_allclose(together[-1:], alone, atol=1e-5)


def test_half_precision_weights_are_used_in_float32(models: Path, tmp_path: Path) -> None:
    import shutil

    import torch
    from safetensors.torch import load_file, save_file

    for name in ("clip", "sentences"):
        shutil.copytree(models / name, tmp_path / name)
        file = tmp_path / name / "model.safetensors"
        save_file({k: v.to(torch.float16) for k, v in load_file(file).items()}, file, {"format": "pt"})
        config = json.loads((tmp_path / name / "config.json").read_text())
        (tmp_path / name / "config.json").write_text(json.dumps({**config, "dtype": "float16"}))
        found, want = (encode(NAMES, str(root / name))[0] for root in (tmp_path, models))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, want, rtol=0.05, atol=0.01)


def test_the_hub_cache(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match=r"'me/tiny' is neither a folder nor in the hub's cache.*hf download me/tiny"):
        from_names(NAMES, "me/tiny")
    repository = tmp_path / "models--me--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("0" * 40)
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / ("0" * 40)).symlink_to(models / "clip")
    found = from_names(NAMES, "me/tiny")
    assert found.digest == from_names(NAMES, str(models / "clip")).digest
    assert found.source.startswith("class names, text encoder me/tiny (")


def test_encoders_that_cannot_be_used(models: Path, tmp_path: Path) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    def copied(name: str, to: str) -> Path:
        return Path(shutil.copytree(models / name, tmp_path / to))

    (tmp_path / "empty").mkdir()
    (copied("bert", "no_weights") / "model.safetensors").unlink()
    missing = copied("clip", "missing")
    weights = load_file(missing / "model.safetensors")
    del weights["text_projection.weight"]
    save_file(weights, missing / "model.safetensors", {"format": "pt"})
    cut = copied("sentences", "cut")
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:2000])
    strange = copied("sentences", "strange")
    modules = json.loads((strange / "modules.json").read_text())
    (strange / "modules.json").write_text(json.dumps([*modules, {**modules[0], "type": "own.Module"}]))
    (strange / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Module: pass\n")
    no_tokens = copied("clip", "no_tokens")
    (no_tokens / "tokenizer.json").unlink()
    for folder, says in [
        ("empty", "is no model, it has neither modules.json nor config.json"),
        ("no_weights", "no .safetensors or .bin weights in"),
        ("missing", "some of its weights are not in"),
        ("cut", "does not load or run"),
        ("strange", "brings code of its own (own.Module), which is never run"),
        ("no_tokens", "no vocabulary"),
    ]:
        with pytest.raises(UserError) as caught:
            from_names(NAMES, str(tmp_path / folder))
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UserError, match=r"need sentence-transformers .*pip install 'sentence-transformers>=3'"):
        from_names(NAMES, "me/tiny")
    assert len(from_names(NAMES)) == 4


def test_the_digest_of_an_encoder_is_of_its_weights(models: Path, tmp_path: Path) -> None:
    import shutil

    folder = Path(shutil.copytree(models / "sentences", tmp_path / "renamed"))
    (folder / "README.md").write_text("other")
    assert weights_digest(folder) == weights_digest(models / "sentences")
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    assert weights_digest(folder) != weights_digest(models / "sentences")
