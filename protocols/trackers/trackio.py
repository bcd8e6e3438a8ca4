"""Trackio: its store on this machine (``TRACKIO_DIR``), which ``trackio sync`` takes to a Space.

The run of the same key is deleted and written again. We do not call `trackio.init`: it asks the hub for the user's name,
measures the machine, and writes in the background.
"""

from __future__ import annotations

import re
from collections import defaultdict

from protocols.trackers.metrics import RunMetrics

PLACE, REQUIRES, FORM = "PROJECT", "trackio>=0.43", re.compile(r"[\w.-]{1,128}", re.ASCII)


def send(run: RunMetrics, place: str) -> str:
    """See `protocols.trackers.publish.Tracker.send`; needs ``pip install 'trackio>=0.43'``."""
    from trackio import SQLiteStorage

    SQLiteStorage.validate_project_name(place)
    by_step: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for m in run.metrics:
        by_step[m.step][m.name] = m.value
    SQLiteStorage.delete_run(place, run.run, run_id=run.key)
    SQLiteStorage.bulk_log(
        place, run.run, list(by_step.values()), steps=list(by_step), config=run.config, run_id=run.key
    )
    return f"project {place} (see it with: trackio show --project {place})"
