"""Custom methods that import their neighbours, custom pools and streams, in workers of a real cluster."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from seqsearch.core.installation import ROOT
from tests.commands import seqsearch_here
from tests.conformance.lab import TEMPLATES
from tests.ray.test_runs import seqsearch

MINE = """
from seqsearch.methods.simplecil import build as SimpleCIL

class {name}(SimpleCIL):
    def predict(self, batch):
        from helpers import changed
        return changed(super().predict(batch))
"""


@pytest.mark.long
def test_workers_find_the_neighbours_of_each_file(tmp_path: Path) -> None:
    methods = []
    for name, formula in (("Same", "scores"), ("Reversed", "-scores")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "helpers.py").write_text(f"def changed(scores):\n    return {formula}\n")
        (tmp_path / name / "mine.py").write_text(MINE.format(name=name))
        methods.append(f"{tmp_path / name / 'mine.py'}:{name}")
    small = ("--pool", "glyphs:classes=12,train=6,reward=3,test=3", "--tasks", 2, "--classes-per-task", 2)
    search = ("--candidates", 6, "--condensed", 2, "--clusters", 2, "--simulations", 2, "--score-seeds", 1)
    found = []
    for workers, command in ((0, seqsearch_here), (2, seqsearch)):
        run = tmp_path / f"run{workers}"
        command("cldyb", "--methods", ",".join(methods), *small, *search, "--workers", workers, "--out", run)
        found.append(pq.read_table(run / "sequences.parquet").drop_columns("run_id").to_pylist())
    assert found[0] == found[1]
    assert "Same" in str(found[0])
    assert "Reversed" in str(found[0])


@pytest.mark.long
def test_an_error_in_a_worker_is_shown_at_the_users_line(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(
        "import torch\n\ndef changed(scores):\n    return torch.cat([scores, scores[0]])\n"
    )
    (tmp_path / "mine.py").write_text(MINE.format(name="Mine"))
    small = ("--pool", "glyphs:classes=8,train=6,reward=3,test=3", "--tasks", 2, "--classes-per-task", 2)
    method, run = ("--methods", f"{tmp_path}/mine.py:Mine"), tmp_path / "run"
    plain = seqsearch("cldyb", *method, *small, "--workers", 1, "--out", run, check=False)
    assert plain.returncode == 2
    assert plain.stderr.splitlines()[-1].count("(helpers.py:4)") == 1
    assert "Traceback" not in plain.stderr
    full = seqsearch("cldyb", "--resume", run, "--workers", 1, "--traceback", check=False)
    for line in (f'{tmp_path}/helpers.py", line 4, in changed', f'{tmp_path}/mine.py", line 7, in predict'):
        assert full.stderr.count(line) == 1


@pytest.mark.long
def test_a_folder_named_actors_where_a_run_is_started_is_not_taken_for_ours_by_workers(tmp_path: Path) -> None:
    """The console script does not search the working directory (``-P``), nor do workers."""
    (tmp_path / "actors").mkdir()
    (tmp_path / "actors" / "__init__.py").write_text("raise SystemExit('a folder of the user is run')\n")
    small = "--methods simplecil --pool glyphs:classes=12,train=6,reward=3,test=3 --tasks 2 --classes-per-task 2 --candidates 2"
    few = "--condensed 2 --clusters 2 --simulations 2 --score-seeds 1 --random-sequences 0 --workers 1 --out run"
    subprocess.run(
        [sys.executable, "-P", "-m", "seqsearch", "cldyb", *small.split(), *few.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=300,
    )
    assert (tmp_path / "run" / "sequences.parquet").is_file()


@pytest.mark.long
def test_the_pool_and_the_stream_that_ship_are_made_again_by_workers(tmp_path: Path) -> None:
    """Results with workers are those of one process, and the zip beside the file is found from another folder."""
    for name in ("pool", "stream"):
        (tmp_path / f"{name}.py").write_text((TEMPLATES / f"{name}.py").read_text())
    with zipfile.ZipFile(tmp_path / "drawn.zip", "w") as made:
        for number, level in enumerate((40, 90, 140, 190, 240, 15)):
            for image in range(12):
                png = io.BytesIO()
                Image.effect_noise((24, 24), level).save(png, "PNG")
                made.writestr(f"noise {number}/{image}.png", png.getvalue())
    search = ("--candidates", 4, "--condensed", 2, "--clusters", 2, "--simulations", 2, "--score-seeds", 1)
    cldyb = ("cldyb", "--methods", "simplecil", "--tasks", 2, "--classes-per-task", 2, *search)
    online = (
        "online",
        "--methods",
        "ncm",
        "--stream",
        f"{tmp_path}/stream.py:drifting_stripes:samples=600",
        "--shift",
        64,
    )
    pool = ("--pool", f"{tmp_path}/pool.py:ZippedImages:file=drawn.zip")
    for number, (words, table) in enumerate((((*cldyb, *pool), "sequences"), (online, "curves"))):
        found = []
        for workers, command in ((0, seqsearch_here), (2, seqsearch)):
            run = tmp_path / f"run{number}-{workers}"
            command(*words, "--workers", workers, "--out", run)
            found.append(pq.read_table(run / f"{table}.parquet").drop_columns("run_id").to_pylist())
        assert found[0]
        assert found[0] == found[1]
