"""Properties of the frozen hard and easy orders, beyond the S that they are made of.

    python -m benchmarks.orders.frozen_orders [--write]

Each figure is a distance from the mean over random sequences, in standard deviations of 1,000 of them:

- S: neighbouring tasks, by the similarity that the order is made of;
- lag 2: tasks two apart, by the same similarity;
- within: classes of one task, by the same similarity;
- spelling: S by character n-grams of the names; glosses, 100: S by twice as many dimensions of the dictionary's space.

"Reach" is the share of the distance from that mean to the certified bound, beyond which no sequence lies.

Nothing is trained: all figures are computed from names.
"""

from __future__ import annotations

import argparse

from benchmarks.common.results import write_rows
from benchmarks.orders.freeze_orders import TITLES, similarity_of
from benchmarks.orders.glosses import Matrix, by_glosses, by_spelling, classes, text_of
from seqsearch.extremes.objective import Labels, Objective, Problem, labels_of, task_sizes
from seqsearch.results.frozen import Frozen, frozen_orders

SEED = 0
Row = dict[str, str | float]


def away(values: Matrix, k: int, objective: Objective, labels: Labels) -> float:
    """Of a sequence of ``k`` tasks, in standard deviations."""
    problem = Problem(values, task_sizes(len(values), k), objective)
    score, mean, sd = problem.score(labels), problem.mean_random(), problem.sd_random()
    assert score is not None
    assert mean is not None
    assert sd is not None
    return (score - mean) / sd


def reach(f: Frozen) -> float:
    """How near the only sequence of an order comes to its bound: 0 at the random mean, 1 at the bound."""
    n = f.length
    bound = n.lowest if f.order.kind == "hard" else n.highest
    return (f.order.scores[0] - n.random_mean) / (bound - n.random_mean)


def measured(data_set: str) -> list[Row]:
    """A row for each hard and easy order of a data set."""
    named = classes(data_set)
    own = similarity_of(data_set).values
    ways = {
        "S": (own, Objective()),
        "lag 2": (own, Objective(lags=(0.0, 1.0))),
        "within": (own, Objective.named("within")),
        "spelling": (by_spelling(named), Objective()),
        "glosses, 100": (by_glosses([text_of(c) for c in named], 100), Objective()),
    }
    rows: list[Row] = []
    for f in frozen_orders():
        if f.of.data_set == data_set and f.order.kind != "random":
            labels = labels_of(f.order.tasks[0])
            figures = {
                name: away(values, f.length.tasks, objective, labels) for name, (values, objective) in ways.items()
            }
            rows.append({"order": f.name, **figures, "reach": reach(f)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="Write benchmarks/results/frozen_orders.json.")
    given = parser.parse_args()
    rows = [row for data_set in TITLES for row in measured(data_set)]
    print(f"{'order':22}", *(f"{name:>12}" for name in list(rows[0])[1:]))
    for row in rows:
        print(
            f"{row['order']:22}",
            *(f"{v:>12.2f}" if name == "reach" else f"{v:>+12.1f}" for name, v in row.items() if isinstance(v, float)),
        )
    if given.write:
        write_rows("frozen_orders", {"sd_from_random": rows}, digits=2)


if __name__ == "__main__":
    main()
