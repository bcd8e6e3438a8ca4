"""Coverage of the intervals of differences of means before and after they became one (`seqsearch.stats.contrast`).

    python -m benchmarks.coverage.contrast [--keep]

Nothing is drawn here: the table is of the results of `benchmarks.coverage.found`, `effects`, `compare` and `held_out`, and of
benchmarks/results/coverage_contrast.json, which ``--keep`` made of the results before. Before, an interval was over two seeds or
searches where it is now conditional on them; each is held to the truth of its own statement.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from typing import Any

from benchmarks.common.results import RESULTS, write_rows

Row = dict[str, Any]
OFTEN = 0.1
"""Corners with an interval in a smaller share of draws are left out: their coverage is that of few draws."""


def cells() -> dict[tuple[str, str, int], Row]:
    """By interval, sequences and seeds: the least coverage over all other settings, and the width with even effects."""
    found: dict[tuple[str, str, int], Row] = {}
    for interval, sequences, seeds, held, width in _rows():
        cell = found.setdefault((interval, sequences, seeds), {"least": math.nan, "width": math.nan, "corners": 0})
        cell["least"] = held if math.isnan(cell["least"]) else min(cell["least"], held)
        cell["corners"] += 1
        if width is not None:
            cell["width"] = width if math.isnan(cell["width"]) else max(cell["width"], width)
    return found


def _rows() -> Iterator[tuple[str, str, int, float, float | None]]:
    """Interval, sequences, seeds, coverage, and the width of even effects."""
    for r in _of("coverage_found"):
        if r["said"] >= OFTEN:
            skewed = ", skewed searches" * r["effects"].startswith("searches, ")
            even = r["width"] if r["effects"] == "even" else None
            yield f"drop{skewed}", f"{r['searches']} found", r["seeds"], r["absolute"], even
    for r in _of("coverage_effects", "effects"):
        for effect in ("content", "grouping", "order"):
            if effect in r:
                even = r["width"] if r["noise"] == "even" else None
                yield f"explain, {effect}", f"{r['searches']} found", r["seeds"], r[effect], even
    for r in _of("coverage_compare"):
        if r["share"] is not None and r["said"] >= OFTEN:
            yield f"compare, {r['what']}", r["sequences"], r["R"], r["share"], None
    for r in _of("coverage_held_out"):
        if r["coverage"] is not None and r["said"] >= OFTEN:
            yield "held out", f"{r['searches']} searches", r["seeds"], r["coverage"], None


def _of(name: str, rows: str = "rows") -> list[Row]:
    found: list[Row] = json.loads((RESULTS / f"{name}.json").read_text())[rows]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="write the present results as those before")
    if parser.parse_args().keep:
        rows = [dict(zip(("interval", "sequences", "seeds"), key, strict=True), **c) for key, c in cells().items()]
        write_rows("coverage_contrast", {"rows": rows})
        return
    before = {(r["interval"], r["sequences"], r["seeds"]): r for r in _of("coverage_contrast")}
    now = cells()
    print("| interval | sequences | seeds | least coverage before | now | width before | now |")
    print("|---|---|---|---|---|---|---|")
    for key in sorted({**before, **now}):
        shown = [_percent(side.get(key, {}).get(k)) for k in ("least", "width") for side in (before, now)]
        print(f"| {' | '.join(map(str, key))} | {' | '.join(shown)} |")


def _percent(share: float | None) -> str:
    return "-" if share is None or math.isnan(share) else f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
