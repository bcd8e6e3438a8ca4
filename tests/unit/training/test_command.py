"""Methods by command: what they are given, what is taken of what they answer, and what they are known by."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import HEAD
from seqsearch.core.registry import located
from seqsearch.core.types import Edge, EvaluationSplit, Probe, StateKey, reported
from seqsearch.engine.journal_lines import understood, written
from seqsearch.storage.inside import Inside
from seqsearch.training.command.answer import BadAnswer, _images, read_answer
from seqsearch.training.command.edge import _unlabelled
from seqsearch.training.command.places import OUTPUT, places_of
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.photos import write_digits
from tests.unit.training.commanded import LEARNER, Lab, spec_of


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def pixels(lab: Lab, rows: np.ndarray) -> np.ndarray:
    from seqsearch.pools.base import View

    size = lab.world.images.native_size
    return lab.world.images.images(rows, View(size)).astype(np.float64).reshape(len(rows), -1)


def nearest_means(lab: Lab, evaluated: EvaluationSplit) -> list[tuple[int, ...]]:
    """Images right of each task after each task, computed here from the pool's own pixels."""
    fit = ("train", "val", "reward") if evaluated == "test" else ("train", "val")
    classes = [c for t in lab.tasks for c in t.classes]
    means = np.stack([pixels(lab, lab.world.rows((c,), *fit)[0]).mean(0) for c in classes])
    found, first, ends = [], 0, np.cumsum([len(t.classes) for t in lab.tasks])
    for end in ends.tolist():
        row, first = [], 0
        for task in lab.tasks:
            if first >= end:
                break
            rows, positions = lab.world.rows(task.classes, evaluated)
            seen = pixels(lab, rows)
            nearest = ((seen[:, None] - means[None, :end]) ** 2).sum(-1).argmin(1)
            row.append(int((nearest == positions + first).sum()))
            first += len(task.classes)
        found.append(tuple(row))
    return found


@pytest.mark.parametrize("evaluated", ["test", "reward"])
def test_a_command_is_given_the_images_that_methods_are_and_its_answer_is_taken(
    lab: Lab, evaluated: EvaluationSplit
) -> None:
    result = lab.train("learns", evaluated=evaluated)
    assert result.status == "ok", result.message
    assert list(result.steps) == nearest_means(lab, evaluated)
    rows = list(csv.DictReader((lab.folder / "sequence" / "manifest.csv").open(newline="")))
    assert (
        len(rows)
        == len({r["path"] for r in rows})
        == sum(
            len(lab.world.rows(t.classes, p)[0])
            for t in lab.tasks
            for p in (("train", "val", "reward", "test") if evaluated == "test" else ("train", "val", "reward"))
        )
    )
    assert {r["part"] for r in rows if r["split"] == "test"} == {evaluated}
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


@pytest.mark.parametrize("evaluated", ["test", "reward"])
def test_a_command_that_predicts_sees_no_label_and_is_graded_here(lab: Lab, evaluated: EvaluationSplit) -> None:
    result = lab.train("graded", "{predict}", evaluated=evaluated)
    assert (result.status, result.message) == ("ok", "")
    steps = nearest_means(lab, evaluated)
    assert result.steps == tuple(steps)
    assert dict(result.notes)["self_graded"] == 0
    head = result.of(HEAD)
    assert tuple(map(sum, head.correct)) == steps[-1]
    total = sum(len(lab.world.rows(t.classes, evaluated)[0]) for t in lab.tasks)
    listed = json.loads((lab.folder / "out" / "listed.json").read_text())
    assert [Path(p).stem for p in listed] == [f"{i:07d}" for i in range(total)]
    assert not (lab.folder / "images").exists(), "they are removed in the end"
    with (lab.folder / "sequence" / "manifest.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {r["split"] for r in rows} == {"train"}
    assert evaluated not in {r["part"] for r in rows}


def test_the_order_of_listed_images_says_nothing_and_is_the_same_again(lab: Lab) -> None:
    """As many images of a class stand beside each other as in any order."""
    edge = Edge(StateKey(spec_of(lab.world, "graded", "{predict}"), 0, 0, reported(lab.tasks)), "test", keep=False)
    places = places_of(Path(lab.world.states), edge.digest)
    order = _unlabelled(lab.world, edge, lab.tasks, places)
    assert order.tolist() == _unlabelled(lab.world, edge, lab.tasks, places).tolist() != sorted(order.tolist())
    rows = np.concatenate([lab.world.rows(t.classes, "test")[0] for t in lab.tasks])
    for number, path in enumerate(sorted((places.unlabelled.path).glob("0*"))):
        image = np.asarray(Image.open(path).convert("RGB")).transpose(2, 0, 1).reshape(-1)
        assert (image == pixels(lab, rows[order[[number]]])[0]).all()
    other = Edge(StateKey(spec_of(lab.world, "graded", "{predict}"), 0, 1, reported(lab.tasks)), "test", keep=False)
    assert _unlabelled(lab.world, other, lab.tasks, places).tolist() != order.tolist()


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("graded-short", "predicted must be 3 rows of"),
        ("graded-ragged", "predicted must be 3 rows of"),
        ("graded-huge", "must be labels from 0 to 5, or -1"),
        ("graded-floats", "must be labels from 0 to 5"),
        ("graded-less", "must be labels from 0 to 5"),
        ("graded-text", "predicted must be 3 rows of"),
        ("graded-true", "must be labels from 0 to 5"),
        ("learns", "its {out} file has no predicted"),
        ("silent", "it wrote no {out} file"),
    ],
)
def test_predictions_that_cannot_be_are_one_line(lab: Lab, how: str, says: str) -> None:
    result = lab.train(how, "{predict}")
    assert result.status == "failed"
    assert says in result.message
    assert "\n" not in result.message


def test_an_image_without_a_label_is_wrong(lab: Lab) -> None:
    result = lab.train("graded-none", "{predict}")
    assert result.status == "ok"
    assert result.steps == ((0,), (0, 0), (0, 0, 0))


def test_a_command_that_grades_itself_is_called_so(lab: Lab) -> None:
    assert spec_of(lab.world, "learns").label == "cmd:learner.py learns [self-graded]"
    assert spec_of(lab.world, "learns", "{predict}").label == "cmd:learner.py learns"
    assert dict(lab.train("learns").notes)["self_graded"] == 1


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
    own.write_text(LEARNER.read_text() + "\nOTHER = 1\n")
    assert digest("own.py", "learns") != before


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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["accuracy", "predicted", "x"]), inner),
    max_leaves=12,
)


HOSTILE = {
    "400 digits": b'{"accuracy": [[1' + b"0" * 400 + b"]]}",
    "5,000 digits": b'{"accuracy": [[1' + b"0" * 5000 + b"]]}",
    "an exponent of 400": b'{"accuracy": [[1e400], [0, 0], [0, 0, 0]]}',
    "less than nothing": b'{"accuracy": [[-1' + b"0" * 400 + b"], [0, 0], [0, 0, 0]]}",
    "Infinity": b'{"accuracy": [[Infinity], [0, 0], [0, 0, 0]]}',
    "no number": b'{"accuracy": [[NaN], [0, 0], [0, 0, 0]]}',
    "a label of 400 digits": b'{"accuracy": [[1], [1, 1], [1, 1, 1]], "predicted": [1' + b"0" * 400 + b"]}",
    "deep": b'{"accuracy": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"a":' * 100_000 + b"0" + b"}" * 100_000,
    "UTF-16": '{"accuracy": [[1]]}'.encode("utf-16"),
    "UTF-32": '{"accuracy": [[1]]}'.encode("utf-32"),
    "no text": bytes(range(256)) * 40,
    "half a pair": b'{"accuracy": [["\\ud800"]]}',
    "nothing": b"",
    "a key twice": b'{"accuracy": [[1]], "accuracy": [[1]]}',
}


@pytest.mark.parametrize("how", HOSTILE)
def test_an_answer_that_is_none_is_one_line(lab: Lab, how: str) -> None:
    (lab.run / "x.json").write_bytes(HOSTILE[how])
    with pytest.raises(BadAnswer) as bad:
        read_answer(Inside(lab.run), "x.json", lab.world, lab.tasks, "test")
    assert "\n" not in str(bad.value)
    assert len(str(bad.value)) < 500


def test_an_answer_larger_than_the_sequence_asks_for_is_not_read(lab: Lab) -> None:
    """180 MB of zeros: refused by its size, before a byte of it is read."""
    with open(lab.run / "x.json", "wb") as file:
        file.write(b'{"accuracy": [[')
        file.truncate(180_000_000)
    with pytest.raises(BadAnswer, match="cannot be read"):
        read_answer(Inside(lab.run), "x.json", lab.world, lab.tasks, "test")


def test_the_largest_answer_that_is_asked_for_is_read(lab: Lab) -> None:
    """All digits that a program may print, of accuracies and of predictions."""
    rows = [lab.world.rows(t.classes, "test") for t in lab.tasks]
    first = np.cumsum([0, *(len(t.classes) for t in lab.tasks)])
    labels = [int(p + f) for (_, positions), f in zip(rows, first, strict=False) for p in positions]
    said = json.dumps({"accuracy": [[1.0] * (t + 1) for t in range(3)], "predicted": labels}, indent=20)
    (lab.run / "x.json").write_text(said)
    answer = read_answer(Inside(lab.run), "x.json", lab.world, lab.tasks, "test")
    assert answer.steps[-1] == tuple(len(r[0]) for r in rows)


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
