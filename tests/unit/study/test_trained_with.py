"""Libraries that read texts are in the identity of runs whose backbone does, and in no other."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.mcil.settings import McilSettings
from protocols.mcil.study import McilStudy, prepare
from seqsearch.backbones.open import build_backbone
from seqsearch.core import identity
from seqsearch.core.identity import READ_TEXTS
from seqsearch.features.store import feature_space
from tests.conformance.lab import PAIRS

POOL = "glyphs:classes=4,train=8,reward=4,test=4,captions=first"
OTHER = "import sys; sys.modules['transformers'] = sys.modules['tokenizers'] = None\n"
RUN = "from protocols.cli.main import main; main()"


def study(tmp_path: Path, methods: str) -> McilStudy:
    return prepare(McilSettings(methods=methods, pool=POOL, experiences=2, backbone="glyph_vit"), tmp_path, "cpu")


@pytest.mark.parametrize(("backbone", "there"), [(PAIRS, True), ("glyph_vit", False)])
def test_config_json_names_them(tmp_path: Path, backbone: str, there: bool) -> None:
    out = tmp_path / "run"
    asked = ["mcil", "--methods", "simplecil", "--pool", POOL, "--experiences", "2", "--seeds", "1", "--workers", "0"]
    found = CliRunner().invoke(main, [*asked, "--backbone", backbone, "--out", str(out)])
    assert found.exit_code == 0, found.output
    said = json.loads((out / "config.json").read_text())["identity"]["versions"]
    assert {name: said.get(name) for name in READ_TEXTS} == {
        name: importlib.metadata.version(name) if there else None for name in READ_TEXTS
    }


def test_one_method_of_several_that_reads_texts_is_enough(tmp_path: Path) -> None:
    assert "transformers" in study(tmp_path, f"simplecil,simplecil@{PAIRS}").identity()["versions"]
    assert "transformers" not in study(tmp_path, "simplecil,ranpac").identity()["versions"]


def test_they_decide_digests_of_methods_that_read_texts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def digests() -> tuple[list[str], list[str]]:
        methods = study(tmp_path, f"simplecil,mm_dp@{PAIRS}").methods
        spaces = [feature_space(build_backbone(b), torch.device("cpu")) for b in ("glyph_vit", PAIRS)]
        images, pairs = ([m.digest, m.first, s] for m, s in zip(methods, spaces, strict=True))
        return images, pairs

    images, pairs = digests()
    monkeypatch.setattr(identity, "version", lambda n: "99.0" if n in READ_TEXTS else importlib.metadata.version(n))
    again, others = digests()
    assert images == again
    assert all(one != other for one, other in zip(pairs, others, strict=True) if one)


@pytest.mark.long
def test_a_run_of_images_does_without_them(tmp_path: Path) -> None:
    asked = ["mcil", "--methods", "simplecil", "--pool", POOL, "--experiences", "2", "--seeds", "1", "--workers", "0"]
    given = [*asked, "--backbone", "glyph_vit", "--out", str(tmp_path / "run")]
    subprocess.run([sys.executable, "-c", OTHER + RUN, *given], check=True, timeout=120, capture_output=True)


def test_a_library_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "READ_TEXTS", ("transformers", "no-such-library-at-all"))
    found = identity.versions(texts=True)
    assert found["transformers"] == importlib.metadata.version("transformers")
    assert "no-such-library-at-all" not in found
