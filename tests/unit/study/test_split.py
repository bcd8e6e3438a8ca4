"""``seqsearch split`` and `PoolPart`: the images of a run leave it, as a list and as a torch data set."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner, Result
from torch.utils.data import DataLoader

from protocols.cli.main import main
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import StateKey, reported
from seqsearch.pools.base import PARTS
from seqsearch.results.split_schema import SPLIT
from seqsearch.results.tables import read_rows, read_sequences
from seqsearch.study.pool_part import PoolPart
from seqsearch.training.context import task_data
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.unit.results.tiny_pool import pool

GLYPHS = "glyphs:classes=8,train=4,reward=2,test=2"


def split(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["split", *map(str, arguments)])


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A pool of each kind, halves and several."""
    root = tmp_path_factory.mktemp("pools")
    folder = pool(root / "photos", ["owl", "wren", "crow", "kite"])
    built = CliRunner().invoke(main, ["pool", "build", folder, str(root / "birds.parquet"), "--min-images", "4"])
    assert built.exit_code == 0, built.output
    return {
        "glyphs": GLYPHS,
        "folder": folder,
        "parquet": str(root / "birds.parquet"),
        "half": f"{GLYPHS},half=2",
        "several": f"{GLYPHS},{folder}",
    }


RUNS = {
    "edge": ["--tasks", "2", "--classes", "4", "--restarts", "2", "--random-sequences", "5", "--score-seeds", "2"],
    "mcil": ["--experiences", "2", "--classes", "4", "--orders", "2", "--seeds", "2"],
    "cldyb": ["--tasks", "2", "--classes-per-task", "2", "--candidates", "3", "--simulations", "2", "--lookahead", "0",
              "--random-sequences", "5", "--score-seeds", "1"],
    "gtep": ["--tune-pool", "glyphs:classes=8,train=4,reward=2,test=2,style=striped,half=2", "--tasks", "2",
             "--classes-per-task", "2", "--trials", "1"],
}  # fmt: skip
"""By protocol."""


@pytest.fixture(scope="module", params=[pytest.param("edge", marks=pytest.mark.long), "mcil", "cldyb", "gtep"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a protocol on two pools, for cldyb one that comes later."""
    root = tmp_path_factory.mktemp("runs")
    folder, name = pool(root / "photos", ["owl", "wren"]), request.param
    pools = (
        ["--pool", f"{GLYPHS},half=1", "--grow", f"2:{folder}"]
        if name == "cldyb"
        else ["--pool", f"{GLYPHS},half=1,{folder}"]
    )
    if name == "gtep":
        pools = ["--pool", f"{GLYPHS},half=1"]
    said = CliRunner().invoke(
        main,
        [
            name,
            *pools,
            "--methods",
            "simplecil",
            "--backbone",
            "glyph_vit",
            "--seed",
            "5",
            *RUNS[name],
            "--workers",
            "0",
            "--quiet",
            "--out",
            str(root / "run"),
        ],
    )
    assert said.exit_code == 0, said.output
    return root / "run"


@pytest.mark.parametrize("kind", ["glyphs", "folder", "parquet", "half", "several"])
def test_the_list_and_the_data_set_agree_and_parts_are_disjoint_and_whole(
    tmp_path: Path, pools: dict[str, str], kind: str
) -> None:
    out = tmp_path / "split.parquet"
    said = split("--pool", pools[kind], "--seed", 3, "--out", out, "--json")
    assert said.exit_code == 0, said.output
    listed = pd.DataFrame(read_rows(out, SPLIT))
    world = World(pools[kind], 3, "", "")
    assert not listed.duplicated(["pool_digest", "row"]).any()
    assert len(listed) == sum(c.count for c in world.images.classes) == sum(json.loads(said.stdout)["images"].values())
    first = {
        p.digest: int(world.images.offsets[world.images.class_index(i, 0)]) for i, p in enumerate(world.images.parts)
    }
    listed["world_row"] = listed["row"] + listed["pool_digest"].map(first)
    for part in PARTS:
        data = PoolPart.of_pool(pools[kind], part, seed=3, view=32)
        own = listed[listed["part"] == part]
        assert data.rows.tolist() == own["world_row"].tolist()
        assert [world.images.classes[i].name for i in data.labels] == own["class_name"].tolist()
    if kind == "folder":
        assert all((Path(pools[kind]) / path).is_file() for path in listed["path"])


@pytest.mark.parametrize("kind", ["glyphs", "folder", "parquet", "half", "several"])
def test_images_are_those_that_methods_are_given(tmp_path: Path, pools: dict[str, str], kind: str) -> None:
    world = World(pools[kind], 3, str(tmp_path / "cache"), str(tmp_path / "states"))
    trainer, backbone = Trainer(world), world.backbone("glyph_vit")
    method = trainer.fresh(StateKey(world.spec(parse_item("simplecil", "method"), "glyph_vit"), 3, 0, ()))
    searched = world.task(range(len(world.images.classes)))
    for task, parts in ((searched, ("train", "val")), (*reported([searched]), ("train", "val", "reward"))):
        given = task_data(world, trainer.source("glyph_vit"), task, method, 3, 0).train
        own = PoolPart.of_pool(pools[kind], *parts, seed=3, view=backbone.view)
        images, labels = next(iter(DataLoader(own, batch_size=len(own))))
        assert images.dtype == torch.uint8
        assert torch.equal(backbone.preprocess(images.numpy()), given.images)
        assert torch.equal(labels, given.labels)
    kept = {part: set(PoolPart.of_pool(pools[kind], part, seed=3, view=32).rows.tolist()) for part in PARTS}
    assert not kept["reward"] & kept["test"]


def test_the_images_of_a_run_come_by_arrival(tmp_path: Path, run: Path) -> None:
    said = split(run, "--out", tmp_path / "split.parquet")
    assert said.exit_code == 0, said.output
    listed = pd.DataFrame(read_rows(tmp_path / "split.parquet", SPLIT))
    sequences = read_sequences(run / "sequences.parquet")
    used = {(c.pool, c.index) for s in sequences for t in s.tasks for c in t.classes}
    marked = listed[listed["in_sequences"]]
    assert set(zip(marked["pool_digest"], marked["class_id"], strict=True)) == used
    assert set(listed["split_digest"]) >= {
        t.split for s in sequences for t in s.tasks if len({c.pool for c in t.classes}) == 1
    }
    assert len(PoolPart.of_run(run, *PARTS, view=32)) == len(listed)
    one = sequences[0]
    whole = PoolPart.of_run(run, "test", sequence=one.sequence_id, view=32)
    second = PoolPart.of_run(run, "test", sequence=one.sequence_id, task=2, view=32)
    classes = [c for t in one.tasks for c in t.classes]
    assert [whole.world.class_ids([i])[0] for i in whole.classes] == classes
    assert set(second.labels.tolist()) == {2, 3}
    assert torch.equal(second[0][0], whole[int(np.flatnonzero(whole.labels == 2)[0])][0])
    smaller = PoolPart.of_run(run, "test", sequence=one.sequence_id, view=32, transform=lambda image: image.sum())
    assert smaller[0] == (whole[0][0].sum(), 0)


def edited(run: Path, folder: Path, **changes: Any) -> Path:
    """A copy of a run's settings and sequences with some of its ``config.json`` changed."""
    folder.mkdir()
    config = json.loads((run / "config.json").read_text())
    for name, change in changes.items():
        config[name] = {**config[name], **change}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "sequences.parquet").write_bytes((run / "sequences.parquet").read_bytes())
    return folder


def test_a_run_of_other_images_or_code_is_refused_in_a_line(tmp_path: Path, run: Path) -> None:
    for number, (changes, words) in enumerate(
        (
            ({"settings": {"pool": "glyphs:classes=9"}}, "not those that the run used"),
            ({"settings": {"seed": 6}}, "does not give the split"),
            ({"settings": {"seed": "6"}}, "restore it"),
            ({"settings": {"pool": "mine.py:build"}}, "code of its own"),
            ({"identity": {"pool_digest": None}}, "does not say which images"),
        )
    ):
        copy, out = edited(run, tmp_path / str(number), **changes), tmp_path / "split.parquet"
        said = split(copy, "--out", out)
        assert (said.exit_code, len(said.stderr.splitlines())) == (2, 1), said.output
        assert words in said.stderr
        assert not out.exists()
    linked = edited(run, tmp_path / "linked")
    (linked / "sequences.parquet").unlink()
    (linked / "sequences.parquet").symlink_to(run / "sequences.parquet")
    assert split(linked, "--out", tmp_path / "split.parquet").exit_code == 2


def test_images_that_lie_elsewhere_now_are_named(tmp_path: Path, run: Path) -> None:
    folder = run.parent / "photos"
    shutil.copytree(folder, tmp_path / "moved/photos")
    config = json.loads((run / "config.json").read_text())
    own = [pool["pool"] for pool in config["identity"]["pools"]]
    moved = ",".join(str(tmp_path / "moved/photos") if Path(text).is_dir() else text for text in own)
    copy = edited(run, tmp_path / "run", settings={"pool": str(tmp_path / "gone")})
    assert split(copy, "--out", tmp_path / "split.parquet").exit_code == 2
    said = split(copy, "--pool", moved, "--out", tmp_path / "split.parquet")
    assert said.exit_code == 0, said.output
    assert split(run, "--out", tmp_path / "before.parquet").exit_code == 0
    lists = [read_rows(tmp_path / f"{name}.parquet", SPLIT) for name in ("split", "before")]
    for row in (r for rows in lists for r in rows):
        del row["pool"]
    assert lists[0] == lists[1]


def test_what_was_asked_for_is_checked(tmp_path: Path, pools: dict[str, str], run: Path) -> None:
    (tmp_path / "there.parquet").write_text("mine")
    for arguments, words in (
        (("--out", tmp_path / "a.parquet"), "--pool"),
        ((run, "--seed", 1, "--out", tmp_path / "a.parquet"), "--seed is of the run"),
        (("--pool", GLYPHS, "--out", tmp_path / "there.parquet"), "--force"),
        ((tmp_path, "--out", tmp_path / "a.parquet"), "no run folder"),
    ):
        said = split(*arguments)
        assert (said.exit_code, len(said.stderr.splitlines())) == (2, 1), said.output
        assert words in said.stderr
    for call, words in (
        (lambda: PoolPart.of_pool(GLYPHS), "name one or more of train"),
        (lambda: PoolPart.of_pool(GLYPHS, "test", "test"), "each once"),
        (lambda: PoolPart.of_pool(pools["folder"], "test"), "view=224"),
        (lambda: PoolPart.of_pool(pools["folder"], "test", classes=["owls"], view=32), "'owl'"),
        (lambda: PoolPart.of_run(run, "test", sequence="none"), "has no sequence"),
        (lambda: PoolPart.of_run(run, "test", task=1), "name the sequence"),
    ):
        with pytest.raises(UserError, match=words):
            call()


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[3] / "docs/split.md").read_text()
    [block] = [b for b in re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S) if "PoolPart" in b]
    exec(compile(block, "docs/split.md", "exec"), {})
    assert f"prints `{capsys.readouterr().out.strip()}`" in text
