"""How often a search that cannot learn gets a verdict: small ``cldyb --reward shuffled`` runs, from the command to the headline.

    python -m benchmarks.coverage.placebo [--runs runs/placebo] [--seeds 40] [--baselines greedy,uniform] [--rewards shuffled]
        [--write]

Each run is a command in a process of its own. Folders of finished runs are read and not run again; a run that was interrupted is
resumed. A verdict is "harder" in the one-sided test at 5 %.

Against ``--baseline greedy`` a placebo is one more random sequence: its tasks and those of the baseline are random choices among
candidates that are made alike. So at most 5 % of these runs have a verdict on average, fewer where accuracies are tied. Against
``uniform`` there may be more: greedy proposals are hard before anything is chosen by training. ``--rewards shuffled,paper`` runs
the real search as well. ``p`` is that of so many verdicts or more, if 5 % of all runs had one.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from benchmarks.common.results import seqsearch, write_rows
from protocols.cldyb.protocol import CLDYB
from protocols.report.cldyb.notes import headline
from seqsearch.core.digests import digest_of

LEVEL = 0.05
STUDY = (
    "--methods simplecil --pool glyphs:classes=60,train=8,reward=4,test=20 --tasks 3 --classes-per-task 4 --candidates 12 "
    "--condensed 4 --simulations 4 --lookahead 0 --score-seeds 1 --random-sequences 19"
)
"""As cheap as possible: each of two steps is decided among four candidates."""
Row = dict[str, Any]


def folder_of(runs: Path, case: tuple[str, str, int]) -> Path:
    """Named after the settings, so that a run with others is not taken for this one."""
    reward, baseline, seed = case
    return runs / f"{reward}-{baseline}-{seed}-{digest_of('placebo', *STUDY.split())[:8]}"


def measured(run: Path, case: tuple[str, str, int], workers: int) -> Row:
    """Run, resume or read one study; ``seconds`` is the time of its sessions, without the start of the command."""
    reward, baseline, seed = case
    how = ("--workers", str(workers), "--quiet")
    if not (run / "stats.json").exists() or not CLDYB.read(run).results.finished:
        if (run / "config.json").exists():
            seqsearch("cldyb", "--resume", str(run), *how)
        else:
            given = ("--reward", reward, "--baseline", baseline, "--seed", str(seed))
            seqsearch("cldyb", *STUDY.split(), *given, "--out", str(run), *how)
    summary = CLDYB.read(run).summary
    assert summary.placed is not None, f"{run}: {headline(summary).text}"
    test = summary.placed.test
    return {
        "reward": reward,
        "baseline": baseline,
        "seed": seed,
        "found": summary.placed.found[0],
        "random": sum(summary.placed.random) / len(summary.placed.random),
        "at_or_below": test.as_extreme,
        "p": test.p,
        "harder": bool(test.significant),
        "seconds": float((summary.stats or {})["wall_seconds"]),
    }


def counted(rows: list[Row]) -> list[Row]:
    """Verdicts by reward and baseline."""
    found = []
    for reward, baseline in dict.fromkeys((r["reward"], r["baseline"]) for r in rows):
        some = [r["harder"] for r in rows if (r["reward"], r["baseline"]) == (reward, baseline)]
        test = binomtest(sum(some), len(some), LEVEL, alternative="greater")
        low, high = binomtest(sum(some), len(some)).proportion_ci(0.95, "exact")
        found.append(
            {
                "reward": reward,
                "baseline": baseline,
                "runs": len(some),
                "harder": sum(some),
                "share": sum(some) / len(some),
                "low": float(low),
                "high": float(high),
                "p": float(test.pvalue),
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("runs/placebo"), help="folder of the runs")
    parser.add_argument("--seeds", type=int, default=40, help="studies of each kind: seeds 0, 1, ...")
    parser.add_argument("--baselines", default="greedy", help="comma-separated")
    parser.add_argument("--rewards", default="shuffled", help="comma-separated")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/placebo.json")
    a = parser.parse_args()
    a.runs.mkdir(parents=True, exist_ok=True)
    rows = []
    for reward, baseline, seed in itertools.product(a.rewards.split(","), a.baselines.split(","), range(a.seeds)):
        case = (reward, baseline, seed)
        rows.append(row := measured(folder_of(a.runs, case), case, a.workers))
        print(
            f"{reward}, {baseline}, seed {seed}: {'harder' if row['harder'] else '-'}, p = {row['p']:.2g}, "
            f"{row['seconds']:.0f} s",
            flush=True,
        )
    for c in counted(rows):
        print(
            f"{c['reward']}, {c['baseline']}: harder in {c['harder']} of {c['runs']} runs ({c['share']:.1%}, 95 % interval "
            f"{c['low']:.1%} to {c['high']:.1%}); p = {c['p']:.2g} for more than {LEVEL:.0%}"
        )
    if a.write:
        write_rows("placebo", {"study": STUDY, "level": LEVEL, "verdicts": counted(rows), "runs": rows})


if __name__ == "__main__":
    main()
