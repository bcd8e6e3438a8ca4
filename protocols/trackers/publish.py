"""Send the metrics of a run to an experiment tracker: ``TRACKER:PLACE``. A tracker is a file beside this one with a ``send``."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from protocols.trackers.metrics import RunMetrics, metrics_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import cut, did_you_mean, shown

_SENDS = re.compile(r"^def send\(", re.MULTILINE)


class Tracker(Protocol):
    """The module of a tracker.

    Attributes:
        PLACE: what follows its name and a colon, in a word.
        REQUIRES: what to install, as ``pip install`` takes it.
        FORM: the form of a place, by which a wrong one is refused before a run is read.
    """

    PLACE: str
    REQUIRES: str
    FORM: re.Pattern[str]

    def send(self, run: RunMetrics, place: str) -> str:
        """Send metrics in place of those that an earlier call sent of the same run; returns where they are, in words.

        Raises:
            ImportError: its library is not installed.
            UserError: the place is another's.
        """
        ...


class Published(NamedTuple):
    """What was sent, and where it is; ``metrics``: names, ``points``: values."""

    run: str
    state: str
    tracker: str
    place: str
    metrics: int
    points: int


def trackers() -> list[str]:
    """Names of all trackers."""
    return sorted(p.stem for p in Path(__file__).parent.glob("*.py") if _SENDS.search(p.read_text()))


def forms() -> list[str]:
    """What ``--to`` takes: ``tensorboard:DIR``, and so on."""
    return [f"{name}:{_tracker(name).PLACE}" for name in trackers()]


def publish(run: Path, to: str) -> Published:
    """Send the metrics of a run in any state. What an earlier call sent is replaced, and never doubled.

    Raises:
        UserError: no such tracker, it is not installed, not reached or refuses, or ``run`` is no run.
    """
    name, _, place = to.partition(":")
    if name not in trackers():
        known = did_you_mean(name, trackers())
        raise UserError(f"--to {shown(to)[:80]}: {known}it takes {', '.join(forms())}")
    tracker = _tracker(name)
    if not tracker.FORM.fullmatch(place):
        raise UserError(f"--to {shown(to)[:80]}: {name} needs {name}:{tracker.PLACE}")
    metrics = metrics_of(run)
    try:
        where = tracker.send(metrics, place)
    except UserError:
        raise
    except ImportError as error:
        raise UserError(f"--to {name} needs a package ({error}): pip install '{tracker.REQUIRES}'") from None
    except Exception as error:  # whatever a library, or a server, makes of it
        said = cut(shown(" ".join(str(error).split())), 300)
        raise UserError(f"--to {shown(to)[:80]}: {name} failed ({type(error).__name__}: {said})") from None
    return Published(metrics.run, metrics.state, name, where, len(metrics.names), len(metrics.metrics))


def _tracker(name: str) -> Tracker:
    return cast(Tracker, importlib.import_module(f"protocols.trackers.{name}"))
