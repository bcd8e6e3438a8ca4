"""TensorBoard: a folder with an event file for each run, written as a whole.

A new event file replaces the earlier one, whose points go with it. It has a new name, so that a TensorBoard that is running reads
it (with ``--load_fast false``, only when it is started again). The name lacks the host, which writers of events put there.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any

from protocols.trackers.metrics import RunMetrics
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.text import copyable
from seqsearch.storage.files import atomic_path, write_json
from seqsearch.storage.inside import Inside
from seqsearch.storage.outputs import check_ours
from seqsearch.storage.reading import json_object

PLACE, REQUIRES, FORM = "DIR", "tensorboardX>=2.6", re.compile(r"[^\0]+")
INDEX = "seqsearch.json"
EVENTS = re.compile(r"events\.out\.tfevents\.\d+\.seqsearch")


def send(run: RunMetrics, place: str) -> str:
    """See `protocols.trackers.publish.Tracker.send`; needs ``pip install 'tensorboardX>=2.6'``."""
    from tensorboardX import RecordWriter

    folder = at_home(place) / run.run
    if file := next((p for p in folder.parents if p.exists() and not p.is_dir()), None):
        raise UserError(f"{file} is a file: name a folder, tensorboard:DIR")
    check_ours(folder, INDEX)
    here = Inside.below(folder.absolute())
    if here.has(INDEX) and json_object(folder / INDEX).get("run") != run.key:
        raise UserError(f"{folder} has metrics of another run of this name: name another folder")
    here.make()
    write_json(folder / INDEX, {"run": run.key})
    name = f"events.out.tfevents.{time.time_ns()}.seqsearch"
    with atomic_path(folder / name) as temporary:
        writer = RecordWriter(str(temporary))
        for event in _events(run):
            writer.write(event.SerializeToString())
        writer.close()
        for old in here.names(EVENTS):
            here.remove(old)
    return f"{folder} (see it with: tensorboard --logdir {copyable(folder.parent)})"


def _events(run: RunMetrics) -> list[Any]:
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.proto.summary_pb2 import Summary
    from tensorboardX.summary import text

    now = time.time()
    lines = json.dumps(run.config, indent=2).splitlines()
    return [
        Event(wall_time=now, file_version="brain.Event:2"),
        Event(wall_time=now, summary=text("settings", "\n".join(f"    {line}" for line in lines))),
        *(
            Event(wall_time=now, step=m.step, summary=Summary(value=[Summary.Value(tag=m.name, simple_value=m.value)]))
            for m in run.metrics
        ),
    ]
