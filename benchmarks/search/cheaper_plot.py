"""The figure of docs/cldyb_statistics.md: hardness over trainings of the expensive method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {
    "full search": "#d62728",
    "screened": "#ff7f0e",
    "surrogate": "#1f77b4",
    "surrogate, all evaluated": "#17becf",
    "greedy, then random": "#2ca02c",
    "best of random": "#7f7f7f",
}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "cheaper", "font.size": 9, "font.family": "sans-serif"}


def draw(result: dict[str, Any], path: Path) -> None:
    """Write an SVG that is the same for the same figures."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        for shift, (variant, colour) in enumerate(COLOURS.items()):
            own = sorted((r for r in result["table"] if r["variant"] == variant), key=lambda r: float(r["trainings"]))
            beside = [r["trainings"] + 0.25 * (shift - 2.5) for r in own]
            heights, reach = [r["hardness"] for r in own], [r["reach"] for r in own]
            line = "none" if variant == "screened" else "-"
            axes.errorbar(
                beside, heights, reach, color=colour, label=variant, capsize=2, marker="o", markersize=3, linestyle=line
            )
        axes.set_xlabel("trainings of the expensive method in the search")
        axes.set_ylabel("final Acc below random [points]")
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, format="svg", metadata={"Date": None})
