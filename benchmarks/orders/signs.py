"""Which sign has the similarity of neighbouring tasks, and which methods are robust to class order?

    python -m benchmarks.orders.signs glyphs [--random 39] [--runs runs/signs] [--write]      # methods on frozen features
    python -m benchmarks.orders.signs many --random 199 [--write]        # the same without those that no order changes
    python -m benchmarks.orders.signs trained [--write]                  # the network is trained
    python -m benchmarks.orders.signs clipart.parquet [--write]          # features of clip art (`benchmarks.real.pictures`)
    python -m benchmarks.orders.signs --table                            # the tables of docs/order_robustness.md

EDGE expects higher accuracy where neighbouring tasks are similar. "Optimal Task Order for Continual Learning of Multiple Tasks"
(Li and Hiratani, 2025) expects it where they are dissimilar, for given tasks and task-incremental accuracy. So ``seqsearch edge``
runs twice, with a free and with a fixed partition, and with both named orders. Accuracy is class-incremental (CIL), or
task-incremental (TIL: the best of the task's own classes).

Rows "sign": for a method, partition and accuracy, Spearman's correlation with S over random sequences, one training each. It has
a 95 % interval and a p-value that is adjusted for all rows of the pool (Holm). ``sign`` is "similar" (EDGE's), "dissimilar" or
"open". Hard, easy and named orders have their percentile among random sequences, by their first training. Rows "robust":
``--robust-within``, class-incremental. All is conditional on this pool, its split, its classes and these methods.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from benchmarks.common.results import RESULTS, seqsearch, write_rows
from seqsearch.planners.replicates import ORDERS
from seqsearch.stats.multiple import holm
from seqsearch.stats.regression import similarity_correlation

Row = dict[str, Any]
HERE = Path("benchmarks/real")
THEMSELVES = f"{HERE}/features.py:themselves"
HEADS = ("frozen_head", "frozen_head:mask=seen")
CLOSED = ("gddsg", "ranpac", "fecam", "simplecil")
PARTITIONS = ("free", "fixed")
NAMED = ("greedy-dissimilar", "periphery-to-core")
ORDERS_OF = ("hard-0", "easy-0", *(f"named-{name}" for name in NAMED))
MARGIN, SEEDS = 0.01, 2


class Study(NamedTuple):
    """A pool, tasks, methods, and the random sequences on which the methods are tested for robustness (0: they are not)."""

    pool: str
    tasks: int
    methods: tuple[str, ...]
    tested: int = 39


STUDIES = {
    "glyphs": Study("glyphs:classes=15,train=10,reward=3,test=20", 5, (*HEADS, *CLOSED)),
    "many": Study("glyphs:classes=15,train=10,reward=3,test=20", 5, (*HEADS, "gddsg"), tested=0),
    "trained": Study("glyphs:classes=12,train=8,reward=3,test=20", 4, ("finetune:epochs=1",), tested=0),
}
"""By name; `of_pictures` is a further one."""
DIGITS = 9


def of_pictures(pool: str) -> Study:
    """On the features of a pool of pictures."""
    heads = [f"frozen_head@{THEMSELVES}", f"frozen_head@{THEMSELVES}:mask=seen"]
    closed = [f"gddsg@{THEMSELVES}:M=2000", f"ranpac@{THEMSELVES}:adapt=none,M=2000", f"simplecil@{THEMSELVES}"]
    return Study(f"{HERE}/features.py:pool:of={pool}:per_class=30", 7, (*heads, *closed), tested=20)


def run(study: Study, partition: str, random: int, path: Path) -> None:
    """One run of EDGE."""
    flags: dict[str, Any] = {
        "--pool": study.pool,
        "--tasks": study.tasks,
        "--methods": ",".join(study.methods),
        "--partition": partition,
        "--heuristics": ",".join(NAMED),
        "--random-sequences": random,
        "--rs-seeds": "",
        "--score-seeds": SEEDS,
        "--crossed-orders": study.tested or 1,
        "--workers": 0,
        "--out": path,
    }
    if study.tested:
        flags |= {"--robust-within": MARGIN, "--robust-baseline": next(m for m in study.methods if "mask=seen" in m)}
    if THEMSELVES in study.pool + study.methods[0]:
        flags["--similarity-method"] = f"simplecil@{THEMSELVES}"
    seqsearch("edge", *(str(word) for flag in flags.items() for word in flag), "--quiet")


def finals(path: Path) -> tuple[dict[str, float], list[Row]]:
    """S by sequence, and the final accuracies of each training."""
    sequences = pq.read_table(path / "sequences.parquet", columns=["sequence_id", "value"]).to_pylist()
    table = pq.read_table(path / "results.parquet").to_pandas()
    table = table[table.trained_step == table.trained_step.max()]
    means = table.groupby(["method_id", "sequence_id", "seed"])[["accuracy", "masked_accuracy"]].mean().reset_index()
    return {s["sequence_id"]: s["value"] for s in sequences}, means.to_dict("records")


def signs(pool: str, partition: str, path: Path) -> list[Row]:
    """A row for each method and kind of accuracy."""
    S, trained = finals(path)
    found = []
    for method in dict.fromkeys(t["method_id"] for t in trained):
        for kind, column in (("CIL", "accuracy"), ("TIL", "masked_accuracy")):
            own = [t for t in trained if t["method_id"] == method]
            random = [t for t in own if t["sequence_id"].startswith("random-") and t["seed"] >= ORDERS]
            values = np.round([t[column] for t in random], DIGITS)
            row: Row = {"row": "sign", "pool": pool, "partition": partition, "method": short(method), "accuracy": kind}
            row |= {"mean": float(values.mean()), "sd": float(values.std(ddof=1)), "sequences": len(values)}
            if np.ptp(values) > 0:
                c = similarity_correlation(np.round([S[t["sequence_id"]] for t in random], DIGITS), values).spearman
                row |= {"r": c.value.value, "low": c.value.low, "high": c.value.high, "p": c.p}
                for name in ORDERS_OF:
                    first = min((t for t in own if t["sequence_id"] == name), key=lambda t: t["seed"])
                    place = (values < first[column] - 1e-9).mean() + (np.abs(values - first[column]) <= 1e-9).mean() / 2
                    row[name] = float(place)
            found.append(row)
    return found


def short(method: str) -> str:
    """Without the paths of networks."""
    for name in (f"@{THEMSELVES}", "@features.py:themselves"):
        method = method.replace(name, "")
    return method


def decided(rows: list[Row]) -> list[Row]:
    """With the sign by p-values that are adjusted for all rows."""
    known = [r for r in rows if not math.isnan(r.get("p", math.nan))]
    for row, p in zip(known, holm([r["p"] for r in known]), strict=True):
        row["adjusted"] = p
        row["sign"] = "open" if p > 0.05 else "similar" if row["r"] > 0 else "dissimilar"
    return [{"sign": "no effect of order" if "r" not in r else "open", **r} for r in rows]


def robust(pool: str, partition: str, path: Path) -> list[Row]:
    """A row for each method."""
    said = json.loads(seqsearch("show", str(path), "--json"))["robust"]
    keep = ("sd", "upper", "orders", "seeds", "margin", "conclusion", "ratio", "ratio_upper")
    rows = []
    for method, values in said.items():
        own = {k: v for k, v in values.items() if k in keep and (not isinstance(v, float) or math.isfinite(v))}
        rows.append({"row": "robust", "pool": pool, "partition": partition, "method": short(method), **own})
    return rows


def show(rows: list[Row]) -> None:
    """Both tables."""
    print(
        "| run | partition | method | accuracy | mean | r(S, accuracy) [95 %] | hard | easy | greedy | periphery | sign |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for r in (r for r in rows if r["row"] == "sign"):
        cells = [r["pool"], r["partition"], f"`{r['method']}`", r["accuracy"], f"{100 * r['mean']:.1f}"]
        if "r" in r:
            cells += [f"{r['r']:+.2f} [{r['low']:+.2f}, {r['high']:+.2f}]"]
            cells += [f"{100 * r[name]:.0f}" for name in ORDERS_OF]
        else:
            cells += ["-"] * 5
        print(f"| {' | '.join([*cells, r['sign']])} |")
    print("\n| run | partition | method | sd, pp | at most, pp | ratio | ratio at most | within 1 pp |")
    print("|---|---|---|---|---|---|---|---|")
    for r in (r for r in rows if r["row"] == "robust"):
        figures = (
            f"{scale * r[k]:.2f}" if isinstance(r.get(k), float) else "-"
            for k, scale in (("sd", 100), ("upper", 100), ("ratio", 1), ("ratio_upper", 1))
        )
        print(f"| {r['pool']} | {r['partition']} | `{r['method']}` | {' | '.join(figures)} | {r['conclusion']} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", nargs="?", default="glyphs")
    parser.add_argument("--random", type=int, default=39)
    parser.add_argument("--runs", type=Path, default=Path("runs/signs"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        files = sorted(RESULTS.glob("signs_*.json"), reverse=True)
        show([row for file in files for row in json.loads(file.read_text())["rows"]])
        return
    given.runs.mkdir(parents=True, exist_ok=True)
    start, name, rows, further = time.time(), Path(given.pool).stem, list[Row](), list[Row]()
    study = STUDIES.get(given.pool) or of_pictures(given.pool)
    for partition in PARTITIONS:
        path = given.runs / f"{name}-{partition}"
        if not path.exists():
            run(study, partition, given.random, path)
        rows += signs(name, partition, path)
        further += robust(name, partition, path) if study.tested else []
    rows = [*decided(rows), *further]
    show(rows)
    if given.write:
        write_rows(
            f"signs_{name}", {"minutes": (time.time() - start) / 60, "random": given.random, "rows": rows}, digits=4
        )


if __name__ == "__main__":
    main()
