"""The report of a CLDyB run."""

from __future__ import annotations

from typing import Any

from protocols.cldyb.summary import Summary
from protocols.report.cldyb import notes, tables
from protocols.report.cldyb.figures import figures
from protocols.report.gallery import found_and_random, the_one_task
from protocols.report.table import CLDYB
from protocols.report.view import View
from seqsearch.results.run import RunResults

HOW = (
    "At each step, seqsearch proposed candidate tasks from the classes left, trained the methods on them, and moved on with one, "
    f'as in "{CLDYB}". It trained the resulting sequence again with fresh training seeds, exactly like random sequences that '
    "share its first task."
)
UNSEEN = "Found and random sequences were scored on test images that no search had looked at."
SEEN = "Found and random sequences were scored on test images that rewarded the search too (--reward-split test)."
ONE_TASK = (
    "There is one task, drawn at random. It is all there is of every sequence, and nothing was searched. The methods were "
    "trained on it with fresh training seeds and scored on test images."
)
OF_SUMMARY = (
    "run",
    "separate",
    "methods",
    "mean",
    "placed",
    "gap",
    "best",
    "stats",
    "held_out",
    "surrogates",
    "screened",
    "baseline",
    "placebo",
)
"""Fields of the summary that JSON has as they are."""


def view(s: Summary, results: RunResults | None = None) -> View:
    """Headline, tables, figures, pictures and notes."""
    one, trace = tables.one_task(s), results.trace if results else ()
    seen = results is not None and results.setting("reward_split") == "test"
    return View(
        section="cldyb",
        name=s.run,
        kind="one task" if one else "task sequences found",
        headline=notes.headline(s),
        tiles=tuple(notes.tiles(s)),
        key=() if s.unfinished else (tables.key(s),),
        tables=() if s.unfinished else (tables.joint(tables.gaps(s)), tables.further(s), tables.steps(trace)),
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s, trace),
        key_figures=2 if s.placed else 1,
        pictures=lambda pools: [the_one_task(results, pools)] if one and results else found_and_random(results, pools),
        how=(ONE_TASK,) if one else (HOW, SEEN if seen else UNSEEN),
        configs=(results.config,) if results else (),
        data=_data(s),
    )


def _data(s: Summary) -> dict[str, Any]:
    return {
        **{name: getattr(s, name) for name in OF_SUMMARY},
        "for_whom": notes.for_whom(s.gap, s.overall.drop, s.placed),
        "reached": s.unfinished.reached if s.unfinished else "",
    }
