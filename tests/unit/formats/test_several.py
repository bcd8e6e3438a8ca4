"""Several sequences of one export: the lines of its README, as they stand, load each of them."""

from __future__ import annotations

import importlib
import json
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from protocols.evaluate.common.source import Source
from protocols.evaluate.exchange.export import export
from protocols.evaluate.exchange.imported import pool_names
from protocols.evaluate.exchange.selection import Images, Wanted, _world
from protocols.running.folder import RunFolder
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.formats.folder import alike, folder_names
from tests.studies import small_settings
from tests.unit.formats.test_round_trip import mammoth_args, toolbox
from tests.unit.formats.toolboxes import AVALANCHE, MAMMOTH

POOL = "glyphs:classes=6,train=2,reward=1,test=1"
ORDERS = {"a_b": [[0, 1], [2, 3]], "a-b": [[5, 4], [3]], "A.B": [[2], [5, 0, 1]]}
"""Names that some file system or toolbox takes for one."""


def exported(tmp_path: Path, to: str, images: Images = "copy") -> tuple[Path, dict[str, str]]:
    """The export, and the folder of each sequence."""
    names, file, out = pool_names(POOL), tmp_path / "orders.json", tmp_path / "out"
    file.write_text(json.dumps({s: [[names[c] for c in task] for task in tasks] for s, tasks in ORDERS.items()}))
    said = export(Wanted(str(file), pool=POOL), to, images, out, print)
    return out, {s["sequence_id"]: s["folder"] for s in said["sequences"]}


def blocks(out: Path) -> list[str]:
    """The lines to run, a text a sequence, in their order."""
    text = (out / "README.md").read_text().split("## How to run it")[1].split("##")[0].replace("DIR/", f"{out}/")
    found = [b for b in text.split("\n\n") if b.startswith("    ")]
    return ["\n".join(line.removeprefix("    ") for line in b.splitlines()) for b in found]


def seen(scenario: Any) -> list[list[int]]:
    return [sorted({int(label) for _, label in e.dataset}) for e in scenario.train_stream]


def by_arrival(sequence: str) -> list[list[int]]:
    """Labels of each task."""
    sizes = list(map(len, ORDERS[sequence]))
    return [list(range(sum(sizes[:t]), sum(sizes[: t + 1]))) for t in range(len(sizes))]


@pytest.mark.parametrize("images", ["copy", "none"])
def test_avalanche_loads_each_sequence_in_one_process(images: Images, tmp_path: Path) -> None:
    out, _ = exported(tmp_path, "avalanche", images)
    data = SimpleNamespace(targets=list(range(6)))
    own = type("Own", (), {"targets": data.targets, "__len__": lambda s: 6, "__getitem__": lambda s, i: (i, i)})()
    with toolbox(tmp_path / "toolbox", AVALANCHE):
        said: dict[str, Any] = {"train_transform": None, "eval_transform": None, "train": own, "test": own}
        for sequence, lines in zip(ORDERS, blocks(out), strict=True):
            exec(compile(lines, "README.md", "exec"), said)
            assert seen(said["scenario"]) == by_arrival(sequence)


def test_mammoth_knows_each_sequence_by_the_name_that_it_is_run_by(tmp_path: Path) -> None:
    pytest.importorskip("torchvision")
    out, _ = exported(tmp_path, "mammoth")
    root = tmp_path / "toolbox"
    with toolbox(root, MAMMOTH):
        names = [linked(lines, root) for lines in blocks(out)]
        found = importlib.import_module("datasets").get_dataset_names()
        assert sorted(found) == sorted(set(names))
        assert len(found) == len(ORDERS)
        for sequence, name in zip(ORDERS, names, strict=True):
            dataset = found[name](mammoth_args())
            tasks = [sorted(set(dataset.get_data_loaders()[0].targets.tolist())) for _ in range(dataset.N_TASKS)]
            assert tasks == by_arrival(sequence)


def linked(lines: str, root: Path) -> str:
    """Do what the first line says; the name of the data set in the last."""
    link, _, run = (shlex.split(line) for line in lines.splitlines())
    assert link[:2] == ["ln", "-s"]
    Path(link[3].replace("MAMMOTH", str(root))).symlink_to(link[2])
    return run[run.index("--dataset") + 1]


def test_folders_of_names_that_are_alike_are_not(tmp_path: Path) -> None:
    out, folders = exported(tmp_path, "csv", "none")
    assert len({alike(f) for f in folders.values()}) == len(ORDERS)
    for sequence, folder in folders.items():
        assert json.loads((out / folder / "sequence.json").read_text())["sequence_id"] == sequence


def test_folders_are_never_shared() -> None:
    """Whatever the names: digests of six digits that agree, names that look like folders of others, names of our files."""
    by_digest: dict[str, str] = {}
    for name in map(chr, range(0x4E00, 0xA000)):
        own = digest_of("folder", name)[:6]
        if own in by_digest:
            break
        by_digest[own] = name
    twins = [by_digest[own], name]
    assert alike(folder_names(twins[:1])[twins[0]]) == alike(folder_names(twins[1:])[name])
    assert len(set(folder_names(["x y", "x-y", "X_y", *twins]).values())) == 5
    own_files = folder_names(["sequences.json", "README.md", "IMAGES", "Export.json"])
    assert not any(folder == name for name, folder in own_files.items())
    [digested, _] = folder_names(["a_b", "a-b"]).values()
    with pytest.raises(UserError, match="would be one folder"):
        folder_names(["a_b", "a-b", digested])
    with pytest.raises(UserError, match="'a' and 'a' would be one folder"):
        folder_names(["a", "a"])


@pytest.mark.parametrize("grow", ["x:glyphs", f"{'9' * 5000}:glyphs", ":glyphs", "1:glyphs"])
def test_what_a_run_says_of_classes_to_come_is_checked(grow: str, tmp_path: Path) -> None:
    """Its ``grow`` is a text of others, too."""
    folder = RunFolder.create(tmp_path / "run", small_settings(tasks=2))
    config = json.loads((folder.path / "config.json").read_text())
    config["settings"]["grow"] = [grow]
    (folder.path / "config.json").write_text(json.dumps(config))
    source = Source(folder.path, data=cast(Any, object()))
    with pytest.raises(UserError, match=r"config.json: --grow .*(STEP:POOL|step must be from 2)") as caught:
        _world(source, Wanted(str(folder.path)))
    assert "\n" not in str(caught.value)
