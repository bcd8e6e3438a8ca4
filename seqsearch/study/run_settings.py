"""Reads the settings of a run from its ``config.json``, so that the same world can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.limits import wrong_text
from seqsearch.core.paths import at_home
from seqsearch.core.registry import located_text
from seqsearch.core.typed import brief, fits
from seqsearch.pools.open import located_pool, located_pools
from seqsearch.results.run import read_config


def run_settings(run: Path) -> dict[str, Any]:
    """Return the settings of the world and the methods of a run, paths made absolute.

    Raises:
        UserError: the folder holds no run, or its settings are invalid.
    """
    config = read_config(run)
    said, directory = config.get("settings"), config.get("directory")
    if not isinstance(said, dict) or not fits(directory, str | None):
        raise UserError(f"{run}/config.json does not say how the run was made: restore it")
    for name, value in ({"directory": directory} | said).items():
        if wrong := next((w for v in _listed(value) if (w := _wrong(v))), ""):
            raise UserError(f"{run}/config.json: {brief(name)} {wrong}: restore it")
    base = Path(directory or ".")
    found = {n: said[n] for n in ("seed", "precision", "augment", "exclude_groups", "references") if n in said}
    pools = said.get("pool")  # of gtep several, beside the one that it tuned on
    for name, texts in {
        "pool": [said.get("tune_pool"), *_listed(pools)],
        "heldout_pool": [said.get("heldout_pool")],
    }.items():
        if there := [t for t in texts if isinstance(t, str) and t]:
            found[name] = ",".join(located_pools(t, base) for t in there)
    if fits(said.get("backbone"), str):
        found["backbone"] = located_text(said["backbone"], "backbone", base)
    if fits(said.get("methods"), str) and said["methods"].strip():
        items = parse_items(said["methods"], "method")
        found["methods"] = ",".join(located_text(i.text, "method", base) for i in items)
    if fits(grow := said.get("grow", []), tuple[str, ...]):
        pairs = [text.partition(":") for text in grow]
        found["grow"] = tuple(f"{step}:{located_pool(pool.strip(), base)}" for step, _, pool in pairs)
    if fits(weights := said.get("weights", []), tuple[str, ...]):
        parts = [text.partition("=") for text in weights]
        found["weights"] = tuple(f"{b.strip()}={(base / at_home(f.strip())).absolute()}" for b, _, f in parts)
    return found


def refers_to_code(text: Any) -> bool:
    """Whether an item, or a list of them, is ``FILE.py:OBJECT`` or a command."""
    return isinstance(text, str) and (".py:" in text or command_line.PREFIX in text)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _wrong(value: Any) -> str:
    return wrong_text(value) if isinstance(value, str) else ""
