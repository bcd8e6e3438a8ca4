"""Runs of a method that guesses say so, in the closing notes, in ``show`` and in the report; others do not."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.report.common_notes import at_chance as notes
from protocols.running.at_chance import Ended, at_chance, at_chance_or_none
from seqsearch.pools.glyphs import build
from seqsearch.results.run import Scored, TaskImages

GUESSES = """
import torch
from seqsearch.methods.simplecil import build as SimpleCIL

class Guesses(SimpleCIL):
    "Its scores are those of noise: drawn by the image, so that they are the same whenever it is asked."

    def predict(self, batch):
        scores = super().predict(batch)
        noise = torch.sin(scores.double() * 1e6).to(scores.dtype)
        return noise
"""
SMALLEST = [
    "--pool", "glyphs:classes=24,train=8,reward=4,test=10", "--tasks", 2, "--classes-per-task", 3, "--candidates", 4,
    "--condensed", 2, "--simulations", 2, "--score-seeds", 2, "--workers", 0,
]  # fmt: skip


def scored(*tasks: tuple[tuple[int, ...], int]) -> Scored:
    """A training: for each task its images of each class, and how many of them were right."""
    right = tuple(TaskImages(n, np.arange(sum(n)) < k) for n, k in tasks)
    last = np.array([images.right.mean() for images in right])
    accuracy = np.full((len(tasks), len(tasks)), np.nan)
    accuracy[-1] = last
    return Scored("ok", accuracy, accuracy, {}, right)


def test_what_is_said_of_a_method_at_chance() -> None:
    below, above = scored(((10, 10), 2), ((10, 10), 8)), scored(((10, 10), 6), ((10, 10), 7))
    found = at_chance("er", "on random sequences", [below, above])
    assert found is not None
    assert (found.accuracy, found.chance, found.classes) == (pytest.approx(0.2875), 0.25, (4, 4))
    needed, test = notes([found])
    assert needed.text == (
        "er: Acc 28.7 % on random sequences is not significantly above chance, which is 25.0 % for 4 classes. One of 2 trainings "
        "would need 17 of 40 test images right (42.5 %)."
    )
    assert (test.code, test.values) == ("chance.test", {"level": 0.05})
    lone = at_chance("er", "on found sequences", [below])
    assert lone is not None
    assert next(notes([lone])).values["trainings"] == 1
    assert list(notes([])) == []


def uneven(*tasks: tuple[tuple[int, ...], tuple[int, ...]]) -> Scored:
    """The same from how many images of each class were right."""
    found = scored(*((n, sum(k)) for n, k in tasks))
    bits = (np.concatenate([np.arange(n) < k for n, k in zip(ns, ks, strict=True)]) for ns, ks in tasks)
    right = tuple(TaskImages(ns, b) for (ns, _), b in zip(tasks, bits, strict=True))
    return Scored(found.status, found.accuracy, found.masked, found.row, right)


def test_unequal_numbers_of_images_count_class_by_class() -> None:
    """What is printed as chance is not what a share of all images would be held against, so that none is named."""
    large, small = (60, 60), (2, 2)
    assert at_chance("er", "on random sequences", [uneven((large, (40, 20)), (small, (2, 2)), (small, (2, 2)))]) is None
    assert at_chance("er", "on random sequences", [uneven(((90, 5, 5), (77, 5, 5)))]) is None, (
        "below 90 % of all, and yet it tells all"
    )
    found = at_chance("er", "on random sequences", [uneven((large, (30, 20)), (small, (0, 1)))] * 2)
    assert found is not None
    undecided = next(notes([found]))
    assert (undecided.code, undecided.values["p"], undecided.values["trainings"]) == ("chance.undecided", 1.0, 2)
    of_tasks = at_chance("er", "on random sequences", [scored(((5, 5), 2), ((5,) * 6, 3))])
    assert of_tasks is not None
    assert next(notes([of_tasks])).text.endswith(
        "which is 25.0 % for 8 classes (p = 0.571, Bonferroni over 1 training)."
    )


def test_what_is_told_or_not_known_is_not_said() -> None:
    guessed = scored(((10, 10), 5), ((10, 10), 5))
    assert at_chance("er", "on random sequences", [guessed, scored(((10, 10), 12), ((10, 10), 12))]) is None, (
        "one of two is told"
    )
    assert at_chance("er", "on random sequences", []) is None
    assert at_chance("er", "on random sequences", [guessed, Scored("ok", guessed.accuracy, guessed.masked, {})]) is None


def test_classes_without_images_do_not_count() -> None:
    """Rows of others may have such."""
    some, all_but = Ended((2, 0, 3), (10, 0, 10), 0.25, 0.5), Ended((2, 3), (10, 10), 0.25, 0.5)
    assert at_chance_or_none("er", "", "Acc", [some]) == at_chance_or_none("er", "", "Acc", [all_but])
    assert at_chance_or_none("er", "", "Acc", [Ended((0,), (0,), 0.0, 1.0)]) is None


def test_few_images_claim_nothing_of_what_is_above_chance() -> None:
    assert at_chance("er", "on random sequences", [scored(((1, 1), 2), ((1, 1), 2))]) is None, (
        "4 of 4 by chance: one in 256"
    )
    assert at_chance("er", "on random sequences", [scored(((2, 2), 4))]) is None
    found = at_chance("er", "on random sequences", [scored(((2, 2), 2))])
    assert found is not None
    assert next(notes([found])).code == "chance.too_few"


SMALL = {
    "cldyb": SMALLEST,
    "edge": [
        "--pool", "glyphs:classes=6,train=8,reward=4,test=10", "--tasks", 3, "--random-sequences", 5, "--rs-seeds", "",
        "--crossed-orders", 0, "--score-seeds", 2, "--workers", 0,
    ],
    "gtep": [
        "--tune-pool", "glyphs:classes=12,train=8,reward=4,test=10,half=1", "--pool",
        "glyphs:classes=12,train=8,reward=4,test=10,half=2",
        "--tasks", 2, "--orders", 2, "--params", "original", "--workers", 0,
    ],
    "mcil": [
        "--pool", "glyphs:train=8,reward=4,test=10", "--backbone", "glyph_vit", "--experiences", 2, "--classes", 6, "--seeds", 2,
        "--workers", 0,
    ],
}  # fmt: skip
SAID = {
    "gtep": ("Acc", "on pool 1"),
    "mcil": ("balanced accuracy", "after the last experience"),
    "score": ("Acc", "on given sequences"),
}
"""Which accuracy, and where; of the others as here by default."""


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of class names to score on."""
    path = tmp_path_factory.mktemp("orders") / "orders.csv"
    names = [c.name for c in build(classes=6).classes]
    lines = [f"one,{1 + i // 2},{name}" for i, name in enumerate(names)]
    path.write_text("\n".join(["sequence_id,step,class_name", *lines]) + "\n")
    return path


@pytest.mark.parametrize(
    "protocol", [*(pytest.param(p, marks=pytest.mark.long if p == "mcil" else ()) for p in SMALL), "score"]
)
def test_a_run_of_a_method_that_guesses_says_so(tmp_path: Path, orders: Path, protocol: str) -> None:
    (tmp_path / "own.py").write_text(GUESSES)
    run = tmp_path / "run"
    more = SMALL.get(protocol) or [
        orders,
        "--pool",
        "glyphs:classes=6,train=8,reward=4,test=10",
        "--score-seeds",
        2,
        "--workers",
        0,
    ]
    methods = f"{tmp_path}/own.py:Guesses,simplecil"
    ended = CliRunner().invoke(main, [protocol, *map(str, more), "--methods", methods, "--out", str(run), "--json"])
    assert ended.exit_code == 0, ended.stderr
    notes = json.loads(ended.stdout)["notes"]
    figure, where = SAID.get(protocol, ("Acc", "on random sequences"))
    [said] = [n for n in notes if n.startswith(f"own.py:Guesses: {figure} ") and f" % {where} is not " in n]
    assert "chance (16.7 % for 6 classes)" in said or "chance, which is 16.7 % for 6 classes" in said
    assert not any(n.startswith("simplecil: ") and "chance" in n for n in notes)
    shown = CliRunner().invoke(main, ["show", str(run), "--details"]).stdout
    assert "".join(said.split()) in "".join(shown.split())
    assert said in html.unescape((run / "report.html").read_text())


def test_of_one_task_it_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(GUESSES)
    words = ["cldyb", *map(str, SMALLEST), "--tasks", "1", "--methods", f"{tmp_path}/own.py:Guesses", "--json"]
    ended = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "run")])
    assert ended.exit_code == 0, ended.stderr
    [said] = [
        n for n in json.loads(ended.stdout)["coded"]["notes"] if n["code"] in ("chance.needed", "chance.undecided")
    ]
    assert said["values"]["where"] == "on all sequences"
    assert said["values"]["trainings"] == 2, "two seeds, whatever the number of sequences that share the task"
