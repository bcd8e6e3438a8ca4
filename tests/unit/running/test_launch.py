"""Every command is estimated, begun, stopped, resumed and read below the command line, and leaves its process as it was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from protocols.running.launch import chosen, launching
from protocols.running.protocol import of_command, protocols
from seqsearch.core.errors import UserError
from seqsearch.core.notices import notice, shown_by, warn
from tests.studies import QUIET
from tests.unit.running.without_click import commands

TRAIN_NOTHING = {"edge-plan"}


@pytest.mark.long
def test_every_command_runs_without_click_and_without_a_terminal(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['click'] = None; from tests.unit.running.without_click import main; main(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=900,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    assert set(found) == set(protocols())
    for name, said in found.items():
        trains = name not in TRAIN_NOTHING
        assert said == {
            "ended": [False, True] if trains else [True],
            "hours": said["hours"],
            "json": True,
            "page": trains,
        }, name
        assert (said["hours"] > 0) is trains, name


def of_the_process() -> dict[str, Any]:
    """What a run may not leave changed."""
    return {
        "threads": {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
        | {"torch": torch.get_num_threads()},
        "signals": {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)},
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "modes": (
            torch.are_deterministic_algorithms_enabled(),
            torch.get_float32_matmul_precision(),
            torch.is_grad_enabled(),
        ),
        "random": (random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()),
    }


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_the_process_is_as_before_after_each_of_two_runs(tmp_path: Path) -> None:
    _, given = commands(tmp_path)["cldyb"]
    for number in range(2):
        random.seed(number)
        np.random.seed(number)
        torch.manual_seed(number)
        before = of_the_process()
        with launching(protocols()["cldyb"], given) as launch:
            launch.create(tmp_path / str(number))
            assert launch.run(QUIET).finished
        with launching(protocols()["cldyb"], given) as launch:
            assert launch.cost(QUIET).hours > 0
        after = of_the_process()
        # libraries may have been loaded meanwhile
        shared = {"threads": {name: after["threads"].get(name) for name in before["threads"]}}
        for name, value in before.items():
            assert {**after, **shared}[name] == value, name


def test_the_command_chooses_a_protocol_by_its_flag_or_by_the_run(tmp_path: Path) -> None:
    edge = of_command("edge")
    assert [p.name for p in edge] == ["edge", "edge-plan"]
    assert chosen(edge, {}).name == "edge"
    assert chosen(edge, {"plan_only": True}).name == "edge-plan"
    (tmp_path / "config.json").write_text('{"protocol": "edge-plan"}')
    assert chosen(edge, {}, tmp_path).name == "edge-plan"
    (tmp_path / "config.json").write_text("torn")
    assert chosen(edge, {}, tmp_path).name == "edge"


def test_bad_input_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown method 'none'"), launching(protocols()["cldyb"], {"methods": "none"}):
        pass
    given = {"methods": "simplecil", "pool": f"glyphs:classes=4:{tmp_path}"}
    with pytest.raises(UserError), launching(protocols()["cldyb"], given) as launch:
        launch.create(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_lines_go_to_whoever_shows_them() -> None:
    notices, warned = list[str](), list[str]()
    with shown_by(notices.append, warned.append):
        notice("begins")
        with shown_by(None):
            notice("nowhere")
            warn("still shown")
    assert (notices, warned) == (["begins"], ["still shown"])
    with pytest.warns(UserWarning, match="by Python"):
        warn("by Python")
