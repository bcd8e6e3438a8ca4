"""A run's figures as Ray metrics, on real Ray; read back from the node's Prometheus endpoint where Ray is installed with one."""

from __future__ import annotations

import re
import time
import urllib.request
from pathlib import Path

import pytest

from actors.fleet import Fleet
from actors.metrics import COUNTERS, GAUGES, Metrics
from actors.options import EngineOptions
from protocols.cldyb.planners import make_plans
from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.study import prepare
from protocols.running.monitor import Monitor
from protocols.running.runtime import Runtime
from protocols.running.snapshot import NoDisplay
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from tests.studies import small_settings

pytestmark = pytest.mark.usefixtures("two_nodes")


def exported(run: str) -> dict[str, float] | None:
    """The metrics of a run as Prometheus would read them; None if this Ray has no endpoint (it is not ``ray[default]``)."""
    import ray

    nodes = [n for n in ray.nodes() if n["Alive"] and n["MetricsExportPort"] > 0]
    if not nodes:
        return None
    urls = [f"http://{n['NodeManagerAddress']}:{n['MetricsExportPort']}" for n in nodes]
    text = "".join(urllib.request.urlopen(url, timeout=10).read().decode() for url in urls)
    lines = re.findall(rf'^ray_seqsearch_(\w+){{[^}}]*run="{run}"[^}}]*}} (\S+)$', text, re.M)
    return {name.removesuffix("_total"): float(value) for name, value in lines}


def test_the_figures_of_a_run_reach_ray(tmp_path: Path) -> None:
    settings = small_settings(score_seeds=1, random_sequences=0)
    study = prepare(settings, tmp_path / "states", "cpu")
    fleet = Fleet(study.world, EngineOptions(workers=1))
    expected = CLDYB.expected(study)
    with Monitor(tmp_path, "my-run", Runtime(quiet=True), expected, NoDisplay()) as monitor:
        with monitor.observing(fleet):
            metrics = monitor._metrics
            search, plans = Search(fleet, Journal(tmp_path), monitor.update), make_plans(study)
            monitor.begin_phase(plans.all, world=study.world)
            search.run(plans.all)
        monitor.end("finished")
    fleet.close()
    assert metrics is not None
    told, counts = metrics.recorded, search.counts
    assert set(told) == {*COUNTERS, *GAUGES}
    assert told["trainings"] == counts.trained > 10
    assert (told["rollouts"], told["cache_hits"]) == (sum(counts.rollouts.values()), counts.known)
    assert (told["workers"], told["workers_busy"], told["queue_length"]) == (1, 0, 0)
    assert told["busy_share"] == fleet.busy_share() > 0
    until = time.monotonic() + 30
    while (seen := exported("my-run")) is not None and seen != pytest.approx(told) and time.monotonic() < until:
        time.sleep(1)
    assert seen is None or seen == pytest.approx(told)


def test_counters_never_fall_and_gauges_do() -> None:
    metrics = Metrics("another")
    metrics.set(rollouts=3, workers=4)
    metrics.set(rollouts=1, workers=2)
    metrics.set(rollouts=7)
    assert metrics.recorded == {"rollouts": 7, "workers": 2}
    with pytest.raises(KeyError):
        metrics.set(nonsense=1)
    assert {m.info["default_tags"]["run"] for m in metrics._counters.values()} == {"another"}
