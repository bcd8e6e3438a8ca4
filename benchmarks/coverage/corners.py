"""One table of all corners: how often intervals hold and verdicts are false, by protocol and statement.

    python -m benchmarks.coverage.corners [--all] [--measure REPEATS]

The rows are of the results files of ``benchmarks.coverage``, whose docstrings say how they are drawn; ``--measure`` first writes
these files anew, with so many repeats. An interval shall hold in 93 % of draws or more, a verdict be false in 6 % or less; a
corner is outside if it breaks that by more than two standard errors. Statements that are made in fewer than a tenth of the draws
of a corner are not counted there.
``--all`` lists every corner that is outside.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.common.results import RESULTS

MEASURED = (
    "distribution",
    "paired",
    "selection",
    "compare",
    "mean",
    "runs",
    "found",
    "effects",
    "held_out",
    "blocks_flips",
    "robustness",
)
"""Modules of this folder whose results files are read."""
COVERED, FALSE, OFTEN = 0.93, 0.06, 0.1
Row = dict[str, Any]


@dataclass(frozen=True)
class Corner:
    """A share of ``repeats`` draws: of intervals that hold, or of ``false`` verdicts."""

    protocol: str
    statement: str
    where: str
    share: float
    repeats: float
    false: bool = False

    @property
    def outside(self) -> bool:
        """Of its bound by more than two standard errors."""
        error = 2 * math.sqrt(self.share * (1 - self.share) / self.repeats)
        return self.share - error > FALSE if self.false else self.share + error < COVERED


def corners() -> Iterator[Corner]:
    """Of all results."""
    yield from _of_cldyb()
    yield from _marked("coverage", "distribution", "edge")
    yield from _marked("coverage_paired", "paired", "duel")
    yield from _marked("coverage_selection", "selection", "gtep")
    yield from _marked("coverage_compare", "rows", "compare")
    yield from _of_mean()
    runs = _read("coverage_runs")
    for r in runs["rows"]:
        if r.get("ratio") == 0:
            where, repeats = _where(r, "shape", "orders", "seeds"), runs["repeats"] // 2
            yield Corner("mcil", "orders differ", where, r["share"], repeats, false=True)
    yield from _of_online()
    yield from _of_robustness()


def _of_cldyb() -> Iterator[Corner]:
    found = _read("coverage_found")
    for r in found["rows"]:
        where = _where(r, "effects", "searches", "random", "seeds")
        if "false" in r:
            yield Corner("cldyb, score", "harder than random", where, r["false"], found["repeats"], false=True)
        if r["said"] >= OFTEN:
            yield Corner("cldyb, score", "drop", where, r["absolute"], found["repeats"] * r["said"])
    explained = _read("coverage_effects")
    for r in explained["effects"]:
        where = _where(r, "noise", "searches", "draws", "seeds")
        for effect, given in itertools.product(("content", "grouping", "order"), ("", "conditional ")):
            if given + effect in r and r["said"] >= OFTEN:
                repeats = explained["repeats"] * r["said"]
                yield Corner("explain", given + effect, where, r[given + effect], repeats)
    held = _read("coverage_held_out")
    for r in held["rows"]:
        if r["said"] >= OFTEN:
            where = _where(r, "kind", "searches", "methods", "seeds", "interaction")
            yield Corner("cldyb --leave-one-out", "held out", where, r["coverage"], held["repeats"] * r["said"])


def _marked(name: str, key: str, protocol: str) -> Iterator[Corner]:
    """Of rows that name what they shall keep; others describe, and shares that are not near 5 % have bounds of their own."""
    for r in _read(name)[key]:
        false = r["ceiling"] in (0.06, 0.07)
        if (false or r["floor"] == COVERED) and r["share"] is not None and r["said"] >= OFTEN:
            about = {k: v for k, v in r.items() if k not in _ABOUT}
            yield Corner(protocol, r["what"], _where(about, *about), r["share"], r["repeats"] * r["said"], false)


_ABOUT = ("what", "share", "error", "said", "repeats", "floor", "ceiling")


def _of_mean() -> Iterator[Corner]:
    found = _read("coverage_mean")
    for r in found["rows"]:
        if (r.get("rule") == "now" or r["what"] == "adjusted") and r["held"] is not None and r["said"] >= OFTEN:
            statement = "mean" if r["what"] == "mean" else "adjusted mean"
            where = _where(r, "shape", "n", *(["seeds"] if "seeds" in r else []))
            yield Corner("every protocol", f"{statement} of n orders", where, r["held"], found["repeats"] * r["said"])


def _of_online() -> Iterator[Corner]:
    flips = _read("coverage_blocks_flips")
    for r in flips["rows"]:
        where = _where(r, "stream", "course", "levels", "sd", "effect", "seeds")
        for kind in ("these seeds", "over seeds"):
            of = r[kind]
            yield Corner("online", f"flip, {kind}", where, of["false"], flips["repeats"], false=True)
            if of["covered"] is not None and of["said"] >= OFTEN:
                yield Corner("online", f"difference, {kind}", where, of["covered"], flips["repeats"] * of["said"])


def _of_robustness() -> Iterator[Corner]:
    found = _read("coverage_robustness")
    for r in found["rows"]:
        where = _where(r, *(k for k in ("shape", "orders", "seeds", "noise", "ratio") if k in r))
        match r["row"]:
            case "spread":
                yield Corner("edge --robust-within", "sd over orders, at most", where, r["holds"], found["repeats"])
            case "false":
                yield Corner("edge --robust-within", "false: robust", where, r["share"], found["repeats"], false=True)
            case "ratio" if r["given"] >= OFTEN:
                yield Corner("edge --robust-within", "ratio, at most", where, r["holds"], found["repeats"] * r["given"])


def measure(repeats: int) -> None:
    """Draw all of it anew; prints the minutes of one core that each takes."""
    total = 0.0
    for name in MEASURED:
        command = [sys.executable, "-m", f"benchmarks.coverage.{name}", "--repeats", str(repeats), "--write"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        minutes, total = (used.ru_utime + used.ru_stime) / 60 - total, (used.ru_utime + used.ru_stime) / 60
        print(f"{name}: {minutes:.1f} minutes of one core", flush=True)
    print(f"together: {total:.1f} minutes of one core, {repeats} repeats\n")


def _where(row: Row, *keys: str) -> str:
    return ", ".join(f"{k} {row[k]}" for k in keys)


def _read(name: str) -> Row:
    found: Row = json.loads((RESULTS / f"{name}.json").read_text())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="list every corner outside its bound")
    parser.add_argument("--measure", type=int, metavar="REPEATS", help="write the results files anew first")
    a = parser.parse_args()
    if a.measure:
        measure(a.measure)
    groups: dict[tuple[str, str], list[Corner]] = {}
    for corner in corners():
        groups.setdefault((corner.protocol, corner.statement), []).append(corner)
    print("| protocol | statement | corners | holds, least | false, most | outside |")
    print("|---|---|---|---|---|---|")
    for (protocol, statement), of in groups.items():
        shares, false = [100 * c.share for c in of], of[0].false
        worst = f"- | {max(shares):.1f}" if false else f"{min(shares):.1f} | -"
        outside = sum(c.outside for c in of)
        print(f"| {protocol} | {statement} | {len(of)} | {worst} | {outside} |")
    for c in (c for of in groups.values() for c in of if a.all and c.outside):
        print(f"{c.protocol}, {c.statement}: {100 * c.share:.1f} ({c.where})")


if __name__ == "__main__":
    main()
