"""How extreme sequences found by annealing are, beside the published heuristic, long runs, the optimum and the bound.

    python -m benchmarks.search.extremes [--seeds 5] [--long 100000000] [--similarity FILE.npy] [--large] [--write]

"Distance" is that of S from the mean S of all sequences. Matrices of 100 classes: CIFAR-100 class names (cosines of
TF-IDF of character n-grams), cosines of Gaussian features, the same with groups of groups of classes, and uniform
noise. The heuristic ("The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?") is read in two
ways: as Algorithms 1 and 2 print it, and as section 4.2 describes it (the next task by the latest one, small clusters
split). Annealing tries the default number of moves, so that nothing but seconds depends on the machine; a long run is
one per matrix, number of tasks and direction, of ``--long`` moves in each of its restarts. One thread; seconds are of
the wall clock, compilation apart.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_result
from seqsearch.extremes import anneal
from seqsearch.extremes.find import find
from seqsearch.extremes.objective import Problem, task_sizes
from seqsearch.extremes.paper import Direction, PaperOptions
from seqsearch.extremes.restarts import FinderName
from seqsearch.extremes.upper_bound import certified_bound
from seqsearch.training.device import pin_threads

Matrix = NDArray[np.float64]
Row = dict[str, float | str | int]
DIRECTIONS: tuple[Direction, ...] = ("hard", "easy")
SMALL = ((6, 3), (9, 3), (8, 4), (10, 5))
LARGE = ((1000, 50), (2403, 120))
READINGS = (PaperOptions(), PaperOptions(greedy="latest", split="small"))
"""Of the heuristic: Algorithms 1 and 2, and section 4.2."""

NAMES = """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can
    castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin
    elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard
    lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear
    pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal
    shark shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank
    telephone television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""
CIFAR_100 = tuple(NAMES.split())


def names() -> Matrix:
    """Cosines of TF-IDF of the names' character n-grams."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = [name.replace("_", " ") for name in CIFAR_100]
    x = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit_transform(words)
    return np.asarray((x @ x.T).todense())


def cosines(x: Matrix) -> Matrix:
    x = x / np.linalg.norm(x, axis=1)[:, None]
    return x @ x.T


def matrices(n: int = 100, seed: int = 0) -> dict[str, Matrix]:
    """By name; class names only where there are 100 classes."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(size=(n, n))
    groups = rng.normal(size=(5, 64))[np.arange(n) * 5 // n] + rng.normal(size=(20, 64))[np.arange(n) * 20 // n]
    return ({"CIFAR-100 names": names()} if n == len(CIFAR_100) else {}) | {
        "gaussian, 30-d": cosines(rng.normal(size=(n, 30))),
        "gaussian, 384-d": cosines(0.6 * rng.normal(size=384) + rng.normal(size=(n, 384))),
        "groups, 64-d": cosines(groups + rng.normal(size=(n, 64)) + 1.2 * rng.normal(size=64)),
        "uniform": (noise + noise.T) / 2,
    }


def compare(name: str, matrix: Matrix, k: int, seeds: int, long: int) -> Iterator[Row]:
    """Rows of one matrix and number of tasks: hard, then easy."""
    problem = Problem(matrix, task_sizes(len(matrix), k))
    mean = problem.mean_random() or 0.0
    for direction in DIRECTIONS:
        search = functools.partial(find, problem.similarity, problem.sizes, direction, bound=False)
        made = [search(seed=seed)[0] for seed in range(seeds)]
        short = [e.value or 0.0 for e in made]
        median = float(np.median(short))
        printed, told = (search(planner="paper", paper=options)[0].value or 0.0 for options in READINGS)
        row: Row = {
            "matrix": name, "k": k, "direction": direction, "mean": mean, "sd": problem.sd_random() or 0.0,
            "paper": printed, "paper_section": told, "anneal": median,
            "worst_seed": (max if direction == "hard" else min)(short), "moves": made[0].moves,
            "seconds": float(np.median([e.seconds for e in made])), "bound": certified_bound(problem, direction) or 0.0,
            "over_paper": ratio(median - mean, printed - mean), "over_section": ratio(median - mean, told - mean),
        }  # fmt: skip
        if long:
            best = search(moves=long)[0].value or 0.0
            row |= {"long": best, "short_of_long_value": abs(best - median) / max(1e-12, abs(best))}
            row |= {"short_of_long_distance": (best - median) / (best - mean)}
        yield row


def ratio(a: float, b: float) -> float:
    """a / b, infinite where b is 0."""
    return a / b if b else float("inf")


def small_cases(instances: int = 50) -> list[Row]:
    """How often annealing and the heuristic reach the optimum; both directions count."""
    rows: list[Row] = []
    for n, k in SMALL:
        hits: dict[FinderName, int] = {"anneal": 0, "paper": 0}
        for seed in range(instances):
            x = np.random.default_rng(seed).normal(size=(n, n))
            for direction in DIRECTIONS:
                best = find(x + x.T, task_sizes(n, k), direction, planner="exact")[0].value or 0.0
                for planner in hits:
                    found = find(x + x.T, task_sizes(n, k), direction, planner=planner, seed=seed, bound=False)
                    hits[planner] += abs((found[0].value or 0.0) - best) < 1e-9
        rows.append({"n": n, "k": k, "instances": instances, **{p: h / (2 * instances) for p, h in hits.items()}})
    return rows


def large_cases() -> list[Row]:
    rows: list[Row] = []
    for n, k in LARGE:
        matrix = cosines(np.random.default_rng(n).normal(size=(n, 64)))
        for direction in DIRECTIONS:
            start = time.perf_counter()
            found = find(matrix, task_sizes(n, k), direction)[0]
            total = time.perf_counter() - start
            rows.append(
                {
                    "n": n,
                    "k": k,
                    "direction": direction,
                    "value": found.value or 0.0,
                    "bound": found.bound or 0.0,
                    "search_seconds": found.seconds,
                    "seconds": total,
                    "moves": found.moves,
                }
            )
    return rows


def compilation() -> float:
    """Seconds that the first use on a machine spends on compiling."""
    code = (
        "import time; from seqsearch.extremes import anneal; "
        "t = time.perf_counter(); anneal.warm_up(); print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ | {"NUMBA_CACHE_DIR": empty}
        found = subprocess.run(
            [sys.executable, "-c", code], env=environment, check=True, text=True, stdout=subprocess.PIPE
        )
    return float(found.stdout)


def shown(row: Row) -> str:
    """A line of the table."""
    columns = ("mean", "sd", "paper", "paper_section", "anneal", "long", "bound")
    numbers = "".join(f"{row[c]:8.4f}" if c in row else f"{'-':>8}" for c in columns)
    short = [f"{100 * float(row[c]):.2f}" for c in row if c.startswith("short_of_long")]
    over = f"{row['over_paper']:7.2f}{row['over_section']:7.2f}"
    return f"{row['matrix']:16}{row['k']:>4} {row['direction']:5}{numbers}{over}{', '.join(short):>14}"


def sequences(given: dict[str, Matrix], seeds: int, long: int) -> list[Row]:
    """All rows of `compare`, printed as they come."""
    names = ("mean", "sd", "paper", "sec 4.2", "anneal", "long", "bound")
    print(f"{'matrix':26}{''.join(f'{n:>8}' for n in names)}{'x paper, 4.2':>14}  short of long, % of value, distance")
    rows: list[Row] = []
    for name, matrix in (matrices() | given).items():
        for k in (10, 20):
            for row in compare(name, matrix, k, seeds, long):
                rows.append(row)
                print(shown(row), flush=True)
    for name, reading in (("over_paper", "Algorithms 1 and 2"), ("over_section", "section 4.2")):
        over = [float(row[name]) for row in rows]
        print(f"times the distance of the paper, {reading}: {min(over):.2f} to {max(over):.2f}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--long", type=int, default=100_000_000, help="moves of a long run's restarts; 0: none")
    parser.add_argument("--similarity", help="a matrix of your own (.npy) beside the others")
    parser.add_argument("--large", action="store_true", help="also N = 1,000 and N = 2,403")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/extremes.json")
    arguments = parser.parse_args()
    pin_threads()
    compiled = compilation()
    anneal.warm_up()
    print(f"compilation: {compiled:.2f} s, once per machine\n")
    given = {arguments.similarity: np.load(arguments.similarity, allow_pickle=False)} if arguments.similarity else {}
    rows = sequences(given, arguments.seeds, arguments.long)
    small = small_cases()
    print("\nOptimum reached, share of instances")
    for row in small:
        print(f"({row['n']}, {row['k']}): anneal {row['anneal']:.2f}, paper {row['paper']:.2f}")
    large = large_cases() if arguments.large else []
    for row in large:
        print(
            f"N = {row['n']}, K = {row['k']}, {row['direction']}: {row['value']:.4f} (bound {row['bound']:.4f}), "
            f"search {row['search_seconds']:.1f} s, with bound {row['seconds']:.1f} s"
        )
    if arguments.write:
        about = {"long": arguments.long, "seeds": arguments.seeds, "compilation_seconds": compiled}
        write_result("extremes", {**about, "sequences": rows, "optimum": small, "large": large})


if __name__ == "__main__":
    main()
