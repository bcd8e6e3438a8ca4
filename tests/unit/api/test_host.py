"""The process of the user is as before a run, and an interrupted one leaves a run that goes on."""

from __future__ import annotations

import logging
import os
import random
import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

import seqsearch as ss
from tests.unit.api.small import SMALL


def found() -> dict[str, Any]:
    """All of this process that a run could leave changed."""
    import faiss
    import matplotlib

    return {
        "torch threads": (torch.get_num_threads(), torch.get_num_interop_threads()),
        "faiss threads": faiss.omp_get_max_threads(),
        "pools": sorted((p["filepath"], p["num_threads"]) for p in threadpool_info()),
        "environment": {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"},
        "handlers": [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2)],
        "generators": (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "folder": os.getcwd(),
        "logging": (logging.getLogger().level, list(logging.getLogger().handlers)),
        "warnings": list(warnings.filters),
        "backend": matplotlib.get_backend(),
        "style": dict(matplotlib.rcParams),
    }


def test_the_process_is_as_before(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    random.seed(3)
    np.random.seed(3)
    torch.manual_seed(3)
    before = found()
    run = ss.cldyb(**SMALL, out=tmp_path / "run")
    run.figures()
    after = found()
    for name, value in before.items():
        assert after[name] == value, name


def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path: Path) -> None:
    handler = signal.getsignal(signal.SIGINT)

    class Stops(ss.Callback):
        def on_result(self, run: Any, result: Any) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(ss.Interrupted, match=r"Continue with: seqsearch.resume\('") as stopped:
        ss.cldyb(**SMALL, out=tmp_path / "run", callbacks=[Stops()])
    assert isinstance(stopped.value, KeyboardInterrupt)
    run = stopped.value.run
    assert run.status == "stopped"
    assert signal.getsignal(signal.SIGINT) is handler
    assert ss.resume(run, workers=0, quiet=True).status == "finished"
    whole = ss.cldyb(**SMALL, out=tmp_path / "whole")
    assert run.df("sequences").drop(columns="run_id").equals(whole.df("sequences").drop(columns="run_id"))


@pytest.mark.parametrize("when", ["on_start", "on_result", "on_end"])
def test_a_callback_may_stop_a_run(when: str, tmp_path: Path) -> None:
    class Stops(ss.Callback):
        pass

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    setattr(Stops, when, stop)
    with pytest.raises(ss.Interrupted) as stopped:
        ss.cldyb(**SMALL, out=tmp_path / "run", callbacks=Stops())
    assert ss.resume(stopped.value.run, workers=0, quiet=True).status == "finished"


def test_a_callback_that_fails_warns_once_and_stops_nothing(tmp_path: Path) -> None:
    calls: list[str] = []

    class Fails(ss.Callback):
        def on_start(self, run: Any) -> None:
            calls.append(run.status)

        def on_result(self, run: Any, result: Any) -> None:
            calls.append(result.split)
            raise RuntimeError("on purpose")

        def on_end(self, run: Any) -> None:
            calls.append(run.status)

    with pytest.warns(RuntimeWarning, match="Fails.on_result: RuntimeError: on purpose") as said:
        run = ss.cldyb(**SMALL, out=tmp_path / "run", callbacks=[Fails()])
    assert len([w for w in said if issubclass(w.category, RuntimeWarning)]) == 1
    assert (calls[0], calls[-1]) == ("running", "finished")
    assert set(calls[1:-1]) == {"reward", "test"}
    assert len(calls) - 2 == run.table("trainings").num_rows


def test_results_are_those_of_the_run(tmp_path: Path) -> None:
    seen: list[ss.TrainingResult] = []

    class Keeps(ss.Callback):
        def on_result(self, run: Any, result: ss.TrainingResult) -> None:
            seen.append(result)

    run = ss.cldyb(**SMALL, out=tmp_path / "run", callbacks=[Keeps()])
    rows = run.df("results")
    last = rows[(rows.role == "rescore") & (rows.trained_step == 2) & (rows.kind == "searched")]
    of_tests = [r for r in seen if r.split == "test" and r.step == 2]
    assert {r.method for r in seen} == {"simplecil"}
    assert {r.seed for r in of_tests} >= set(last.seed)
    for _, part in last.groupby("seed"):
        assert tuple(part.sort_values("evaluated_step").accuracy) in {r.accuracy for r in of_tests}


def test_settings_of_torch_do_not_enter_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {**SMALL, "methods": "ranpac:M=32,er:epochs=1"}
    frames = []
    for name in ("plain", "changed"):
        monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / f"cache-{name}"))
        if name == "plain":
            run = ss.cldyb(**given, out=tmp_path / name)
        else:
            torch.set_float32_matmul_precision("medium")
            torch.set_default_dtype(torch.float64)
            errors = np.seterr(all="raise")
            try:
                with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
                    run = ss.cldyb(**given, out=tmp_path / name)
                    assert torch.is_inference_mode_enabled()
                    assert torch.is_autocast_enabled("cpu")
                assert torch.get_default_dtype() == torch.float64
                assert torch.get_float32_matmul_precision() == "medium"
            finally:
                assert np.geterr()["under"] == "raise"
                np.seterr(**errors)
                torch.set_default_dtype(torch.float32)
                torch.set_float32_matmul_precision("highest")
        frames.append(run.df("results").drop(columns=["run_id", "train_seconds"]))
        assert run.failures == []
    assert not torch.is_inference_mode_enabled()
    assert frames[0].equals(frames[1])


@pytest.mark.parametrize("command", ["gtep", "online"])
def test_results_of_trials_and_of_streams_arrive_too(command: str, tmp_path: Path) -> None:
    seen: list[ss.TrainingResult] = []

    class Keeps(ss.Callback):
        def on_result(self, run: Any, result: ss.TrainingResult) -> None:
            seen.append(result)

    pool = "glyphs:classes=12,train=6,reward=4,test=4,half={}"
    given: dict[str, dict[str, Any]] = {
        "gtep": {
            "methods": "ranpac",
            "tune_pool": pool.format(1),
            "pool": pool.format(2),
            "tasks": 2,
            "classes_per_task": 2,
            "orders": 1,
            "eval_orders": 1,
            "trials": 2,
        },
        "online": {"methods": "ncm", "stream": "glyphs:samples=600,classes=5,burst=4", "shift": 16, "batch": 8},
    }
    run = getattr(ss, command)(**given[command], workers=0, quiet=True, out=tmp_path / "run", callbacks=[Keeps()])
    assert len(seen) == run.table("trainings").num_rows > 0
    assert {r.status for r in seen} == {"ok"}
    assert {bool(r.classes) for r in seen} == {command == "gtep"}


def test_a_second_run_and_one_in_another_thread(tmp_path: Path) -> None:
    runs: list[ss.Run] = [ss.cldyb(**SMALL, out=tmp_path / f"run{i}") for i in range(2)]
    thread = threading.Thread(target=lambda: runs.append(ss.cldyb(**SMALL, out=tmp_path / "thread")))
    thread.start()
    thread.join(120)
    frames = [r.df("sequences").drop(columns="run_id") for r in runs]
    assert len(frames) == 3
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


def test_a_time_budget_is_a_warning_and_a_run_that_goes_on(tmp_path: Path) -> None:
    class Slow(ss.Callback):
        def on_result(self, run: Any, result: Any) -> None:
            time.sleep(0.3)

    with pytest.warns(UserWarning, match="time is up; nothing is lost"):
        run = ss.cldyb(**SMALL, out=tmp_path / "run", time_budget="1s", callbacks=[Slow()])
    assert run.status == "stopped"
    assert ss.resume(run, workers=0, quiet=True).status == "finished"
