"""The world of a finished run, made again for what is computed on its images. No code that the run names is executed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seqsearch.core.grammar import Item, parse_items
from seqsearch.core.kinds import is_ours
from seqsearch.results.run import read_config
from seqsearch.study.run_images import images_of_run
from seqsearch.study.run_settings import run_settings
from seqsearch.training.world import World


def world_of(run: Path, pool: str | None, states: str, device: str) -> World:
    """Images, split, weights and precision of a run.

    Args:
        pool: where its images lie now, if elsewhere.

    Raises:
        UserError: the pool is not here or is another one, or the settings of the run are not as they were written.
    """
    of, settings = images_of_run(run, pool).world, read_config(run).get("settings")
    pairs = (text.partition("=") for text in run_settings(run).get("weights", ()))
    precision = "bf16" if isinstance(settings, dict) and settings.get("precision") == "bf16" else "float32"
    weights = tuple((backbone, file) for backbone, _, file in pairs)
    return World(of.pool, of.seed, of.cache, states, device, of.grow, weights, precision)


def methods_of(run: Path) -> Iterator[tuple[Item, str]]:
    """The methods of a run, each with its backbone; files are found from the folder that the run was started in."""
    said = run_settings(run)
    for item in parse_items(said["methods"], "method") if "methods" in said else ():
        yield item, item.backbone or said.get("backbone", "")


def is_custom(item: Item) -> bool:
    """Whether a method is code that a run names: a file, a module or a command."""
    return not is_ours("method", item.target)


def is_custom_backbone(name: str) -> bool:
    """The same of a backbone; ``NAME:VARIANT`` of ours and models of timm are none."""
    return ":" in name and not is_ours("backbone", name.partition(":")[0])
