"""Weights & Biases: a run whose summary has the metrics.

The history of a wandb run only grows: its points cannot be replaced, neither online nor when offline folders are synced. In the
summary a value replaces the earlier one of its name. So all metrics are in the summary, and names of points of a curve end with
the task. A table in the summary would do as well, but wandb makes it an artifact, with a new version for each change.

The id of the run is its key. Each offline call leaves a folder of its own. All are of one run, so that ``wandb sync`` of all of
them, in their order, leaves the values of the last one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from protocols.trackers.metrics import RunMetrics
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable

PLACE, REQUIRES, FORM = "PROJECT", "wandb>=0.20", re.compile(r"([\w-]{1,128}/)?[\w.-]{1,128}", re.ASCII)
PRIVATE: Mapping[str, Any] = {
    **dict.fromkeys(
        ("disable_git", "disable_code", "x_disable_stats", "x_disable_meta", "x_disable_machine_info"), True
    ),
    **dict.fromkeys(("save_code", "x_save_requirements"), False),
    **dict.fromkeys(("host", "program", "x_executable"), ""),
    "console": "off",
}
"""Settings without which wandb sends the host, the user, paths, code and measurements of the machine."""


def send(run: RunMetrics, place: str) -> str:
    """See `protocols.trackers.publish.Tracker.send`; needs ``pip install 'wandb>=0.20'``."""
    import wandb

    wandb.setup(wandb.Settings(silent=True))  # else it asks in a terminal for an account
    entity, _, project = place.rpartition("/")
    settings = wandb.Settings(**PRIVATE, silent=True, reinit="create_new", init_timeout=30)
    made = wandb.init(
        project=project,
        entity=entity or None,
        id=run.key,
        name=run.run,
        resume="allow",
        config=run.config,
        settings=settings,
    )
    if made.disabled:
        raise UserError("wandb is disabled (WANDB_MODE): nothing was sent; unset it, or choose offline")
    replace_metrics(made.summary, run)
    made.finish()
    return f"offline (send it with: wandb sync {copyable(made.settings.sync_dir)})" if made.offline else str(made.url)


def replace_metrics(summary: MutableMapping[str, Any], run: RunMetrics) -> None:
    """Put metrics into a summary; those of ours that the run has no more go. Keys without a slash are others'."""
    values = {f"{m.name}/{m.step}" if m.step else m.name: m.value for m in run.metrics}
    for key in set(summary.keys()) - values.keys():
        if "/" in key:
            del summary[key]
    summary.update(values)
