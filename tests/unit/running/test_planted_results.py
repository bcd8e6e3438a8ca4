"""Finished runs of others with links in the place of results: what these lead to is not shown, and not resumed from."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from protocols.edge.protocol import EDGE, EDGE_PLAN
from protocols.edge.settings import EdgeSettings
from protocols.running.folder import RunFolder
from seqsearch.similarity.files import write
from tests.studies import execute
from tests.unit.edge.test_plan_only import some
from tests.unit.running.baits import call
from tests.unit.running.test_planted import plant

TINY: dict[str, Any] = {
    "methods": "simplecil", "pool": "glyphs:classes=8,train=2,reward=2,test=2", "tasks": 2, "score_seeds": 2, "crossed_orders": 1,
    "random_sequences": 10, "moves": 100, "rs_seeds": "", "fit": True,
}  # fmt: skip
PLAN = ("plan.json", "sequences.parquet")


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("edge") / "run"
    folder, settings = RunFolder.create(path, EdgeSettings(**TINY)), EdgeSettings(**TINY)
    assert execute(folder, settings)
    folder.close()
    return path


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan")
    write(path / "s.csv", some(6))
    call("edge", "--similarity", path / "s.csv", "--tasks", 3, "--plan-only", "--out", path / "run")
    return path / "run"


@pytest.mark.long
@pytest.mark.parametrize("name", EDGE.exports)
def test_an_edge_run_shows_and_resumes_nothing_through_a_link(edge: Path, tmp_path: Path, name: str) -> None:
    nothing_through_a_link(edge, tmp_path, name)


@pytest.mark.parametrize("name", PLAN)
def test_a_plan_shows_and_resumes_nothing_through_a_link(planned: Path, tmp_path: Path, name: str) -> None:
    nothing_through_a_link(planned, tmp_path, name)


def nothing_through_a_link(made: Path, tmp_path: Path, name: str) -> None:
    run, foreign = Path(shutil.copytree(made, tmp_path / "run")), tmp_path / "foreign"
    (run / name).rename(foreign)
    without = call("show", run)
    plant(run / name, foreign)
    shown = call("show", run)
    link = (2, "", f"seqsearch: {run / name}")
    assert (shown.exit_code, shown.stdout) == (without.exit_code, without.stdout) or (
        (shown.exit_code, shown.stdout, shown.stderr[: len(link[2])]) == link and "is a link" in shown.stderr
    )
    again = call("edge", "--resume", run)
    assert (again.exit_code, again.stderr) == (2, f"seqsearch: {run / name} is a link: remove it\n")


def test_a_mark_that_is_a_link_finishes_nothing(planned: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(planned, tmp_path / "run"))
    (run / "report.html").write_text("</html>")
    for protocol, names in ((EDGE_PLAN, PLAN), (EDGE, ("report.html",))):
        for name in names:
            assert protocol.finished(run)
            (run / name).rename(tmp_path / name)
            plant(run / name, tmp_path / name)
            assert not protocol.finished(run)
            (tmp_path / name).replace(run / name)
