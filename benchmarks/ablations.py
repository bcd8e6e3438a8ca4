"""The paper's ablations (Fig. 6) and ``--seed-class near-past`` on the glyph pool, by real training.

    python -m benchmarks.ablations [--methods simplecil,ranpac,er] [--searches 2] [--write]

Every setting is the same study with one flag changed; random sequences are scored once. Prints mean final Acc, ALA and AFM of the
found sequences (fresh seeds, test images), and the drop against random.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks.tools import seqsearch, write_result

SETTINGS = {
    "full search": [],
    "first class near the past": ["--seed-class", "near-past"],
    "without clustering": ["--no-clustering"],
    "uniform within a group": ["--sampler", "group-uniform"],
    "most similar to the past": ["--selector", "similar-past"],
    "greedy, then at random": ["--selector", "random"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="simplecil,ranpac,er")
    parser.add_argument("--searches", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/ablations.json")
    arguments = parser.parse_args()
    common = ["--methods", arguments.methods, "--lookahead", "0", "--simulations", "8", "--score-seeds", "2"]
    common += ["--searches", str(arguments.searches)]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for i, (name, flags) in enumerate(SETTINGS.items()):
            baseline = ["--random-sequences", "5" if i == 0 else "0"]
            out = Path(scratch) / str(i)
            said = json.loads(seqsearch("cldyb", *common, *flags, *baseline, "--out", str(out), "--json"))
            summary = said["mean"] or said["methods"][0]
            if i == 0:
                rows.append(_row("random sequences", summary["random"], summary["random"]))
            rows.append(_row(name, summary["found"], rows[0]))
            print_table(rows)
    if arguments.write:
        write_result("ablations", {"settings": vars(arguments), "rows": rows})


def _row(name: str, side: dict[str, float], random: dict[str, float]) -> dict[str, float | str]:
    return {
        "setting": name, "acc": side["acc"], "ala": side["ala"], "afm": -side["ar"], "drop": 1 - side["acc"] / random["acc"],
    }  # fmt: skip


def print_table(rows: list[dict[str, float | str]]) -> None:
    print(f"\n{'setting':28} {'Acc':>6} {'ALA':>6} {'AFM':>6} {'drop':>7}")
    for r in rows:
        print(f"{r['setting']:28} {r['acc']:6.3f} {r['ala']:6.3f} {r['afm']:6.3f} {r['drop']:7.1%}", flush=True)


if __name__ == "__main__":
    main()
