"""A run's figures as Ray metrics, set by the driver. Where ``ray[default]`` is installed a node exports them to Prometheus."""

from __future__ import annotations

from ray.util.metrics import Counter, Gauge

COUNTERS = {
    "rollouts": "Rollouts finished in this session, replayed ones included",
    "trainings": "Trainings done in this session",
    "cache_hits": "Edges and probes that the journal could answer in this session",
}
GAUGES = {
    "busy_share": "Fraction of the workers' time spent on jobs, 0 to 1",
    "queue_length": "Jobs that wait for a worker",
    "workers": "Workers asked for",
    "workers_busy": "Workers with something to do",
}
TAGS = ("run",)


class Metrics:
    """Counters and gauges of one session of a run on a connected Ray, named ``seqsearch_...`` and tagged with the ``run`` id."""

    def __init__(self, run: str) -> None:
        tags = {"run": run}
        self._counters = {
            n: Counter(f"seqsearch_{n}", text, TAGS).set_default_tags(tags) for n, text in COUNTERS.items()
        }
        self._gauges = {n: Gauge(f"seqsearch_{n}", text, TAGS).set_default_tags(tags) for n, text in GAUGES.items()}
        self.recorded: dict[str, float] = {}
        """Value of each metric as last reported to Ray; counters as their sum."""

    def set(self, **values: float) -> None:
        """Gauges to these values, counters up to these totals."""
        for name, value in values.items():
            if name in self._gauges:
                self._gauges[name].set(value)
                self.recorded[name] = value
                continue
            more = value - self.recorded.get(name, 0.0)
            if more > 0:
                self._counters[name].inc(more)
            self.recorded[name] = max(value, self.recorded.get(name, 0.0))
