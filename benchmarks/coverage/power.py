"""How many sequences, searches and class orders does a difference of a given size need? The tables of docs/power_tables.md.

    python -m benchmarks.coverage.power [--write] [--table]

Simulated studies whose accuracies are normal; all sizes are in standard deviations, so that the tables serve any run. ``--write``
keeps them in ``benchmarks/results/power.json``; ``--table`` prints the tables from there.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from benchmarks.common.results import RESULTS, write_rows
from protocols.report.commands.power import DRAWS, SIZES
from seqsearch.stats.power import power_of_found, power_of_mean

FOUND = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0)
"""How far a found sequence lies below the mean of random ones, in standard deviations of one training of a random sequence."""
TRAINING = (0.25, 0.5, 1.0)
"""Standard deviation of one training of a given sequence, in the same unit; at 1 random sequences differ by training alone."""
MEANS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""True means of a difference, in standard deviations of the difference over class orders."""


def measure() -> list[dict[str, Any]]:
    """A row for each size and difference."""
    rows = []
    for training in TRAINING:
        for F, L in SIZES:
            power = power_of_found([0.05 * d for d in FOUND], 0.05, 0.05 * training, F, L)
            rows += [
                {"of": "found", "training": training, "searches": F, "random": L, "difference": d, "power": p}
                for d, p in zip(FOUND, power, strict=True)
            ]
    for n in DRAWS:
        half, power = power_of_mean(MEANS, 1.0, n)
        rows += [
            {"of": "mean", "orders": n, "half_width": half, "difference": d, "power": p}
            for d, p in zip(MEANS, power, strict=True)
        ]
    return rows


def tables(rows: list[dict[str, Any]]) -> str:
    """Markdown, percent of studies."""
    made = []
    for training in TRAINING:
        made += ["", f"training noise {training:g} sd", ""]
        made += [
            _line("searches", "random sequences", *(f"{d:g} sd" for d in FOUND)),
            _line(*["---"] * (2 + len(FOUND))),
        ]
        for F, L in SIZES:
            of = [r for r in rows if (r.get("training"), r.get("searches"), r.get("random")) == (training, F, L)]
            made.append(_line(str(F), str(L), *(_percent(r) for r in of)))
    made += ["", _line("orders", "half-width, sd", *(f"{d:g} sd" for d in MEANS)), _line(*["---"] * (2 + len(MEANS)))]
    for n in DRAWS:
        of = [r for r in rows if r.get("orders") == n]
        made.append(_line(str(n), f"{of[0]['half_width']:.2f}", *(_percent(r) for r in of)))
    return "\n".join(made)


def _percent(row: dict[str, Any]) -> str:
    return f"{100 * row['power']:.0f}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        print(tables(json.loads((RESULTS / "power.json").read_text())["rows"]))
        return
    rows = measure()
    print(tables(rows))
    if asked.write:
        write_rows("power", {"rows": rows})


if __name__ == "__main__":
    main()
