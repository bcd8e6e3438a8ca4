"""Orders that mean something else than they seem to: signs, keys that coincide, a seed beside an order, other classes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.core.errors import UserError
from seqsearch.formats.base import Order, toolboxes
from seqsearch.formats.reading import read_order
from tests.unit.formats.test_reading import NAMES, ORDER_FILE, file


def ids(path: Path, form: str, sizes: tuple[int, ...] = ()) -> list[int]:
    [found] = read_order(path, form, NAMES, sizes)
    return [NAMES.index(c) for task in found.tasks for c in task]


@pytest.mark.parametrize("text", ["2,-1,0,-1,1,-1", "2 -1 0 -1 1 -1\n", "2, -1, 0, -1, 1, -1", "2\n-1\n0\n-1\n1\n-1\n"])
def test_mammoths_absent_classes_are_read_from_text(text: str, tmp_path: Path) -> None:
    """-1 is a class that the sequence has not: labels 0, 1, 2 are of classes 2, 4, 0."""
    assert ids(file(tmp_path, text, "order.txt"), "mammoth", (2, 1)) == [2, 4, 0]
    said = {"custom_class_order": text, "n_classes_per_task": [2, 1]}
    assert ids(file(tmp_path, said), "mammoth") == [2, 4, 0]


def test_the_text_of_an_exported_inverse_is_read(tmp_path: Path) -> None:
    """As its README has the direction, and as somebody would write it out."""
    order = Order((4, 1, 5), (1, 2), len(NAMES))
    text = ",".join(map(str, order.inverse))
    assert "-1" in text
    assert ids(file(tmp_path, text, "order.txt"), "mammoth", (1, 2)) == [4, 1, 5]


@pytest.mark.parametrize(
    ("text", "expected"), [("5-2-1", [5, 2, 1]), ("5,2,1,", [5, 2, 1]), ("5 2\t1\n", [5, 2, 1]), ("3", [3])]
)
def test_what_stands_between_numbers(text: str, expected: list[int], tmp_path: Path) -> None:
    assert ids(file(tmp_path, text, "order.txt"), "avalanche", (len(expected),)) == expected


DIGITS = "9" * 5000
CLASSIC = {"fixed_class_order": [3, 0, 1, 2], "n_experiences": 2}
BAD: dict[str, tuple[str, Any, tuple[int, ...], str]] = {
    "a sign": ("avalanche", "0,-1,2,3", (4,), "class -1 is not there"),
    "signs between blanks": ("json", "0 -1 2 3", (4,), "class -1 is not there"),
    "two dashes": ("mammoth", "0--1-2", (3,), "."),
    "an order of many digits": ("mammoth", f"1,{DIGITS}", (2,), "ten digits"),
    "a negative one of many digits": ("mammoth", f"1,-{DIGITS}", (2,), "ten digits"),
    "a flag of many digits": ("mammoth", {"custom_class_order": f"1-{DIGITS}"}, (2,), "ten digits"),
    "a key of many digits": ("avalanche", CLASSIC | {"per_exp_classes": {DIGITS: 3}}, (), "must say how many"),
    "a key twice": ("avalanche", CLASSIC | {"per_exp_classes": {"0": 3, "00": 1}}, (), "an experience twice"),
    "a key past the end": ("avalanche", CLASSIC | {"per_exp_classes": {"2": 3}}, (), "must say how many"),
    "a key below 0": ("avalanche", CLASSIC | {"per_exp_classes": {"-1": 3}}, (), "must say how many"),
    "a power for a key": ("avalanche", CLASSIC | {"per_exp_classes": {"\u00b2": 3}}, (), "must say how many"),
    "a seed and an order": (
        "pilot",
        {"init_cls": 2, "increment": 2, "shuffle": True, "seed": [1993], "class_order": [0, 1, 2, 3, 4, 5]},
        (),
        "draws its order by seed, and class_order is another one: set shuffle to false",
    ),
    "not false, and an order": (
        "pycil",
        {"init_cls": 2, "increment": 2, "shuffle": 1, "class_order": [0, 1, 2, 3, 4, 5]},
        (),
        "draws its order by seed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_they_are_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    form, said, sizes, message = BAD[kind]
    with pytest.raises(UserError, match=message) as caught:
        read_order(file(tmp_path, said, "order.txt"), form, NAMES, sizes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["{0: 3, '0': 1}", "{0: 3, 00: 1}", f"{{0x{'f' * 5000}: 3}}", f"{{{DIGITS}: 3}}", "{true: 3}"]
)
def test_keys_of_yaml(text: str, tmp_path: Path) -> None:
    said = f"fixed_class_order: [3, 0, 1, 2]\nn_experiences: 2\nper_exp_classes: {text}\n"
    with pytest.raises(UserError) as caught:
        read_order(file(tmp_path, said, "order.yaml"), "avalanche", NAMES)
    assert "\n" not in str(caught.value)


def test_a_number_of_yaml_is_a_key(tmp_path: Path) -> None:
    said = "fixed_class_order: [3, 0, 1, 2]\nn_experiences: 2\nper_exp_classes: {1: 3}\n"
    [found] = read_order(file(tmp_path, said, "order.yaml"), "avalanche", NAMES)
    assert list(map(len, found.tasks)) == [1, 3]


EXPORTED = Order((4, 1), (1, 1), len(NAMES), ("eel", "bear"))


def written(form: str, order: Order, tmp_path: Path, **more: Any) -> Path:
    files = toolboxes()[form].files
    assert files is not None
    return file(tmp_path, json.loads(files(order, True)[ORDER_FILE[form]]) | more)


@pytest.mark.parametrize("form", sorted(ORDER_FILE))
def test_an_order_of_few_classes_knows_what_it_counts(form: str, tmp_path: Path) -> None:
    path = written(form, EXPORTED, tmp_path)
    assert ids(path, form) == [4, 1]
    with pytest.raises(UserError, match=r"6 (classes,|entries) and there are 7"):
        read_order(path, form, (*NAMES, "gnu"))
    other = ("apple", "camel", "bear", *NAMES[3:])
    with pytest.raises(UserError, match=r"class 1 \(label 1\) is 'bear' there, and 'camel' here"):
        read_order(path, form, other)
    [found] = read_order(written(form, Order((4, 1), (1, 1), len(NAMES)), tmp_path), form, other)
    assert found.tasks == (("eel",), ("camel",))


@pytest.mark.parametrize(
    "more", [{"classes": "6"}, {"classes": None}, {"classes": [6]}, {"class_names": ["eel"]}, {"class_names": 3},
             {"class_names": {"4": "eel"}}, {"class_names": [[], {}]}, {"class_names": ["eel", 1]}]
)  # fmt: skip
@pytest.mark.parametrize("form", ["avalanche", "pilot"])
def test_what_it_counts_is_checked_as_all_else(form: str, more: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_order(written(form, EXPORTED, tmp_path, **more), form, NAMES)
    assert "\n" not in str(caught.value)


def test_exports_say_what_they_count(tmp_path: Path) -> None:
    """By the commands: few classes of one pool are not imported as those of another."""

    def ran(*arguments: object) -> Any:
        return CliRunner().invoke(main, list(map(str, arguments)))

    pools = {n: tmp_path / f"{n}.txt" for n in (6, 7)}
    for n, path in pools.items():
        path.write_text("\n".join((*NAMES, "gnu")[:n]))
    orders, out, back = (
        file(tmp_path, {"one": [["eel"], ["bear"]]}, "orders.json"),
        tmp_path / "out",
        tmp_path / "back.json",
    )
    asked = ("export", orders, "--to", "avalanche", "--images", "none", "--names", pools[6], "--out", out)
    assert ran(*asked).exit_code == 0
    exported = out / "one" / "avalanche_order.json"
    said = json.loads(exported.read_text())
    assert (said["classes"], said["class_names"]) == (6, ["eel", "bear"])
    refused = ran("import", exported, "--from", "avalanche", "--names", pools[7], "--out", back)
    assert refused.exit_code == 2
    assert "count 6 classes, and there are 7" in refused.stderr
    assert not back.exists()
    assert ran("import", exported, "--from", "avalanche", "--names", pools[6], "--out", back).exit_code == 0
    assert list(json.loads(back.read_text()).values()) == [[["eel"], ["bear"]]]
