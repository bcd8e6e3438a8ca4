"""Do the orderings that "Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?" reports come out here?

    python -m benchmarks.parity.online_orderings [--write] [--seeds 3] [--streams correlated,mixed]

The paper: on CGLM (labels of neighbours nearly always agree) FIFO sampling is first in online accuracy, and last in near-future
accuracy and retention; on CLOC (they agree seldom, and classes drift) mixed sampling is first in online accuracy; uniform is
first in retention on both (Figs. 4, 7 to 10). Two synthetic streams of glyphs stand for the two kinds: ``correlated`` (bursts of
32, batches of 8) and ``mixed`` (bursts of 4 of eight sources that interleave, a prior that drifts from Zipf's to Zipf's
reversed). The real command line: for `er` and `fc_only` and each sampler online accuracy, near-future accuracy at a named shift,
and retention, means over training seeds and those of each seed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from typing import Any

from benchmarks.common.results import seqsearch, write_result

STREAMS = {
    "correlated": ("glyphs:samples=9000,classes=60,burst=32,strength=1.6", 8, 256),
    "mixed": ("glyphs:samples=9000,classes=60,burst=4,sources=8,zipf=1,drift=1,strength=1.6", 8, 256),
}
"""Stream, batch, shift [samples]."""
SAMPLERS = ("fifo", "mixed", "uniform")
LEARNERS = ("er", "fc_only")
MEASURES = ("online", "near_future", "retention")


def measured(name: str, seeds: int) -> dict[str, Any]:
    """One run on a stream: figures of each learner and sampler, and samplers from first to last in each measure."""
    stream, batch, shift = STREAMS[name]
    with tempfile.TemporaryDirectory() as scratch:
        said = json.loads(
            seqsearch(
                "online",
                "--stream",
                stream,
                "--methods",
                ",".join(LEARNERS),
                "--samplers",
                ",".join(SAMPLERS),
                "--batch",
                str(batch),
                "--shift",
                str(shift),
                "--holdout",
                "0.15",
                "--search",
                "0.02",
                "--seeds",
                str(seeds),
                "--workers",
                "2",
                "--quiet",
                "--json",
                "--out",
                f"{scratch}/run",
            )
        )
    found = {x["label"]: {m: _figure(x[m]) for m in MEASURES if x[m]} for x in said["learners"]}
    labels = {x: {s: _label(x, s, found) for s in SAMPLERS} for x in LEARNERS}
    ranked = {
        x: {m: sorted(SAMPLERS, key=lambda s: -found[labels[x][s]][m]["mean"]) for m in MEASURES} for x in LEARNERS
    }
    return {"stream": stream, "batch": batch, "shift": shift, "seeds": seeds, "figures": found, "first_to_last": ranked}


def _label(learner: str, sampler: str, found: dict[str, Any]) -> str:
    named = f"{learner}:sampler={sampler}"
    return named if named in found else learner  # its own sampler goes without saying


def _figure(said: dict[str, Any]) -> dict[str, Any]:
    return {"mean": said["value"], "by_seed": said["by_seed"], "low": said["low"], "high": said["high"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/online_orderings.json")
    a = parser.parse_args()
    result = {name: measured(name, a.seeds) for name in a.streams.split(",")}
    for name, found in result.items():
        print(name, found["stream"])
        for label, figures in found["figures"].items():
            print(f"  {label:28}", *(f"{m} {100 * f['mean']:5.1f}" for m, f in figures.items()))
        print("  first to last:", json.dumps(found["first_to_last"]))
    if a.write:
        write_result("online_orderings", result)


if __name__ == "__main__":
    main()
