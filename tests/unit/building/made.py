"""Sources made for these tests, and pools built of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from PIL import Image

from protocols.cli.main import main
from seqsearch.building import pool as building
from seqsearch.building.pool import Options, build_parquet
from seqsearch.pools.base import Pool
from seqsearch.pools.open import build_pool


def build(out: Path, *sources: Path, workers: int = 1, **options: Any) -> tuple[Pool, building.Report]:
    named = [(s.stem, build_pool(str(s))) for s in sources]
    report = build_parquet(named, out, Options(**{"min_images": 4, **options}), workers)
    return build_pool(str(out)), report


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["pool", *arguments])


def write(root: Path, classes: dict[str, int], start: int = 0) -> Path:
    """Folders of distinct one-coloured images."""
    for name, count in classes.items():
        (root / name).mkdir(parents=True)
        for i in range(count):
            colour = (start + i, len(name), i % 7)
            Image.new("RGB", (9, 9), colour).save(root / name / f"{i:02d}.png")
    return root
