"""What a toolbox makes of an export is what we have: (path, label, task, split), image by image."""

from __future__ import annotations

import contextlib
import importlib
import json
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.unit.formats.cases import Case, Rows, cases
from tests.unit.formats.toolboxes import AVALANCHE, LAMDA, MAMMOTH

KINDS = ("equal", "unequal, few", "more than 100", "folder")


@contextlib.contextmanager
def toolbox(root: Path, files: Mapping[str, str], *also: Path) -> Iterator[None]:
    """A toolbox that can be imported, and is forgotten afterwards."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    before, path = dict(sys.modules), list(sys.path)
    sys.path[:0] = [str(root), *map(str, also)]
    importlib.invalidate_caches()
    for name in [n for n in sys.modules if n.split(".")[0] in {f.split("/")[0].removesuffix(".py") for f in files}]:
        del sys.modules[name]
    try:
        yield
    finally:
        sys.path[:] = path
        for name in [n for n in sys.modules if n not in before]:
            if str(root) in str(getattr(sys.modules[name], "__file__", "")) or name.startswith("seqsearch_"):
                del sys.modules[name]
        sys.modules.update(before)


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pools")


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, pools: Path) -> Case:
    return cases(pools)[request.param]


def of_avalanche(scenario: Any, found: Any, folder: Path) -> Rows:
    """Data are positions in the loader's images."""
    rows = Rows()
    for split, stream in (("train", scenario.train_stream), ("test", scenario.test_stream)):
        paths = found.Images(folder, split).paths
        for e in stream:
            rows += [(paths[int(item[0])], int(item[1]), e.current_experience, split) for item in e.dataset]
    return sorted(rows)


def check_avalanche(case: Case, tmp_path: Path) -> None:
    folder = case.exported(tmp_path, "avalanche")
    sys.path.insert(0, str(folder))
    found = importlib.import_module("seqsearch_avalanche")
    images = found.Images(folder, "train")
    image, label = images[0]
    assert image.mode == "RGB"
    assert label == images.targets[0]
    found.Images.__getitem__ = lambda self, i: (i, self.targets[i])
    expected = case.expected(folder)
    assert of_avalanche(found.benchmark(folder), found, folder) == expected
    assert of_avalanche(found.classic_benchmark(folder), found, folder) == expected
    check_own_data(case, found, folder)


def check_own_data(case: Case, found: Any, folder: Path) -> None:
    """The order alone, on data whose targets are class ids."""
    from torch.utils.data import Dataset

    class Own(Dataset[Any]):
        def __init__(self) -> None:
            self.targets = [c for c in range(len(case.world.images.classes)) for _ in range(2)]

        def __len__(self) -> int:
            return len(self.targets)

        def __getitem__(self, i: int) -> Any:
            return i, self.targets[i]

    flat = [(c, t) for t, task in enumerate(case.tasks) for c in sorted(task)]
    expected = sorted((2 * c + k, label, t) for label, (c, t) in enumerate(flat) for k in (0, 1))
    scenario = found.of_datasets(folder, Own(), Own())
    rows = [(int(x[0]), int(x[1]), e.current_experience) for e in scenario.train_stream for x in e.dataset]
    assert sorted(rows) == expected


def test_avalanche_by_its_rule(case: Case, tmp_path: Path) -> None:
    with toolbox(tmp_path / "toolbox", AVALANCHE):
        check_avalanche(case, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_avalanche_itself(kind: str, pools: Path, tmp_path: Path) -> None:
    """Importing it takes ten seconds or more."""
    pytest.importorskip("avalanche")
    with toolbox(tmp_path / "none", {}):
        check_avalanche(cases(pools)[kind], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("constructor", ["benchmark", "classic_benchmark"])
def test_a_strategy_of_avalanche_learns_an_export(constructor: str, pools: Path, tmp_path: Path) -> None:
    pytest.importorskip("avalanche")
    import torch
    from avalanche.evaluation.metrics import accuracy_metrics
    from avalanche.training.plugins import EvaluationPlugin
    from avalanche.training.supervised import Replay
    from torchvision.transforms import ToTensor

    case = cases(pools)["unequal, few"]
    folder = case.exported(tmp_path, "avalanche")
    with toolbox(tmp_path / "none", {}, folder):
        found = importlib.import_module("seqsearch_avalanche")
        scenario = getattr(found, constructor)(folder, ToTensor(), ToTensor())
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 6))
    strategy = Replay(
        model=network,
        optimizer=torch.optim.SGD(network.parameters(), 0.01),
        criterion=torch.nn.CrossEntropyLoss(),
        mem_size=6,
        train_mb_size=4,
        evaluator=EvaluationPlugin(accuracy_metrics(experience=True), loggers=[]),
    )
    for experience in scenario.train_stream:
        strategy.train(experience)
    assert len(strategy.eval(scenario.test_stream)) == len(case.tasks)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "size", "said"),
    [("unequal, few", 32, "Images have 32 x 32 pixels."), ("folder", 224, "Images differ in size")],
)
def test_the_script_of_an_export_runs_as_it_stands(
    kind: str, size: int, said: str, pools: Path, tmp_path: Path
) -> None:
    pytest.importorskip("avalanche")
    case = cases(pools)[kind]
    root = case.exported(tmp_path, "avalanche", images="copy").parent
    readme = (root / "README.md").read_text()
    assert said in readme
    script = readme.partition("```python\n")[2].partition("```")[0].replace("DIR", str(root))
    assert f"Resize(({size}, {size}))" in script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Top1_Acc_Stream/eval_phase/test_stream") >= len(case.tasks)


@pytest.mark.parametrize(("kind", "name"), [*((kind, "pilot") for kind in KINDS), ("unequal, few", "pycil")])
def test_pilot_and_pycil(kind: str, name: str, pools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases(pools)[kind]
    folder = case.exported(tmp_path, name)
    said = run_lamda(folder, name, tmp_path, monkeypatch)
    assert said["rows"] == [list(row) for row in case.expected(folder)]
    assert said["increments"] == [len(t) for t in case.tasks]
    assert said["use_path"]
    assert set(said["accuracy"].values()) == {100.0}
    assert len(said["accuracy"]) == 3 + len(case.tasks)


@pytest.mark.parametrize("tasks", [((2, 0, 1), (8, 3, 5), (4, 7, 6)), ((2, 0, 1, 8), (3,), (5, 4, 7, 6))])
def test_pilot_without_images(tasks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of all classes on the toolbox's own data."""
    case = Case("glyphs:classes=9", tasks)
    folder = case.exported(tmp_path, "pilot", images="none")
    said = run_lamda(folder, "pilot", tmp_path, monkeypatch)
    order = [c for t in tasks for c in sorted(t)]
    task = [t for t, own in enumerate(tasks) for _ in own]
    expected = [(f"own/train/{i}.png", order.index(i % 9), task[order.index(i % 9)], "train") for i in range(18)]
    expected += [(f"own/test/{i}.png", order.index(i), task[order.index(i)], "test") for i in range(9)]
    assert said["rows"] == sorted(map(list, expected))
    assert not said["use_path"]


def run_lamda(folder: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    root = tmp_path / "toolbox"
    config = {"dataset": "other", "shuffle": True, "seed": [1993], "init_cls": 1, "increment": 1}
    config["backbone_type" if name == "pilot" else "convnet_type"] = "x" if name == "pilot" else ""
    with toolbox(root, {**LAMDA, "utils/data_manager.py": "CLASSES = 9\n" + LAMDA["utils/data_manager.py"]}):
        (root / "config.json").write_text(json.dumps(config))
        monkeypatch.chdir(root)
        monkeypatch.setattr(sys, "argv", ["seqsearch_run.py", "--config", "config.json"])
        runpy.run_path(str(folder / "seqsearch_run.py"), run_name="__main__")
    said = json.loads((root / "said.json").read_text())
    said["rows"].sort()
    return said


def mammoth_args() -> SimpleNamespace:
    return SimpleNamespace(permute_classes=0, seed=0, validation=None, joint=False)


def test_mammoth(case: Case, tmp_path: Path) -> None:
    pytest.importorskip("torchvision")
    folder = case.exported(tmp_path, "mammoth")
    root = tmp_path / "toolbox"
    with toolbox(root, MAMMOTH):
        (root / "datasets" / "seq_found.py").symlink_to(folder / "seqsearch_mammoth.py")
        found = importlib.import_module("datasets.seq_found")
        dataset = found.SeqSearch(mammoth_args())
        rows = Rows()
        for task in range(dataset.N_TASKS):
            for split, data in zip(("train", "test"), dataset.get_data_loaders(), strict=True):
                rows += [(str(p), int(y), task, split) for p, y in zip(data.data, data.targets, strict=True)]
                assert len(data[0]) == (3 if split == "train" else 2)
                assert data[0][0].shape == (3, 224, 224)
        assert sorted(rows) == case.expected(folder)
        assert dataset.get_batch_size() == 32
        assert dataset.get_backbone() == found.SeqSearch.get_backbone() == "resnet18"
        defaults = importlib.import_module("datasets.utils").DEFAULT_ARGS
        assert defaults == {"seq-found": {"backbone": "resnet18", "batch_size": 32, "n_epochs": 50}}
        assert dataset.NAME == "seq-found"
        assert len(dataset.get_class_names()) == dataset.N_CLASSES


@pytest.mark.parametrize("tasks", [((2, 0, 1), (8, 3, 5), (4, 7, 6)), ((2, 0, 1, 8), (3,), (5, 4, 7, 6))])
def test_mammoth_without_images(tasks: Any, tmp_path: Path) -> None:
    """The inverse order: a data set's own labels become labels by arrival."""
    folder = Case("glyphs:classes=9", tasks).exported(tmp_path, "mammoth", images="none")
    flat = [(c, t) for t, task in enumerate(tasks) for c in sorted(task)]
    with toolbox(tmp_path / "toolbox", MAMMOTH, folder):
        base = importlib.import_module("datasets.utils.continual_dataset")

        class Own(base.ContinualDataset):
            NAME, SETTING, N_CLASSES, N_TASKS, N_CLASSES_PER_TASK, SIZE = "seq-own", "class-il", 9, 3, 3, (8, 8)

            def get_data_loaders(self) -> Any:
                data = [SimpleNamespace(data=np.arange(9), targets=np.arange(9)) for _ in range(2)]
                return base.store_masked_loaders(*data, self)

        reorder = importlib.import_module("seqsearch_mammoth").reorder
        before = Case("glyphs:classes=9", ((8, 7, 6, 5, 4), (3, 2, 1, 0))).exported(
            tmp_path / "x", "mammoth", "x", "none"
        )
        reorder(Own, before)
        dataset = reorder(Own, folder)(mammoth_args())
        for t in range(3):
            train, _ = dataset.get_data_loaders()
            pairs = sorted(zip(train.data.tolist(), train.targets.tolist(), strict=True))
            assert pairs == sorted((c, label) for label, (c, task) in enumerate(flat) if task == t)
