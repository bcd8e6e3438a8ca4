"""How often the intervals of `seqsearch explain` hold: drawn accuracies with known effects of content, grouping and order.

    python -m benchmarks.coverage.effects [--repeats 400] [--workers 2] [--write]

A pool of 30 classes with so many test images each; a sequence holds 10 of them, 2 of which (the first task) all share;
regroupings and reorderings of a found sequence hold its classes. The accuracy of an image in a sequence with a training seed
is the mean of the condition plus effects of the search (from two on: one of each condition, one common to them), of the
sequence drawn, of the seed on the condition, of the training, of the image, of the image in the condition, and of the image in
this training; with "bits" an image is then right or wrong. With fewer than three searches, or seeds, the truth is that of these;
where regroupings and reorderings come to an end ("of 5"), it is the mean over those there are; where it
is not known which images were right ("no images": masked accuracy, confusion), it is that of these images. True effects are .05,
.03 and .02.

Beside it, how often intervals of the mean of exponential draws hold: with n - 1 degrees of freedom, and with `degrees_of`.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_rows
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.contrast import FEWEST_OVER
from seqsearch.stats.effects import CONDITIONS, EFFECTS, Condition, ConditionName, effects
from seqsearch.stats.interval import degrees_of, t_quantile
from seqsearch.training.device import pin_threads

Floats = NDArray[np.float64]
Row = dict[str, float | str | int]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
SEARCHES, DRAWS, RANDOM, SEEDS = (1, 3, 5), (3, 8), 5, (1, 2, 3)
CLASSES, HELD, SHARED = 30, 10, 2
EXPONENTIAL = (3, 5, 8, 20)
MEANS = {"random": 0.7, "regrouped": 0.65, "reordered": 0.62, "found": 0.6}


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.normal(size=shape)


def _skew(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Skewness -2, mean 0, standard deviation 1."""
    return 1 - rng.exponential(size=shape)


def _ties(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.rint(rng.normal(size=shape))


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the effects, the shape of those of sequences drawn, and the population of regroupings."""

    search: float = 0.02
    draw: float = 0.02
    seed: float = 0.005
    training: float = 0.01
    image: float = 0.1
    shape: Draw = _normal
    population: float = math.inf
    images: int = 4
    bits: bool = False
    lift: float = 0.0
    known: bool = True
    """Image by image."""


NOISES = {
    "even": Noise(),
    "draws": Noise(draw=0.1),
    "draws alone": Noise(0.0, 0.05, 0.0, 0.0, 0.0),
    "skew": Noise(draw=0.05, shape=_skew),
    "skew alone": Noise(0.0, 0.05, 0.0, 0.0, 0.0, _skew),
    "ties": Noise(draw=0.02, seed=0.0, training=0.001, shape=_ties),
    "search": Noise(search=0.1),
    "seed": Noise(seed=0.1),
    "training": Noise(training=0.1),
    "image": Noise(image=0.5),
    "of 5": Noise(draw=0.05, population=5),
    "of 5, training": Noise(training=0.1, population=5),
    "bits": Noise(bits=True),
    "bits, 2 images": Noise(bits=True, images=2),
    "bits, near 1": Noise(0.005, 0.005, 0.002, 0.005, 0.0, bits=True, images=20, lift=0.28),
    "no images": Noise(known=False),
    "no images, image": Noise(image=0.5, known=False),
    "no images, bits": Noise(bits=True, images=2, known=False),
}
"""By what dominates."""


def cases(noises: Iterable[str] = tuple(NOISES)) -> Iterator[tuple[str, int, int, int]]:
    """Noises, searches, draws, seeds: the whole grid."""
    return itertools.product(noises, SEARCHES, DRAWS, SEEDS)


Truth = dict[ConditionName, float]


def drawn(
    e: Noise, F: int, D: int, R: int, rng: np.random.Generator
) -> tuple[dict[ConditionName, Condition], NDArray[np.int64], Truth, Truth]:
    """The four conditions, the classes of the images, and the true mean of each condition: in general, and of these."""
    D, images = int(min(D, e.population)), CLASSES * e.images
    image, common = e.image * rng.normal(size=images), e.search * rng.normal(size=F) * (F > 1)
    found = [_held(rng, 1, e.images) for _ in range(F)]
    conditions: dict[ConditionName, Condition] = {}
    truth: Truth = {}
    of_these: Truth = {}
    for name in CONDITIONS:
        number = {"random": RANDOM, "found": 1}.get(name, D)
        population = {"random": math.inf, "found": 1.0}.get(name, e.population)
        searches = common + e.search * rng.normal(size=F) * (F > 1) if name != "random" else np.zeros(1)
        of_image, seeds = image + e.image / 2 * rng.normal(size=images), e.seed * rng.normal(size=R)
        sides = [_held(rng, RANDOM, e.images)] if name == "random" else found
        sequences = [_sequences(e, name, number, R, rng) for _ in searches]
        accuracy = MEANS[name] + e.lift
        values = [
            _shares(accuracy + s + (x + trainings)[:number] + seeds, of_image, held, e, rng)
            for s, (x, trainings), held in zip(searches, sequences, sides, strict=True)
        ]
        conditions[name] = Condition(
            tuple(v.sum(axis=2) for v in values),
            tuple(values) if e.known else None,
            (population,) * F if name in ("regrouped", "reordered") else (),
        )
        for conditional, true in ((False, truth), (True, of_these)):
            these_seeds = R < FEWEST_OVER or conditional
            these_searches = (F < FEWEST_OVER or conditional) and name != "random"
            true[name] = accuracy + these_seeds * float(seeds.mean()) + these_searches * float(np.mean(searches))
            if these_searches and math.isfinite(population):
                true[name] += float(np.mean([x.mean() + these_seeds * trainings.mean() for x, trainings in sequences]))
            if not e.known:
                on_held = float(np.mean([of_image[held[0]].mean() for held in sides]))
                true[name] += on_held if these_searches else _of_pool(of_image)
                if name == "found" and these_seeds and these_searches:  # these trainings on these images: as measured
                    true[name] = float(np.mean([v.sum(axis=2) for v in values]))
    return conditions, np.repeat(np.arange(CLASSES), e.images), truth, of_these


def _sequences(e: Noise, name: ConditionName, number: int, R: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Effects of sequences ``[n, 1]`` and of their trainings ``[n, R]``: of those drawn, or of all if there is an end of them."""
    n = number if name in ("random", "found") or math.isinf(e.population) else int(e.population)
    of_sequence = e.draw * e.shape(rng, (n, 1)) if name != "found" else np.zeros((1, 1))
    return of_sequence, e.training * rng.normal(size=(n, R))


def _held(rng: np.random.Generator, n: int, images: int) -> NDArray[np.bool_]:
    """``[n, I]``: which images sequences hold."""
    held = np.ones((n, CLASSES), dtype=bool)
    held[:, SHARED:] = rng.random((n, CLASSES - SHARED)).argsort(axis=1) < HELD - SHARED
    return np.repeat(held, images, axis=1)


def _of_pool(image: Floats) -> float:
    """Mean effect of these images on sequences, over all that share the first classes."""
    of_class = image.reshape(CLASSES, -1).mean(axis=1)
    return float(SHARED * of_class[:SHARED].mean() + (HELD - SHARED) * of_class[SHARED:].mean()) / HELD


def _shares(accuracy: Floats, image: Floats, held: NDArray[np.bool_], e: Noise, rng: np.random.Generator) -> Floats:
    """``[n, R, I]``."""
    n, R = accuracy.shape
    right = accuracy[..., None] + image + e.image / 2 * rng.normal(size=(n, R, len(image)))
    if e.bits:
        right = (rng.random(right.shape) < np.clip(right, 0, 1)).astype(np.float64)
    shares: Floats = held[:, None] / (HELD * e.images) * right
    return shares


def coverage(case: tuple[str, int, int, int], repeats: int) -> Row:
    """Of ``repeats`` with an interval (``said``: the least share over the effects), those in which it holds, by effect; of means
    of conditions the least; and those in which all three hold at the level of the family."""
    name, F, D, R = case
    noise, rng = NOISES[name], seeded_numpy("coverage-effects", name, F, D, R)
    held: dict[str, list[bool]] = {n: [] for n in (*EFFECTS, *CONDITIONS)}
    conditional: dict[str, list[bool]] = {n: [] for n in EFFECTS}
    together, widths, unavailable_because = [], [], ""
    for _ in range(repeats):
        conditions, classes, truth, of_these = drawn(noise, F, D, R, rng)
        found = effects(conditions, classes)
        true: dict[str, float] = {e: truth[a] - truth[b] for e, (a, b) in EFFECTS.items()}
        true |= {str(n): m for n, m in truth.items()}
        for n, c in (*found.effects.items(), *found.means.items()):
            unavailable_because = unavailable_because or c.unavailable_because
            if math.isfinite(c.interval.low):
                held[n].append(c.interval.low <= true[n] <= c.interval.high)
        for effect, (a, b) in EFFECTS.items():
            i = found.effects[effect].conditional
            if math.isfinite(i.low):
                conditional[effect].append(i.low <= of_these[a] - of_these[b] <= i.high)
        said = {n: c for n, c in found.effects.items() if math.isfinite(c.interval.low)}
        together.append(all(c.together.low <= true[n] <= c.together.high for n, c in said.items()))
        widths += [2 * c.interval.half_width for c in said.values()]
    corner: Row = {"noise": name, "searches": F, "draws": D, "seeds": R}
    shares = {n: float(np.mean(h)) for n, h in held.items() if h}
    return {
        **corner,
        "said": min(len(held[n]) for n in EFFECTS) / repeats,
        "lacking": unavailable_because,
        **{n: shares[n] for n in EFFECTS if n in shares},
        **{f"conditional {n}": float(np.mean(h)) for n, h in conditional.items() if len(h) >= repeats / 10},
        "means": min((shares[n] for n in CONDITIONS if n in shares), default=math.nan),
        "together": float(np.mean(together)),
        "width": float(np.median(widths)) if widths else math.nan,
    }


def exponential(n: int, repeats: int = 20_000) -> Row:
    """Shares of intervals that hold the mean of ``n`` exponential draws: Student's, and with the degrees of `degrees_of`."""
    x = np.random.default_rng(0).exponential(size=(repeats, n))
    off, error = np.abs(x.mean(axis=1) - 1), x.std(axis=1, ddof=1) / math.sqrt(n)
    student, fewer = (float((off <= t_quantile(0.95, d) * error).mean()) for d in (n - 1, degrees_of(n)))
    return {"draws": n, "student": student, "fewer degrees": fewer}


def rows(repeats: int, pool: Executor) -> list[Row]:
    """The whole grid."""
    grid = list(cases())
    return list(pool.map(coverage, grid, [repeats] * len(grid), chunksize=2))


def print_rows(found: list[Row]) -> None:
    """By searches, draws and seeds: least coverage over noises, and widths with even ones."""
    print(
        "searches draws seeds  least said  coverage, least: content grouping  order conditional  means  together  width (even)"
    )
    for F, D, R in itertools.product(SEARCHES, DRAWS, SEEDS):
        own = [r for r in found if (r["searches"], r["draws"], r["seeds"]) == (F, D, R)]
        conditional = [r[key] for r in own for key in r if key.startswith("conditional ")]
        least = {"conditional": min(conditional, default=math.nan)} | {
            n: min((float(r[n]) for r in own if n in r), default=math.nan) for n in (*EFFECTS, "means", "together")
        }
        width = [float(r["width"]) for r in own if r["noise"] == "even"]
        print(
            f"{F:>8}{D:>6}{R:>6}{min(float(r['said']) for r in own):>12.3f}{least['content']:>25.3f}{least['grouping']:>9.3f}"
            f"{least['order']:>7.3f}"
            f"{least['conditional']:>12.3f}{least['means']:>7.3f}{least['together']:>10.3f}{min(width):>9.2f} -{max(width):>4.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_effects.json")
    a = parser.parse_args()
    start = time.perf_counter()
    with ProcessPoolExecutor(a.workers, initializer=pin_threads) as pool:
        found = rows(a.repeats, pool)
    print_rows(found)
    skewed = [exponential(n) for n in EXPONENTIAL]
    print("\nmeans of exponential draws: draws, with n - 1 degrees of freedom, with fewer")
    for r in skewed:
        print(f"{r['draws']:>28}{r['student']:>31.3f}{r['fewer degrees']:>12.3f}")
    minutes = round((time.perf_counter() - start) / 60)
    print(f"\n{minutes} minutes")
    if a.write:
        write_rows(
            "coverage_effects", {"repeats": a.repeats, "minutes": minutes, "exponential": skewed, "effects": found}
        )


if __name__ == "__main__":
    main()
