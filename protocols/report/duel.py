"""What is shown of a duel: how often and by how much one method is above the other, and the sequences that show it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from protocols.evaluate.duel.summary import DuelSummary
from protocols.report import duel_notes
from protocols.report.duel_figures import figures
from protocols.report.duel_tables import key, tables
from protocols.report.gallery import Gallery, drawn, gallery
from protocols.report.view import View
from seqsearch.pools.base import Pool
from seqsearch.results.run import RunResults

HOW = (
    "Both methods were trained on the same random sequences, each with a training seed of its own that both share, and "
    "evaluated on test images."
)
SEARCHED = (
    "The found sequences were searched step by step for a large difference of the two methods' rewards, and trained again with "
    "fresh seeds."
)


def view(s: DuelSummary, results: RunResults | None = None) -> View:
    """Headline, tables, figures and notes; of an unfinished run how far it came."""
    return View(
        section="duel",
        name=s.run,
        kind=f"{s.methods[0]} and {s.methods[1]}",
        headline=duel_notes.headline(s),
        tiles=tuple(duel_notes.tiles(s)),
        key=key(s),
        tables=tables(s),
        notes=tuple(duel_notes.notes(s)),
        draws=lambda: figures(s),
        pictures=lambda pools: _pictures(s, results, pools),
        how=(HOW, SEARCHED) if s.found else (HOW,),
        configs=(results.config,) if results else (),
        data=_data(s),
    )


def _pictures(s: DuelSummary, results: RunResults | None, pools: Sequence[Pool]) -> list[Gallery]:
    if results is None:
        return []
    found = [gallery(results, pools, "worse for that method beside the other")] if s.found else []
    return [*found, *drawn(results, pools, "What both methods are compared on.")]


def _data(s: DuelSummary) -> dict[str, Any]:
    found = [] if s.unfinished else [n.text for n in duel_notes.notes(s) if n.level == "finding"]
    said: dict[str, Any] = {
        "run": s.run, "reached": s.unfinished[0] if s.unfinished else "", "findings": found, "stats": s.stats,
        "a": s.methods[0], "b": s.methods[1], "on_most": s.on_most,
        "more_often": s.sample.more_often if s.sample else "", "on_average": s.sample.on_average if s.sample else "",
        "pairs": {"sequences": s.pairs.names, "a": s.pairs.a.tolist(), "b": s.pairs.b.tolist()},
    }  # fmt: skip
    for name in ("sample", "running", "needed_most", "needed_average", "spread", "test"):
        value = getattr(s, name)
        said[name] = None if value is None else dataclasses.asdict(value)
    for name in ("worst", "found", "given"):
        said[name] = [dataclasses.asdict(x) for x in getattr(s, name)]
    return said
