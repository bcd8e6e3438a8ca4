"""Workers that are killed, hang, leak or meet damaged states, on real Ray: the same sequence; never a lost result."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

from actors.options import EngineOptions
from tests.ray.faults import bad_method, dies_writing, forgetful
from tests.ray.watched import Watched, origins, run, same_results
from tests.studies import Finished, run_small


@pytest.mark.long
def test_a_worker_killed_while_idle_is_replaced(two_nodes: Cluster, inline: Finished, tmp_path: Path) -> None:
    def kill_idle(fleet: Watched, done: int) -> bool:
        idle = next(m for m in fleet.worker_set.handles if not m.calls)
        assert idle.hello is not None
        os.kill(idle.hello.pid, signal.SIGKILL)
        return True

    found, fleet = run(tmp_path, EngineOptions(workers=2), kill_idle)
    assert fleet.acted
    assert fleet.worker_set.replaced == 1
    same_results(found, inline)


def test_a_worker_killed_while_training_is_replaced(two_nodes: Cluster, tmp_path: Path, inline: Finished) -> None:
    flag = tmp_path / "flag"

    def kill_napping(fleet: Watched, done: int) -> bool:
        if not flag.exists() or not flag.read_text():
            return False
        os.kill(int(flag.read_text()), signal.SIGKILL)
        return True

    method = bad_method(tmp_path, "naps", "once", flag)
    found, fleet = run(tmp_path / "run", EngineOptions(workers=2), kill_napping, methods=method)
    assert fleet.worker_set.replaced == 1
    same = run_small(tmp_path / "inline", methods=method)
    same_results(found, same)


def test_a_worker_killed_while_it_writes_a_state_leaves_no_half_of_it(
    two_nodes: Cluster, inline: Finished, tmp_path: Path
) -> None:
    found, fleet = run(tmp_path / "run", EngineOptions(workers=2), trainer=dies_writing)
    assert (tmp_path / "run" / "died-writing").exists()
    assert fleet.worker_set.replaced >= 1
    assert not [p for p in (tmp_path / "run").rglob(".*") if p.is_file()]
    same_results(found, inline)


@pytest.mark.long
def test_a_damaged_state_is_noticed_and_computed_again(two_nodes: Cluster, inline: Finished, tmp_path: Path) -> None:
    def damage(fleet: Watched, done: int) -> bool:
        packs = list((tmp_path / "states" / "packs").glob("*.safetensors"))
        if done < 20 or not packs:
            return False
        for path in packs:
            content = bytearray(path.read_bytes())
            content[-3] ^= 1
            path.write_bytes(content)
        return True

    found, fleet = run(tmp_path, EngineOptions(workers=2), damage, trainer=forgetful)
    assert fleet.acted
    same_results(found, inline)
    trained = Counter(s for e in found.journal.entries for s in e.get("edge", {}).get("trained", ()))
    assert max(trained.values()) > 1
    assert "trained" in origins(found)


@pytest.mark.parametrize(
    "does",
    [
        "exits",
        pytest.param("meddles", marks=pytest.mark.long),
        pytest.param("vanishes", marks=pytest.mark.long),
        pytest.param("hangs", marks=pytest.mark.long),
    ],
)
def test_what_a_bad_method_does_is_its_result(
    two_nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    """It raises, leaves, or hangs on half of the candidates: in all cases the search finds what it finds without them."""
    monkeypatch.setattr("actors.faults.SETTLE_SECONDS", 1.0)  # no node dies in this test
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    raising = run_small(tmp_path / "raising", methods=bad_method(tmp_path / "m", "raises"), **small)
    engine = EngineOptions(workers=2, rollout_timeout=8.0 if does == "hangs" else None)
    found, fleet = run(tmp_path / "run", engine, methods=bad_method(tmp_path / "m", does), **small)
    assert found.found == raising.found
    status = {e["edge"]["status"] for e in found.journal.entries if "edge" in e}
    assert status == {"ok", "timeout" if does == "hangs" else "failed"}
    messages = " ".join(e["edge"]["message"] for e in found.journal.entries if "edge" in e)
    says = {
        "exits": "SystemExit",
        "meddles": "the shared network of backbone 'glyph_vit'",
        "vanishes": "killed its worker 3 times",
        "hangs": "--rollout-timeout 8 s",
    }
    assert says[does] in messages
    assert (fleet.worker_set.replaced == 0) == (does == "exits")
    assert ("retired: a method changed" in fleet.why()) == (does == "meddles")


@pytest.mark.long
def test_a_child_process_does_not_answer_for_its_worker(two_nodes: Cluster, tmp_path: Path) -> None:
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    method = bad_method(tmp_path / "m", "forks")
    found, _ = run(tmp_path / "run", EngineOptions(workers=2), methods=method, **small)
    good = run_small(tmp_path / "good", methods="simplecil", **small)
    assert found.found == good.found
    assert {e["edge"]["status"] for e in found.journal.entries if "edge" in e} == {"ok"}


@pytest.mark.long
def test_a_leaking_worker_is_retired_before_it_harms(two_nodes: Cluster, tmp_path: Path) -> None:
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    method = bad_method(tmp_path / "m", "leaks", "always")
    found, fleet = run(tmp_path / "run", EngineOptions(workers=2, worker_memory=2500 << 20), methods=method, **small)
    assert fleet.worker_set.replaced >= 1
    assert "retired" in fleet.why()
    good = run_small(tmp_path / "good", methods="simplecil", **small)
    assert found.found == good.found
    assert {e["edge"]["status"] for e in found.journal.entries if "edge" in e} == {"ok"}


@pytest.mark.long
def test_out_of_memory_is_a_result_after_one_try_alone(two_nodes: Cluster, tmp_path: Path) -> None:
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    method = bad_method(tmp_path / "m", "balloons")
    found, fleet = run(tmp_path / "run", EngineOptions(workers=2, worker_memory=2500 << 20), methods=method, **small)
    edges = [e["edge"] for e in found.journal.entries if "edge" in e]
    assert {e["status"] for e in edges} == {"ok", "oom"}
    assert fleet.count("retried-alone") == sum(e["status"] == "oom" for e in edges)
    raising = run_small(tmp_path / "raising", methods=bad_method(tmp_path / "m", "raises"), **small)
    assert found.found == raising.found
