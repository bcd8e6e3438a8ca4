"""Methods by command: what they are given, what is taken of what they answer, and what they may not do."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import HEAD, EdgeResult
from seqsearch.core.registry import located
from seqsearch.core.types import Edge, JudgedPart, MethodSpec, Probe, StateKey, Task, reported
from seqsearch.engine.journal_lines import understood, written
from seqsearch.storage.inside import Inside
from seqsearch.training.command import confined
from seqsearch.training.command.answer import BadAnswer, _images, read_answer
from seqsearch.training.command.places import OUTPUT
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.photos import write_digits

LEARNER = Path(__file__).with_name("learner.py")
POOL = "glyphs:classes=12,train=6,reward=2,test=3"


def spec_of(world: World, how: str, *more: str, **params: object) -> MethodSpec:
    text = "cmd:" + shlex.join([sys.executable, str(LEARNER), how, "{sequence}", "{out}", *more])
    item = located(parse_item(text, "method"), Path.cwd())
    return world.spec(replace(item, params=tuple(params.items())), "glyph_vit")


class Lab:
    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        (self.run / "states").mkdir(parents=True)
        (self.run / "config.json").write_text("mine")
        self.world = World(POOL, 0, str(folder / "cache"), str(self.run / "states"))
        self.trainer = Trainer(self.world)
        self.tasks: tuple[Task, ...] = self.world.task([7, 2]), self.world.task([4, 5, 9]), self.world.task([0])

    def train(
        self, how: str, *more: str, judged: JudgedPart = "test", replicate: int = 0, **params: object
    ) -> EdgeResult:
        prefix = reported(self.tasks) if judged == "test" else self.tasks
        key = StateKey(spec_of(self.world, how, *more, **params), 0, replicate, prefix)
        return self.trainer.train(Edge(key, judged, keep=False))

    @property
    def folder(self) -> Path:
        """Of the only command that was run."""
        [found] = (self.run / "commands").iterdir()
        return found


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def pixels(lab: Lab, rows: np.ndarray) -> np.ndarray:
    from seqsearch.pools.base import View

    size = lab.world.images.native_size
    return lab.world.images.images(rows, View(size)).astype(np.float64).reshape(len(rows), -1)


def nearest_means(lab: Lab, judged: JudgedPart) -> list[tuple[int, ...]]:
    """Images right of each task after each task, computed here from the pool's own pixels."""
    fit = ("train", "val", "reward") if judged == "test" else ("train", "val")
    classes = [c for t in lab.tasks for c in t.classes]
    means = np.stack([pixels(lab, lab.world.rows((c,), *fit)[0]).mean(0) for c in classes])
    found, first, ends = [], 0, np.cumsum([len(t.classes) for t in lab.tasks])
    for end in ends.tolist():
        row, first = [], 0
        for task in lab.tasks:
            if first >= end:
                break
            rows, positions = lab.world.rows(task.classes, judged)
            seen = pixels(lab, rows)
            nearest = ((seen[:, None] - means[None, :end]) ** 2).sum(-1).argmin(1)
            row.append(int((nearest == positions + first).sum()))
            first += len(task.classes)
        found.append(tuple(row))
    return found


@pytest.mark.parametrize("judged", ["test", "reward"])
def test_a_command_is_given_the_images_that_methods_are_and_its_answer_is_taken(lab: Lab, judged: JudgedPart) -> None:
    result = lab.train("learns", judged=judged)
    assert result.status == "ok", result.message
    assert list(result.steps) == nearest_means(lab, judged)
    rows = list(csv.DictReader((lab.folder / "sequence" / "manifest.csv").open(newline="")))
    assert len(rows) == len({r["path"] for r in rows}) == sum(
        len(lab.world.rows(t.classes, p)[0]) for t in lab.tasks
        for p in (("train", "val", "reward", "test") if judged == "test" else ("train", "val", "reward"))
    )  # fmt: skip
    assert {r["part"] for r in rows if r["split"] == "test"} == {judged}
    steps = result.each_step()
    assert [s.correct for s in steps] == [tuple(row) for row in result.steps]
    assert [len(s.counts) for s in steps] == [1, 2, 3]
    assert all(s.masked_correct == () for s in steps)
    assert understood(written({"edge": {**vars(result), "classifiers": [vars(c) for c in result.classifiers]}}))


def test_predictions_say_which_images_are_right(lab: Lab) -> None:
    result = lab.train("predicts")
    head = result.of(HEAD)
    assert result.status == "ok", result.message
    assert [sum(c) for c in head.correct] == list(result.steps[-1]) == list(nearest_means(lab, "test")[-1])
    assert [len(c) for c in head.correct] == [2, 3, 1]
    assert head.images
    edited = replace(result, steps=((9,), *result.steps[1:]))
    with pytest.raises(ValueError, match="more images right"):
        understood(written({"edge": {**vars(edited), "classifiers": [vars(c) for c in edited.classifiers]}}))


def test_the_seed_is_the_same_for_every_sequence_and_goes_where_it_is_asked_for(lab: Lab) -> None:
    for replicate in (0, 1):
        assert lab.train("learns", "{seed}", replicate=replicate).status == "ok"
    said = [json.loads(p.read_text()) for p in sorted((lab.run / "commands").glob("*/sequence/sequence.json"))]
    assert len({s["seed"] for s in said}) == 2
    assert all(0 <= s["seed"] < 2**31 for s in said)
    assert said[0]["class_order"] == [2, 7, 4, 5, 9, 0] or said[0]["class_order"] == [7, 2, 4, 5, 9, 0]
    labels = [c["label"] for t in said[0]["tasks"] for c in t["classes"]]
    assert labels == list(range(6))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("fails", r"exit code 1: RuntimeError: no \\x1b\[31mgradient \(.*output.txt has what it said\)"),
        ("silent", "wrote no {out} file; it must be"),
        ("garbage", "no JSON"),
        ("scalar", "has no accuracy"),
        ("link", "cannot be read"),
        ("text", "accuracy is 'all right', for 3 tasks"),
        ("short", "accuracy is 2 rows, for 3 tasks"),
        ("ragged", "row 1 of accuracy has 0 entries, must have 1"),
        ("percent", "must be a share from 0 to 1"),
        ("nan", "is nan, must be a share"),
        ("true", "is True, must be a share"),
        ("other-images", "no share of its . test images"),
        ("predicts-others", "predicted has . images of task . right, the last row of accuracy"),
        ("writes-given", "PermissionError|it changed the folder that it was given"),
    ],
)
def test_what_cannot_be_is_one_line(lab: Lab, how: str, says: str) -> None:
    result = lab.train(how)
    assert result.status == "failed"
    assert re.search(says, result.message), result.message
    assert "\n" not in result.message
    assert len(result.message) < 1000
    assert "learning" in (lab.folder / OUTPUT).read_text()


def test_a_whole_square_is_read_below_its_diagonal(lab: Lab) -> None:
    assert lab.train("square").steps == tuple(nearest_means(lab, "test"))


@pytest.mark.skipif(not confined.available(), reason="this kernel cannot confine a process")
def test_a_command_writes_below_its_own_folder_only(lab: Lab, tmp_path: Path) -> None:
    result = lab.train("writes-outside")
    assert result.status == "failed"
    assert "PermissionError" in result.message
    assert (lab.run / "config.json").read_text() == "mine"
    shared = tmp_path / "shared"
    shared.mkdir()
    assert lab.train("counts", str(shared)).status == "failed"
    assert lab.train("counts", str(shared), writes=str(shared)).status == "ok"
    assert (shared / "runs").read_text() == "once\n"


def test_one_that_never_ends_is_ended_with_all_that_it_started(lab: Lab) -> None:
    begin = time.monotonic()
    result = lab.train("sleeps", hours=2 / 3600)
    assert result.status == "timeout"
    assert "--command-hours" in result.message
    assert time.monotonic() - begin < 30
    _until(lambda: not _in(lab.folder))


def _folder_of(process: Path) -> str:
    try:
        return os.readlink(process / "cwd")
    except OSError:
        return ""


def test_of_much_output_the_beginning_and_the_end_are_kept(lab: Lab) -> None:
    assert lab.train("shouts").status == "ok"
    kept = (lab.folder / OUTPUT).read_bytes()
    assert len(kept) < 3 << 20
    assert kept.startswith(b"learning shouts\nx")
    assert b"bytes left out" in kept


def test_a_link_in_place_of_its_folder_is_refused(lab: Lab, tmp_path: Path) -> None:
    from seqsearch.core.errors import UserError

    (tmp_path / "elsewhere").mkdir()
    (lab.run / "commands").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link"):
        lab.train("learns")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_what_a_killed_one_left_is_no_hindrance(lab: Lab) -> None:
    assert lab.train("learns").status == "ok"
    (lab.folder / "out" / "half").write_text("x")
    assert lab.train("learns").status == "ok"
    assert not (lab.folder / "out" / "half").exists()


def test_its_files_are_its_identity(lab: Lab, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(LEARNER.read_text())

    def digest(*words: str) -> str:
        item = located(parse_item("cmd:" + shlex.join(["python3", *words, "{sequence}", "{out}"]), "method"), tmp_path)
        return lab.world.spec(item, "glyph_vit").digest

    before = digest("own.py", "learns")
    moved = tmp_path / "folder"
    moved.mkdir()
    (moved / "own.py").write_text(LEARNER.read_text())
    assert digest(str(moved / "own.py"), "learns") == before
    assert digest("own.py", "other") != before
    own.write_text(LEARNER.read_text() + "\n# other\n")
    assert digest("own.py", "learns") != before


@pytest.mark.parametrize("also_its_child", [False, True])
def test_when_who_started_it_is_killed_all_of_it_ends(lab: Lab, also_its_child: bool) -> None:
    """As when a run is killed, and as Ray kills a worker: with its children. Who made a session of its own ends, too."""
    places = lab.run / "own"
    places.mkdir()
    program = "setsid sleep 61 & sleep 61 & sleep 61"
    words = [sys.executable, "-I", "-S", confined.__file__, str(places), "--", "sh", "-c", program]
    pipes = f"cwd={str(places)!r}, stdin=subprocess.PIPE, start_new_session=True"
    starter = (
        f"import subprocess, time; p = subprocess.Popen({words!r}, {pipes}); print(p.pid, flush=True); time.sleep(61)"
    )
    process = subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    _until(lambda: len(_in(places)) == 6)  # the child, the watcher, the shell, three that sleep
    process.kill()
    if also_its_child:
        os.kill(child, signal.SIGKILL)
    process.wait()
    _until(lambda: not _in(places))


def test_what_it_leaves_behind_is_ended_at_once(lab: Lab) -> None:
    begin = time.monotonic()
    assert lab.train("leaves").status == "ok"
    _until(lambda: not _in(lab.folder))
    assert time.monotonic() - begin < 20


def test_a_colon_in_its_path_is_no_separator(tmp_path: Path) -> None:
    assert Lab(tmp_path / "a:b").train("learns").status == "ok"


@pytest.mark.parametrize(("digits", "images"), [(4, 1500), (4, 3000), (4, 9999), (6, 100_000)])
def test_rounded_accuracies_are_the_images_that_were_right(digits: int, images: int) -> None:
    for right in range(0, images, 7):
        assert _images(round(right / images, digits), images, 1, 1) == right


def test_a_probe_of_a_command_trains_nothing(lab: Lab) -> None:
    spec = spec_of(lab.world, "learns")
    key = StateKey(spec, 0, 0, lab.tasks[:1])
    classes = lab.tasks[1].classes
    asked = Probe(
        "prototypes", key, lab.trainer.source(spec.backbone).features.space, classes, options=(("images", None),)
    )
    answer = lab.trainer.probe(asked)
    assert answer.trained == ()
    assert len(answer.values) == len(classes)
    assert not (lab.run / "commands").exists()


def _in(folder: Path) -> list[Path]:
    return [p for p in Path("/proc").glob("[0-9]*") if _folder_of(p).startswith(str(folder))]


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["accuracy", "predicted", "x"]), inner),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(["accuracy", "predicted"]), JSON, min_size=1) | JSON)
def test_whatever_it_writes_is_an_answer_or_one_line(lab: Lab, said: object) -> None:
    out = Inside(lab.run)
    (lab.run / "x.json").write_text(json.dumps(said))
    counts = [len(lab.world.rows(t.classes, "test")[0]) for t in lab.tasks]
    answer, error = None, ""
    try:
        answer = read_answer(out, "x.json", lab.world, lab.tasks, "test")
    except BadAnswer as bad:
        error = str(bad)
    assert (answer is None) == bool(error)
    assert "\n" not in error
    if answer is None:
        return
    assert [len(row) for row in answer.steps] == [1, 2, 3]
    assert all(0 <= k <= n for row in answer.steps for k, n in zip(row, counts, strict=False))


def test_images_of_a_folder_are_its_own_files_unless_their_names_are_no_text(tmp_path: Path) -> None:
    root = write_digits(tmp_path / "digits", per_class=12)
    world = World(str(root), 0, str(tmp_path / "cache"), str(tmp_path / "states"))
    spec, tasks = spec_of(world, "learns"), (world.task([0, 1]), world.task([2]))
    edge = Edge(StateKey(spec, 0, 0, reported(tasks)), "test", keep=False)
    first = Trainer(world).train(edge)
    assert first.status == "ok", first.message
    assert not (tmp_path / "cache" / "images").exists()
    old = next(p for p in sorted(root.rglob("*")) if p.is_file())
    os.rename(os.fsencode(old), os.fsencode(old.parent) + b"/\xff" + os.fsencode(old.name))
    again = World(str(root), 0, str(tmp_path / "cache"), str(tmp_path / "states"))
    edge = Edge(
        StateKey(spec_of(again, "learns"), 0, 0, reported((again.task([0, 1]), again.task([2])))), "test", keep=False
    )
    second = Trainer(again).train(edge)
    assert second.status == "ok", second.message
    assert (tmp_path / "cache" / "images").exists()


def test_places_are_filled_in_one_pass(tmp_path: Path) -> None:
    assert Lab(tmp_path / "we{out}ird {sequence}").train("learns").status == "ok"
