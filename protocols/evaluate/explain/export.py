"""Export of an ``explain`` run: from evaluated sequences, regroupings and reorderings to its files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from protocols.evaluate.explain.common import Common
from protocols.evaluate.explain.study import ExplainStudy
from protocols.evaluate.explain.summary import Explained, MethodEffects, Summary, summarise
from protocols.running.export import RunFiles, classes_of
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.core.errors import UserError
from seqsearch.core.typed import built, fits
from seqsearch.results.rows import Row, finite
from seqsearch.results.run import assembled, read_results
from seqsearch.results.schema import EFFECTS, RESULTS
from seqsearch.stats.contrast import Contrast
from seqsearch.storage.files import write_json
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import json_object

COMMON = "common.json"
"""File of the common properties of found classes."""
LARGEST = 1 << 26
"""Bytes of it."""


def export(session: Session, study: ExplainStudy, common: Common, reached: str | None) -> Exported:
    """Write ``sequences``, ``results``, ``effects`` and ``trainings.parquet``, ``common.json`` and ``stats.json``.

    Of a run that was stopped, having ``reached`` so and so far, it is what is known so far, without effects.
    """
    folder, files = session.folder, RunFiles(session, classes_of(study.world))
    sequences = [*study.sequences, *study.drawn, *study.at_once]
    files.sequences(sequences)
    names = {s.sequence_id for s in sequences}
    rows = [row for row in study.evaluations.rows(study, session.journal) if row["sequence_id"] in names]
    results = files.write(RESULTS, rows)
    write_json(folder.file(COMMON), json.loads(json.dumps(asdict(common))))
    stats = files.costs(session.search(study.world), reached)
    found = Explained(assembled(folder.path, folder.saved(), stats, sequences, results), common)
    summary = summarise(folder.path, found)
    if reached is None:
        files.write(EFFECTS, effect_rows(summary))
    return Exported(found, summary)


def read_explained(run: Path) -> Explained:
    """From the files of a run.

    Raises:
        UserError: no run folder, a run that has exported nothing yet, or a damaged file.
    """
    return Explained(read_results(run), _read_common(run))


def _read_common(run: Path) -> Common:
    if not Inside(run).has(COMMON):
        return Common()
    said = json_object(run / COMMON, most=LARGEST)
    if not fits(said, Common):
        raise UserError(f"{run / COMMON} is not as it was written: restore it")
    found: Common = built(said, Common)
    return found


def effect_rows(summary: Summary) -> list[Row]:
    """Rows of ``effects.parquet``: means of conditions and effects, by method and measure."""
    methods = [*summary.methods, *([summary.mean] if summary.mean else [])]
    return [row for m in methods for row in _of_method(m)]


def _of_method(m: MethodEffects) -> list[Row]:
    return [
        {
            "method_id": m.method,
            "measure": measure,
            "figure": name,
            **_of_contrast(c),
            "found_sequences": e.found_sequences,
            "seeds": e.seeds,
        }
        for measure, e in m.measures.items()
        for name, c in (*e.means.items(), *e.effects.items())
    ]


def _of_contrast(c: Contrast) -> dict[str, Any]:
    return {
        "value": c.interval.value,
        "low": finite(c.interval.low),
        "high": finite(c.interval.high),
        "low_together": finite(c.together.low),
        "high_together": finite(c.together.high),
        "over": sorted(c.variances),
        "lacking": c.unavailable_because,
    }


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    explained = read_explained(run)
    return Exported(explained, summarise(run, explained))
