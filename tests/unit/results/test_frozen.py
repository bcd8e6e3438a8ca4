"""Frozen class orders: they are what they were, every class once, refused where a file was changed; a source like any other."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocols.evaluate.common.source import read_source
from seqsearch.core.errors import UserError
from seqsearch.results.frozen import (
    FILES,
    FOLDER,
    checksum_of,
    find_frozen,
    frozen_orders,
    read_frozen,
)
from tests.docs.blocks import ROOT

DIGESTS = {
    "cifar100-hard-10@1": "882325ea0a882a1ce52de021c836ebea",
    "cifar100-easy-10@1": "864dd1106bc8b7dbb0d19e787ebb0984",
    "cifar100-random-10@1": "143c999b1a018e968f1bbbd3aee630a0",
    "cifar100-random30-10@1": "f42048bf77defc93143576eb3ab2af35",
    "cifar100-hard-20@1": "8d49924eb1dd831716e1639a0b1e8601",
    "cifar100-easy-20@1": "0e653ae8d37bef2922ecb91638fd8a97",
    "cifar100-random-20@1": "cc85dae7cd22421c61cfe135011fe037",
    "cifar100-random30-20@1": "a2d5871ba09ed690caf5466101516595",
    "cub200-hard-10@1": "af50788e87a85bafe6adeba9564f289a",
    "cub200-easy-10@1": "dd3dcbd4e968589ed9c209b5f971eb3e",
    "cub200-random-10@1": "4b8f4d2ed62c7dfb960459c2b320fd12",
    "cub200-random30-10@1": "702f350f479ffb95c9d5451dce6c18b0",
    "cub200-hard-20@1": "be76bb6f22068ce839ed117b6794009b",
    "cub200-easy-20@1": "2aa30ea65749fa3dc7167467e5ad11e9",
    "cub200-random-20@1": "8ea91dd7945cb4249489f26f565f9eb4",
    "cub200-random30-20@1": "b8e7f8e1b953c58205aed2eed75582e1",
    "imagenet-a-hard-10@1": "3e4f4b0e598d8dec9c00e2fc0b762380",
    "imagenet-a-easy-10@1": "d7b910015003e9046e9c66bf808d6095",
    "imagenet-a-random-10@1": "8542d70e7a760914279f4d875a720dca",
    "imagenet-a-random30-10@1": "4ff93ab5831204d8a7625b8fa2357c41",
    "imagenet-a-hard-20@1": "e68b97403c86a834b1a7e4ac38b28105",
    "imagenet-a-easy-20@1": "ec2ad605a533b45dc8e8762d352c5d10",
    "imagenet-a-random-20@1": "b7ae596df7ed0d8e99096197206015fe",
    "imagenet-a-random30-20@1": "16669ad5b7355afcaca6ebdaa9ba56bc",
    "imagenet-r-hard-10@1": "a5f6c2c6e9c339d5006a287891b9b63b",
    "imagenet-r-easy-10@1": "eb0e95f6a03747c20e141fd8665c5de2",
    "imagenet-r-random-10@1": "aa418d7f4e95c027f67d400ad7b868e5",
    "imagenet-r-random30-10@1": "e9c8f72ca3133c92e6d26bf6cf1f753e",
    "imagenet-r-hard-20@1": "b331c45ade64fe14ddb4991158bbd837",
    "imagenet-r-easy-20@1": "798f30567664bef43ea97e7576751f76",
    "imagenet-r-random-20@1": "03c3899ea4575b710afa3ff123106ba4",
    "imagenet-r-random30-20@1": "ca6f25464349b5b361d49751882e5bc3",
}
ONE = FOLDER / "cifar100@1.json"


def test_orders_are_those_that_they_were() -> None:
    assert {f.name: f.order.digest for f in frozen_orders()} == DIGESTS


@pytest.mark.parametrize("name", DIGESTS)
def test_every_class_is_in_one_task_and_hard_and_easy_lie_beyond_all_random_ones(name: str) -> None:
    f = find_frozen(name)
    classes = {c.name for c in f.of.classes}
    assert len(classes) == len(f.of.classes) == (100 if f.of.data_set == "cifar100" else 200)
    assert sorted(classes) == [c.name for c in f.of.classes], "a class's place is its label in the data set"
    for s in f.sequences:
        assert [len(t) for t in s.tasks] == [len(classes) // f.length.tasks] * f.length.tasks
        assert {c for t in s.tasks for c in t} == classes
    [hard], [easy], random = (
        next(o.scores for o in f.length.orders if o.kind == k) for k in ("hard", "easy", "random")
    )
    assert f.length.lowest < hard < min(random) <= max(random) < easy < f.length.highest
    assert len(f.sequences) == (1 if f.order.kind != "random" else 30 if "random30" in name else 5)
    if f.order.kind == "random":
        assert f.sequences[:5] == find_frozen(f"{f.of.data_set}-random30-{f.length.tasks}").sequences[:5]
    assert hard < f.length.random_mean - 10 * f.length.random_sd
    assert easy > f.length.random_mean + 10 * f.length.random_sd


@pytest.mark.long
def test_scores_come_out_again() -> None:
    from benchmarks.orders.freeze_orders import similarity_of
    from seqsearch.extremes.objective import Problem, labels_of

    similarity, file = similarity_of("cifar100"), read_frozen(ONE)
    assert similarity.digest == file.similarity_digest
    for n in file.lengths:
        problem = Problem(similarity.values, (100 // n.tasks,) * n.tasks)
        for o in n.orders:
            assert [problem.score(labels_of(tasks)) for tasks in o.tasks] == pytest.approx(o.scores, abs=1e-7)


@pytest.mark.long
@pytest.mark.parametrize("data_set", ["cifar100", "cub200", "imagenet-a", "imagenet-r"])
def test_files_are_made_again(data_set: str) -> None:
    """In a process of its own: the kernel of the linear algebra is chosen where numpy is loaded."""
    command = [sys.executable, "-m", "benchmarks.orders.freeze_orders", "--check", data_set]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout) == (0, f"{data_set}@1.json: the same again\n"), made.stderr


# ------------------------------------------------------------------------------------------------ files that were changed


def relabelled(said: dict[str, Any], change: Callable[[str], str]) -> None:
    order = said["lengths"][0]["orders"][0]
    order["labels"][0] = change(order["labels"][0])


def exchanged(said: dict[str, Any]) -> None:
    relabelled(said, lambda text: text[::-1])


def unequal(said: dict[str, Any]) -> None:
    relabelled(said, lambda text: ("1" if text[0] == "0" else "0") + text[1:])


def outside(said: dict[str, Any]) -> None:
    relabelled(said, lambda text: text.replace("9", "a"))


def short(said: dict[str, Any]) -> None:
    relabelled(said, lambda text: text[1:])


def renamed(said: dict[str, Any]) -> None:
    said["classes"][3]["name"] = "bare"


def scored(said: dict[str, Any]) -> None:
    said["lengths"][0]["orders"][0]["scores"] = []


def grown(said: dict[str, Any]) -> None:
    said["lengths"][0]["more"] = 1


def other(said: dict[str, Any]) -> None:
    said["schema"] = "seqsearch-frozen/2"


@pytest.mark.parametrize("change", [exchanged, unequal, outside, short, renamed, scored, grown, other])
@pytest.mark.parametrize("resealed", [False, True])
def test_a_changed_file_is_refused_in_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], resealed: bool
) -> None:
    said = json.loads(ONE.read_text())
    change(said)
    if resealed:
        del said["checksum"]
        said["checksum"] = checksum_of(said)
    (tmp_path / "f.json").write_text(json.dumps(said))
    with pytest.raises(UserError, match=r"f\.json: .*; frozen orders never change: install seqsearch again"):
        read_frozen(tmp_path / "f.json")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "{}", '{"checksum": 3}', "[" * 10**5, '{"schema": ' * 50 + "1" + "}" * 50]
)
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(UserError):
        read_frozen(tmp_path / "f.json")


# ------------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("frozen:cifar-hard-10", "the nearest: 'cifar100-hard-10'"),
        ("frozen:cifar100-hard-10@2", "there is version 1 of cifar100-hard-10"),
        ("frozen:../../etc", "there is none"),
        ("frozen:", "there is none"),
        ("frozen:" + "a" * 10**5, "there is none"),
        ("frozen:cifar100-hard-10@\u0661", "there is none"),
        ("frozen:cifar100-hard-10,cifar100-hard-10@1", "comes twice"),
        ("frozen:cifar100-hard-10,cifar100-hard-20", "not of one data set, version and number of tasks"),
        ("frozen:imagenet-r-hard-10,imagenet-a-hard-10", "not of one data set, version and number of tasks"),
    ],
)
def test_names_that_are_none(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_source(Path(text))


def test_an_order_is_a_source_and_carries_its_version() -> None:
    source = read_source(Path("frozen:cifar100-hard-10,cifar100-random-10"))
    assert str(source.path) == "frozen:cifar100-hard-10@1,cifar100-random-10@1"
    assert [s.name for s in source.named] == ["cifar100-hard-10", *(f"cifar100-random-10-{i}" for i in range(5))]
    assert source.digest != read_source(Path("frozen:cifar100-hard-10")).digest
    assert [source.kinds[s.name] for s in source.named] == ["hard", *["random"] * 5]
    assert [s.name for s in read_source(source.path, "found").named] == ["cifar100-hard-10"]
    assert len(read_source(source.path, "random").named) == 5
    with pytest.raises(UserError, match=r"--which random: .* is of another kind \(hard\)"):
        read_source(Path("frozen:cifar100-hard-10"), "random")


def test_a_copy_under_another_name_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "mine.json"
    copy.write_bytes((FOLDER / "cub200@1.json").read_bytes())
    with pytest.raises(UserError, match=r"cub200@1\.json must be called"):
        read_frozen(copy)


def test_a_digest_is_made_as_the_docs_say() -> None:
    for frozen in frozen_orders()[:8]:
        sequences = [[sorted(task) for task in s.tasks] for s in frozen.sequences]
        text = json.dumps(["frozen order", sequences], sort_keys=True, separators=(",", ":"))
        assert frozen.order.digest == hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def test_the_files_that_every_installation_has_are_all_there_are() -> None:
    assert sorted(FILES) == list(FILES)
    assert {*FILES, "croissant.json"} == {path.name for path in FOLDER.iterdir()}


def test_other_files_beside_them_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FOLDER, tmp_path / "orders")
    (tmp_path / "orders/croissant.json").write_text("{")
    monkeypatch.setattr("seqsearch.results.frozen.FOLDER", tmp_path / "orders")
    assert frozen_orders.__wrapped__() == frozen_orders()
    (tmp_path / "orders" / FILES[0]).unlink()
    with pytest.raises(UserError, match=r"cifar100@1\.json is missing, which comes with seqsearch"):
        frozen_orders.__wrapped__()
