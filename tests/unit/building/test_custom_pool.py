"""Building a file of a custom pool: processes make the pool again from its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqsearch.pools.open import build_pool
from tests.commands import seqsearch_here
from tests.conformance.lab import TEMPLATES


@pytest.mark.parametrize("half", ["", ":half=2"])
def test_a_pool_whose_name_is_not_its_text_is_built_whole_or_half_of_it(half: str, tmp_path: Path) -> None:
    text = f"{TEMPLATES / 'pool.py'}:ZippedImages{half}"
    out = tmp_path / "out.parquet"
    seqsearch_here("pool", "build", text, out, "--workers", 1)
    made, source = build_pool(str(out)), build_pool(text)
    assert [(c.name, c.count) for c in made.classes] == [(c.name, c.count) for c in source.classes]
