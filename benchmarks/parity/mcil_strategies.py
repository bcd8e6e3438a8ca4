"""MCIL's strategies on captioned glyphs: is the order that its paper finds there, and what is each modality worth?

    python -m benchmarks.parity.mcil_strategies [--seeds 12] [--write]

Runs `seqsearch mcil` on the pool of `seqsearch demo mcil` with more class orders, with replay at the memory of prompts, and with
methods of frozen features, and keeps what docs/mcil_paper.md says of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.common.results import write_rows

METHODS = (
    "mm_lb", "mm_ub", "mm_er:share=.1", "mm_er:share=.25", "mm_er:buffer=dp", "mm_l2p", "mm_dp", "mm_dpcf", "frozen_head",
    "simplecil", "ranpac:adapt=none",
)  # fmt: skip
ALONE = ("image_only", "text_only")
FIGURES = ("average", "first", "last", "pd_printed", "pd_final", "forgetting")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/mcil_strategies.json")
    a = parser.parse_args()
    found = ran(a.seeds)
    methods = [{"method": m["label"], **figures(m), "kept": kept(m)} for m in found["methods"]]
    pairs = [{k: p[k] for k in ("first", "second", "value", "low", "high", "p", "told")} for p in found["pairs"]]
    worth = [
        {"method": w["method"], "judged_by": w["judged_by"], "p": w["p"], **of(w["lost"])}
        for w in found["modalities"]
        if w["judged_by"] in ALONE
    ]
    for row in (*methods, *pairs, *worth):
        print("  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    print(found["headline"])
    if a.write:
        result = {"seeds": a.seeds, "headline": found["headline"], "methods": methods, "pairs": pairs, "worth": worth}
        write_rows("mcil_strategies", result)


def ran(seeds: int) -> dict[str, Any]:
    """Return the output of `seqsearch mcil --json`."""
    command = [
        sys.executable,
        "-m",
        "protocols.cli",
        "demo",
        "mcil",
        "--modalities",
        "--json",
    ]
    with tempfile.TemporaryDirectory() as folder:
        own = ["--methods", ",".join(METHODS), "--seeds", str(seeds), "--out", f"{folder}/run"]
        done = subprocess.run([*command, *own], stdout=subprocess.PIPE, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def of(over: dict[str, Any]) -> dict[str, float]:
    """Mean and interval."""
    return {name: over[name] for name in ("value", "low", "high")}


def figures(method: dict[str, Any]) -> dict[str, float]:
    """Of one method: Avg with its interval, and the means of the others."""
    return {
        f"{n}_{k}" if k != "value" else n: v
        for n in FIGURES
        for k, v in of(method[n]).items()
        if n == "average" or k == "value"
    }


def kept(method: dict[str, Any]) -> float:
    """Bytes at the end."""
    return float(sum(method["costs"][f"{kind}_bytes"] or 0 for kind in ("params", "statistics", "exemplar")))


if __name__ == "__main__":
    main()
