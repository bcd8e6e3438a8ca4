"""What is shown of a run that explains another."""

from __future__ import annotations

import dataclasses

from protocols.evaluate.explain.summary import Explained, Summary
from protocols.report import explain_notes
from protocols.report.explain_figures import figures
from protocols.report.explain_tables import key, tables
from protocols.report.gallery import drawn, gallery
from protocols.report.view import View

HOW = (
    "Random sequences, the found classes regrouped at random, the found tasks in random order and the sequences as found share "
    "the first task, the training seeds and the test images. An effect is the final accuracy of one of them minus that of the "
    "next, so that effects add up to the drop from random to found sequences."
)


def view(s: Summary, results: Explained | None = None) -> View:
    """Headline, tables, figures and notes; of an unfinished run no tables."""
    run = results.run if results else None
    return View(
        section="explain",
        name=s.run,
        kind="why found sequences are hard",
        headline=explain_notes.headline(s),
        tiles=tuple(explain_notes.tiles(s)),
        key=() if s.unfinished else (key(s),),
        tables=() if s.unfinished else tables(s),
        notes=tuple(explain_notes.notes(s)),
        draws=lambda: figures(s),
        pictures=lambda pools: [gallery(run, pools), *drawn(run, pools)] if run else [],
        how=(HOW,),
        configs=(run.config,) if run else (),
        data={
            "reached": s.unfinished,
            **{n: v for n, v in dataclasses.asdict(s).items() if n not in ("provenance", "unfinished")},
        },
    )
