"""Whatever the packages read beside their code is in a wheel: ``pyproject.toml`` names it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("package", ["actors", "protocols", "seqsearch"])
def test_every_file_beside_the_code_is_named(package: str) -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    named = {file for pattern in patterns.get(package, []) for file in (ROOT / package).glob(pattern)}
    beside = {f for f in (ROOT / package).rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    assert {f for f in beside if f.suffix != ".py"} - named == set()
