"""Where adapting pays: what changing a network is worth beside a good head on its frozen features, far from its pre-training.

    python -m benchmarks.learning.adapting [--pool glyphs:style=...] [--backbone plain_vit] [--seeds 5] [--write]

One task: on 10 random classes, the whole network fine-tuned against heads on frozen features. Each head has several penalties
and shows the one that is best on the test images, fine-tuning has one setting: the gain is understated.

Sequences: each seed is a random sequence and a training seed, the same for every method; final accuracy on test images. A
method that adapts is paired with its own head on frozen features; the differences have 95 % t-intervals over the seeds,
conditional on this pool, its split, this network and these settings, not corrected for their number. Settings were chosen on
images of another seed of the pool.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor, nn

from benchmarks.common.results import RESULTS, write_result
from benchmarks.learning.learnability import learned, sequence
from seqsearch.core.grammar import parse_items
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.search import outcome
from seqsearch.stats.accuracy import acc
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.world import World

POOL, BACKBONE = "glyphs:style=chequered,strength=1.0,classes=100,train=30,test=20,seed=1", "plain_vit"
FINETUNE = "finetune:epochs=15"
PENALTIES = (1e-3, 1e-2, 1e-1)
"""Of the linear head, per squared weight, on standardised features."""
RIDGES = (1.0, 10.0, 100.0, 1e3, 1e4)
HEADS = [
    f"benchmarks/learning/linear_head.py:LinearHead:lr={rate},epochs={epochs}"
    for rate in (0.003, 0.01, 0.03)
    for epochs in (8, 30)
]
LINEAR = HEADS[1]
"""The linear head with the highest mean accuracy over the test images of all sequences: too good a one, if any."""
PAIRS = {
    "coda_prompt:lr=0.03": LINEAR,
    "aper_adapter:optimizer=adam,lr=0.03,scheduler=cosine,batch_size=32": "simplecil",
    "ranpac:adapt=adapter,optimizer=adam,lr=0.03,epochs=10": "ranpac:adapt=none",
    "inflora:lr=0.1": LINEAR,
    "sdlora:lr=0.05,magnitude=2": LINEAR,
}
"""Methods that adapt, each with its head on frozen features."""
Floats = NDArray[np.float64]
Record = dict[str, Any]


def one_task(world: World, backbone: str, ways: int, draws: int) -> list[Record]:
    """Accuracy on one task of ``ways`` classes, drawn ``draws`` times: whole network, linear head, ridge, nearest class mean."""
    evaluator = InlineEvaluator(world)
    spec = world.spec(parse_items(FINETUNE, "method")[0], backbone)
    found: list[Record] = []
    for draw in range(draws):
        tasks = sequence(world, draw, 1, ways)
        results, rollout = learned(evaluator, spec, tasks, draw, "test")
        tuned = acc(outcome(rollout, results).accuracy)
        source = evaluator.trainer.source(backbone)
        (rows, labels), (asked, truth) = (
            world.rows(tasks[0].classes, *parts) for parts in (("train", "val", "reward"), ("test",))
        )
        task = source.frozen(rows), torch.from_numpy(labels), source.frozen(asked), torch.from_numpy(truth)
        heads = {"linear": linear_head(*task), "ridge": ridge_head(*task), "ncm": nearest_mean(*task)}
        found.append({"draw": draw, "whole": tuned, **heads, "gain": tuned - max(heads.values())})
    return found


def standard(known: Tensor, asked: Tensor) -> tuple[Tensor, Tensor]:
    """Both ``[n, d]`` with the means and deviations of the first."""
    mean, deviation = known.mean(0), known.std(0) + 1e-6
    return (known - mean) / deviation, (asked - mean) / deviation


def share_right(scores: Tensor, truth: Tensor) -> float:
    """Share of ``scores`` ``[n, c]`` that are highest at ``truth`` ``[n]``."""
    return float((scores.argmax(1) == truth).double().mean())


def linear_head(known: Tensor, labels: Tensor, asked: Tensor, truth: Tensor) -> float:
    """Accuracy of logistic regression on standardised features, with the best of `PENALTIES` on these very ``asked``."""
    known, asked = standard(known, asked)
    return max(share_right(asked @ _logistic(known, labels, penalty), truth) for penalty in PENALTIES)


def _logistic(features: Tensor, labels: Tensor, penalty: float) -> Tensor:
    weight = torch.zeros(features.shape[1], int(labels.max()) + 1, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight], max_iter=100)

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = nn.functional.cross_entropy(features @ weight, labels) + penalty / 2 * (weight**2).sum()
        torch.autograd.backward(value)
        return value

    optimizer.step(loss)
    return weight.detach()


def ridge_head(known: Tensor, labels: Tensor, asked: Tensor, truth: Tensor) -> float:
    """Accuracy of ridge regression of one-hot labels, with the best of `RIDGES` on these very ``asked``."""
    known, asked = (x.double() for x in standard(known, asked))
    targets = nn.functional.one_hot(labels).double()
    targets -= targets.mean(0)
    gram, moments = known.T @ known, known.T @ targets
    weights = (torch.linalg.solve(gram + r * torch.eye(len(gram)).double(), moments) for r in RIDGES)
    return max(share_right(asked @ weight, truth) for weight in weights)


def nearest_mean(known: Tensor, labels: Tensor, asked: Tensor, truth: Tensor) -> float:
    """Accuracy of the highest cosine to a class mean."""
    normal = nn.functional.normalize
    means = torch.stack([normal(known)[labels == c].mean(0) for c in range(int(labels.max()) + 1)])
    return share_right(normal(asked) @ normal(means).T, truth)


def sequences(world: World, backbone: str, shape: tuple[int, int], seeds: int, known: Sequence[Record]) -> list[Record]:
    """Final accuracy ``[seeds]`` of every method, with seconds of training and evaluating a sequence; not again of what is
    known."""
    evaluator, found = InlineEvaluator(world), []
    for item in parse_items(",".join(dict.fromkeys([*HEADS, *PAIRS.values(), *PAIRS])), "method"):
        spec, start, values = world.spec(item, backbone), time.perf_counter(), []
        if there := [r for r in known if r["digest"] == spec.digest]:
            found += there
            continue
        for seed in range(seeds):
            results, rollout = learned(evaluator, spec, sequence(world, seed, *shape), seed, "test")
            values.append(acc(outcome(rollout, results).accuracy))
        seconds = (time.perf_counter() - start) / seeds
        found.append({"method": item.text, "accuracy": values, "seconds": seconds, "digest": spec.digest})
        print(f"  {item.text:68s}{100 * float(np.mean(values)):6.1f} %{seconds:8.1f} s", flush=True)
    return found


def paired(rows: Sequence[Record]) -> list[Record]:
    """Of each pair the mean difference of final accuracy and its 95 % t-interval over seeds."""
    values = {r["method"]: np.array(r["accuracy"]) for r in rows}
    return [{"method": a, "head": b, **mean_and_reach(values[a] - values[b])} for a, b in PAIRS.items()]


def mean_and_reach(differences: Floats) -> Record:
    """Mean and bounds of Student's 95 % interval, not a number from one difference."""
    n, mean = len(differences), float(differences.mean())
    reach = float(stats.t.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return {"mean": mean, "low": mean - reach, "high": mean + reach, "n": n}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", default=POOL)
    parser.add_argument("--backbone", default=BACKBONE)
    parser.add_argument("--ways", type=int, default=10, help="classes of the one task")
    parser.add_argument("--draws", type=int, default=6, help="how often the one task is drawn")
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--parts", default="one,sequences", help="which of the two; the other is kept as it was written"
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    pin_threads()
    settings, file = {"pool": options.pool, "backbone": options.backbone}, RESULTS / "adapting.json"
    written = json.loads(file.read_text()) if file.exists() else {}
    found = {k: v for k, v in written.items() if k in ("one_task", "sequences") and written["settings"] == settings}
    with tempfile.TemporaryDirectory() as states:
        world, parts = World(options.pool, 0, str(cache_root()), states), options.parts.split(",")
        if "one" in parts:
            found["one_task"] = single(world, options.backbone, options.ways, options.draws)
        if "sequences" in parts:
            shape, old = (options.tasks, options.classes), found.get("sequences", {})
            same = old.get("shape") == [*shape] and old["seeds"] == options.seeds
            rows = sequences(world, options.backbone, shape, options.seeds, old["methods"] if same else [])
            found["sequences"] = {"shape": shape, "seeds": options.seeds, "methods": rows, "paired": compared(rows)}
    if options.write:
        write_result("adapting", {"settings": settings, **found})


def single(world: World, backbone: str, ways: int, draws: int) -> Record:
    """Print and return what one task says."""
    rows = one_task(world, backbone, ways, draws)
    gain = mean_and_reach(np.array([r["gain"] for r in rows]))
    means = {name: float(np.mean([r[name] for r in rows])) for name in ("whole", "linear", "ridge", "ncm")}
    print(f"one task of {ways} classes: " + ", ".join(f"{k} {100 * v:.1f} %" for k, v in means.items()))
    print(f"  whole network minus the best head: {_points(gain)}")
    return {"ways": ways, "finetune": FINETUNE, "mean": means, "gain": gain, "draws": rows}


def compared(rows: Sequence[Record]) -> list[Record]:
    """Print and return the differences of all pairs."""
    differences = paired(rows)
    for d in differences:
        print(f"  {d['method']} minus {d['head']}: {_points(d)}")
    return differences


def _points(d: Record) -> str:
    return f"{100 * d['mean']:+.1f} points [{100 * d['low']:+.1f}, {100 * d['high']:+.1f}], n = {d['n']}"


if __name__ == "__main__":
    main()
