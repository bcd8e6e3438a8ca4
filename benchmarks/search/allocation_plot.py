"""The figure of docs/cldyb_statistics.md: regret over budget, planted and real side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLOURS = {"uniform": "#7f7f7f", "halving": "#d62728", "uct": "#1f77b4"}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "allocation", "font.size": 9, "font.family": "sans-serif"}


def draw(result: dict[str, Any], path: Path) -> None:
    """Write an SVG that is the same for the same figures."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    of_planted = result["planted"]["rows"]
    same = {"in_flight": 8, "noise": 0.5, "shared": 0.65}
    panels = {
        "planted, 8 candidates": _select(of_planted, arms=8, **same),
        "planted, 16 candidates": _select(of_planted, arms=16, **same),
        "glyphs, 8 candidates": _select(result["glyphs"]["rows"], methods="joint", common=True, in_flight=8),
    }
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 3), layout="constrained")
        FigureCanvasSVG(figure)
        for axes, (title, rows) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
            _panel(axes, rows)
            axes.set_title(title)
        figure.axes[0].set_ylabel("regret of a step [sd of candidates]")
        figure.axes[0].legend(frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _panel(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    for shift, (kind, colour) in enumerate(COLOURS.items()):
        own = _select(rows, allocation=kind)
        beside = [r["simulations"] * 1.05 ** (shift - 1) for r in own]
        regret, half = [r["regret"] for r in own], [r["regret_ci"] for r in own]
        axes.errorbar(beside, regret, half, color=colour, label=kind, capsize=2)
    axes.set_xscale("log", base=2)
    budgets = sorted({r["simulations"] for r in rows})
    axes.set_xticks(budgets, [str(b) for b in budgets])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("simulations a step")
    axes.spines[["top", "right"]].set_visible(False)


def _select(rows: Sequence[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [r for r in rows if all(r[k] == v for k, v in wanted.items())]
