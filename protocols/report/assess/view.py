"""The report of ``seqsearch assess``, and the files that it writes."""

from __future__ import annotations

import json
from typing import Any

from protocols.evaluate.assess.assessment import Assessment
from protocols.report.assess import notes
from protocols.report.assess.figures import figures
from protocols.report.assess.tables import key
from protocols.report.figure_files import folder_of
from protocols.report.page import page_of
from protocols.report.styles import FormatName, VenueName
from protocols.report.table import CLDYB
from protocols.report.view import View

PAGE, FIGURES = "assess.html", "assess.json"
HOW = (
    f'The respects of Fig. 3 of "{CLDYB}": Acc, AR and ALA on sequences that were found for several methods together, robustness '
    "on those found for a method alone, and memory. Training time, inference passes and latency are this program's."
)


def view(a: Assessment) -> View:
    """Headline, table, figures and notes."""
    return View(
        section="assess",
        name=", ".join(r.name for r in a.runs),
        kind="methods in all respects",
        headline=notes.headline(a),
        tiles=tuple(notes.tiles(a)),
        key=(key(a),),
        notes=tuple(notes.notes(a)),
        draws=lambda: figures(a),
        how=(HOW,),
        configs=tuple(r.data.config for r in a.runs),
        data=_data(a),
        more="seqsearch assess RUN... --details",
    )


def _data(a: Assessment) -> dict[str, Any]:
    return {
        "runs": [r.name for r in a.runs],
        "best": a.best,
        "methods": [
            {
                "method": m.method,
                "common": m.common.estimates if m.common else None,
                "own": m.own.estimates if m.own else None,
                "stored_bytes": m.stored,
                "train_seconds": m.seconds,
                "inference": m.inference,
            }
            for m in a.methods
        ],
        "trajectories": a.trajectories,
        "task_similarity": a.alike.matrices if a.alike else None,
    }


def files(a: Assessment, venue: VenueName, kind: FormatName) -> dict[str, bytes]:
    """By name: a page, all figures as JSON, and the pictures in a folder, see `folder_of`."""
    shown = view(a)
    _, pictures = folder_of({shown.name: shown}, venue, kind, latex=True)
    return {
        PAGE: page_of(shown, "seqsearch assess"),
        FIGURES: (json.dumps(shown.to_json(), indent=1) + "\n").encode(),
        **{f"figures/{name}": content for name, content in pictures.items()},
    }
