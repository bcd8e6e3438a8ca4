"""The notes of an assessment, its headline, and their sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from protocols.evaluate.assess.assessment import Assessment
from protocols.evaluate.assess.images import ImageFeatures, Unavailable
from protocols.evaluate.assess.inference import LEARNED
from protocols.report.compare.notes import conditions_of, without_interval
from protocols.report.notes import Note, Text, note
from protocols.report.text import bounds_of, interval, percent
from protocols.report.view import Tile
from seqsearch.core.text import shown

NAMED = 3
"""Methods that are named by what is missing, and tiles."""


def headline(a: Assessment) -> Note:
    """Which methods may be the best on the common sequences."""
    if not a.common:
        return note("assess.own", methods=len(a.own))
    if len(a.best) == 1:
        return note("assess.best", method=shown(a.best[0]))
    if a.best:
        return note("assess.several", best=len(a.best), methods=len(a.methods))
    return note("assess.methods", methods=len(a.methods))


def tiles(a: Assessment) -> Iterator[Tile]:
    """Accuracies on common sequences, highest first."""
    sides = sorted(
        (m for m in a.methods if m.common), key=lambda m: -m.common.estimates["acc"].value.value if m.common else 0
    )
    for m in sides[:NAMED]:
        assert m.common is not None
        acc = m.common.estimates["acc"].value
        yield Tile(f"{percent(acc.value)} %", f"Acc of {shown(m.method)} on common sequences{bounds_of(interval(acc))}")


def notes(a: Assessment) -> Iterator[Note]:
    """Conditions, and what is missing."""
    sides = [side for m in a.methods for side in (m.common, m.own) if side is not None]
    estimates = [side.estimates["acc"] for side in sides]
    if bounded := [e for e in estimates if math.isfinite(e.value.low)]:
        yield from conditions_of(bounded)
    if held_out := _held_out(a):
        yield note("assess.held_out", methods=held_out)
    if not a.common:
        yield note("assess.no_common")
    if missing := [m.method for m in a.methods if m.method not in a.own]:
        yield note("assess.no_own", count=len(missing), methods=missing[:NAMED])
    yield from (note("assess.trouble", text=shown(text)) for text in a.troubles)
    yield from without_interval(sides)
    for run in a.runs:
        yield from (note("compare.remark", run=run.name, text=shown(remark)) for remark in run.remarks)
    if isinstance(a.images, Unavailable):
        yield note("assess.no_images", why=shown(a.images.because))
    elif isinstance(a.images, ImageFeatures):
        yield note("assess.features", backbone=shown(a.images.backbone), images=a.images.images)
    if any(m.inference for m in a.methods):
        yield note("assess.inference", images=LEARNED)
    else:
        yield note("assess.no_latency")
    yield note("compare.runs", runs=[r.name for r in a.runs])


def _held_out(a: Assessment) -> list[str]:
    """Methods that a common sequence was not searched with."""
    return [m.method for m in a.methods if m.common and any(m.method not in s.method_ids for s in a.common)]


# ------------------------------------------------------------------------------------------------ sentences


TEXTS = {
    "assess.held_out": Text(
        "condition",
        "Common sequences were chosen to be hard for other methods than {methods}, so these others have a disadvantage.",
    ),
    "assess.best": Text("headline", "On common sequences {method} has the highest Acc (95 %)."),
    "assess.several": Text(
        "headline", "On common sequences {best} of {methods:n method} may have the highest Acc (95 %)."
    ),
    "assess.methods": Text("headline", "{methods:n method} on common sequences, without a significant best one."),
    "assess.own": Text("headline", "{methods:n method}, each on sequences that were found for it alone."),
    "assess.no_common": Text(
        "advice",
        "No sequence was found for several methods together, so Acc, AR and ALA are missing: add a run without --separate.",
    ),
    "assess.no_own": Text(
        "advice",
        "Robustness of {count:n method} is missing ({methods}): no sequence was found for it alone. Add a run with --separate.",
    ),
    "assess.trouble": Text("warning", "{text}"),
    "assess.no_images": Text("detail", "The similarity of tasks and the maps of tasks are missing: {why}."),
    "assess.features": Text(
        "detail",
        "Similarities and maps of tasks are of frozen features of {backbone}, up to {images:n training image} of a class.",
    ),
    "assess.inference": Text(
        "condition",
        "Passes and latency are of this machine, after each method learned one found sequence from {images:n image} of a class.",
    ),
    "assess.no_latency": Text("detail", "Inference passes and latency are not measured (--latency)."),
}
