"""The tables and the figure of docs/real.md, of the results of the parts.

python -m benchmarks.real.page
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.results import RESULTS
from protocols.report.table import of_words

DOCS = Path(__file__).parents[2] / "docs"
PAGE, FIGURE = DOCS / "real.md", DOCS / "real.svg"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "real", "font.size": 9, "font.family": "sans-serif"}
PARTS = {
    "found": "searched",
    "placebo": "placebo",
    "again": "searched",
    "transfer": "not searched",
    "features": "not searched",
}
DROP = ("drop", "low", "high")
Row = dict[str, Any]


def result(name: str) -> dict[str, Any]:
    """A results file of a part."""
    return dict(json.loads((RESULTS / f"real_{name}.json").read_text()))


def short(method: str) -> str:
    """A method's label, without the folder of its backbone, and without settings."""
    name = method.partition("@")[0].partition(":")[0]
    where = ", 96 px" if "at_96" in method else ", on features" if "@" in method else ""
    return f"{name}{where}{', mask=seen' * method.endswith('mask=seen')}"


def percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}"


def between(row: Row, names: tuple[str, str, str], digits: int = 1, times: float = 100.0) -> str:
    """A figure with its interval, from three entries of a row; without one where there is none."""
    value, *ends = (row[n] for n in names)
    said = f"{times * value:.{digits}f}"
    return (
        said
        if None in ends or np.isnan(ends).any()
        else f"{said} [{', '.join(f'{times * e:.{digits}f}' for e in ends)}]"
    )


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    return of_words(heads, rows).markdown()


def found_table() -> str:
    """The main job, the placebo and transfer."""
    heads = (
        "sequences of the",
        "method",
        "Acc found",
        "Acc random",
        "relative drop, %",
        "confusion found, pp",
        "random, pp",
    )
    return markdown(
        heads,
        (
            [
                PARTS[r["part"]],
                short(r["method"]),
                percent(r["acc_found"]),
                percent(r["acc_random"]),
                between(r, DROP),
                percent(r["confusion_found"]),
                percent(r["confusion_random"]),
            ]
            for r in result("found")["rows"]
        ),
    )


def draw(rows: Sequence[Row]) -> None:
    """Relative drops with their intervals: an SVG that is the same for the same figures."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    colours = dict(zip(PARTS, ("#d62728", "#7f7f7f", "#d62728", "#1f77b4", "#1f77b4"), strict=True))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 0.22 * len(rows) + 0.8), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        for at, r in enumerate(rows):
            axes.plot([100 * r["low"], 100 * r["high"]], [at, at], color=colours[r["part"]])
            axes.plot(100 * r["drop"], at, "o", markersize=4, color=colours[r["part"]])
        axes.axvline(0, color="black", linewidth=0.6)
        axes.set_yticks(range(len(rows)), [f"{PARTS[r['part']]}: {short(r['method'])}" for r in rows])
        axes.invert_yaxis()
        axes.set_xlabel("below random sequences [%], 95 %")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(FIGURE, format="svg", metadata={"Date": None})


def ranking_table() -> str:
    """Agreement of rankings."""
    words = {
        "halves": "of two studies that share no training",
        "unseen": "with random sequences of emoji",
        "others": "the same, of the 8 methods not searched with",
    }
    rows = result("ranking")["table"]
    return markdown(
        ("agreement", "ranked by", "studies or pairs", "tau"),
        ([words[r["figure"]], r["way"], str(r["n"]), between(r, ("tau", "low", "high"), 2, 1.0)] for r in rows),
    )


def methods_table() -> str:
    """Return the table of accuracies of the methods in the ranking."""
    rows = sorted(result("ranking")["methods"], key=lambda r: -r["found"])
    heads = ("method", "Acc found", "Acc random", "Acc on emoji, random")
    return markdown(heads, ([short(r["method"]), *(percent(r[k]) for k in ("found", "all", "unseen"))] for r in rows))


def similarity_table() -> str:
    """Whether S predicts accuracy, and what its extremes do."""
    heads = ("similarity of", "method", "rho of S and Acc", "Acc random (sd)", "hard", "easy", "easy - hard, pp")
    return markdown(
        heads,
        (
            [
                r["similarity"],
                short(r["method"]),
                between(r, ("r", "low", "high"), 2, 1.0),
                f"{percent(r['random'])} ({percent(r['sd'])})",
                percent(r["hard"]),
                percent(r["easy"]),
                between(r, ("gap", "gap_low", "gap_high")),
            ]
            for r in result("similarity")["rows"]
        ),
    )


def tuning_table() -> str:
    """H by where the settings come from."""
    heads = (
        "from half",
        "method",
        "H, %: chosen on the other half",
        "on the same half",
        "defaults",
        "lost by choosing elsewhere, pp",
        "gained over the defaults, pp",
    )
    return markdown(
        heads,
        (
            [
                str(r["tuned_on"]),
                short(r["method"]),
                *(percent(r[k]) for k in ("tuned", "conventional", "original")),
                *(between(r, (k, f"{k}_low", f"{k}_high")) for k in ("regret", "gain_over_original")),
            ]
            for r in result("tuning")["rows"]
        ),
    )


def cheaper_table() -> str:
    """Hardness by trainings of the expensive method."""
    heads = ("search", "size", "trainings", "hardness, pp", "against the full search, pp")
    return markdown(
        heads,
        (
            [
                row["variant"],
                row["budget"],
                f"{row['trainings']:.0f}",
                f"{row['hardness']:.1f} +- {row['reach']:.1f}",
                f"{row['against_full']:+.1f} +- {row['against_full_reach']:.1f}" if row["against_full_reach"] else "",
            ]
            for row in result("cheaper")["table"]
        ),
    )


def ablations_table(name: str = "ablations") -> str:
    """Return the table of the contribution of each part of the search."""
    heads = ("setting", "trainings of a search", "Acc", "below random, pp", "against the full search, pp")
    return markdown(
        heads,
        (
            [
                r["setting"],
                f"{r['trainings']:.0f}",
                percent(r["acc"]),
                percent(r["drop"]),
                "" if r["setting"] == "full search" else f"{100 * r['against_full']:+.1f} +- {100 * r['reach']:.1f}",
            ]
            for r in result(name)["table"]
        ),
    )


def costs_table() -> str:
    """Minutes and memory of the parts that were run."""
    commands = {part: f"`benchmarks.real.{part}`" for part in ("found", "similarity", "tuning", "ranking")}
    commands["ablations"] = "`benchmarks.search.ablations`"
    done = {commands[part]: result(part) for part in commands if (RESULTS / f"real_{part}.json").exists()}
    found = {command: said.get("costs", [said]) for command, said in done.items()}
    found["in all"] = [cost for costs in found.values() for cost in costs]
    rows = []
    for part, costs in found.items():
        peaks = [c["peak_gb"] for c in costs if "peak_gb" in c]
        rows.append([part, f"{sum(c['seconds'] for c in costs) / 60:.0f}", f"{max(peaks):.1f}" if peaks else ""])
    return markdown(("part", "minutes", "peak memory, GB"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "found": found_table,
    "ranking": ranking_table,
    "methods": methods_table,
    "similarity": similarity_table,
    "tuning": tuning_table,
    "cheaper": cheaper_table,
    "ablations": ablations_table,
    "ablations_er": partial(ablations_table, "ablations_er"),
    "costs": costs_table,
}


def filled(text: str) -> str:
    """The page with its tables as the results have them."""
    for name, made in TABLES.items():
        if f"<!-- {name} -->" not in text:
            continue
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = pattern.sub(lambda m, made=made: f"{m[1]}\n{made()}\n\n{m[2]}", text)
    return text


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text()))
    draw(result("found")["rows"])


if __name__ == "__main__":
    main()
