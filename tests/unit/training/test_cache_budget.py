"""How much the caches of a worker may take, and how much memory there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqsearch.core.types import Edge
from seqsearch.training.cache_budget import SHARE, CacheBudget, cache_budget, free_memory
from tests.unit.training.test_failures import Lab

GB = 1 << 30


@pytest.mark.parametrize("free", [GB // 4, GB, 8 * GB, 512 * GB])
@pytest.mark.parametrize("workers", [1, 4, 64])
def test_all_workers_of_a_machine_together_take_a_quarter_at_most(free: int, workers: int) -> None:
    found = cache_budget(workers, free=free)
    assert workers * found.total <= SHARE * free
    assert all(0 < size <= most for size, most in zip(vars(found).values(), vars(CacheBudget()).values(), strict=True))
    assert cache_budget(1, free=512 * GB) == CacheBudget()


def test_a_limit_of_its_own_counts_too() -> None:
    assert cache_budget(1, limit=GB, free=512 * GB).total <= SHARE * GB
    assert cache_budget(4, limit=512 * GB, free=GB) == cache_budget(4, free=GB)


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal:  16000 kB\nMemAvailable:    8000 kB\n"}


def test_without_limits_it_is_what_the_machine_has_left(tmp_path: Path) -> None:
    assert free_memory(tree(tmp_path, MEMINFO)) == 8000 << 10
    assert free_memory() > 100 << 20


@pytest.mark.parametrize("limited", ["job", "job/step", ""])
def test_a_cgroup_or_one_that_it_is_in_says_less(tmp_path: Path, limited: str) -> None:
    top = "sys/fs/cgroup"
    files = {"proc/self/cgroup": "0::/job/step\n", f"{top}/job/memory.max": "max\n", f"{top}/job/memory.current": "9\n"}
    files |= {f"{top}/{limited}/memory.max": "1000000\n", f"{top}/{limited}/memory.current": "400000\n"}
    files |= {f"{top}/{limited}/memory.stat": "anon 300000\ninactive_file 50000\nactive_file 30000\n"}
    assert free_memory(tree(tmp_path, {**MEMINFO, **files})) == 680_000


def test_version_1_of_cgroups(tmp_path: Path) -> None:
    own = "sys/fs/cgroup/memory/docker/abc"
    files = {"proc/self/cgroup": "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n"}
    files |= {f"{own}/memory.limit_in_bytes": "1000000\n", f"{own}/memory.usage_in_bytes": "1200000\n"}
    assert free_memory(tree(tmp_path, {**MEMINFO, **files})) == 0
    files |= {f"{own}/memory.stat": "active_file 1\ntotal_inactive_file 150000\ntotal_active_file 150000\n"}
    assert free_memory(tree(tmp_path, {**MEMINFO, **files})) == 100_000


def test_a_leaf_takes_no_room_once_it_is_judged(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    key = lab.key("own", "nowhere")
    result = lab.trainer.train(Edge(key, keep=False))
    assert (result.status, result.trained) == ("ok", (key.digest,))
    assert lab.trainer.states.cache.where(key.digest) is None
    assert lab.trainer.states.cache._ram.currsize == 0
    assert lab.trainer.train(Edge(key)).correct == result.correct, "trained again if it is asked for after all"
    assert lab.trainer.states.cache.where(key.digest) == "ram"
