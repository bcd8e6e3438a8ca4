"""How far methods agree with the scores of public code: ``python -m tests.golden.parity.agreement`` writes ``agreement.json``.

For each case: the largest difference of scores (``same``); that with a parameter at another value (``other``, `OTHER`); and that
with the last bit of images and weights moved (``last_bits``, the largest of three draws).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch.nn import functional

from seqsearch.training.device import pin_threads
from tests.golden.parity.cases import CASES
from tests.golden.parity.ours import Bench, Source

B = TypeVar("B", bound=Bench)
RECORD = Path(__file__).with_name("public.npz")
FILE = Path(__file__).with_name("agreement.json")

OTHER: dict[str, dict[str, Any]] = {
    "ranpac": {"lr": 8.0},
    "aper": {"lr": 5.0},
    "aper, one batch": {"scheduler": "constant"},
    "slca": {"temperature": 0.11},
    "l2p": {"reference_compat": False},
    "dualprompt": {"reference_compat": False},
    "coda_prompt": {"mu": 0.1},
    "coda_prompt, orthogonal": {"mu": 0.0},
    "ease": {"mix": "own"},
    "ease, one batch": {"alpha": 0.3},
    "ease, own": {"mix": "later"},
}
"""For each case that has parameters, one of them with another value."""


@cache
def recorded(path: Path) -> dict[str, torch.Tensor]:
    """What the public code gave, by name."""
    with np.load(path) as file:
        return {name: torch.from_numpy(file[name]) for name in file.files if name != "digest"}


def record() -> dict[str, torch.Tensor]:
    return recorded(RECORD)


def each_task(bench: B) -> Iterator[B]:
    """A case after each of its tasks."""
    for _ in bench.case.tasks:
        report = bench.learn()
        assert report.status == "ok", report
        yield bench


def found(name: str, key: str) -> torch.Tensor:
    """What the public code gave for a case."""
    return record()[f"{name}/{key}"]


def components(name: str) -> Mapping[str, torch.Tensor]:
    """Those that CODA-Prompt's tasks started from; none for other methods."""
    head = f"{name}/start."
    return {key.removeprefix(head): value for key, value in record().items() if key.startswith(head)}


def gap(ours: torch.Tensor, public: torch.Tensor) -> float:
    """Largest difference."""
    assert ours.shape == public.shape
    return float((ours - public).abs().max())


def trained(source: Source, name: str, **params: Any) -> Iterator[Bench]:
    """A case after each of its tasks. RanPAC gets the penalty that the public code chose for the readout that follows."""
    bench = Bench(source, CASES[name], components(name), **params)
    for t in range(len(bench.case.tasks)):
        if bench.case.method == "ranpac":
            config: Any = bench.method.config  # RanPAC's, which has a ridge
            bench.method.config = dataclasses.replace(config, ridge=float(found(name, f"ridge.{t}")))
        report = bench.learn()
        assert report.status == "ok", report
        yield bench


def scores(bench: Bench, name: str) -> torch.Tensor:
    """As the public code has them: its RanPAC keeps V in a cosine layer (see `seqsearch.methods.ranpac`)."""
    method: Any = bench.method
    if bench.case.method != "ranpac":
        return bench.scores()
    hidden = method._expand(method.features(bench.evaluated()))
    factor = found(name, f"sigma.{method.n_tasks - 1}")
    return factor * functional.normalize(hidden) @ functional.normalize(method.readout.T).T


def gaps(source: Source, name: str, **params: Any) -> list[float]:
    """Largest difference of the scores after each task."""
    each = enumerate(trained(source, name, **params))
    return [gap(scores(bench, name), found(name, f"scores.{t}")) for t, bench in each]


def moved(source: Source, seed: int) -> Source:
    """Itself, with every number of its images and network a unit in its last place larger or smaller, or two."""
    draw = torch.Generator().manual_seed(seed)
    for tensor in (source.pixels, *source.network.parameters()):
        tensor.data.mul_(1 + 2.0**-23 * torch.randn(tensor.shape, generator=draw).sign())
    return source.looked()


def measured() -> dict[str, dict[str, float]]:
    """All cases."""
    source, others = Source(), [moved(Source(), seed) for seed in range(3)]
    found = {}
    for name in CASES:
        each = {"same": max(gaps(source, name)), "last_bits": max(max(gaps(other, name)) for other in others)}
        if name in OTHER:
            each["other"] = max(gaps(source, name, **OTHER[name]))
        found[name] = rounded(each)
    return found


def rounded(each: Mapping[str, float]) -> dict[str, float]:
    """To two digits."""
    return {key: float(f"{value:.2g}") for key, value in each.items()}


def write(file: Path, measure: Callable[[], Mapping[str, Mapping[str, float]]]) -> None:
    """Write what ``measure`` finds of each case, on one thread, and where."""
    from tests.golden.record import here  # the tests do without its command line

    pin_threads()
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in measure().items())
    file.write_text(f'{{"cases": {{\n{lines}\n}},\n"here": {json.dumps(here())}}}\n')


if __name__ == "__main__":
    write(FILE, measured)
