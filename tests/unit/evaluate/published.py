"""The committed ledger, and commands of it as the command line reads them."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import click

from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main
from protocols.edge.settings import EdgeSettings
from protocols.evaluate.published.ledger import read_ledger
from protocols.evaluate.published.records import Ledger
from protocols.evaluate.published.where import LEDGER
from protocols.gtep.settings import GtepSettings
from protocols.mcil.settings import McilSettings
from protocols.online.settings import OnlineSettings
from seqsearch.core.grammar import parse_items
from seqsearch.core.registry import load
from seqsearch.methods.config import build_config

SETTINGS: dict[str, Any] = {
    "cldyb": CldybSettings,
    "edge": EdgeSettings,
    "gtep": GtepSettings,
    "mcil": McilSettings,
    "online": OnlineSettings,
}


@functools.cache
def ledger() -> Ledger:
    return read_ledger(LEDGER)


def parsed(words: list[str]) -> list[str]:
    """Parse a command with the real command line, as far as nothing is opened; the labels of its methods.

    Raises:
        click.ClickException, UserError: a flag, a value, a method or one of its parameters is none.
    """
    command: click.Command = main
    context = click.Context(main, info_name=words[0])
    words = words[1:]
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no command {words[0]}"
        command, words = found, words[1:]
    context = command.make_context(command.name, list(words), parent=context)
    values = {**context.params}
    if kind := SETTINGS.get(command.name or ""):
        kind(**{f.name: values[f.name] for f in dataclasses.fields(kind) if f.name in values})
    what = "learner" if command.name == "online" else "method"
    items = parse_items(values["methods"], what) if values.get("methods") else []
    for item in items:
        on = item.backbone or values.get("backbone") or "vit_base_patch16_224"
        build_config(load(what, item.target), dict(item.params), on)
    return [item.text for item in items]


def stand_in(root: Path, classes: int, groups: tuple[str, ...], per_class: int = 6) -> Path:
    """A folder of so many classes, spread over these groups, of tiny images that all differ."""
    from PIL import Image

    for i in range(classes):
        folder = root / groups[i % len(groups)] / f"c{i:04d}" if groups else root / f"c{i:04d}"
        folder.mkdir(parents=True)
        for j in range(per_class):
            Image.new("RGB", (8, 8), (i % 256, i // 256, 40 * j)).save(folder / f"{j}.png")
    return root


def stand_in_stream(file: Path, classes: int = 10, burst: int = 4) -> Path:
    """A stream of tiny one-coloured images, one a class, in bursts; its main part is longer than the largest shift that is
    named, its search part long enough for one to be chosen."""
    import io

    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    images = []
    for i in range(classes):
        Image.new("RGB", (8, 8), (20 * i, 0, 0)).save(made := io.BytesIO(), "png")
        images.append(made.getvalue())
    parts = ["search"] * 100_000 + ["main"] * 17_000 + ["holdout"] * 500
    rng = np.random.default_rng(0)
    starts = rng.random(len(parts)) < 1 / burst
    labels = rng.integers(0, classes, len(parts))[np.maximum.accumulate(np.where(starts, np.arange(len(parts)), 0))]
    file.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"label": labels, "part": parts, "image": [images[c] for c in labels]})
    pq.write_table(table, file, compression="none", use_dictionary=False)
    return file
