"""Do the orderings that "Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?" reports come out here?

    python -m benchmarks.online_orderings [--write] [--seeds 3] [--streams correlated,mixed]

The paper: on CGLM (labels of neighbours nearly always agree) FIFO sampling is first in online accuracy and last in near-future accuracy
and retention; on CLOC (they agree seldom, and classes drift) mixed sampling is first in online accuracy; uniform is first in
retention on both (Figs. 4, 7 to 10). Two synthetic streams of glyphs stand for the two kinds: ``correlated`` (bursts of 32, batches of
8) and ``mixed`` (bursts of 4 of eight sources that interleave, prior drifting from Zipf to Zipf reversed). The real command line; for
`er` and `fc_only` and each sampler online accuracy, near-future accuracy at a named shift and retention, with the intervals that the run
gives, and which sampler is first.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from typing import Any

from benchmarks.tools import seqsearch, write_result

STREAMS = {
    "correlated": ("glyphs:samples=9000,classes=60,burst=32,strength=1.6", 8, 256),
    "mixed": ("glyphs:samples=9000,classes=60,burst=4,sources=8,zipf=1,drift=1,strength=1.6", 8, 256),
}
"""Stream, batch, shift [samples]."""
SAMPLERS = ("fifo", "mixed", "uniform")
LEARNERS = ("er", "fc_only")


def measured(name: str, seeds: int) -> dict[str, Any]:
    """One run on a stream: figures of each learner and sampler, and which sampler is first in each."""
    stream, batch, shift = STREAMS[name]
    with tempfile.TemporaryDirectory() as scratch:
        said = json.loads(
            seqsearch(
                "online", "--stream", stream, "--methods", ",".join(LEARNERS), "--samplers", ",".join(SAMPLERS), "--batch", str(batch),
                "--shift", str(shift), "--holdout", "0.15", "--search", "0.02", "--seeds", str(seeds), "--workers", "2", "--quiet",
                "--json", "--out", f"{scratch}/run",
            )
        )  # fmt: skip
    return {"stream": stream, "batch": batch, "shift": shift, "seeds": seeds, "said": said}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/online_orderings.json")
    a = parser.parse_args()
    found = {name: measured(name, a.seeds) for name in a.streams.split(",")}
    print(json.dumps(found, indent=1)[:20000])
    if a.write:
        write_result("online_orderings", found)


if __name__ == "__main__":
    main()
