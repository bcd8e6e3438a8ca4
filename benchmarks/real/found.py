"""The main job on clip art, with a placebo; then methods that the search did not see, on what it found.

    python -m benchmarks.real.found clipart.parquet [--runs runs/real] [--write]

The search is for nearest class means and a linear head on frozen EfficientNet-Lite0 at 224 pixels, and for experience replay that
trains all of EfficientNet-Lite0 at 96 pixels. The placebo is the same study whose search is rewarded at random; its random
sequences are the same ones. Methods that the search did not see are scored on all sequences: two on frozen features of the
pictures, and those that train on features (`benchmarks.real.features`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.common.results import write_rows
from benchmarks.real.running import AT_224, FINE_TUNED, ON_FEATURES, THEMSELVES, Runs, arguments, features_of

STUDY = (
    *("--tasks", "4", "--classes-per-task", "10", "--simulations", "8", "--condensed", "4", "--score-seeds", "3"),
    *("--random-sequences", "19", "--no-joint", "--seed", "0"),
)
SEARCHED = ("simplecil", "frozen_head:lr=0.002", FINE_TUNED)
AGAIN = (f"simplecil@{THEMSELVES}", f"frozen_head@{THEMSELVES}")
"""Methods of the search, on features of the same images."""
UNSEEN = ("ranpac:adapt=none,M=2000", "frozen_head:mask=seen")
Row = dict[str, Any]


def searched(runs: Runs, pool: Path) -> list[Row]:
    """Rows of the search and of the placebo."""
    rows = []
    for name, more in (("found", ()), ("placebo", ("--reward", "shuffled"))):
        flags = ("--pool", str(pool), "--backbone", AT_224, "--methods", ",".join(SEARCHED), *STUDY, *more)
        said = runs.answer(name, "cldyb", *flags, "--state-store", str(runs.folder / "states"))
        rows += [{"part": name, **_row(m), "p": m["adjusted_p"]} for m in said["methods"]]
        rows.append({"part": name, **_row(said["mean"]), "p": said["placed"]["test"]["p"]})
    return rows


def transferred(runs: Runs, pool: Path) -> list[Row]:
    """Rows of methods that the search did not see."""
    found = str(runs.folder / "found")
    asked = {
        "transfer": ("--methods", ",".join(UNSEEN), "--pool", str(pool)),
        "features": ("--methods", ",".join(ON_FEATURES), "--pool", features_of(pool), "--by-name"),
    }
    rows = []
    for name, flags in asked.items():
        said = runs.answer(name, "score", found, *flags, "--no-joint", "--backbone", AT_224)
        new = [m for m in said["methods"] if m["unseen"] and not m["taken_over"]]
        sides = [{**m, "found": m["unseen"], "random": m["sides"]["random"], "drop": m["unseen_drop"]} for m in new]
        rows += [
            {"part": "again" if m["method"] in AGAIN else name, **_row(m), "p": m["unseen_adjusted_p"]} for m in sides
        ]
    return rows


def _row(m: Row) -> Row:
    """Accuracies, confusion with other tasks at the end, and the relative drop."""
    drop = m["drop"]["relative"]
    masked = {side: m[side]["masked_by_step"][-1] - m[side]["acc_by_step"][-1] for side in ("found", "random")}
    return {
        "method": m["method"],
        **{f"acc_{side}": m[side]["acc"] for side in ("found", "random")},
        **{f"confusion_{side}": masked[side] for side in masked},
        "drop": drop["value"],
        "low": drop["low"],
        "high": drop["high"],
    }


def main() -> None:
    given = arguments(__doc__, "clipart")
    runs = Runs(given.runs)
    rows = searched(runs, given.clipart) + transferred(runs, given.clipart)
    for row in rows:
        print("  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()), flush=True)
    if given.write:
        write_rows("real_found", {"study": " ".join(STUDY), "rows": rows, "costs": runs.costs})


if __name__ == "__main__":
    main()
