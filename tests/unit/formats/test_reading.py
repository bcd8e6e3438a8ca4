"""What is exported is read back, both directions; what others wrote is checked, a line each."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.core.text import shows
from seqsearch.formats.base import Order, toolboxes
from seqsearch.formats.json import written
from seqsearch.formats.reading import read_order
from seqsearch.results.named import read_named
from seqsearch.results.orders import read_orders

NAMES = ("apple", "bear", "camel", "dog", "eel", "fox")
ORDER_FILE = {
    "avalanche": "avalanche_order.json",
    "pilot": "seqsearch_config.json",
    "pycil": "seqsearch_config.json",
    "mammoth": "mammoth_order.json",
}


@st.composite
def orders(draw: st.DrawFn) -> Order:
    """Some of some classes in any order, in tasks of any sizes."""
    classes = draw(st.integers(1, 120))
    order = draw(st.permutations(range(classes)))[: draw(st.integers(1, classes))]
    cuts = sorted(draw(st.sets(st.integers(1, max(len(order) - 1, 1)), max_size=8)) if len(order) > 1 else [])
    ends = [0, *cuts, len(order)]
    return Order(tuple(order), tuple(b - a for a, b in pairwise(ends)), classes)


def tasks_of(order: Order, names: Any) -> tuple[tuple[str, ...], ...]:
    ends = np.cumsum(order.task_sizes).tolist()
    return tuple(
        tuple(names[c] for c in order.class_order[e - k : e]) for e, k in zip(ends, order.task_sizes, strict=True)
    )


@pytest.mark.parametrize("name", sorted(ORDER_FILE))
@settings(max_examples=15)
@given(order=orders())
def test_an_exported_order_is_read_back(name: str, order: Order, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("order") / "order.json"
    found = toolboxes()[name].files
    assert found is not None
    path.write_text(found(order, True)[ORDER_FILE[name]])
    names = [f"class {i}" for i in range(order.classes)]
    [sequence] = read_order(path, name, names)
    assert sequence.tasks == tasks_of(order, names)


@settings(max_examples=15)
@given(order=orders(), names=st.data())
def test_neutral_forms_are_read_back_whatever_the_names(
    order: Order, names: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=8)
    drawn = names.draw(
        st.lists(
            text.filter(lambda t: t == t.strip() and shows(t)),
            min_size=order.classes,
            max_size=order.classes,
            unique=True,
        )
    )
    tasks = tasks_of(order, drawn)
    for form, file in (("json", "sequences.json"), ("csv", "sequences.csv")):
        together = toolboxes()[form].together
        assert together is not None
        path = tmp_path_factory.mktemp("neutral") / file
        path.write_text(together({"=one": tasks})[file], newline="")
        [read], [scored] = read_order(path, form, drawn), read_named(path)
        assert (read.name, read.tasks) == (scored.name, scored.tasks) == ("=one", tasks)


def file(tmp_path: Path, said: Any, name: str = "order.json") -> Path:
    path = tmp_path / name
    path.write_text(said if isinstance(said, str) else json.dumps(said))
    return path


FORMS: dict[str, tuple[str, Any, tuple[int, ...], tuple[int, ...], list[int]]] = {
    # the form, the file, sizes on the command line; sizes and class ids by arrival
    "a list": ("json", [5, 4, 3, 2, 1, 0], (2, 2, 2), (2, 2, 2), [5, 4, 3, 2, 1, 0]),
    "names": ("json", ["fox", "bear"], (1, 1), (1, 1), [5, 1]),
    "tasks": ("json", [[5], [4, 0]], (), (1, 2), [5, 4, 0]),
    "PILOT": (
        "pilot",
        {"init_cls": 3, "increment": 2, "class_order": [1, 0, 2, 3, 5, 4]},
        (),
        (3, 2, 1),
        [1, 0, 2, 3, 5, 4],
    ),
    # numpy.random.seed(1993); numpy.random.permutation(6), as both toolboxes draw it
    "PyCIL, drawn": (
        "pycil",
        {"init_cls": 2, "increment": 2, "shuffle": True, "seed": [1993]},
        (),
        (2, 2, 2),
        [0, 2, 3, 4, 5, 1],
    ),
    "LAE": (
        "lae",
        "data:\n  class_order: [1, 0, 2, 3]\n  num_init_classes: 2\n  num_increment_classes: 1\n",
        (),
        (2, 1, 1),
        [1, 0, 2, 3],
    ),
    # class 0 gets label 2, class 1 label 0, ...
    "Mammoth": (
        "mammoth",
        {"class_order": [2, 0, 1, 5, 3, 4], "n_classes_per_task": 3},
        (),
        (3, 3),
        [1, 2, 0, 4, 5, 3],
    ),
    "Mammoth, flag": ("mammoth", "2-0-1-5-3-4", (1, 5), (1, 5), [1, 2, 0, 4, 5, 3]),
    "Avalanche": ("avalanche", {"class_order": [3, 0], "num_classes_per_exp": [1, 1]}, (), (1, 1), [3, 0]),
    "Avalanche, classic": (
        "avalanche",
        {"fixed_class_order": [3, 0, 1, 2, 5], "n_experiences": 3, "per_exp_classes": {"0": 1}},
        (),
        (1, 2, 2),
        [3, 0, 1, 2, 5],
    ),
    "a manifest": ("csv", "path,label,task,class_name\na,0,0,fox\nb,0,0,fox\nc,1,1,dog\n", (), (1, 1), [5, 3]),
}


@pytest.mark.parametrize("kind", FORMS)
def test_forms(kind: str, tmp_path: Path) -> None:
    form, said, sizes, expected_sizes, expected = FORMS[kind]
    suffix = {"lae": "yaml", "csv": "csv"}.get(form, "txt" if isinstance(said, str) else "json")
    [found] = read_order(file(tmp_path, said, f"order.{suffix}"), form, NAMES, sizes)
    assert tuple(map(len, found.tasks)) == expected_sizes
    assert [NAMES.index(c) for t in found.tasks for c in t] == expected


def test_the_drawn_order_is_that_of_numpy(tmp_path: Path) -> None:
    np.random.seed(7)
    expected = np.random.permutation(50).tolist()
    said = {"init_cls": 10, "increment": 10, "shuffle": True, "seed": [7, 8]}
    names = list(map(str, range(50)))
    first, second = read_order(file(tmp_path, said), "pilot", names)
    assert [int(c) for t in first.tasks for c in t] == expected
    assert (first.name, second.name) == ("seed-7", "seed-8")
    assert first.tasks != second.tasks


RECORD = {
    "schema": "seqsearch-sequence/1",
    "sequence_id": "s",
    "task_sizes": [2, 1],
    "class_order": [1, 2, 0],
    "tasks": [
        {
            "classes": [
                {"label": 0, "class_id": 1, "name": "bear"},
                {"label": 1, "class_id": 2, "name": "camel"},
            ]
        },
        {"classes": [{"label": 2, "class_id": 0, "name": "apple"}]},
    ],
}
BAD: dict[str, tuple[str, Any, tuple[int, ...], str]] = {
    "unknown form": ("pilto", [0], (), "--from 'pilto': there are .*; the nearest: 'pilot'"),
    "out of range": ("json", [0, 6], (2,), "class 6 is not there, they are 0 to 5"),
    "from one": ("json", [1, 2, 3, 4, 5, 6], (6,), "counts from 1"),
    "negative": ("avalanche", {"class_order": [-1, 0], "num_classes_per_exp": [2]}, (), "class -1 is not there"),
    "repeated": ("json", [0, 0], (2,), "class 'apple' stands twice"),
    "unknown name": ("json", ["foxx"], (1,), "no class 'foxx'; the nearest: 'fox'"),
    "no sizes": ("json", [0, 1], (), "does not say how many classes a task has: give --task-sizes"),
    "other sizes": ("json", [0, 1], (3,), "are 3 in all, the order has 2"),
    "sizes that do not divide": (
        "mammoth",
        {"class_order": [2, 0, 1, 5, 3, 4], "n_classes_per_task": 4},
        (),
        "not divide",
    ),
    "no list": ("json", {"a": 3}, (), "must be a list"),
    "bools": ("json", [True, False], (2,), "must be a list of class numbers"),
    "no JSON": ("json", "[1, ", (), "cannot be read"),
    "twice a key": ("json", '{"a": [[0]], "a": [[1]]}', (), "a key stands twice"),
    "short inverse": ("mammoth", [1, 0], (2,), "has 2 entries and there are 6 classes"),
    "labels twice": ("mammoth", [0, 0, 1, 2, 3, 4], (6,), "label 0 stands twice"),
    "inverse labels": ("mammoth", [0, 1, 2, 3, 4, 9], (6,), "must be 0 to n - 1"),
    "of another, by its word": (
        "pilot",
        {"toolbox": "mammoth", "class_order": [2, 0, 1], "n_classes_per_task": 1},
        (),
        "says that it is of Mammoth: its order runs as there, give --from mammoth",
    ),
    "of another, by its keys": (
        "avalanche",
        {"class_order": [2, 0, 1], "n_classes_per_task": 1},
        (),
        "is a file of Mammoth .*give --from mammoth",
    ),
    "PILOT for JSON": ("json", {"backbone_type": "vit", "init_cls": 1}, (), "give --from pilot"),
    "no order": ("pilot", {"init_cls": 2, "increment": 2, "shuffle": False}, (), "has no class_order"),
    "no seed": ("pilot", {"init_cls": 2, "increment": 2, "shuffle": True, "seed": "x"}, (), "seed is 'x'"),
    "a large init_cls": (
        "pilot",
        {"init_cls": 9, "increment": 2, "shuffle": True, "seed": 1},
        (),
        "init_cls is 9 and there are 6",
    ),
    "no increment": ("pilot", {"init_cls": 1, "increment": 0, "shuffle": True, "seed": 1}, (), "increment is 0"),
    "no LAE": ("lae", {"datas": 1}, (), "must have class_order"),
    "turned": ("json", {**RECORD, "class_order": [2, 0, 1]}, (), "the other way"),
    "labels": ("json", {**RECORD, "task_sizes": [1, 2]}, (), "task_sizes must be those of the tasks"),
    "other schema": ("json", {**RECORD, "schema": 2}, (), "schema is 2"),
    "half a record": ("json", {"schema": "seqsearch-sequence/1"}, (), "restore it"),
    "classic that does not divide": (
        "avalanche",
        {"fixed_class_order": [3, 0, 1], "n_experiences": 2},
        (),
        "are not 2 experiences",
    ),
    "many digits": ("mammoth", "1,99999999999", (), "ten digits"),
    "a slash": ("json", {"a/b": [[0]]}, (), "no slash"),
}


def test_no_order_is_not_an_inverse_of_repeated_classes(tmp_path: Path) -> None:
    tasks = [{"classes": [{"label": i, "class_id": 1, "name": "bear"} for i in range(2)]}]
    record = {**RECORD, "task_sizes": [2], "class_order": None, "tasks": tasks}
    with pytest.raises(UserError, match="class_order and tasks contradict each other: class_order") as caught:
        read_order(file(tmp_path, record), "json", NAMES)
    assert "the other way" not in str(caught.value)


@pytest.mark.parametrize("kind", BAD)
def test_bad_files_are_one_line(kind: str, tmp_path: Path) -> None:
    form, said, sizes, message = BAD[kind]
    with pytest.raises(UserError, match=message) as caught:
        read_order(file(tmp_path, said), form, NAMES, sizes)
    assert "\n" not in str(caught.value)


def test_a_record_is_read(tmp_path: Path) -> None:
    [found] = read_order(file(tmp_path, RECORD), "json", NAMES)
    assert (found.name, found.tasks) == ("s", (("bear", "camel"), ("apple",)))


@pytest.mark.parametrize(
    "text",
    [
        "a: [1\n",
        "a: &x [*x]",
        "a: &a [1]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)),
        "a: &a {x: 1}\nb: {<<: *a}\n",
        "!!python/object/apply:os.system [id]",
        "? [a]\n: b",
        "data: {class_order: {}}",
        "a: !!timestamp x",
        "a: !!bool x",
        "a: !!int ''",
        "a: !!float '-'",
        "[" * 100_000,
        "a: " + "x" * (1 << 20),
    ],
)
def test_hostile_yaml_is_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        read_order(file(tmp_path, text, "a.yaml"), "lae", NAMES)
    assert "\n" not in str(refused.value)


def test_edge_reads_what_is_written(tmp_path: Path) -> None:
    path = file(tmp_path, written({"one": [["fox", "apple"], ["bear", "dog"], ["camel", "eel"]]}))
    [order] = read_orders(path, NAMES, (2, 2, 2))
    assert (order.name, order.tasks) == ("one", ((0, 5), (1, 3), (2, 4)))


KEYS = st.sampled_from(
    [
        "class_order",
        "num_classes_per_exp",
        "n_experiences",
        "per_exp_classes",
        "init_cls",
        "increment",
        "shuffle",
        "seed",
        "task_sizes",
        "data",
        "num_init_classes",
        "num_increment_classes",
        "n_classes_per_task",
        "schema",
        "tasks",
        "classes",
        "toolbox",
        "a",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 8)
    | st.integers()
    | st.floats()
    | st.sampled_from([*NAMES, "json", "0-1"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.parametrize("form", sorted(set(toolboxes()) - {"csv"}))
@settings(max_examples=15)
@given(said=VALUES)
def test_whatever_a_file_says_it_is_sequences_or_one_line(
    form: str, said: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "order.json"
    path.write_text(json.dumps(said))
    try:
        found = read_order(path, form, NAMES)
    except UserError:
        return
    assert all({c for t in s.tasks for c in t} <= set(NAMES) for s in found)
