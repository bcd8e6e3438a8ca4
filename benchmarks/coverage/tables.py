"""The tables of docs/distribution.md, docs/verdicts.md and docs/edge_paper.md, from benchmarks/results/coverage.json.

python -m benchmarks.coverage.tables
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.common.results import RESULTS

Row = dict[str, Any]


def percent(row: Row | None) -> str:
    """A share in percent."""
    return "-" if row is None else "too few" if row["share"] is None else f"{100 * row['share']:.1f}"


def table(
    rows: Iterable[Row], left: Callable[[Row], tuple[str, ...]], top: Callable[[Row], str], join: str = " / "
) -> str:
    """Markdown: a line for each ``left``, a column for each ``top``; several rows of one cell are joined."""
    cells: dict[tuple[str, ...], dict[str, list[str]]] = {}
    columns: dict[str, None] = {}
    for row in rows:
        columns[top(row)] = None
        cells.setdefault(left(row), {}).setdefault(top(row), []).append(percent(row))
    width = len(next(iter(cells)))
    lines = ["| " + " | ".join([""] * width + list(columns)) + " |", "|" + "---|" * (width + len(columns))]
    for key, of in cells.items():
        lines.append("| " + " | ".join([*key, *(join.join(of.get(c, ["-"])) for c in columns)]) + " |")
    return "\n".join(lines)


def main() -> None:
    found = json.loads((RESULTS / "coverage.json").read_text())
    rows: list[Row] = found["distribution"]
    print(f"{found['repeats']} repeats")

    def of(*names: str) -> list[Row]:
        return [r for r in rows if r["what"] in names]

    def shape(r: Row) -> tuple[str, ...]:
        return (r["what"], r["shape"])

    def number(r: Row) -> str:
        return f"L = {r['L']}"

    print("\nMean\n", table(of("mean", "adjusted mean"), shape, number), sep="\n")
    names = [
        n for n in dict.fromkeys(r["what"] for r in rows) if "below" in n or "place" in n or "next" in n or "share" in n
    ]
    print("\nTails and places\n", table(of(*names), shape, number), sep="\n")
    print("\nFalse verdicts\n", table(of("false verdict"), lambda r: (r["shape"],), number), sep="\n")
    print(
        "\nPower\n", table(of("both verdicts", "any verdict"), lambda r: (f"{r['extremes at']} sd",), number), sep="\n"
    )
    print("\nUntil\n", table(of("until mean"), lambda r: (r["shape"],), lambda r: str(r["width"])), sep="\n")
    for kind, clustered in (("independent", False), ("clusters", True)):
        of_kind = [r for r in rows if "r" in r and bool(r.get("clusters")) == clustered]
        top = (lambda r: f"{r['clusters']} clusters, {r['within']}") if clustered else (lambda r: f"n = {r['n']}")
        print(f"\nCorrelation, {kind}\n", table(of_kind, lambda r: (r["what"], r["shape"], str(r["r"])), top), sep="\n")


if __name__ == "__main__":
    main()
