"""What is shown of a score run."""

from __future__ import annotations

import dataclasses
from typing import Any

from protocols.evaluate.score.summary import ScoreSummary
from protocols.report import score_notes
from protocols.report.cldyb_tables import joint
from protocols.report.gallery import drawn, gallery
from protocols.report.score_figures import figures
from protocols.report.score_tables import bounds, joint_rows, key, tasks, transfer
from protocols.report.view import View
from seqsearch.results.run import RunResults

HELD_OUT = "By which ranks of methods are compared: no search saw their pool."


def view(s: ScoreSummary, results: RunResults | None = None) -> View:
    """Headline, tables, figures, pictures and notes."""
    return View(
        section="score",
        name=s.run,
        kind="methods on fixed sequences",
        headline=score_notes.headline(s),
        tiles=tuple(score_notes.tiles(s)),
        key=() if s.reached else (key(s),),
        tables=() if s.reached else (joint(joint_rows(s)), transfer(s), bounds(s), tasks(s)),
        notes=tuple(score_notes.notes(s)),
        draws=lambda: figures(s),
        pictures=lambda pools: (
            [gallery(results, pools), *drawn(results, pools), *drawn(results, pools, HELD_OUT, "heldout")]
            if results
            else ()
        ),
        configs=(results.config,) if results else (),
        data=_data(s),
    )


def _data(s: ScoreSummary) -> dict[str, Any]:
    transfers = [
        {"searched_for": group, "method": method, "drop": dataclasses.asdict(drop) if drop else None}
        for (group, method), drop in s.transfer.items()
    ]
    said = dataclasses.asdict(dataclasses.replace(s, transfer={}))
    return {**said, "transfer": transfers, "for_whom": score_notes.for_whom(s)}
