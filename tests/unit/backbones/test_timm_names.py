"""Names of timm's architectures without importing timm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import timm

from seqsearch.backbones.timm_names import architectures, check_architecture
from seqsearch.core.errors import UserError


def test_they_are_those_that_timm_itself_has() -> None:
    listed, old = architectures()
    assert listed == set(timm.list_models())
    assert old
    assert all(timm.is_model(name) for name in old)
    assert listed | old == {n.partition(".")[0] for n in timm.list_pretrained()} | set(timm.list_models()) | old


@pytest.mark.parametrize("name", ["resnet50", "vit_base_patch16_224.augreg_in21k", "vit_base_patch16_224_in21k"])
def test_models_of_timm_are_accepted_old_names_too(name: str) -> None:
    check_architecture(name)


def test_another_name_is_refused_with_those_like_it() -> None:
    with pytest.raises(UserError, match=r"unknown backbone 'resnet500': .*; close to it: resnet50"):
        check_architecture("resnet500")


def test_the_names_come_from_the_timm_that_would_be_imported(tmp_path: Path) -> None:
    """Another timm on the path gives other names; one whose text has no names refuses nothing."""
    for folder, text in (("one", "@register_model\ndef net_a(pretrained=False):\n    pass\n"), ("none", "")):
        (tmp_path / folder / "timm" / "models").mkdir(parents=True)
        (tmp_path / folder / "timm" / "__init__.py").write_text("raise AssertionError('imported')\n")
        (tmp_path / folder / "timm" / "models" / "nets.py").write_text(text)
    code = "from seqsearch.backbones.timm_names import *; print(sorted(architectures().listed)); check_architecture('net_b')"
    root = Path(__file__).parents[3]
    done = {
        folder: subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(tmp_path / folder), str(root)]!r}; {code}"],
            capture_output=True,
            text=True,
            timeout=300,
        )
        for folder in ("one", "none")
    }
    assert done["one"].stdout.strip() == "['net_a']"
    assert "unknown backbone 'net_b'" in done["one"].stderr
    assert (done["none"].stdout.strip(), done["none"].returncode) == ("[]", 0)
